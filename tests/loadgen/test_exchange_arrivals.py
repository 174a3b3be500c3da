"""Which instant an event gets, and how much doubt there is about it."""

import pytest
from exchanges import (
    DONE,
    END,
    FINISH,
    HEAD,
    MS,
    ROLE,
    SEND_NS,
    T0_NS,
    Decoded,
    chunk,
    close_meta,
    content,
    open_meta,
    usage_event,
)

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.raw_record import POLL_UNKNOWN

A, B, C = content("A"), content("B"), content("C")


def decode(*reads: tuple[float, float, float, bytes], is_learning: bool = True) -> Decoded:
    """(read at ms, ms after its kernel stamp or -1, since ms as the polls tell, bytes).

    since: positive, an idle loop began to poll then; negative, the loop has been busy since.
    """
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS, is_learning)
    decoder.read(SEND_NS + MS, 0, SEND_NS, HEAD)
    for read_ms, delay_ms, poll_ms, data in reads:
        delay_ns = -1 if delay_ms < 0 else round(delay_ms * MS)
        poll_ns = SEND_NS + round(abs(poll_ms) * MS)
        poll_ns = poll_ns if poll_ms >= 0 else -poll_ns
        decoder.read(SEND_NS + round(read_ms * MS), delay_ns, poll_ns, data)
    row = decoder.close(close_meta())
    return Decoded(row, decoder.take_tokens())


def test_the_arrival_is_the_kernels_stamp_and_the_lag_is_kept():
    got = decode((10, 2.5, 7, chunk(A)), (30, 0.001, 29, chunk(B)))
    assert got.ms == [7.5, 29.999]
    assert got.tokens["lag_us"].tolist() == [2500, 1]


def test_without_a_stamp_the_arrival_is_the_read_and_the_lag_unknown():
    got = decode((10, -1, 9, chunk(A)), (30, 1, 29, chunk(B)))
    assert got.ms == [10, 29]
    assert got.tokens["lag_us"].tolist() == [-1, 1000]
    assert got.row.n_missing_stamps == 1


def test_an_event_has_the_stamp_of_the_read_that_completed_it():
    whole = chunk(A)
    got = decode((10, 0, 9, whole[:40]), (20, 0, 19, whole[40:]))
    assert got.ms == [20]


def test_instants_are_floored_to_microseconds():
    got = decode((10.0009, 0, 9, chunk(A)))
    assert got.tokens["t_us"].tolist() == [1_010_000]


def test_a_stamp_before_the_one_before_does_not_turn_time_back():
    got = decode((10, 0, 9, chunk(A)), (12, 5, -11, chunk(B)), (13, 0, 12, chunk(C)))
    assert got.ms == [10, 10, 13]


@pytest.mark.parametrize("since_ms", [300, -300])
def test_a_stamp_long_before_nothing_had_come_is_of_a_clock_that_was_set(since_ms):
    got = decode((10, 0, 9, chunk(A)), (301, 102, since_ms, chunk(B)), (350, 0, 349, chunk(C)))
    assert got.ms == [10, 301, 350]
    assert got.tokens["lag_us"].tolist() == [0, -1, 0]
    assert got.bounds_us == [0, 291_000, 0]
    assert got.row.n_missing_stamps == 1


@pytest.mark.parametrize("since_ms", [29, -29])
def test_a_poll_that_a_stamp_contradicts_returned_late_and_vouches_for_nothing(since_ms):
    got = decode((10, 0, 9, chunk(A)), (30, 5, since_ms, chunk(B) + FOLLOWERS["finish"]))
    assert (got.ms, got.shared, got.bounds_us) == ([10, 25], [0, 1], [0, 15_000])
    assert got.row.n_missing_stamps == 0


def test_a_gap_is_the_difference_of_the_stored_instants():
    got = decode((10.0019, 0, 9, chunk(A)), (10.0021, 0, 10, chunk(B)))
    assert got.tokens["gap_us"].tolist() == [-1, 1]


def test_an_event_is_shared_if_a_later_token_came_in_its_read():
    got = decode((10, 0, 9, chunk(A) + chunk(B)), (20, 0, 19, chunk(C)))
    assert got.shared == [1, 0, 0]
    assert got.row.n_shared == 1


def test_other_events_in_a_read_on_time_cast_no_doubt_on_its_token():
    got = decode(
        (10, 0, 9, chunk(ROLE + A)), (20, 0, 19, chunk(B + FINISH + usage_event(2) + DONE))
    )
    assert got.shared == [0, 0]
    assert got.bounds_us == [0, 0]


def test_a_read_on_time_that_goes_on_into_the_next_event_casts_no_doubt():
    later = chunk(B)
    got = decode((10, 0, 9, chunk(A) + later[:30]), (20, 0, 19, later[30:]))
    assert got.shared == [0, 0]


FOLLOWERS = {
    "finish": chunk(FINISH),
    "usage and done": chunk(usage_event(2) + DONE),
    "a ping": chunk(b": ping\n\n"),
    "broken": chunk(b"data: {broken\n\n"),
    "half an event": chunk(C)[:40],
    "an event but for its last byte": chunk(C[:-1]),
    "the end of the body": END,
}


@pytest.mark.parametrize("is_learning", [True, False])
@pytest.mark.parametrize("follower", FOLLOWERS.values(), ids=FOLLOWERS)
@pytest.mark.parametrize("n_tokens", [1, 2])
def test_what_followed_a_token_in_a_late_read_may_have_set_its_stamp(
    follower: bytes, is_learning: bool, n_tokens: int
):
    late = (165, 5, 101, chunk(B) * n_tokens + follower)
    got = decode((100, 0, 80, chunk(A)), late, is_learning=is_learning)
    n = 1 + n_tokens  # the stream's end may complete one more
    assert got.ms[:n] == [100] + [160] * n_tokens
    assert got.shared[:n] == [0] + [1] * n_tokens
    assert got.bounds_us[:n] == [0] + [59_000] * n_tokens
    assert got.row.n_shared == n_tokens


def test_followers_in_the_chunk_of_a_late_token_cast_doubt_too():
    got = decode((100, 0, 80, chunk(A)), (165, 5, 101, chunk(B + FINISH)), (166, 0, 165, END))
    assert got.bounds_us == [0, 59_000]


@pytest.mark.parametrize("is_learning", [True, False])
def test_a_next_event_that_lacks_its_blank_line_casts_doubt_on_a_late_token(is_learning: bool):
    late, rest = (165, 5, 101, chunk(B) + chunk(C[:-1])), (170, 0, 169, chunk(b"\n"))
    got = decode((100, 0, 80, chunk(A)), late, rest, is_learning=is_learning)
    assert (got.ms, got.bounds_us) == ([100, 160, 170], [0, 59_000, 0])


@pytest.mark.parametrize("is_learning", [True, False])
def test_a_late_read_that_ends_with_its_token_casts_no_doubt_on_it(is_learning: bool):
    crlf = chunk(B.replace(b"\n", b"\r\n"))
    blank_line_again = chunk(B) + chunk(b"\n")
    for data in (chunk(B), chunk(B)[:-2], chunk(ROLE + B), crlf, crlf[:-3], blank_line_again):
        got = decode((100, 0, 80, chunk(A)), (165, 5, 101, data), is_learning=is_learning)
        assert (got.shared, got.bounds_us) == ([0, 0], [0, 0])


def test_a_late_read_of_the_end_of_a_token_casts_no_doubt_on_it():
    whole = chunk(B)
    for cut in (40, len(whole) - 8, len(whole) - 4, len(whole) - 3):
        got = decode((100, 0, 99, whole[:cut]), (165, 5, 101, whole[cut:]))
        assert got.shared == [0]


def test_a_body_of_known_length_that_ends_with_its_token_casts_no_doubt():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(A)
    decoder.read(SEND_NS + MS, 0, SEND_NS, head)
    decoder.read(SEND_NS + 9 * MS, 5 * MS, SEND_NS, A)
    decoder.close(close_meta())
    assert decoder.take_tokens()["shared"].tolist() == [0]


@pytest.mark.parametrize("is_learning", [True, False])
@pytest.mark.parametrize("follower", FOLLOWERS.values(), ids=FOLLOWERS)
@pytest.mark.parametrize("n_tokens", [1, 2])
def test_what_followed_a_token_in_a_busy_loop_may_have_set_its_stamp_however_fresh_that_is(
    follower: bytes, is_learning: bool, n_tokens: int
):
    fresh = (165, 0.02, -101, chunk(B) * n_tokens + follower)
    got = decode((100, 0, 80, chunk(A)), fresh, is_learning=is_learning)
    n = 1 + n_tokens
    assert got.shared[:n] == [0] + [1] * n_tokens
    assert got.bounds_us[:n] == [0] + [63_980] * n_tokens


def test_a_busy_loops_read_that_ends_with_its_token_casts_no_doubt_on_it():
    got = decode((100, 0, 80, chunk(A)), (165, 0.02, -101, chunk(B)))
    assert (got.shared, got.bounds_us) == ([0, 0], [0, 0])


@pytest.mark.parametrize("is_learning", [True, False])
@pytest.mark.parametrize("since_ms", [101, -101])
def test_without_a_stamp_each_token_came_after_the_poll_began_or_the_read_before(
    is_learning: bool, since_ms: float
):
    reads = [chunk(B), chunk(B), chunk(B), chunk(B) + chunk(FINISH), chunk(C) + chunk(C)]
    got = decode(
        (100, 0, 80, chunk(A)),
        *((165 + ms, -1, since_ms, data) for ms, data in enumerate(reads)),
        is_learning=is_learning,
    )
    assert got.ms == [100, 165, 166, 167, 168, 169, 169]
    assert got.bounds_us == [0, 64_000, 1000, 1000, 1000, 1000, 1000]
    assert got.shared == [0, 0, 0, 0, int(since_ms < 0), 1, 0]


def test_after_a_read_without_a_stamp_the_rest_of_a_full_buffer_is_bounded_by_the_poll_before():
    """Its time says nothing: the rest was there when the first part was read."""
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + MS, 0, SEND_NS, HEAD)
    decoder.read(SEND_NS + 165 * MS, -1, -SEND_NS - 101 * MS, chunk(A))
    decoder.read(SEND_NS + 166 * MS, -1, POLL_UNKNOWN, chunk(B))
    assert decoder.take_tokens()["bound_us"].tolist() == [64_000, 165_000]


def test_the_bound_of_a_shared_event_reaches_back_to_the_poll_before():
    for since_ms in (24, -24):
        got = decode((10, 0, 9, chunk(A)), (30, 1, since_ms, chunk(B) + chunk(C)))
        assert got.shared == [0, 1, 0]
        assert got.bounds_us == [0, 5000, 0]


def test_a_bound_is_rounded_up():
    got = decode((10, 0, 9, chunk(A)), (30, 0, 24.9999, chunk(B) + chunk(C)))
    assert got.bounds_us == [0, 5001, 0]


def test_the_bound_of_a_shared_event_never_reaches_back_behind_the_read_before():
    got = decode((10, 0, 9, chunk(A)), (30, 1, 2, chunk(B) + chunk(C)))
    assert got.bounds_us == [0, 19_000, 0]


def test_the_bound_of_the_first_events_reaches_back_to_the_send_at_most():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + 8 * MS, 0, 0, HEAD + chunk(A + B))
    decoder.close(close_meta())
    assert decoder.take_tokens()["bound_us"].tolist() == [8000, 0]


def test_an_event_that_the_end_of_the_stream_completes_has_the_last_reads_stamp():
    got = decode((10, 0, 9, chunk(A)), (20, 0, 15, chunk(B + C.rstrip())), (25, 0, 24, END))
    assert got.ms == [10, 20, 25]


def test_an_event_completed_by_the_end_shares_the_last_read():
    got = decode((10, 0, 9, chunk(A)), (20, 0, 15, chunk(B + C.rstrip())))
    assert got.ms == [10, 20, 20]
    assert got.shared == [0, 1, 0]
    assert got.bounds_us == [0, 5000, 0]


def test_tokens_are_taken_once():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + MS, 0, 0, HEAD + chunk(A))
    first = decoder.take_tokens()
    assert len(decoder.take_tokens()) == 0
    decoder.read(SEND_NS + 5 * MS, 0, 0, chunk(B))
    second = decoder.take_tokens()
    assert first["seq"].tolist() + second["seq"].tolist() == [0, 1]
    assert second["gap_us"].tolist() == [4000]
