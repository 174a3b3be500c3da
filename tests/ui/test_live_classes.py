import pytest

from storage.buckets import bucket
from tests.ui.run_folders import append, live_line
from ui.live_classes import live_classes
from ui.live_feed import LiveFeed

FAST, SLOW = ({str(int(bucket(us))): 3} for us in (80_000, 900_000))


def test_a_plan_without_classes_has_no_rows(tmp_path):
    append(tmp_path, live_line(1), live_line(2))
    assert live_classes(LiveFeed(tmp_path).read(), (0, 2)) == []


def test_each_class_has_its_own_counts_and_percentiles(tmp_path):
    chat = {"outcomes": {"complete": 3, "not_sent": 2}, "ttft": FAST, "ttft_sched": SLOW}
    nightly = {"outcomes": {"complete": 1, "timeout": 2}, "ttft": SLOW, "ttft_sched": {}}
    append(tmp_path, live_line(1, classes={"nightly": nightly}), live_line(2))
    append(tmp_path, live_line(3, classes={"chat": chat, "nightly": nightly}))
    first, second = live_classes(LiveFeed(tmp_path).read(), (0, 3))
    assert (first.name, first.complete, first.failed, first.not_sent) == ("chat", 3, 0, 2)
    assert (second.name, second.complete, second.failed) == ("nightly", 2, 4)
    assert first.ttft_sched_p95_ms == pytest.approx(900, rel=0.011)
    assert first.ttft_p95_ms == pytest.approx(80, rel=0.011)
    assert second.ttft_sched_p95_ms is None
