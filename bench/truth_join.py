"""The client's records beside the truth server's log: how wrong is what Headway stored?

Both frames are storage's (docs/schema.md); times of the log are put on the run's line.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.frames import Floats, Mask, floats, is_in, where, words
from bench.truth_log import TruthLog


@dataclass(frozen=True, slots=True)
class Joined:
    """Errors in µs, client minus truth; one entry per token, gap or request found on both sides."""

    arrival_us: Floats  # on CLOCK_REALTIME, as an outsider compares two hosts
    arrival_mono_us: Floats  # on CLOCK_MONOTONIC, which nobody steps
    gap_us: Floats
    ttft_us: Floats  # client's first token - send; truth's send of token 0 - request's arrival
    is_shared: Mask  # of each arrival: Headway itself says that its true instant is earlier
    n_truth: int  # tokens sent for the requests that ended complete
    n_missing: int
    n_doubled: int
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
    complete = where(requests, is_in(requests, "outcome", "complete"))
    asked = [numbers[x] for x in words(complete, "x_request_id")]
    truth = log.only(asked).tokens
    truth = truth[np.lexsort((truth["seq"], truth["request"]))]
    truth_key = truth["request"].astype(np.int64) << 32 | truth["seq"]

    # Client's request id -> server's number; ids are small, -1 is a request that is not compared.
    number_of = np.full(int(floats(requests, "request_id").max(initial=0)) + 1, -1)
    number_of[floats(complete, "request_id").astype(np.int64)] = asked
    number = number_of[floats(tokens, "request_id").astype(np.int64)]
    seen, number = where(tokens, number >= 0), number[number >= 0]
    key = number << 32 | floats(seen, "seq").astype(np.int64)
    unique_key, first_at = np.unique(key, return_index=True)
    known = np.isin(unique_key, truth_key)
    at, mine = np.searchsorted(truth_key, unique_key[known]), first_at[known]
    t_ns = floats(seen, "t_us")[mine].astype(np.int64) * 1000
    later = truth["seq"][at] > 0
    true_gap_us = (truth["mono_ns"][at[later]] - truth["mono_ns"][at[later] - 1]) / 1e3
    return Joined(
        arrival_us=(run["epoch_ns"] + t_ns - truth["realtime_ns"][at]) / 1e3,
        arrival_mono_us=(run["t0_mono_ns"] + t_ns - truth["mono_ns"][at]) / 1e3,
        gap_us=floats(seen, "gap_us")[mine][later] - true_gap_us,
        ttft_us=_ttft_error_us(complete, asked, log),
        is_shared=floats(seen, "shared")[mine] > 0,
        n_truth=len(truth),
        n_missing=len(truth) - int(known.sum()),
        n_doubled=len(key) - int(known.sum()),  # twice the same, or never sent
        n_no_stamp=int(np.isnan(floats(seen, "lag_us")).sum()),
        n_requests=len(requests),
        n_incomplete=len(requests) - len(complete),
    )


def _ttft_error_us(complete: pd.DataFrame, asked: list[int], log: TruthLog) -> Floats:
    arrivals, first = log.arrivals, log.of(0)
    arrived = dict(zip(arrivals["request"].tolist(), arrivals["mono_ns"].tolist(), strict=True))
    sent = dict(zip(first["request"].tolist(), first["mono_ns"].tolist(), strict=True))
    true_us = np.array([(sent[n] - arrived[n]) / 1e3 for n in asked])
    return floats(complete, "first_token_us") - floats(complete, "send_us") - true_us


def quantiles_ms(errors_us: Floats) -> tuple[float, float, float]:
    """p50, p99 and p99.9 of the absolute error, in ms."""
    p50, p99, p999 = np.quantile(np.abs(errors_us), [0.5, 0.99, 0.999]) / 1e3
    return float(p50), float(p99), float(p999)
