"""How many tokens an answer and each of its chunks had, and who says so."""

from typing import Any

from exchanges import (
    DONE,
    FINISH,
    HEAD,
    ROLE,
    chunk,
    content,
    decode_bodies,
    decode_reads,
    delta,
    sse,
    usage,
    usage_event,
)

A, B, C = content("A"), content("B"), content("C")


def choice(index: int, text: str | None, finish: str | None = None, **more: Any) -> bytes:
    fields = {} if text is None else {"content": text}
    return sse({"choices": [{"index": index, "delta": fields, "finish_reason": finish}], **more})


def logprobs(text: str, n: int, finish: str | None = None) -> bytes:
    told = {"content": [{"token": "t", "logprob": -0.1}] * n}
    fields = {"content": text} if text else {}
    chosen = {"index": 0, "delta": fields, "logprobs": told, "finish_reason": finish}
    return sse({"choices": [chosen]})


def test_log_probabilities_count_the_tokens_of_a_chunk():
    got = decode_bodies((10, logprobs("A", 3)), (20, logprobs("B", 1)), (30, DONE))
    assert got.n_tokens == [3, 1]
    assert got.row.first_chunk_tokens == 3


def test_token_ids_count_the_tokens_of_a_chunk():
    event = sse({"choices": [{"delta": {"content": "A"}, "token_ids": [5, 6]}]})
    assert decode_bodies((10, event), (20, DONE)).n_tokens == [2]


def test_tokens_of_a_chunk_without_text_belong_to_the_next_text():
    got = decode_bodies((10, logprobs("A", 1)), (20, logprobs("", 1)), (30, logprobs("�B", 1)))
    assert got.n_tokens == [1, 2]
    assert got.row.other_events == {"empty": 1}


def test_usage_on_every_event_counts_each_chunk_from_the_role_on():
    def told(n: int) -> dict[str, Any]:
        return {"usage": usage(n)}

    got = decode_bodies(
        (1, delta({"role": "assistant", "content": ""}, **told(0))),
        (10, content("A", **told(1))),
        (20, content("BC", **told(3))),
        (30, delta({}, "stop", **told(4))),
        (31, usage_event(4) + DONE),
    )
    assert got.n_tokens == [1, 2]
    assert got.row.output_tokens == 4
    assert got.row.token_source == "usage"
    assert got.row.other_events == {"role": 1, "finish": 1, "usage": 1, "done": 1}


def test_usage_that_begins_in_the_middle_counts_only_what_follows():
    got = decode_bodies(
        (10, A), (20, content("B", usage=usage(5))), (30, content("C", usage=usage(7)))
    )
    assert got.n_tokens == [0, 0, 2]


def test_usage_that_stays_the_same_tells_nothing_of_the_chunk():
    events = [
        content("A", usage=usage(1)),
        content("B", usage=usage(1)),
        content("C", usage=usage(3)),
    ]
    got = decode_bodies((10, events[0]), (20, events[1]), (30, events[2]))
    assert got.n_tokens == [1, 0, 2]


def test_counts_of_a_stream_cut_in_the_middle_are_continuous_usage():
    got = decode_bodies((10, content("A", usage=usage(1))), (20, content("B", usage=usage(2))))
    assert got.row.outcome == "truncated"
    assert (got.row.output_tokens, got.row.token_source) == (2, "usage_continuous")


def test_a_last_chunk_without_usage_does_not_undo_the_counts():
    got = decode_bodies(
        (10, content("A", usage=usage(3))), (20, delta({}, "stop", usage=None)), (21, DONE)
    )
    assert got.row.output_tokens == 3


def test_usage_on_the_finish_event_counts():
    got = decode_bodies((10, A), (20, delta({}, "stop", usage=usage(1))), (21, DONE))
    assert (got.row.output_tokens, got.row.token_source) == (1, "usage")
    assert got.row.other_events == {"finish": 1, "done": 1}


def test_usage_beside_a_void_delta_is_a_usage_event():
    event = sse({"choices": [{"index": 0, "delta": {}}], "usage": usage(1)})
    assert decode_bodies((10, A), (20, FINISH), (30, event)).row.other_events["usage"] == 1


def test_the_first_chunk_is_one_token_where_events_and_tokens_are_as_many():
    got = decode_bodies((10, A), (20, B), (30, usage_event(2)), (31, DONE))
    assert got.row.first_chunk_tokens == 1


def test_an_output_of_zero_tokens_beside_text_was_not_counted():
    got = decode_bodies((10, A), (20, delta({}, "stop", usage=usage(0))), (21, DONE))
    assert (got.row.output_tokens, got.row.token_source) == (None, None)


def test_one_usage_for_all_choices_is_taken_as_it_is():
    got = decode_bodies(
        (10, choice(0, "A")),
        (11, choice(1, "a")),
        (20, choice(0, "B", "length")),
        (21, choice(1, "b", "length")),
        (30, usage_event(4) + DONE),
    )
    assert (got.row.outcome, got.row.output_tokens, got.row.n_chunks) == ("complete", 4, 4)


def test_a_usage_for_each_choice_is_summed():
    got = decode_bodies(
        (10, choice(0, "A")),
        (11, choice(1, "a")),
        (20, choice(1, None, "length")),
        (21, usage_event(1)),
        (22, choice(0, None, "length")),
        (23, usage_event(2) + DONE),
    )
    assert got.row.output_tokens == 3
    assert got.row.prompt_tokens == 5


def test_usage_of_one_choice_for_all_of_them_is_no_count():
    got = decode_bodies(
        (10, choice(0, "A")),
        (11, choice(1, "a")),
        (12, choice(0, "B")),
        (20, choice(0, None, "length")),
        (23, usage_event(2) + DONE),
    )
    assert got.row.output_tokens is None


def test_per_chunk_counts_stop_where_a_second_choice_appears():
    got = decode_bodies(
        (10, choice(0, "A", usage=usage(1))),
        (11, choice(1, "a", usage=usage(1))),
        (12, choice(0, "B", usage=usage(2))),
    )
    assert got.n_tokens == [1, 0, 0]


def test_gaps_are_between_chunks_of_one_choice():
    def of(index, text):
        return sse({"choices": [{"index": index, "delta": {"content": text}}]})

    reads = [
        (0, HEAD),
        *((100 + 20 * k + index, chunk(of(index, f"{k}"))) for k in range(3) for index in (0, 1)),
    ]
    for is_learning in (True, False):
        found = decode_reads(reads, is_learning=is_learning)
        assert found.tokens["gap_us"].tolist() == [-1, -1, 20_000, 20_000, 20_000, 20_000]
    interleaved = [reads[0], *reads[1:6:2], *((ms + 60, data) for ms, data in reads[2:7:2])]
    found = decode_reads(interleaved)
    assert found.tokens["gap_us"].tolist() == [-1, 20_000, 20_000, -1, 20_000, 20_000]
    assert found.row.n_choices == 2


def test_choices_in_one_event_are_token_events_of_one_arrival():
    two = [{"index": i, "delta": {"content": "A"}} for i in (0, 1)]
    got = decode_bodies((10, ROLE), (20, sse({"choices": two})), (30, DONE))
    assert got.ms == [20, 20]


def test_completions_stream_text_without_a_role():
    def text(value: str, finish: str | None = None, **more: Any) -> bytes:
        return sse(
            {
                "id": "cmpl-1",
                "choices": [{"index": 0, "text": value, "finish_reason": finish}],
                **more,
            }
        )

    got = decode_bodies(
        (10, text("A")),
        (20, text("")),
        (30, text("B")),
        (40, text("", "length", usage=usage(2))),
        (41, DONE),
        api="openai_completions",
    )
    assert got.ms == [10, 30]
    assert (got.row.outcome, got.row.output_tokens) == ("complete", 2)
    assert got.row.response_id == "cmpl-1"
    assert got.row.other_events == {"empty": 1, "finish": 1, "done": 1}


def test_completions_list_their_tokens_in_logprobs():
    event = sse({"choices": [{"text": "AB", "logprobs": {"tokens": ["A", "B"]}}]})
    assert decode_bodies((10, event), api="openai_completions").n_tokens == [2]
