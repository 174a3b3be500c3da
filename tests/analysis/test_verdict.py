import pytest

from analysis.verdict import headline, knee

P95 = "Time to first token p95 ≤ 500 ms"


def level(streams, tps, ttft_p95=100.0, slo=None, **changes):
    slos = [{"result": slo, "sentence": f"{P95}: {slo}; it is {ttft_p95:.0f} ms."}] if slo else []
    made = {
        "stage": f"c={streams}",
        "name": changes.get("stage", f"c={streams}"),
        "class": "default",
        "kind": "closed",
        "mean_in_flight": float(streams),
        "slos": slos,
        "warnings": [],
        "metrics": {
            "ttft": {"n": 50, "p95": ttft_p95},
            "tps_system": {"value": tps},
            "request_rate": {"value": 1.0},
            "offered_rate": {"value": 1.0},
        },
    }
    return made | changes


def shown(levels, outcomes=None, failures=(), verdict="exact"):
    return {
        "levels": levels,
        "outcomes": outcomes or {"complete": 100},
        "failures": list(failures),
        "validity": {"verdict": verdict, "reason": "Do not believe these numbers: late."},
    }


def said(*args, **more):
    return headline(shown(*args, **more)).text


def test_the_highest_level_that_holds_the_objective_leads():
    found = headline(
        shown(
            [level(1, 40, slo="met"), level(4, 150, slo="met"), level(16, 300, 900, slo="missed")]
        )
    )
    assert found.text.startswith(f"Holds {P95} up to c=4 (4 streams in flight); at c=16:")
    assert found.tone == "warn"


def test_a_level_that_holds_above_one_that_does_not_is_no_capacity():
    levels = [level(1, 40, slo="met"), level(4, 150, slo="missed"), level(16, 300, slo="met")]
    assert "up to c=1" in said(levels)


def test_every_level_holding_says_that_more_was_not_measured():
    found = headline(shown([level(1, 40, slo="met"), level(4, 150, slo="met")]))
    assert found.tone == "good"
    assert "at c=4 (4 streams in flight), the highest level measured" in found.text


def test_no_level_holding_is_bad_and_too_little_data_is_a_warning():
    assert headline(shown([level(1, 40, slo="missed")])).tone == "bad"
    assert headline(shown([level(1, 40, slo="not enough data")])).tone == "warn"


def test_too_little_data_is_not_called_a_level_that_does_not_hold():
    text = said([level(1, 40, slo="not enough data"), level(4, 150, slo="met")])
    assert text.startswith(f"Too little data to tell whether it holds {P95}; at c=1: ")


def test_a_miss_above_a_level_that_cannot_tell_is_named():
    levels = [level(1, 40, slo="not enough data"), level(4, 150, 900, slo="missed")]
    found = headline(shown(levels))
    assert found.text.endswith(" It does not hold at c=4.")
    assert found.tone == "warn"


def test_a_miss_leads_before_an_objective_that_cannot_be_told():
    both = level(1, 40, slo="not enough data")
    both["slos"].append({"result": "missed", "sentence": "E2E p50 ≤ 9 ms: missed; it is 10 ms."})
    assert said([both]).startswith("Does not hold")
    assert "at c=1: E2E p50 ≤ 9 ms: missed" in said([both])


def test_without_objectives_the_knee_leads_by_gain_per_added_stream():
    levels = [level(1, 50), level(4, 180), level(16, 220, 900), level(64, 225, 4000)]
    assert knee(levels) == 1
    text = said(levels)
    assert text.startswith("Throughput levels off at c=4")
    assert "3.33 tok/s instead of the first 50" in text
    assert "900 ms" in text


def test_a_sweep_that_still_grows_is_not_called_saturated():
    levels = [level(1, 50), level(4, 190), level(16, 700)]
    assert knee(levels) is None
    assert "still grows" in said(levels)


@pytest.mark.parametrize("levels", [[], [level(1, 50)]])
def test_no_knee_without_two_levels(levels):
    assert knee(levels) is None


def test_throughput_that_falls_is_a_knee_too():
    assert knee([level(1, 50), level(4, 190), level(16, 150)]) == 1


def test_one_level_tells_its_figures():
    assert said([level(8, 320)]) == (
        "At c=8 (8 streams in flight): TTFT p95 100 ms, system output 320 tok/s."
    )


def test_few_tokens_per_second_keep_their_digits():
    assert "system output 4.5 tok/s" in said([level(2, 4.5)])
    assert "system output 1,235 tok/s" in said([level(8, 1234.6)])


def test_an_endpoint_that_tells_no_tokens_has_no_tok_s():
    assert "tok/s" not in said([level(8, None)])


def rate(per_s, done, failed=0, name=None):
    name = name or f"{per_s}/s"
    made = level(per_s, 100, stage=name, kind="open")
    figures = {"offered_per_s": float(per_s), "completed_per_s": done, "failed": failed, "came": 90}
    made["metrics"] |= {"request_rate": {"value": done}, "offered_rate": {"value": float(per_s)}}
    made["checks"] = {"offered": {"holds": done > 0.95 * per_s} | figures}
    return made


def test_open_loops_are_told_by_what_they_complete():
    assert said([rate(2, 2.0), rate(8, 7.9)]).startswith("Keeps up with every rate up to 8/s")
    assert "at 16/s only 11 of 16 requests/s complete" in said([rate(8, 8.0), rate(16, 11.0)])
    assert said([rate(8, 3.0), rate(16, 4.0)]).startswith("Does not keep up: at 8/s")


def test_a_level_keeps_up_where_its_check_says_so():
    made = rate(8, 5.0)
    made["checks"]["offered"]["holds"] = True
    assert said([rate(2, 2.0), made]).startswith("Keeps up with every rate up to 8/s")


def test_requests_that_are_missing_because_they_failed_are_said_to_have_failed():
    assert said([rate(8, 8.0), rate(16, 11.0, failed=23)]).endswith(
        "; at 16/s only 11 of 16 requests/s complete: 23 of 90 failed."
    )


def test_the_same_rate_measured_twice_with_two_results_is_told_as_that():
    text = said([rate(1, 1.0, name="1/s (2)"), rate(1.8, 1.36, name="1/s")])
    assert text.startswith("Keeps up to 1/s (2), 1 stream in flight: TTFT p95")
    assert "; at 1/s, the same load measured another time, only 1.36 of 1.8 requests/s" in text


def test_failures_are_named_with_the_servers_own_words():
    failures = [{"detail": "model is overloaded", "n": 3}]
    found = headline(shown([level(1, 50)], {"complete": 97, "http_error": 3}, failures))
    assert found.more == ["3 of 100 requests failed: 3 http_error (model is overloaded)."]
    assert found.tone == "warn"


def test_a_run_in_which_nothing_was_answered_leads_with_why():
    dead = level(1, None)
    dead["metrics"]["ttft"] = {"n": 0, "p95": None}
    failures = [{"detail": "Connection refused", "n": 5}]
    found = headline(shown([dead], {"connect_failed": 5}, failures))
    assert found.text == "5 of 5 requests failed: 5 connect_failed (Connection refused)."
    assert found.tone == "bad"


def test_an_empty_run_says_so():
    assert said([], {"cancelled": 0}) == "No request was sent."


def test_a_run_of_which_all_was_warm_up_or_cancelled_does_not_say_that_nothing_was_sent():
    assert said([], {"complete": 12}).startswith("No answer was measured: all 12 were asked for in")
    assert said([], {"cancelled": 3}) == "No request was answered: 3 were open when the run ended."


def test_a_run_not_to_be_believed_leads_with_that():
    found = headline(shown([level(1, 50)], verdict="saturated"))
    assert found.text.startswith("Do not believe")
    assert found.tone == "bad"


def test_figures_not_to_be_believed_are_not_interpreted():
    levels = [level(1, 50), level(4, 190), level(16, 195, 900)]
    assert headline(shown(levels, verdict="saturated")).more == []


def test_levels_with_warnings_are_named():
    trend, law = "Not steady: TTFT rises by 80%.", "Little's law is off by +20%."
    levels = [level(1, 50), level(4, 190, warnings=[trend]), level(8, 370, warnings=[law, trend])]
    assert headline(shown(levels)).more == ["2 of 3 levels were not steady: c=4, c=8."]
    levels[1]["warnings"] = [law]
    assert headline(shown(levels)).more == [
        "1 of 3 levels was not steady: c=8. 1 of 3 levels has another warning: c=4."
    ]


def test_throughput_that_falls_is_not_said_to_level_off():
    found = said([level(1, 190), level(4, 150, 900)])
    assert found.startswith("Throughput falls from c=1 (1 stream in flight) on: TTFT p95 100 ms")
    assert "At c=4 it is 150 tok/s, and TTFT p95 is 900 ms." in found


def test_a_p95_of_few_requests_is_never_quoted_without_its_n():
    few = level(1, 50)
    few["metrics"]["ttft"]["n"] = 7
    assert "TTFT p95 100 ms (few: n = 7)" in said([few])


def test_levels_are_judged_in_order_of_load_not_of_the_plan():
    levels = [level(16, 300, 900), level(1, 50), level(4, 190)]
    assert "Throughput levels off at c=4 (4 streams in flight)" in said(levels)


def test_the_same_load_measured_twice_is_no_knee():
    levels = [level(4, 190), level(4, 188, mean_in_flight=4.01), level(8, 370)]
    assert "still grows" in said(levels)


def test_an_open_level_is_no_step_of_a_closed_sweep():
    arrivals = rate(5, 5.0)
    found = said([level(1, 60), level(4, 220), level(16, 800), arrivals])
    assert "still grows with each added stream at c=16" in found
    assert "Keeps up with every rate up to 5/s" in found


def whole(streams, rate, p95=200.0, tps_input=None):
    """A level whose answers came in one piece."""
    made = level(streams, None)
    made["metrics"] |= {
        "ttft": {"n": 0, "p95": None},
        "e2e": {"n": 500, "p95": p95},
        "tps_input": {"value": tps_input},
        "request_rate": {"value": rate},
    }
    return made


def test_answers_in_one_piece_are_told_by_e2e_and_input():
    assert said([whole(1, 5.0, tps_input=1280.0)]) == (
        "At c=1 (1 stream in flight): E2E p95 200 ms, system input 1,280 tok/s."
    )


def test_where_no_tokens_are_told_requests_per_second_tell_whether_it_still_grows():
    assert knee([whole(1, 5.0), whole(4, 20.0)]) is None
    text = said([whole(1, 5.0), whole(4, 20.0), whole(8, 20.5)])
    assert text.startswith("Throughput levels off at c=4")
    assert "0.125 requests/s instead of the first 5" in text


def test_a_level_that_does_not_tell_its_tokens_is_not_said_to_grow():
    silent = [level(1, None), level(8, None)]
    silent[1]["metrics"]["request_rate"]["value"] = 1.0
    assert said(silent).startswith("Throughput levels off at c=1")
