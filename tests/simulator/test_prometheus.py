"""Prometheus text."""

from simulator.prometheus import Exposition, Histogram


def test_a_histogram_counts_a_bound_as_below_it_and_accumulates():
    histogram = Histogram((0.1, 1.0))
    for value, times in ((0.1, 1), (0.5, 2), (7.0, 1)):
        histogram.observe(value, times)
    page = Exposition({"model_name": "m"})
    page.histogram("h", "Some times.", histogram)
    assert page.text() == (
        "# HELP h Some times.\n"
        "# TYPE h histogram\n"
        'h_bucket{model_name="m",le="0.1"} 1.0\n'
        'h_bucket{model_name="m",le="1.0"} 3.0\n'
        'h_bucket{model_name="m",le="+Inf"} 4.0\n'
        'h_count{model_name="m"} 4.0\n'
        'h_sum{model_name="m"} 8.1\n'
    )


def test_labels_are_escaped():
    page = Exposition({"model_name": 'a "b"\\c\n'})
    page.counters("n_total", "Some.", ("why", {"x": 1, "y": 2}))
    assert page.text().splitlines()[2:] == [
        r'n_total{model_name="a \"b\"\\c\n",why="x"} 1.0',
        r'n_total{model_name="a \"b\"\\c\n",why="y"} 2.0',
    ]
