"""What an answer amounts to: counts merged, timings kept, contradictions seen."""

from loadgen.answer import Answer
from loadgen.wire.api import Delta, ServerTimings, UsageCount


def answer_of(*deltas: Delta) -> Answer:
    answer = Answer()
    for delta in deltas:
        if delta.text:
            answer.token_event(delta)
        else:
            answer.other_event(delta)
    return answer


def finish(n: int, choice: int = 0) -> Delta:
    return Delta("finish", choice=choice, usage=UsageCount(5, n), finish_reason="stop")


def test_counts_told_by_different_events_are_put_together():
    answer = answer_of(
        Delta("role", usage=UsageCount(prompt_tokens=25, cached_tokens=7)),
        Delta("content", "A"),
        Delta("finish", usage=UsageCount(output_tokens=15), finish_reason="stop"),
    )
    assert answer.usage == UsageCount(25, 15, 7)
    assert answer.token_source == "usage"


def test_a_count_told_again_replaces_the_first():
    answer = answer_of(
        Delta("role", usage=UsageCount(prompt_tokens=0, cached_tokens=0)),
        Delta("content", "A"),
        Delta("finish", usage=UsageCount(22, 1, 21), finish_reason="stop"),
    )
    assert answer.usage == UsageCount(22, 1, 21)


def test_timings_told_by_different_events_are_put_together_and_the_last_one_counts():
    answer = answer_of(
        Delta("content", "A", timings=ServerTimings(None, 5, 1)),
        Delta("content", "B", timings=ServerTimings(None, 5, 9)),
        Delta("finish", finish_reason="stop", timings=ServerTimings(3, None, None)),
        Delta("done"),
    )
    assert answer.timings == ServerTimings(3, 5, 9)


def test_an_answer_without_timings_has_none():
    assert answer_of(Delta("content", "A")).timings is None


def test_tokens_that_every_chunk_lists_are_counted_where_no_usage_does():
    answer = answer_of(Delta("content", "A", 2), Delta("empty", "", 1), Delta("content", "B", 1))
    assert (answer.usage.output_tokens, answer.token_source) == (4, "chunks")


def test_a_last_token_without_text_is_one_of_them():
    answer = answer_of(Delta("content", "A", 1), Delta("empty", "", 1), Delta("done"))
    assert answer.usage.output_tokens == 2


def test_one_chunk_that_lists_nothing_leaves_the_count_unknown():
    answer = answer_of(Delta("content", "A", 2), Delta("content", "B"))
    assert (answer.usage.output_tokens, answer.token_source) == (None, None)
    answer = answer_of(Delta("content", "A", 2))
    answer.same_again(0)
    assert answer.token_source is None


def test_usage_counts_before_what_chunks_list():
    answer = answer_of(Delta("content", "A", 1), finish(2))
    assert (answer.usage.output_tokens, answer.token_source) == (2, "usage")
    assert not answer.usage_contradicts


def test_usage_of_fewer_tokens_than_chunks_that_list_theirs_contradicts():
    listed = [Delta("content", "A", 1)] * 3
    assert answer_of(*listed, finish(2)).usage_contradicts
    assert not answer_of(*listed, finish(3)).usage_contradicts
    assert not answer_of(*listed).usage_contradicts


def test_usage_of_fewer_tokens_than_chunks_alone_does_not_contradict():
    # Chunks may be pieces of one token's text (servers that split inside words).
    assert not answer_of(*[Delta("content", "A")] * 3, finish(2)).usage_contradicts


def test_choices_are_counted_by_their_index():
    assert answer_of().n_choices == 0
    assert answer_of(Delta("content", "A"), finish(1)).n_choices == 1
    both = [Delta("content", "A"), Delta("content", "B", choice=1)]
    assert answer_of(*both).n_choices == 2
    assert answer_of(Delta("content", "A"), finish(0, choice=1)).n_choices == 2


def test_an_answer_has_ended_when_each_choice_has():
    both = [Delta("content", "A"), Delta("content", "B", choice=1)]
    assert not answer_of(*both, finish(1)).ended
    assert answer_of(*both, finish(1), finish(1, choice=1)).ended
    assert answer_of(*both, finish(1), Delta("done")).ended


def test_text_after_the_finish_of_its_choice_makes_a_smaller_usage_no_count():
    two_under_one_index = [Delta("content", "A"), finish(1), Delta("content", "B")]
    assert answer_of(*two_under_one_index, finish(1)).token_source is None
    assert answer_of(*two_under_one_index, finish(2)).usage.output_tokens == 2


def test_the_first_error_is_the_one_that_is_told():
    answer = answer_of(Delta("error", error="boom", error_code=500), Delta("error", error="bang"))
    assert (answer.error, answer.error_code) == ("boom", 500)


def test_a_last_usage_that_leaves_out_the_cache_does_not_shrink_the_prompt():
    answer = Answer()
    answer.other_event(Delta("usage", usage=UsageCount(prompt_tokens=132, cached_tokens=100)))
    answer.other_event(Delta("usage", usage=UsageCount(prompt_tokens=25, output_tokens=7)))
    assert answer.usage == UsageCount(132, 7, 100, None)


def test_a_prompt_that_is_counted_only_at_the_end_is_counted():
    answer = Answer()
    answer.other_event(Delta("usage", usage=UsageCount(prompt_tokens=0)))
    answer.other_event(Delta("usage", usage=UsageCount(prompt_tokens=25, output_tokens=7)))
    assert answer.usage.prompt_tokens == 25
