"""llama.cpp's own /completion as the simulator speaks it."""

import json
from typing import Any

from simulated import answered, events

from simulator.answer import Finish, Times, Usage
from simulator.ask import ApiError
from simulator.llamacpp import refuse, timings

PATH = "/completion"


def ask(**fields: Any) -> dict[str, Any]:
    return {"prompt": "a b c", "n_predict": 2, "ignore_eos": True, "stream": True, **fields}


def test_a_stream_is_tokens_and_one_stop_event():
    first, second, last = events(answered(PATH, ask(model="any name")))
    assert first == {
        "index": 0, "content": first["content"], "tokens": first["tokens"], "stop": False,
        "id_slot": -1, "tokens_predicted": 1, "tokens_evaluated": 3,
    }  # fmt: skip
    assert (len(first["tokens"]), second["tokens_predicted"]) == (1, 2)
    assert (last["stop"], last["content"], last["stop_type"]) == (True, "", "limit")
    assert (last["tokens_predicted"], last["tokens_evaluated"]) == (2, 3)
    assert last["tokens_cached"] == 4
    assert (last["timings"]["prompt_n"], last["timings"]["predicted_n"]) == (3, 2)


def test_timings_leave_the_first_token_to_the_prompt():
    finish = Finish(Usage(10, 4, 5, 0), Times(7_000_000, 12_000_000, 20_000_000))
    assert timings(finish) == {
        "cache_n": 4,
        "prompt_n": 6,
        "prompt_ms": 12.0,
        "prompt_per_token_ms": 2.0,
        "prompt_per_second": 500.0,
        "predicted_n": 5,
        "predicted_ms": 20.0,
        "predicted_per_token_ms": 4.0,
        "predicted_per_second": 250.0,
    }


def test_timings_are_the_engines():
    settings = ("step_ns=3000000", "sequence_ns=0", "prefill_token_ns=1000000")
    last = events(answered(PATH, ask(), *settings))[-1]
    assert last["timings"]["prompt_ms"] == 6.0
    assert last["timings"]["predicted_ms"] >= 3.0


def test_a_rate_over_no_time_is_null():
    told = timings(Finish(Usage(3, 0, 1, 0), Times(0, 0, 0)))
    assert (told["prompt_per_second"], told["predicted_ms"]) == (None, 0.0)


def test_a_whole_answer_is_the_stop_event_with_the_text():
    answer = json.loads(answered(PATH, ask(stream=False)))
    assert (len(answer["content"].split()), answer["stop"]) == (2, True)
    natural = ask(stream=False, ignore_eos=False, n_predict=-1)
    answer = json.loads(answered(PATH, natural, "natural_tokens=4", "natural_spread=0"))
    assert (answer["tokens_predicted"], answer["stop_type"]) == (4, "eos")


def test_an_error_has_code_and_type():
    status, body = refuse(ApiError(503, "Loading model", "x"))
    error = {"code": 503, "message": "Loading model", "type": "unavailable_error"}
    assert (status, json.loads(body)) == (503, {"error": error})
    *_, last = events(answered(PATH, ask(x_sim_fault="error_after=1")))
    assert last["error"]["type"] == "server_error"
