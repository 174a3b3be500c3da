import numpy as np

from tests.ui.run_folders import append, live_line, pulse
from ui.live_arrivals import arrivals, recent
from ui.live_feed import LiveFeed


def arrivals_of(tmp_path, last_s):
    return arrivals(LiveFeed(tmp_path).read(), np.arange(0.0, last_s + 1))


def counted(t_s, sent, not_sent=0):
    return live_line(t_s, pulse=pulse(t_s, sent=sent, not_sent=not_sent))


def test_what_was_offered_is_what_was_sent_and_what_was_not(tmp_path):
    append(tmp_path, counted(0, 0), counted(1, 10), counted(2, 18, 2), counted(3, 20, 10))
    seen = arrivals_of(tmp_path, 3)
    assert seen.sent_per_s == [10, 8, 2]
    assert seen.not_sent_per_s == [0, 2, 8]
    assert seen.offered_per_s == [10, 10, 10]


def test_workers_add_up(tmp_path):
    for worker in (0, 1):
        append(tmp_path, counted(0, 0), counted(1, 10), counted(2, 20), worker=worker)
    assert arrivals_of(tmp_path, 2).offered_per_s == [20, 20]


def test_a_second_without_a_pulse_yet_is_unknown_and_not_zero(tmp_path):
    append(tmp_path, counted(0, 0), counted(1, 10), live_line(2, pulse=None))
    assert arrivals_of(tmp_path, 2).sent_per_s == [10, None]


def test_before_the_first_line_nothing_is_known(tmp_path):
    assert arrivals_of(tmp_path, 0).offered_per_s == []


def test_the_recent_mean_is_of_what_is_known():
    assert recent([1, 2, 4, None], 2) == 3
    assert recent([None], 5) is None
