"""A run that has ended, in a data folder: two levels, and failures with a hostile sentence."""

from pathlib import Path

from tests.storage.made_up_runs import RunFolder, Stream
from ui.demo import demo_plan

HOSTILE = (
    "503 <img src=http://evil.example/x.png> ![x](http://evil.example/y.png) :red[boo] \x1b[31m"
)


def ended_run(data: Path, state: str = "finished", name: str = "demo", n: int = 60) -> str:
    """n requests at c=1 and at c=4, one in ten of the latter refused; returns the run_uid."""
    run = RunFolder(data, name)
    plan = demo_plan().model_copy(update={"name": name})
    (run.path / "plan.json").write_bytes(plan.to_json())
    run.stage(0, 1, 0, 10_000_000, 10_200_000)
    run.stage(1, 4, 10_500_000, 20_500_000, 20_800_000)
    run.columns(0, [Stream(i, 100_000 + i * 160_000, 50_000 + i * 900) for i in range(n)])
    run.columns(1, [_of_level_4(n + i, n) for i in range(n)])
    run.state(state, message=_message(state))
    run.end(state)
    run.state(state, message=_message(state))
    return run.uid


def run_without_requests(data: Path, state: str = "failed") -> str:
    """A run that ended before its first request did; returns the run_uid."""
    run = RunFolder(data, "nothing")
    (run.path / "plan.json").write_bytes(demo_plan().to_json())
    (run.path / "stages.jsonl").unlink()
    run.end(state)
    run.state(state, message="The endpoint refused the connection.")
    return run.uid


def _of_level_4(request_id: int, n: int) -> Stream:
    send_us = 10_600_000 + (request_id - n) * 160_000
    stream = Stream(request_id, send_us, 80_000 + (request_id % 17) * 3_000, stage=1)
    if request_id % 10 == 0:
        stream.tokens = stream.tokens[:0]
        for name in ("first_token_us", "first_visible_us", "last_token_us", "output_tokens"):
            setattr(stream.request, name, None)
        stream.request.outcome = "http_error"
        stream.request.http_status = 503
        stream.request.detail = HOSTILE
        stream.request.n_chunks = 0
    return stream


def _message(state: str) -> str:
    return {
        "finished": "All levels were measured.",
        "stopped": "Stopped at c=4; what was measured until then is kept.",
        "interrupted": "The load generator's main process ended unexpectedly at c=4.",
        "failed": "50 requests in a row failed alike.",
    }[state]
