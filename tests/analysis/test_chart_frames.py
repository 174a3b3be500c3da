"""Frames for charts: the load generator's worst worker of each second."""

import numpy as np
import pandas as pd

from analysis.chart_frames import generator_health


def beat(worker, second, lag_us=100, **more):
    row = {"worker": worker, "t_us": second * 1_000_000 + 5, "read_lag_p99_us": lag_us}
    row |= {"hub_late_max_us": 1000, "gc_pause_max_us": None, "send_lag_p99_us": None}
    return row | {"cpu_share": 0.5} | more


def test_each_second_shows_its_worst_worker():
    pulses = pd.DataFrame([beat(0, 3), beat(1, 3, lag_us=9000, cpu_share=0.7), beat(0, 4)])
    doubt = pd.DataFrame(
        {"worker": [0, 1], "sec": [3, 3], "events": [10, 10], "shared": [0, 2]}
        | {"bound_p99_us": [0, 400]}
    )
    frame = generator_health(pulses, doubt)
    assert list(frame["sec"]) == [3.0, 4.0]
    assert list(frame["lag_ms"]) == [9.0, 0.1]
    assert list(frame["cpu_share"]) == [0.7, 0.5]
    assert frame["bound_ms"].tolist()[0] == 0.4
    assert frame["shared_share"].tolist()[0] == 0.2
    assert np.isnan(frame["bound_ms"][1])  # nothing arrived in that second
    assert frame["send_lag_ms"].isna().all()


def test_seconds_without_a_pulse_still_show_their_arrivals():
    doubt = pd.DataFrame({"worker": [0], "sec": [7], "events": [1], "shared": [0]})
    frame = generator_health(pd.DataFrame([beat(0, 3)]), doubt.assign(bound_p99_us=0))
    assert list(frame["sec"]) == [3.0, 7.0]
    assert np.isnan(frame["lag_ms"][1])


def test_no_records_no_rows():
    assert not len(generator_health(pd.DataFrame(), pd.DataFrame()))
