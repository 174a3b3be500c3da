"""Bins of histograms: a second, longer in a run of hours."""

import pytest
from made_up_runs import RunFolder, Stream

from storage.finalise_hist import bin_s

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("hours", "seconds"), [(0.0, 1), (1.0, 1), (1.01, 10), (10.0, 10), (10.1, 60), (500.0, 60)]
)
def test_bins_grow_with_the_run(hours, seconds):
    assert bin_s(hours * 3600) == seconds


def test_a_run_of_hours_is_summed_up_by_ten_seconds_its_arrivals_by_one(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0, send_us=17 * SECOND), Stream(1, send_us=4_003 * SECOND)])
    run.end()
    tables.turn()
    secs = tables.sql("SELECT DISTINCT metric, sec FROM hist ORDER BY 1, 2")
    assert secs == [(m, s) for m in ("bound", "gap", "itl", "lag") for s in (10, 4000)]
    assert tables.sql("SELECT sec FROM tok_sec ORDER BY 1") == [(17,), (4003,)]
