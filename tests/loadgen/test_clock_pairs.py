"""A wall clock that is set during a run is noticed, and no time moves with it."""

import pytest
from exchanges import DONE, FINISH, HEAD, MS, ROLE, SEND_NS, chunk, close_meta, content, open_meta

from loadgen.clock_pairs import ClockPair, clock_pairs, clock_report, note_clocks, step_sentence
from loadgen.exchange import ExchangeDecoder
from loadgen.run_folder import RunFolder
from loadgen.wire.registry import APIS

HOUR_NS = 3_600_000_000_000
EPOCH_NS = 1_700_000_000_000_000_000


def report_of(step_ns, who="worker 0"):
    start = ClockPair(who, 5, EPOCH_NS)
    return clock_report([start, ClockPair(who, 5 + HOUR_NS, EPOCH_NS + HOUR_NS + step_ns)])


@pytest.mark.parametrize(
    ("step_ns", "words"),
    [
        (0, ""),
        (49_000_000, ""),
        (-49_000_000, ""),
        (3_000_000_000, "+3,000 ms"),
        (-3_000_000_000, "-3,000 ms"),
    ],
)
def test_a_step_of_more_than_50_ms_is_said(step_ns, words):
    report = report_of(step_ns)
    assert report[0]["step_ms"] == step_ns / 1e6
    said = step_sentence(report)
    assert bool(said) == bool(words)
    assert words in said


def test_the_largest_step_of_any_process_is_the_one_said():
    both = report_of(60_000_000) + report_of(-70_000_000, "worker 1")
    assert "-70 ms" in step_sentence(both)


def test_a_process_that_was_killed_has_no_end_and_no_step():
    report = clock_report([ClockPair("worker 0", 1, EPOCH_NS)])
    assert report == [{"who": "worker 0", "start": [1, EPOCH_NS], "end": None, "step_ms": None}]
    assert step_sentence(report) == ""


def test_pairs_are_kept_in_the_run_and_a_half_line_is_none(tmp_path):
    folder = RunFolder(tmp_path)
    assert clock_pairs(folder) == []
    note_clocks(folder, "leader")
    note_clocks(folder, "leader")
    with (tmp_path / "clocks.jsonl").open("a") as file:
        file.write('{"who": "wor')
    first, second = clock_pairs(folder)
    assert first.mono_ns < second.mono_ns
    assert abs(clock_report([first, second])[0]["step_ms"]) < 50


@pytest.mark.parametrize("step_ms", [-3_000, 3_000])
def test_a_step_while_tokens_come_changes_no_gap_but_at_its_own_moment(step_ms):
    """Reads 20 ms apart, 1 µs after their stamps; the clock is set between one stamp and its read.

    Set forward, the read seems to lie 3 s after its stamp; set back, before it: no stamp then.
    """
    delays_ns = [1000] * 10
    delays_ns[5] = 1000 + step_ms * MS if step_ms > 0 else -1
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), SEND_NS)
    decoder.read(SEND_NS + 10 * MS, 1000, SEND_NS, HEAD + chunk(ROLE))
    for k, delay_ns in enumerate(delays_ns):
        at_ns = SEND_NS + (20 + 20 * k) * MS
        decoder.read(at_ns, delay_ns, at_ns - 500, chunk(content(f"{k}")))
    end_ns = SEND_NS + 220 * MS
    decoder.read(end_ns, 1000, end_ns - 500, chunk(FINISH + DONE) + b"0\r\n\r\n")
    row = decoder.close(close_meta("done") | {"end_ns": end_ns})
    gaps_us = decoder.take_tokens()["gap_us"].tolist()
    assert [gap for k, gap in enumerate(gaps_us) if k not in (0, 5, 6)] == [20_000] * 7
    assert gaps_us[5] + gaps_us[6] == 40_000
    assert gaps_us[5] >= 0
    assert row.send_us < row.first_token_us < row.last_token_us < row.end_us
