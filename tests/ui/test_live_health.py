import pytest

from tests.ui.run_folders import append, live_line, pulse
from ui.live_feed import LiveFeed
from ui.live_health import live_health
from ui.live_view import live_series, live_tiles


def health(tmp_path, ended=False, **changed):
    append(tmp_path, *(live_line(t, **changed) for t in range(1, 4)))
    live = LiveFeed(tmp_path).read()
    return live_health(live, live_tiles(live, live_series(live, 0), 0), "kernel", ended=ended)


def test_a_second_without_lateness_is_healthy(tmp_path):
    tone, words, _ = health(tmp_path)
    assert (tone, words) == ("green", "Load generator healthy: times are exact")


def test_many_shared_reads_are_never_called_healthy(tmp_path):
    tone, words, reason = health(tmp_path, shared=4)
    assert tone == "orange"
    assert "healthy" not in words
    assert reason == (
        "Not yet known: 4 % of the tokens shared a read; the run's page will say how much that "
        "matters."
    )


def test_once_the_run_has_ended_its_page_knows(tmp_path):
    tone, words, reason = health(tmp_path, ended=True, shared=4)
    assert tone == "orange"
    assert "not yet" not in (words + reason).lower()
    assert "the run's page says how much" in reason


def test_few_shared_reads_leave_it_healthy(tmp_path):
    assert health(tmp_path, shared=1)[0] == "green"


@pytest.mark.parametrize("late", ["read_lag_p99_us", "hub_late_max_us"])
def test_a_late_read_alone_moves_no_kernel_stamp_and_casts_no_doubt(tmp_path, late):
    assert health(tmp_path, pulse=pulse(3, **{late: 20_000}))[0] == "green"


def test_shared_reads_do_not_hide_what_is_certain(tmp_path):
    assert health(tmp_path, shared=4, missing_stamps=50)[0] == "red"
