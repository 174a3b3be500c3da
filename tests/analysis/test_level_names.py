import pytest
from made import SECOND, UID, Made, back_to_back, stage

from analysis.chart_frames import gap_histogram, latency_samples, load_curve
from analysis.level_names import unique_names
from analysis.reading import read
from analysis.show import show_of


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        ([], []),
        (["c=1", "c=4"], ["c=1", "c=4"]),
        (["c=4", "c=1", "c=4", "c=4"], ["c=4", "c=1", "c=4 (2)", "c=4 (3)"]),
        (["5/s (2)", "5/s", "5/s"], ["5/s (2)", "5/s", "5/s (3)"]),
    ],
)
def test_a_name_met_again_is_counted(names, unique):
    assert unique_names(names) == unique


def test_the_same_load_measured_twice_is_two_levels_everywhere():
    rows = [*back_to_back(10), *back_to_back(30, stage=1, begin_us=10 * SECOND, ttft_us=50_000)]
    stages = [
        stage(0, "c=4", 0, rows[9]["end_us"]),
        stage(1, "c=4", 10 * SECOND, rows[-1]["end_us"]),
    ]
    reading = read(Made(rows, stages).ask, UID)
    levels = show_of(reading)["levels"]
    assert [level["stage"] for level in levels] == ["c=4", "c=4 (2)"]
    for drawn in (latency_samples(reading), gap_histogram(reading), load_curve(levels)):
        assert drawn["level"].unique().tolist() == ["c=4", "c=4 (2)"]
