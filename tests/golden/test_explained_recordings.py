"""What is said about each answer of a real server: explained.json, refreshed by `make golden`.

The recorder asked to close the connection and had no kernel stamps, so nothing is said of either.
"""

import json

import pytest
from recordings import FOLDER, Recording, kept

from loadgen.explain import explain
from loadgen.explain_facts import Asked
from loadgen.wire.registry import APIS

PATH = FOLDER / "explained.json"
OURS = [recording for recording in kept() if recording.api]
OF_THE_RECORDER = ("closes", "user_stamps", "other_model", "model_alias", "length_ignored")


def said_of(recording: Recording) -> list[str]:
    """The names of what is odd, but for what only the recorder's request would tell."""
    api = recording.api
    assert api is not None
    is_streamed = "nonstream" not in recording.case
    meta = {"request_id": 1, "x_request_id": "x-1", "worker": 0, "stage": 0, "phase": "preflight"}
    meta |= {"api": api, "due_ns": None, "dispatched_ns": 0, "send_ns": 0}
    opened = {**meta, "is_streamed": is_streamed}
    cause = "eof" if recording.end == "eof" else "cancelled"
    closed = {"end_ns": recording.end_us * 1000, "cause": cause, "detail": None}
    reads = [(us * 1000, -1, 0, data) for us, data in recording.reads]
    asked = Asked("http://x", api, "m", 10**6, is_streamed)
    seen = explain(reads, (opened, closed), APIS[api], asked)
    assert json.loads(json.dumps(seen.to_dict()))["ok"] == (seen.row.outcome == "complete")
    assert len([e for e in seen.events if e.is_token]) >= seen.row.n_chunks
    return [w.name for w in seen.warnings if w.name not in OF_THE_RECORDER]


def test_what_is_said_about_each_real_answer_is_its_golden_file(is_refreshing):
    found = {recording.name: said for recording in OURS if (said := said_of(recording))}
    if is_refreshing:
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
        PATH.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    assert found == json.loads(PATH.read_text(encoding="utf-8")), "`make golden`, then review"


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("llamacpp/ping_during_prefill", "comments"),
        ("vllm/queue_second_waits", "early_byte"),
        ("vllm/fault_engine_sigkill_midstream", "error_inside"),
        ("transformers/chat_stream_usage", "no_done"),
        ("llamacpp/chat_stream_thinking", "reasoning_first"),
        ("litellm_llamacpp/chat_stream_n2", "no_usage"),
    ],
)
def test_what_is_known_to_be_odd_is_said(name, odd):
    (recording,) = (recording for recording in OURS if recording.name == name)
    assert odd in said_of(recording)
