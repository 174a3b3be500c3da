"""A field beside the requests that holds nonsense is named with what stands there."""

import math

import pytest
from foreign_files import (
    aiperf_record,
    aiperf_summary,
    guidellm_new,
    inference_perf_request,
    inference_perf_stage,
    llmperf_summary,
    sglang_result,
    vllm_result,
    write,
    write_aiperf,
)

from storage.exchange.importers import NO_TTFT, read_file
from storage.exchange.importing import import_file


def lacks_of(path):
    (run,) = read_file(path)
    return " ".join(run.lacks)


@pytest.mark.parametrize("result", [vllm_result, sglang_result])
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_concurrency": "many"}, 'max_concurrency is "many"; expected a whole number above 0'),
        ({"max_concurrency": 2.5}, "max_concurrency is 2.5; expected a whole number above 0"),
        ({"request_rate": "fast"}, 'request_rate is "fast"; expected a number above 0 or "inf"'),
        ({"duration": "x"}, 'duration is "x"; expected a number of seconds above 0'),
        ({"duration": 0}, "duration is 0; expected a number of seconds above 0"),
        ({"duration": math.nan}, "duration is NaN; expected a number of seconds above 0"),
        ({"completed": [2]}, "completed is [2]; expected a number from 0 on"),
    ],
)
def test_an_odd_load_is_told(tmp_path, result, changed, said):
    assert said in lacks_of(write(tmp_path / "x.json", result(**changed)))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"date": "yesterday"}, 'date is "yesterday"; expected a date like 20260131-235959'),
        ({"date": 5}, "date is 5; expected a date"),
        ({"model_id": {"a": 1}}, 'model_id is {"a": 1}; expected text'),
        ({"label": 3}, "label is 3; expected text"),
        ({"num_prompts": -1}, "num_prompts is -1; expected a whole number above 0"),
    ],
)
def test_an_odd_name_is_told(tmp_path, changed, said):
    (run,) = read_file(write(tmp_path / "x.json", vllm_result(**changed)))
    assert said in " ".join(run.lacks)
    assert run.model in ("made-up-8b", None)


def test_an_odd_duration_is_not_taken(tmp_path):
    (run,) = read_file(write(tmp_path / "x.json", vllm_result(duration=0)))
    assert run.levels[0].duration_s is None


def test_every_format_tells_it(tmp_path):
    told = lacks_of(write(tmp_path / "g.json", guidellm_new(type_="concurrent", streams="two")))
    assert 'benchmarks[0].strategy.streams is "two"; expected a whole number' in told
    told = lacks_of(write(tmp_path / "l.json", llmperf_summary() | {"model": 7}))
    assert "model is 7; expected text" in told
    summary = aiperf_summary()
    summary["input_config"]["phases"][0]["concurrency"] = "two"
    told = lacks_of(write_aiperf(tmp_path, [aiperf_record(10**18, [20.0])], summary))
    assert 'concurrency is "two"' in told
    write(tmp_path / "stage_0_lifecycle_metrics.json", inference_perf_stage(1, concurrency=-3))
    requests = [inference_perf_request(1.0, 4, stage=0)]
    told = lacks_of(write(tmp_path / "per_request_lifecycle_metrics.json", requests))
    assert "Stage 0: load_summary.concurrency is -3" in told


def test_what_is_as_it_should_be_is_not_told(tmp_path):
    assert lacks_of(write(tmp_path / "v.json", vllm_result(request_rate=4.0))) == ""
    assert "expected" not in lacks_of(write(tmp_path / "s.json", sglang_result()))
    assert "expected" not in lacks_of(write(tmp_path / "g.json", guidellm_new()))
    assert "expected" not in lacks_of(write(tmp_path / "l.json", llmperf_summary()))


def test_the_sentence_of_an_import_tells_it_and_that_there_is_no_ttft(tmp_path):
    odd = vllm_result(ttfts=[math.nan] * 3, max_concurrency="many")
    (found,) = import_file(write(tmp_path / "x.json", odd), tmp_path / "data")
    assert 'max_concurrency is "many"' in found.sentence
    assert found.sentence.endswith(NO_TTFT)
