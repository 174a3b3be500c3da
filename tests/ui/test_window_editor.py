from ui.window_editor import headline, is_movable, moved_us, step_s, window_s

WINDOW = {
    "begin_us": 52_000_000,
    "end_us": 90_000_000,
    "level_us": [50_500_000, 91_000_000],
    "by": "automatic",
}


def test_seconds_of_the_level_and_microseconds_of_the_run_are_each_other():
    assert window_s(WINDOW) == (1.5, 39.5)
    assert moved_us(WINDOW, 1.5, 39.5) == (52_000_000, 90_000_000)


def test_a_window_never_leaves_its_level():
    assert moved_us(WINDOW, -3, 99) == (50_500_000, 91_000_000)


def test_a_short_level_is_cut_in_tenths():
    assert (step_s(45.0), step_s(3.0)) == (1.0, 0.1)


def test_what_is_shown_whole_has_no_handles():
    assert is_movable(WINDOW)
    assert not is_movable(WINDOW | {"by": "whole"})


def test_the_closed_box_says_how_long_by_whom_and_how_many_checks_hold():
    checks = {"a": {"holds": True}, "b": {"holds": None}, "c": {"holds": False}}
    level = {"window": WINDOW | {"by": "hand"}, "window_s": 38.0, "checks": checks}
    assert headline(level) == "Window: 38.0 s, set by hand · 1 of 2 checks hold"
    level |= {"window_s": None, "window": WINDOW | {"by": "whole"}}
    assert headline(level).startswith("Window: the whole level")
    level["checks"] = {"a": {"holds": None}}
    assert headline(level) == "Window: the whole level · nothing can be checked"
