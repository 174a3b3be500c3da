"""A prefix cache that answers for prompts is noticed, by whoever tells."""

from made import SECOND, frame, row

from analysis.cache_check import cache_check

NONE = {"default": 0}


def rows(n, **changes):
    return [row(k, k * SECOND, prompt_tokens=200, **changes) for k in range(n)]


def test_unique_prompts_taken_from_the_cache_are_contamination():
    found = cache_check(frame(rows(50, cached_tokens=192)), None, NONE)
    assert found.contaminated
    assert (found.cached_share, found.unmeant_share) == (0.96, 0.8)
    assert "80% of the prompt tokens" in found.sentence


def test_a_cached_chat_template_is_none():
    found = cache_check(frame(rows(50, cached_tokens=16)), None, NONE)
    assert not found.contaminated
    assert (found.cached_share, found.unmeant_share, found.sentence) == (0.08, 0.0, "")


def test_a_prefix_that_the_plan_shares_is_none():
    shared = frame(rows(50, cached_tokens=128, prefix_group=0))
    assert not cache_check(shared, None, {"default": 128}).contaminated
    assert cache_check(shared, None, {"default": 32}).contaminated


def test_the_history_of_a_conversation_is_none():
    later = frame(rows(50, cached_tokens=190, conversation=1, turn=1))
    assert not cache_check(later, None, NONE).contaminated
    assert cache_check(frame(rows(50, cached_tokens=190, turn=0)), None, NONE).contaminated


def test_a_server_that_tells_no_cached_tokens_is_judged_by_its_counters():
    counted = {"looked_up": 10_000, "found": 6_000, "name": "x"}
    found = cache_check(frame(rows(50)), counted, NONE)
    assert found.contaminated
    assert "60% of the prompt tokens of all its clients" in found.sentence
    assert not cache_check(frame(rows(50)), {**counted, "found": 100}, NONE).contaminated
    assert not cache_check(frame(rows(50)), {**counted, "looked_up": 0}, NONE).contaminated


def test_usage_that_shows_no_cached_token_outweighs_counters_of_all_clients():
    counted = {"looked_up": 10_000, "found": 6_000, "name": "x"}
    assert not cache_check(frame(rows(50, cached_tokens=0)), counted, NONE).contaminated


def repeated(first_ms, again_ms):
    return frame(
        [
            row(k, k * SECOND, 1000 * (first_ms if k < 40 else again_ms) + 97 * k, prompt_no=k % 40)
            for k in range(160)
        ]
    )


def test_prompts_that_come_again_and_are_answered_sooner_are_contamination():
    found = cache_check(repeated(400, 100), None, NONE)
    assert found.contaminated
    assert 0.2 < found.repeat_ratio < 0.3
    assert "Prompts sent again" in found.sentence


def test_prompts_that_come_again_and_take_as_long_are_none():
    assert not cache_check(repeated(400, 400), None, NONE).contaminated
    assert cache_check(repeated(400, 400), None, NONE).repeat_ratio is None


def test_too_few_prompts_tell_nothing():
    assert cache_check(repeated(400, 100).head(50), None, NONE).repeat_ratio is None
    assert not cache_check(frame([]), None, NONE).contaminated
