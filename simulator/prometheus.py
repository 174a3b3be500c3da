"""Counters and histograms as Prometheus text (exposition format 0.0.4)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """Counts of values by upper bound, and their sum."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count `value`; a value equal to a bound belongs below it."""
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    def samples(self, labels: Mapping[str, str]) -> Iterable[tuple[str, Mapping[str, str], float]]:
        """(suffix, labels, value) of each line, buckets cumulative."""
        total = 0
        for bound, count in zip([*self._bounds, float("inf")], self._counts, strict=True):
            total += count
            le = "+Inf" if bound == float("inf") else str(float(bound))
            yield "_bucket", {**labels, "le": le}, total
        yield "_count", labels, total
        yield "_sum", labels, self._sum


class Exposition:
    """A page of metrics, written family by family; `labels` are on every sample."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._lines: list[str] = []

    def gauge(self, name: str, text: str, value: float) -> None:
        """One value that may go up and down."""
        self._family(name, "gauge", text)
        self._sample(name, self._labels, value)

    def counter(self, name: str, text: str, value: float) -> None:
        """One value that only grows; `name` ends in _total."""
        self._family(name, "counter", text)
        self._sample(name, self._labels, value)

    def counters(self, name: str, text: str, by: tuple[str, Mapping[str, float]]) -> None:
        """Several values, told apart by one more label: `by` = its name and {its value: number}."""
        self._family(name, "counter", text)
        for value, number in by[1].items():
            self._sample(name, {**self._labels, by[0]: value}, number)

    def histogram(self, name: str, text: str, histogram: Histogram) -> None:
        """Buckets, count and sum."""
        self._family(name, "histogram", text)
        for suffix, labels, value in histogram.samples(self._labels):
            self._sample(name + suffix, labels, value)

    def text(self) -> str:
        """The page."""
        return "\n".join(self._lines) + "\n"

    def _family(self, name: str, kind: str, text: str) -> None:
        self._lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]

    def _sample(self, name: str, labels: Mapping[str, str], value: float) -> None:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        self._lines.append(f"{name}{{{inner}}} {float(value)!r}")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
