"""From a frame's column to plain numbers: the place that meets the database's nullable types."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def where(frame: pd.DataFrame, keep: Mask | Sequence[bool]) -> pd.DataFrame:
    """The rows of the frame for which `keep` holds."""
    return cast(pd.DataFrame, frame.loc[np.asarray(keep, dtype=bool)])


def floats(frame: pd.DataFrame, column: str) -> Floats:
    """The column as float64 with NaN for what is not there; all NaN when the frame lacks it.

    DuckDB hands out Int32 with pd.NA, object columns of Python ints, or float64: all arrive here.
    """
    if column not in frame.columns:
        return np.full(len(frame), np.nan)
    if frame[column].dtype in (np.dtype("float64"), np.dtype("int64")):
        return frame[column].to_numpy(dtype="float64")
    numbers = pd.Series(pd.to_numeric(frame[column], errors="coerce"))
    return numbers.to_numpy(dtype="float64", na_value=np.nan)


def is_in(frame: pd.DataFrame, column: str, *values: str) -> Mask:
    """Whether each row's text is one of the values; never, when the frame lacks the column."""
    if column not in frame.columns:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray(frame[column].isin(values).fillna(False), dtype=bool)


def words(frame: pd.DataFrame, column: str) -> list[str]:
    """The column as text, "" for what is not there; enum and category columns included."""
    if column not in frame.columns:
        return [""] * len(frame)
    return ["" if pd.isna(value) else str(value) for value in frame[column].tolist()]


def number(value: object) -> float | None:
    """A cell as float, or None for NaN, NA, None and infinity: JSON has no word for those."""
    if value is None or value is pd.NA:
        return None
    found = float(value)  # type: ignore[arg-type]  # a cell of a frame: int, float, Decimal, numpy
    return found if np.isfinite(found) else None
