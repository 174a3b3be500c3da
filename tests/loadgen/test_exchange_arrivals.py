"""Which instant an event gets, and how much doubt there is about it."""

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

A, B, C = content("A"), content("B"), content("C")


def decode(*reads: tuple[float, float, float, bytes]) -> Decoded:
    """(read at ms, ms after its kernel stamp or -1, the poll before at ms, bytes)."""
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + MS, 0, SEND_NS, HEAD)
    for read_ms, delay_ms, poll_ms, data in reads:
        delay_ns = -1 if delay_ms < 0 else round(delay_ms * MS)
        decoder.read(SEND_NS + round(read_ms * MS), delay_ns, SEND_NS + round(poll_ms * MS), data)
    row = decoder.close(close_meta())
    return Decoded(row, decoder.take_tokens())


def test_the_arrival_is_the_kernels_stamp_and_the_lag_is_kept():
    got = decode((10, 2.5, 9, chunk(A)), (30, 0.001, 29, chunk(B)))
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
    got = decode((10, 0, 9, chunk(A)), (12, 5, 11, chunk(B)), (13, 0, 12, chunk(C)))
    assert got.ms == [10, 10, 13]


def test_a_gap_is_the_difference_of_the_stored_instants():
    got = decode((10.0019, 0, 9, chunk(A)), (10.0021, 0, 10, chunk(B)))
    assert got.tokens["gap_us"].tolist() == [-1, 1]


def test_an_event_is_shared_if_a_later_token_came_in_its_read():
    got = decode((10, 0, 9, chunk(A) + chunk(B)), (20, 0, 19, chunk(C)))
    assert got.shared == [1, 0, 0]
    assert got.row.n_shared == 1


def test_other_events_in_a_read_cast_no_doubt_on_its_token():
    got = decode(
        (10, 0, 9, chunk(ROLE + A)), (20, 0, 19, chunk(B + FINISH + usage_event(2) + DONE))
    )
    assert got.shared == [0, 0]
    assert got.bounds_us == [0, 0]


def test_a_read_that_goes_on_into_the_next_event_casts_no_doubt():
    later = chunk(B)
    got = decode((10, 0, 9, chunk(A) + later[:30]), (20, 0, 19, later[30:]))
    assert got.shared == [0, 0]


def test_the_bound_of_a_shared_event_reaches_back_to_the_poll_before():
    got = decode((10, 0, 9, chunk(A)), (30, 1, 24, chunk(B) + chunk(C)))
    assert got.shared == [0, 1, 0]
    assert got.bounds_us == [0, 5000, 0]


def test_the_bound_of_a_shared_event_never_reaches_back_behind_the_read_before():
    got = decode((10, 0, 9, chunk(A)), (30, 1, 2, chunk(B) + chunk(C)))
    assert got.bounds_us == [0, 19_000, 0]


def test_the_bound_of_the_first_events_reaches_back_to_the_send_at_most():
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    decoder.read(SEND_NS + 8 * MS, 0, 0, HEAD + chunk(A + B))
    decoder.close(close_meta())
    assert decoder.take_tokens()["bound_us"].tolist() == [8000, 0]


def test_a_poll_later_than_the_stamp_bounds_to_nothing():
    got = decode((30, 5, 29, chunk(A) + chunk(B)))
    assert got.shared == [1, 0]
    assert got.bounds_us == [0, 0]


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
