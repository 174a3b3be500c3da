"""A load over time: straight pieces with jumps between them, their area and its inverse.

All of it is exact: the area of a straight piece is a parabola, whose inverse is a square root.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NS = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """`n` pieces one after the other, each from `left` to `right`; nothing outside of them.

    at_ns: n + 1 increasing instants, the first 0.  left, right: n values >= 0 at the ends of each
    piece; at a jump the value is already the later piece's.
    """

    at_ns: Ints
    left: Floats
    right: Floats

    @classmethod
    def through(cls, points: list[tuple[float, float]]) -> Self:
        """Straight lines between (second, value) points in order; two at one instant: a jump."""
        at_ns = np.array([round(t_s * NS) for t_s, _ in points], np.int64)
        values = np.array([value for _, value in points], np.float64)
        real = np.diff(at_ns) > 0
        ends = np.append(at_ns[:-1][real], at_ns[-1])
        return cls(ends, values[:-1][real], values[1:][real])

    @property
    def end_ns(self) -> int:
        """Where the last piece ends."""
        return int(self.at_ns[-1])

    @property
    def peak(self) -> float:
        """The largest value."""
        return float(max(self.left.max(), self.right.max()))

    def value(self, t_ns: ArrayLike) -> Floats:
        """The load at the instants `t_ns`; 0 before the first piece and after the last."""
        t = np.asarray(t_ns, np.int64)
        i = np.clip(np.searchsorted(self.at_ns, t, "right") - 1, 0, len(self.left) - 1)
        part = (t - self.at_ns[i]) / (self.at_ns[i + 1] - self.at_ns[i])
        inside = (t >= 0) & (t < self.end_ns)
        return np.where(inside, self.left[i] + part * (self.right[i] - self.left[i]), 0.0)

    def areas(self) -> Floats:
        """The area (value x seconds) up to each of `at_ns`."""
        lengths_s = np.diff(self.at_ns) / NS
        return np.append(0.0, np.cumsum(lengths_s * (self.left + self.right) / 2))

    def area(self, t_ns: ArrayLike) -> Floats:
        """The area (value x seconds) under the curve from 0 to the instants `t_ns`."""
        t = np.clip(np.asarray(t_ns, np.int64), 0, self.end_ns)
        i = np.clip(np.searchsorted(self.at_ns, t, "right") - 1, 0, len(self.left) - 1)
        x_s = (t - self.at_ns[i]) / NS
        slope = (self.right[i] - self.left[i]) / ((self.at_ns[i + 1] - self.at_ns[i]) / NS)
        return self.areas()[i] + x_s * (self.left[i] + slope * x_s / 2)

    def when(self, area: ArrayLike) -> Ints:
        """The instant at which the area is `area`; callers ask for less than the whole area.

        Where the load is 0 for a while the area stands still: the end of that while is taken.
        """
        asked, upto = np.asarray(area, np.float64), self.areas()
        i = np.clip(np.searchsorted(upto, asked, "right") - 1, 0, len(self.left) - 1)
        rest, a = asked - upto[i], self.left[i]
        length_s = (self.at_ns[i + 1] - self.at_ns[i]) / NS
        slope = (self.right[i] - a) / length_s
        # a x + slope x²/2 = rest.  The usual (-a + root) / slope loses all digits near slope 0.
        root = np.sqrt(np.maximum(a * a + 2 * slope * rest, 0.0))
        x_s = np.divide(2 * rest, a + root, out=np.zeros_like(rest), where=rest > 0)
        return self.at_ns[i] + np.floor(np.minimum(x_s, length_s) * NS).astype(np.int64)

    def above(self, level: float) -> list[tuple[int, int]]:
        """The [begin, end) in ns during which the load is above `level`, in order."""
        some = np.maximum(self.left, self.right) > level
        begin, end = self.at_ns[:-1][some], self.at_ns[1:][some]
        left, right = self.left[some], self.right[some]
        crosses = np.minimum(left, right) <= level  # then left and right differ
        part = np.divide(level - left, right - left, out=np.zeros_like(left), where=crosses)
        crossing = begin + np.rint((end - begin) * part).astype(np.int64)
        begins = np.where(crosses & (right > left), crossing, begin)
        ends = np.where(crosses & (right < left), crossing, end)
        real = begins < ends
        begins, ends = begins[real], ends[real]
        apart = begins[1:] != ends[:-1]  # of pieces that touch, the first begins and the last ends
        first = np.append(True, apart)[: len(begins)]
        last = np.append(apart, True)[: len(begins)]
        return list(zip(begins[first].tolist(), ends[last].tolist(), strict=True))
