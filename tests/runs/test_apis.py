"""Every API that both Headway and the simulator speak, from plan to stored rows."""

import pytest

from loadgen.wire.registry import APIS
from simulator.apis import BY_PATH

pytestmark = pytest.mark.slow
BOTH = sorted(name for name, api in APIS.items() if {api.path, api.whole_path} <= set(BY_PATH))


def run_of(runs, api, **work):
    target = {"url": "sim://small-gpu", "model": "sim", "api": api}
    workload = {"prompt_tokens": 40, "output_tokens": 12, **work}
    run = runs.start({"concurrency": 2, "requests": 4}, target=target, workload=workload)
    state = runs.end(run)
    assert state["state"] == "finished", state["message"]
    return runs.requests(run)


def test_the_simulator_speaks_every_api():
    assert set(APIS) == set(BOTH)


@pytest.mark.parametrize("api", [name for name in BOTH if APIS[name].is_streaming])
def test_each_streaming_api_is_timed_and_counted(runs, api):
    requests = run_of(runs, api)
    assert set(requests["outcome"]) == {"complete"}
    assert set(requests["form"]) == {"stream"}
    assert (requests["output_tokens"] == 12).all()
    assert (requests["n_chunks"] == 12).all()
    assert (requests["send_us"] < requests["first_token_us"]).all()
    assert (requests["first_token_us"] < requests["last_token_us"]).all()
    assert requests["prompt_tokens"].ge(40).all()


@pytest.mark.parametrize("api", BOTH)
def test_each_api_in_one_piece_has_an_end_and_counts(runs, api):
    requests = run_of(runs, api, stream=False)
    assert set(requests["outcome"]) == {"complete"}
    assert set(requests["form"]) == {"whole"}
    assert requests["first_token_us"].isna().all()
    assert (requests["whole_us"] > requests["send_us"]).all()
    if APIS[api].is_streaming:
        assert (requests["output_tokens"] == 12).all()
