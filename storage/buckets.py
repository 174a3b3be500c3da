"""Logarithmic buckets for latencies: 2 % wide, so a bucket's value is within 1 % of any in it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GROWTH = 1.02
_LN_GROWTH = np.log(_GROWTH)


def bucket(us: ArrayLike) -> NDArray[np.int64]:
    """The bucket of each duration in µs: 0 for 0, else ceil(ln(us) / ln(1.02)) + 1."""
    values = np.asarray(us, dtype=np.int64)
    logs = np.log(np.maximum(values, 1)) / _LN_GROWTH
    return np.where(values <= 0, 0, np.ceil(logs).astype(np.int64) + 1)


def bucket_us(b: int) -> float:
    """The duration in µs that stands for a bucket: 2·1.02^(b-1) / 2.02, 0 for bucket 0.

    The bucket holds (1.02^(b-2), 1.02^(b-1)]; this value is 1 % from either end at worst.
    """
    return 0.0 if b <= 0 else 2 * _GROWTH ** (b - 1) / (1 + _GROWTH)
