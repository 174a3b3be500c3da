import pytest
from made import SECOND, UID, Made, back_to_back, plan, row, stage

from analysis.show import show
from analysis.text import text


def printed(rows, **changes):
    return text(show(Made(rows, [stage(0, "c=1", 0, 56 * SECOND)], plan(**changes)).ask, UID))


@pytest.fixture(scope="module")
def steady():
    return printed(back_to_back(200))


def test_validity_and_verdict_come_before_any_number(steady):
    lines = steady.splitlines()
    names = [line.split(" ")[0] for line in lines[:5]]
    assert names == ["Run", "Target", "Started", "Validity", "Verdict"]
    assert "exact: Every arrival" in lines[3]


def test_each_metric_has_its_unit_n_and_interval(steady):
    lines = steady.splitlines()
    ttft = next(line for line in lines if line.strip().startswith("Time to first token"))
    assert ttft.split() == [
        "Time", "to", "first", "token", "ms", "193", "100", "100", "100", "[100,", "100]", "100",
        "[100,", "–]", "100",
    ]  # fmt: skip
    assert any(line.startswith("  System output TPS: 35.7") for line in lines)


def test_a_percentile_that_its_samples_cannot_carry_is_in_brackets():
    ttft = next(
        line
        for line in printed(back_to_back(10)).splitlines()
        if line.strip().startswith("Time to first token")
    )
    assert "(100)" in ttft


def test_what_is_not_defined_is_listed_not_printed_as_zero(steady):
    assert "Not defined here: Thinking time, TTFT from schedule" in steady
    assert "nan" not in steady.lower()


def test_a_pace_shows_its_slow_end(steady):
    assert "p5 [95 % interval]" in steady


def test_an_endpoints_text_cannot_drive_the_terminal():
    rows = [row(i, i, outcome="http_error", detail="\x1b[2J\nfake: exact") for i in range(3)]
    found = printed(rows)
    assert "\x1b" not in found
    assert "fake: exact" not in found.splitlines()


def test_failures_show_what_percentiles_would_be_with_them():
    rows = [*back_to_back(200), row(900, 30 * SECOND, outcome="timeout", end_us=31 * SECOND)]
    assert "Time to first token, each failure as never: p50 100" in printed(rows)


def test_a_run_that_failed_before_any_load_says_why_and_nothing_else():
    shown = show(Made([], []).ask, UID)
    shown["run"] |= {"state": "failed", "message": "The endpoint refused the connection."}
    found = text(shown)
    assert "Ended     The endpoint refused the connection." in found.splitlines()
    assert "No request was sent" not in found
    assert "Percentiles:" not in found


def test_a_run_that_a_limit_ended_says_so_beside_its_figures():
    shown = show(Made(back_to_back(9), [stage(0, "c=1", 0, 9 * SECOND)]).ask, UID)
    shown["run"] |= {"state": "finished", "message": "Ended by limits.requests (7) after 7."}
    assert "Ended     Ended by limits.requests (7) after 7." in text(shown).splitlines()
    shown["run"]["message"] = "All levels were measured."
    assert "Ended" not in text(shown)


def test_an_empty_run_prints():
    assert "No request was sent." in text(show(Made([], []).ask, UID))


def test_what_is_unusual_on_the_way_to_the_server_stands_beside_its_name(steady):
    made = Made(back_to_back(30), [stage(0, "c=1", 0, 9 * SECOND)])
    made.cursor.execute(
        "UPDATE runs SET insecure = true, http = '2', proxy = 'proxy:3128', "
        """dropped_fields = '["ignore_eos"]', self_test = '{"sentence": "Drip ok."}'"""
    )
    told = text(show(made.ask, UID))
    way = "HTTP/2, through the proxy proxy:3128, CERTIFICATE NOT VERIFIED, without ignore_eos"
    assert f"({way})" in told
    assert "Self-test Drip ok." in told
    assert "NOT VERIFIED" not in steady


def test_connections_that_are_opened_for_each_request_are_told_beside_the_target():
    target = printed(back_to_back(3), connections="cold").splitlines()[1]
    assert "(a connection for each request, within its TTFT)" in target
    assert "connection" not in printed(back_to_back(3)).splitlines()[1]
