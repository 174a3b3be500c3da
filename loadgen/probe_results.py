"""What the decoders say of one level: which requests were over a limit, and the level's pace."""

from typing import Any, NamedTuple

from loadgen.objectives import Objective
from loadgen.probe_rows import ENDED, OF_GAPS

COMPLETE, CANCELLED = "complete", "cancelled"


class Began(NamedTuple):
    """A request of the level, in the order in which they were asked for."""

    asked_us: int
    request_id: int
    traffic_class: str


class LevelSeen:
    """One level, filled with the live lines of all workers while it goes on.

    streams: class -> how many, of the classes in closed loop; the others follow a schedule.
    Streams begin together, which no load over time does, so each one's first is not judged.
    """

    def __init__(self, stage: int, streams: dict[str, int], gap_limits_us: list[int]) -> None:
        self._stage = stage
        self.streams = streams
        self._gap_limits_us = gap_limits_us
        self._began: dict[int, Began] = {}
        self._warmup: dict[int, Began] = {}
        self._warmed_up: list[tuple[Began, int]] = []  # with their ends, in us
        self._ended: dict[int, dict[str, Any]] = {}
        self._gaps: dict[int, list[int]] = {}
        self._newest_us: dict[int, int] = {}

    def add(self, lines_by_worker: dict[int, list[dict[str, Any]]]) -> None:
        """Takes in what storage.live.LiveTail.read_by_worker() returned."""
        for worker, lines in lines_by_worker.items():
            for line in lines:
                pulse_us = line["pulse"]["t_us"] if line.get("pulse") else 0
                newest_us = self._newest_us.get(worker, 0)
                self._newest_us[worker] = max(line["t_us"], pulse_us, newest_us)
                if rows := line.get("requests"):
                    self._take(rows)

    def is_known_until(self, t_us: int, workers: list[int]) -> bool:
        """Whether everything until then is decoded, of these workers."""
        return all(self._newest_us.get(worker, -1) >= t_us for worker in workers)

    @property
    def n_complete(self) -> int:
        """Answers that came as they should."""
        return sum(row["outcome"] == COMPLETE for row in self._ended.values())

    @property
    def n_ended(self) -> int:
        """Requests that ended somehow."""
        return len(self._ended)

    def missed(self, objective: Objective, is_over: bool = False) -> list[float | None]:
        """The measured requests of the objective's class, in the order in which they were asked.

        1: over the limit, or failed; 0: within it; of chunk gaps the share that was over; None: not
        known yet.  is_over: what is not known now never will be, and is left out.  A request that
        has no such metric (one token has no TPOT) is left out too.
        """
        name = objective.traffic_class
        after_first = self._of_class(name)[self.streams.get(name, 0) :]
        judged = [self._judged(began, objective) for began in after_first]
        known = [value for value in judged if value != _NONE]
        return [value for value in known if value is not None] if is_over else known

    def tokens_per_s(self, issue_us: tuple[int, int]) -> float | None:
        """Output tokens per second of the whole level; None if nothing was completed.

        issue_us: the time in which requests were begun, without the warm-up.  Closed loop by
        Little's law, mean in flight x tokens per second of one stream: streams that begin together
        answer together, and a window of time would hold one such wave more or less.  Open loop by
        what ended in the second half of that time.
        """
        if not self.n_complete or issue_us[1] <= issue_us[0]:
            return None
        half_us = (issue_us[0] + issue_us[1]) / 2
        scheduled = sum(
            _tokens(row)
            for request_id, row in self._ended.items()
            if self._began[request_id].traffic_class not in self.streams
            and half_us < row["end_us"] <= issue_us[1]
        )
        paces = [self._pace(name, issue_us) for name in self.streams]
        return sum(paces) + scheduled * 1e6 / (issue_us[1] - half_us)

    def _pace(self, name: str, issue_us: tuple[int, int]) -> float:
        """Of one class of a closed loop."""
        mine = [
            (began.asked_us, row)
            for began in self._of_class(name)
            if (row := self._ended.get(began.request_id))
        ]
        begin_us, end_us = issue_us
        spans = [(asked_us, row["end_us"]) for asked_us, row in mine]
        spans += [
            (began.asked_us, t) for began, t in self._warmed_up if began.traffic_class == name
        ]
        within_us = sum(max(0, min(to, end_us) - max(since, begin_us)) for since, to in spans)
        judged = mine[self.streams[name] :] or mine
        spent_us = sum(row["end_us"] - asked_us for asked_us, row in judged)
        tokens = sum(_tokens(row) for _, row in judged)
        return within_us / (end_us - begin_us) * tokens * 1e6 / spent_us if spent_us else 0.0

    def _take(self, rows: dict[str, Any]) -> None:
        for request_id, stage, name, is_measured, asked_us in rows["began"]:
            if stage == self._stage:
                one = Began(asked_us, request_id, name)
                (self._began if is_measured else self._warmup)[request_id] = one
        for row in rows["ended"]:
            values: dict[str, Any] = dict(zip(ENDED, row, strict=True))
            if row[0] in self._began:
                self._ended[row[0]] = values
            elif row[0] in self._warmup:
                self._warmed_up.append((self._warmup.pop(row[0]), values["end_us"]))
        for request_id, *counts in rows.get("gaps", ()):
            if request_id in self._began:
                before = self._gaps.get(request_id, [0] * len(counts))
                self._gaps[request_id] = [a + b for a, b in zip(before, counts, strict=True)]

    def _of_class(self, name: str) -> list[Began]:
        return sorted(began for began in self._began.values() if began.traffic_class == name)

    def _judged(self, began: Began, objective: Objective) -> float | None:
        row = self._ended.get(began.request_id)
        if row is None:
            waited_us = max(self._newest_us.values(), default=0) - began.asked_us
            return 1.0 if objective.metric == "e2e" and waited_us > objective.limit_us else None
        if row["outcome"] not in (COMPLETE, CANCELLED):
            return 1.0
        if objective.metric in OF_GAPS:
            share = self._gap_share(began.request_id, objective, row)
            return share if objective.metric == "chunk_gap" else _of_longest(share, row)
        value_us = row[f"{objective.metric}_us"]
        if row["outcome"] == CANCELLED and (value_us is None or objective.metric == "e2e"):
            # We ended it: it was late if it had been open for longer than that, else nobody knows.
            is_span = objective.metric in ("ttft", "ttft_visible", "e2e")
            waited_us = row["end_us"] - began.asked_us
            return 1.0 if is_span and waited_us > objective.limit_us else None
        return _NONE if value_us is None else float(value_us > objective.limit_us)

    def _gap_share(
        self, request_id: int, objective: Objective, row: dict[str, Any]
    ) -> float | None:
        n, *over = self._gaps.get(request_id, [0] * (1 + len(self._gap_limits_us)))
        if not n:
            return _NONE if row["outcome"] == COMPLETE else None
        return over[self._gap_limits_us.index(objective.limit_us)] / n


_NONE = -1.0
"""The request has no such metric: unlike None, nobody waits for it."""


def _of_longest(share: float | None, row: dict[str, Any]) -> float | None:
    """One gap over the limit is a miss; of a stream that we ended nobody knows what would come."""
    if share is None or share == _NONE:
        return share
    return 1.0 if share > 0 else (0.0 if row["outcome"] == COMPLETE else None)


def _tokens(row: dict[str, Any]) -> int:
    """An answer whose tokens nobody counted, an embedding's, counts as one."""
    return (row["tokens"] or 1) if row["outcome"] == COMPLETE else 0
