"""A replayed trace: what was made of it is kept with the run."""

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_made_of_a_trace_is_recorded_and_said(runs, tmp_path, workers):
    rows = [f"{3 * (i // 4)},{5 + i},2" for i in range(12)] + ["7,0,2"]  # a grid of 3 s, a void row
    trace = tmp_path / "trace.csv"
    trace.write_text("t_s,prompt_tokens,output_tokens\n" + "\n".join(rows) + "\n")
    replay = {"kind": "replay", "file": str(trace), "speed": 10}
    run = runs.start({"concurrency": 1, "requests": 2}, replay, workers=workers)
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert (requests["stage"] == 1).sum() == 12
    kept = runs.folder(run).read("run.json")
    (told,) = kept["replay"]
    assert (told["stage"], told["requests"], told["grid"], told["grid_step_s"]) == (
        1, 12, "verbatim", 3.0,
    )  # fmt: skip
    said = [note for note in kept["notes"] if note.startswith("replay trace.csv x10: ")]
    assert len(said) == len(told["notes"]) >= 2
    assert any("0 prompt" in note for note in said)
    assert any("grid" in note for note in said)
