from ui.run_view import (
    leading_level,
    levels_without_itl,
    ttft_limit_ms,
    validity_words,
    verdict_words,
)


def level(stage, in_flight=1.0, tps=50.0, result=None, n=50):
    return {
        "stage": stage,
        "name": stage,
        "kind": "closed",
        "mean_in_flight": in_flight,
        "slos": [{"result": result, "metric": "ttft", "max_ms": 500}] if result else [],
        "metrics": {"ttft": {"n": n}, "tps_system": {"value": tps}},
    }


def shown(levels, slo=None, validity="exact"):
    return {
        "verdict": {"text": "The sentence.", "tone": "neutral", "more": ["More."]},
        "validity": {"verdict": validity, "reason": "The reason."},
        "slo": {"result": slo},
        "levels": levels,
    }


def test_the_highest_level_that_holds_the_objective_leads():
    levels = [level("c=1", result="met"), level("c=4", result="met"), level("c=8", result="missed")]
    assert leading_level(levels) == 1
    assert verdict_words(shown(levels, "missed"))[0] == "Holds its objective up to c=4"


def test_a_level_beyond_one_that_misses_does_not_lead():
    levels = [level("c=1", result="met"), level("c=2", result="missed"), level("c=4", result="met")]
    assert leading_level(levels) == 0


def test_no_level_holding_leads_to_the_lowest():
    levels = [level("c=1", result="missed"), level("c=4", result="missed")]
    assert leading_level(levels) == 0
    assert verdict_words(shown(levels, "missed"))[0] == "Does not hold its objective at c=1"


def test_a_level_that_cannot_tell_is_not_the_one_that_does_not_hold():
    levels = [level("c=1", result="not enough data"), level("c=4", result="missed")]
    assert verdict_words(shown(levels, "missed"))[0] == "Does not hold its objective at c=4"
    assert "Too few requests" in verdict_words(shown(levels[:1], "not enough data"))[0]


def test_without_objective_the_knee_leads():
    levels = [level("c=1", 1, 50), level("c=8", 8, 380), level("c=32", 32, 400)]
    assert leading_level(levels) == 1
    assert verdict_words(shown(levels))[0] == "What was measured"


def test_levels_without_an_answer_do_not_lead():
    assert leading_level([level("c=1"), level("c=2", n=0)]) == 0
    assert leading_level([level("c=1", n=0)]) == 0
    assert verdict_words(shown([level("c=1", n=0)]))[0] == "No request was answered"


def test_a_saturated_load_generator_comes_before_everything_and_is_said_once():
    told = shown([level("c=1")], validity="saturated")
    told["verdict"]["text"] = "At c=1: Do not believe these numbers: late."
    told["validity"]["reason"] = told["verdict"]["text"]
    headline, sentences = verdict_words(told)
    assert headline == "Do not believe these numbers"
    assert sentences.split("\n") == ["At c=1: late.", "More."]


def test_levels_whose_tokens_are_mostly_unknown_have_no_per_token_view():
    def gaps(n, undefined):
        return {"itl": {"n": n, "undefined": undefined}, "chunk_gap": {"n": 1000}}

    levels = [
        {"stage": "c=1", "name": "c=1", "metrics": gaps(900, 100)},
        {"stage": "c=2", "name": "c=2", "metrics": gaps(127, 751)},
        {"stage": "c=4", "name": "c=4", "metrics": gaps(0, 0)},
    ]
    assert levels_without_itl(levels) == ["c=2", "c=4"]


def test_the_objective_on_ttft_is_drawn():
    assert ttft_limit_ms([level("c=1", result="met")]) == 500
    assert ttft_limit_ms([level("c=1")]) is None
    assert ttft_limit_ms([]) is None


def test_a_bounded_run_says_by_how_much():
    bounded = {"verdict": "bounded", "bound_ms": 1.234}
    assert validity_words(bounded) == ("green", "times right within 1.2 ms")
    assert validity_words(bounded | {"bound_ms": None})[1] == "times right within a bound"
    assert validity_words({"verdict": "exact", "bound_ms": 0.0}) == ("green", "times exact")
