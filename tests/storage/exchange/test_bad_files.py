"""Whatever a file holds: a sentence that names it, or a run; never a traceback, nor half a run."""

import json
import math
import random

import pytest
from foreign_files import (
    aiperf_record,
    guidellm_new,
    inference_perf_request,
    llmperf_responses,
    sglang_result,
    vllm_result,
    write,
    write_lines,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.exchange.folder import Origin, write_run
from storage.exchange.importers import read_file
from storage.exchange.importing import import_file
from storage.exchange.source import ImportProblem, NoResultFile

DOCUMENTS = {
    "vllm": vllm_result(),
    "guidellm": guidellm_new("0.8.1"),
    "sglang": sglang_result(),
    "llmperf": llmperf_responses(),
    "inference_perf": [inference_perf_request(1.0, 4)],
    "aiperf": aiperf_record(10**18, [20.0, 30.0]),
}
ODD = [None, -1, 1e300, math.inf, math.nan, "text", [], {}, [None], [[1]], {"a": 1}, True, 0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "x.json is empty."),
        (b" \n\n", "x.json is empty."),
        (b'{"model_id": "m", "num_prom', "x.json is no JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "x.json is no text; expected JSON in UTF-8."),
        (b"\xff\xfe\x00{", "x.json is no text"),
        ('{"ä": '.encode("utf-16-be"), "x.json is no text"),
        (b"\xef\xbb\xbf \n", "x.json is empty."),
        (b'{"some": "other"}', "x.json is no result file that Headway knows (vLLM bench, "),
        (b"[]", "x.json is no result file"),
        (b"null", "x.json is no result file"),
        (b"NaN", "x.json is no result file"),
        (b"[[[[" * 30_000, "x.json is no JSON"),
        (b'{"a": NaN' + b"[" * 200_000, "x.json is no JSON"),
    ],
)
def test_what_is_no_result_file_is_said_in_a_sentence(tmp_path, content, said):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(NoResultFile) as problem:
        import_file(path, tmp_path)
    assert str(problem.value).startswith(said)
    assert not (tmp_path / "runs").exists()


def test_a_line_that_is_cut_off_is_named(tmp_path):
    path = write_lines(tmp_path / "x.jsonl", [sglang_result(), sglang_result()])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ImportProblem, match=r"x\.jsonl, line 2 is no JSON"):
        read_file(path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ttfts": [0.1, 0.2]}, "input_lens has 3 entries, and ttfts has 2"),
        ({"ttfts": "0.1"}, 'ttfts is "0.1"; expected a list.'),
        ({"ttfts": [0.1, "x", 0.2]}, 'ttfts[1] is "x"; expected a number.'),
        ({"ttfts": [0.1, -0.5, 0.2]}, "ttfts[1] is -0.5; expected 0 to 10000000."),
        ({"ttfts": [0.1, math.inf, 0.2]}, "ttfts[1] is inf; expected 0 to 10000000."),
        ({"itls": [[0.1, None, 0.1], [], []]}, "itls[0][1] is missing; expected a number"),
        ({"itls": [[0.1, math.nan, 0.1], [], []]}, "itls[0][1] is NaN; expected a number"),
        ({"itls": [0.1, [], []]}, "itls[0] is 0.1; expected a list of numbers."),
        ({"output_lens": [1e12, 0, 3]}, "output_lens[0] is 1000000000000.0; expected 0 to 2147"),
        ({"start_times": [True, 0, 1]}, "start_times[0] is true; expected a number."),
    ],
)  # fmt: skip
def test_an_odd_field_is_named_with_what_stands_there(tmp_path, changed, said):
    with pytest.raises(ImportProblem) as problem:
        read_file(write(tmp_path / "x.json", vllm_result(**changed)))
    assert str(problem.value).startswith(f"x.json: {said}")


def test_one_token_answers_have_no_gap_and_no_pace(here, tmp_path):
    one = vllm_result(output_lens=[1, 0, 1], itls=[[], [], []], latencies=[0.1, 0.0, 0.2])
    (found,) = here.load(write(tmp_path / "x.json", one))
    rows = here.ask("requests", run=found.run_uid)
    assert [row["n_chunks"] for row in rows] == [1, 0, 1]
    assert rows[0]["ttft_us"] == rows[0]["e2e_us"] == 100_000
    assert rows[0]["tpot_us"] is None


def test_a_million_gaps_are_a_run(tmp_path):
    draw = random.Random(1)
    itls = [[draw.uniform(0.01, 0.03) for _ in range(1000)] for _ in range(1000)]
    lists = {
        "input_lens": [1] * 1000,
        "output_lens": [1001] * 1000,
        "ttfts": [0.1] * 1000,
        "itls": itls,
        "errors": [""] * 1000,
    }
    (run,) = read_file(write(tmp_path / "x.json", vllm_result("old", **lists)))
    told = run.levels[0].answers
    assert len(told.chunk_s) == 1_001_000
    assert told.chunk_s[1000] == pytest.approx(0.1 + sum(itls[0]))


def paths_of(value, here=()):
    """Every place in nested lists and objects."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from paths_of(inner, (*here, key))
        else:
            yield (*here, key)


def replaced(value, path, odd):
    """A copy with one place changed."""
    whole = json.loads(json.dumps(value))
    if not path:
        return odd
    at = whole
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    return whole


@pytest.mark.filterwarnings("error")
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_place_of_any_format_may_hold_anything(tmp_path_factory, data):
    name = data.draw(st.sampled_from(sorted(DOCUMENTS)))
    path = data.draw(st.sampled_from([*paths_of(DOCUMENTS[name])]))
    odd = data.draw(st.sampled_from(ODD))
    folder = tmp_path_factory.getbasetemp() / "anything"
    folder.mkdir(exist_ok=True)
    file = write(folder / "x.json", replaced(DOCUMENTS[name], path, odd))
    try:
        runs = read_file(file)
    except ImportProblem as problem:
        said, runs = str(problem), []
    else:
        said = "x.json"
    assert said.startswith("x.json")
    for run in runs:
        write_run(run, Origin("Made up", "x.json", f"{name}{path}{odd}"), folder)
