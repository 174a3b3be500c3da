from bench.figures import Figure, over_runs, table


def test_a_figure_knows_whether_it_reached_what_was_asked():
    assert Figure("x", 0.3, "ms", "<= 0.3").reached is True
    assert Figure("x", 19_999, "/s", ">= 20000").reached is False
    assert Figure("x", 1, "ms").reached is None


def test_several_runs_are_judged_by_their_median_and_show_their_spread():
    (row,) = over_runs([[Figure("x", v, "ms", "<= 3")] for v in (1.0, 9.0, 2.0)])
    assert (row.median, row.least, row.most, row.n_runs, row.reached) == (2.0, 1.0, 9.0, 3, True)


def test_the_table_marks_what_was_missed():
    text = table("bench", over_runs([[Figure("late", 4, "ms", "<= 3"), Figure("other", 1, "")]]))
    assert "late" in text
    assert "asked <= 3  MISSED" in text
    assert text.count("MISSED") == 1
