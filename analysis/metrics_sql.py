"""A metric as a whole question in SQL, ready for the SQL page: of one level, over its window."""

from dataclasses import dataclass

from analysis.goodput import OF_GAPS
from analysis.metrics import METRICS, Metric
from analysis.slo import judged_metric
from loadgen.plan import Slo

# A request counts where it was due (else sent), whenever it ended; warm-up never.
_LEVEL = """\
WITH w AS (
    SELECT run_id, {stage} AS stage, {w0} AS w0, {w1} AS w1
    FROM runs WHERE run_uid = '{uid}'),
load AS (
    SELECT * FROM request_times JOIN w USING (run_id, stage)
    WHERE phase <> 'preflight'{only}),
asked AS (
    SELECT * FROM load WHERE phase <> 'warmup' AND asked_us >= w0 AND asked_us < w1)
"""
_PERCENTILES = """\
SELECT count(v) AS n, count(*) - count(v) AS undefined, avg(v) AS mean,
    quantile_cont(v, 0.5) AS p50, quantile_cont(v, 0.9) AS p90,
    quantile_cont(v, 0.95) AS p95, quantile_cont(v, 0.99) AS p99
FROM (
    SELECT {expression} AS v
    FROM asked WHERE outcome = 'complete')"""


@dataclass(frozen=True, slots=True)
class Level:
    """What a question is about: a stage of a run, its window in µs, one class or all, its SLOs."""

    uid: str
    stage: int
    w0_us: int
    w1_us: int
    traffic: str | None = None
    slos: tuple[Slo, ...] = ()
    kind: str = "closed"


def question(metric: Metric, of: Level) -> str:
    """The SELECT that gives the metric's numbers for the level, in the metric's unit.

    Of metrics per request: n, undefined, mean and percentiles of complete answers; of others a
    `value`.  Needs the run's summaries, and for chunk_gap, itl and output TPS its token events.
    """
    only = "" if of.traffic is None else f" AND traffic_class = {_text(of.traffic)}"
    level = _LEVEL.format(stage=of.stage, w0=of.w0_us, w1=of.w1_us, uid=of.uid, only=only)
    if metric.per == "request":
        return level + _PERCENTILES.format(expression=metric.sql)
    sql = metric.sql.replace("{objectives}", objectives(of.slos, of.kind))
    # A question that begins with tables of its own adds them to the level's.
    return f"{level.rstrip()},\n{sql[5:]}" if sql.startswith("WITH ") else level + sql


def objectives(slos: tuple[Slo, ...], kind: str) -> str:
    """A condition on a request: it meets each objective that applies to it."""
    names = [OF_GAPS.get(slo.metric) or judged_metric(slo, kind) for slo in slos]
    held = [
        f"coalesce({METRICS[name].sql} <= {slo.max_ms:g}, true)"
        for name, slo in zip(names, slos, strict=True)
    ]
    return " AND ".join(held) or "true"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
