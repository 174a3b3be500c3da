"""How many streams were in flight, measured: a sweep over every send and every end."""

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats


def in_flight_area(requests: pd.DataFrame, edges: Floats) -> Floats:
    """∫ in-flight dt from the first edge to each edge, exact: streams times µs."""
    sent, ended = floats(requests, "send_us"), floats(requests, "end_us")
    both = ~np.isnan(sent) & ~np.isnan(ended)
    sent, ended = np.sort(sent[both]), np.sort(ended[both])

    def area(instants: Floats) -> Floats:
        # Σ max(0, edge - instant): each started stream has been counted since its instant.
        count = np.searchsorted(instants, edges)
        return count * edges - np.r_[0.0, np.cumsum(instants)][count]

    total = area(sent) - area(ended)
    return total - total[0]


def mean_in_flight(requests: pd.DataFrame, begin_us: float, end_us: float) -> float:
    """Streams in flight on average over [begin_us, end_us), every outcome counted (sweep line)."""
    edges = np.array([begin_us, end_us], dtype="float64")
    return float(np.diff(in_flight_area(requests, edges))[0] / np.diff(edges)[0])
