"""METRICS: each number Headway shows, said once.

docs/metrics.md, the tables of the Run page, the objectives' form, `show` and its JSON, and what
compares, reports or exports runs read this dict.  A new metric per request is one function in
per_request*.py and one entry in metrics_*.py.
"""

from analysis.metric import Metric
from analysis.metrics_client import CLIENT
from analysis.metrics_gap import GAPS, STALLS_MS
from analysis.metrics_latency import LATENCY
from analysis.metrics_stream import STREAM
from analysis.metrics_system import SYSTEM

__all__ = ["METRICS", "STALLS_MS", "Metric"]

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*LATENCY, *GAPS, *STREAM, *CLIENT, *SYSTEM)
}
