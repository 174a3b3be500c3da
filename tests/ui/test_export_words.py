"""What the Run page's Export says of a run that has lost its token events."""

import math

import pytest

from ui.export_view import removed


@pytest.mark.parametrize("at_ns", [None, math.nan])
def test_a_whole_run_has_lost_nothing(at_ns):
    assert removed({"raw_dropped_epoch_ns": at_ns}, "zip") == ""


def test_removed_token_events_are_told_where_they_would_be():
    run = {"raw_dropped_epoch_ns": 1.7e18}
    assert "token events were removed on 2023-11-14: none" in removed(run, "zip")
    assert removed(run, "json") == ""
