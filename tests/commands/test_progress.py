"""The progress line says what the live files say."""

from commands.progress import Progress

STATUS = {
    "state": "running",
    "stage": 1,
    "n_stages": 3,
    "stage_name": "c=4",
    "message": "",
    "in_flight": 4,
    "done": 20,
    "failed": 1,
}


def live(t_s, tokens, ttft, stage=1, outcomes=None):
    return {
        "t_us": t_s * 1_000_000,
        "tokens": tokens,
        "ttft": ttft,
        "pulse": {"stage": stage},
        "outcomes": outcomes or {},
    }


def test_a_line_without_live_data_claims_no_rate():
    assert Progress().line(STATUS) == "stage 2/3 c=4 · 4 in flight · 0 complete · 0 failed"


def test_rate_and_ttft_come_from_the_live_lines():
    progress = Progress()
    progress.add([live(1, 300, {"0": 5}), live(2, 300, {"400": 5}), live(3, 300, {})])
    assert progress.tokens_per_s() == 300
    line = progress.line(STATUS)
    assert "300 tok/s" in line
    assert "TTFT p95 2.7 ms" in line  # 1.02 ** 399 * 2 / 2.02 µs


def test_a_silent_stream_lowers_the_rate():
    progress = Progress()
    progress.add([live(1, 900, {}), live(9, 0, {})])
    assert progress.tokens_per_s() == 0


def test_ttft_starts_anew_with_each_stage():
    progress = Progress()
    progress.add([live(1, 1, {"500": 9}, stage=0), live(2, 1, {}, stage=1)])
    assert progress.ttft_p95_ms() is None


def test_before_the_start_the_message_stands_alone():
    status = {**STATUS, "state": "queued", "message": "Waiting for run abc to end."}
    assert Progress().line(status) == "Waiting for run abc to end."


def test_an_answer_with_an_error_in_it_is_no_complete_one():
    progress = Progress()
    progress.add([live(1, 0, {}, outcomes={"complete": 17, "stream_error": 3, "cancelled": 2})])
    progress.add([live(2, 0, {}, outcomes={"empty": 1})])
    assert "17 complete · 4 failed" in progress.line(STATUS)


def test_the_same_load_again_has_a_name_of_its_own():
    progress = Progress()
    progress.line(STATUS | {"stage": 0})
    assert progress.line(STATUS).startswith("stage 2/3 c=4 (2) ")
    assert progress.line(STATUS).startswith("stage 2/3 c=4 (2) ")


def test_in_open_loop_ttft_counts_from_schedule():
    progress = Progress()
    progress.add([live(1, 1, {"400": 5}) | {"ttft_sched": {"600": 5}}])
    assert progress.line(STATUS).endswith("TTFT p95 140 ms from schedule")
    progress.add([live(2, 1, {"400": 5}, stage=2)])  # a closed one
    assert progress.line(STATUS).endswith("TTFT p95 2.7 ms")


def test_arrivals_that_were_not_sent_are_told_apart_from_failures():
    progress = Progress()
    progress.add([live(1, 0, {}, outcomes={"complete": 2, "timeout": 1, "not_sent": 7})])
    assert "2 complete · 1 failed · 7 not sent" in progress.line(STATUS)


def test_a_search_tells_what_it_knows_and_nobody_knows_how_many_levels_there_will_be():
    known = {"kind": "search", "is_done": False, "low": 6, "high": 12, "over": "concurrency"}
    status = STATUS | {"n_stages": None, "search": [known]}
    said = "stage 2 c=4 (holds at 6, fails at 12 streams so far) · 4 in flight"
    assert Progress().line(status).startswith(said)
