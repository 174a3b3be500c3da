"""The client's records beside the truth server's log: how wrong is what Headway stored?

Both frames are storage's (docs/schema.md); times of the log are put on the run's line.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.truth_log import TruthLog

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joined:
    """Errors in µs, client minus truth; one entry per token, gap or request found on both sides."""

    arrival_us: Floats  # on CLOCK_REALTIME, as an outsider compares two hosts
    arrival_mono_us: Floats  # on CLOCK_MONOTONIC, which nobody steps
    gap_us: Floats
    ttft_us: Floats  # client's first token - send; truth's send of token 0 - request's arrival
    n_truth: int  # tokens sent for the requests that ended complete
    n_missing: int
    n_doubled: int
    n_shared: int
    n_no_stamp: int
    n_requests: int
    n_incomplete: int  # requests of any other outcome; their tokens are not compared


def join(
    requests: pd.DataFrame, tokens: pd.DataFrame, log: TruthLog, run: dict[str, Any]
) -> Joined:
    """Compare the run's complete requests with what the server sent them.

    run: run.json, for epoch_ns and t0_mono_ns.  Raises KeyError if the server never saw a request.
    """
    numbers = log.request_ids()
    complete = requests[requests["outcome"] == "complete"]
    number_of = {
        r: numbers[x] for r, x in zip(complete.request_id, complete.x_request_id, strict=True)
    }
    truth = log.tokens
    truth = truth[np.isin(truth["request"], list(number_of.values()))]
    truth = truth[np.lexsort((truth["seq"], truth["request"]))]
    truth_key = truth["request"].astype(np.int64) << 32 | truth["seq"]

    seen = tokens[tokens["request_id"].isin(number_of.keys())]
    number = seen["request_id"].map(number_of).to_numpy(np.int64)
    key = number << 32 | seen["seq"].to_numpy(np.int64)
    unique_key, first_at = np.unique(key, return_index=True)
    known = np.isin(unique_key, truth_key)
    at = np.searchsorted(truth_key, unique_key[known])
    mine = seen.iloc[first_at[known]]
    t_ns = mine["t_us"].to_numpy(np.int64) * 1000
    mono_ns = truth["mono_ns"][at]
    later = mine["seq"].to_numpy() > 0
    true_gap_us = (truth["mono_ns"][at[later]] - truth["mono_ns"][at[later] - 1]) / 1e3
    return Joined(
        arrival_us=(run["epoch_ns"] + t_ns - truth["realtime_ns"][at]) / 1e3,
        arrival_mono_us=(run["t0_mono_ns"] + t_ns - mono_ns) / 1e3,
        gap_us=mine["gap_us"].to_numpy(np.float64)[later] - true_gap_us,
        ttft_us=_ttft_error_us(complete, number_of, log),
        n_truth=len(truth),
        n_missing=len(truth) - int(known.sum()),
        n_doubled=len(key) - int(known.sum()),  # twice the same, or never sent
        n_shared=int(seen["shared"].sum()),
        n_no_stamp=int(seen["lag_us"].isna().sum()),
        n_requests=len(requests),
        n_incomplete=len(requests) - len(complete),
    )


def _ttft_error_us(complete: pd.DataFrame, number_of: dict[int, int], log: TruthLog) -> Floats:
    arrivals, first = log.arrivals, log.of(0)
    arrived = dict(zip(arrivals["request"].tolist(), arrivals["mono_ns"].tolist(), strict=True))
    sent = dict(zip(first["request"].tolist(), first["mono_ns"].tolist(), strict=True))
    numbers = [number_of[r] for r in complete["request_id"]]
    true_us = np.array([(sent[n] - arrived[n]) / 1e3 for n in numbers])
    return (complete["first_token_us"] - complete["send_us"]).to_numpy(np.float64) - true_us


def quantiles_ms(errors_us: Floats) -> tuple[float, float, float]:
    """p50, p99 and p99.9 of the absolute error, in ms."""
    p50, p99, p999 = np.quantile(np.abs(errors_us), [0.5, 0.99, 0.999]) / 1e3
    return float(p50), float(p99), float(p999)
