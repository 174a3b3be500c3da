"""Each tool's formulas in plain Python over rows, written anew from its source's meaning."""

import math
from itertools import pairwise

from tests.analysis.dialects.slow_rules import (
    floor_rank,
    inverse,
    mean,
    plain,
    weighted_deviation,
    weighted_mean,
)

P = {f"p{p}": f"p{p}" for p in (50, 90, 95, 99)}


def done(rows):
    return [row for row in rows if row.outcome == "complete"]


def span(rows):
    return max(row.start + row.end for row in rows) - min(row.start for row in rows)


def ms(values):
    return [1000 * value for value in values]


def vllm(rows):
    ok, seconds = done(rows), span(rows)
    names = {"mean": "mean", "median": "p50", "std": "std", **P}
    ttft = [row.first if row.first_event is None else row.first_event for row in ok]
    tpot = [
        (row.last - t) / (row.tokens - 1) for row, t in zip(ok, ttft, strict=True) if row.tokens > 1
    ]
    begin = min(row.start for row in ok)
    per_second, busy = {}, {}
    for row in ok:
        for at, *_ in row.chunks:
            second = int(row.start - begin + at)
            per_second[second] = per_second.get(second, 0) + 1
        for second in range(int(row.start - begin), int(row.start - begin + row.last) + 1):
            busy[second] = busy.get(second, 0) + 1
    tokens = sum(row.tokens for row in ok)
    return {
        **plain("{stat}_ttft_ms", ms(ttft), names),
        **plain("{stat}_tpot_ms", ms(tpot), names),
        **plain("{stat}_itl_ms", ms([gap for row in ok for gap in row.gaps]), names),
        **plain("{stat}_e2el_ms", ms([row.last for row in ok]), names),
        "completed": len(ok),
        "failed": len(rows) - len(ok),
        "duration": seconds,
        "total_output_tokens": tokens,
        "request_throughput": len(ok) / seconds,
        "output_throughput": tokens / seconds,
        "total_token_throughput": (tokens + sum(row.prompt for row in ok)) / seconds,
        "max_output_tokens_per_s": max(per_second.values()),
        "max_concurrent_requests": max(busy.values()),
    }


def sglang(rows):
    ok, seconds = done(rows), span(rows)
    names = {"mean": "mean", "median": "p50", "std": "std", "p99": "p99", "max": "max"}
    tpot = [(row.end - row.first) / (row.tokens - 1) for row in ok if row.tokens > 1]
    return {
        **plain("{stat}_ttft_ms", ms([row.first for row in ok]), names),
        **plain("{stat}_tpot_ms", ms(tpot), names),
        **plain("{stat}_itl_ms", ms([gap for row in ok for gap in row.gaps]), names),
        **plain("{stat}_e2e_latency_ms", ms([row.end for row in ok]), names),
        "input_throughput": sum(row.prompt for row in ok) / seconds,
        "concurrency": sum(row.end for row in ok) / seconds,
    }


def aiperf(rows):
    ok, seconds = done(rows), span(rows)
    names = {"avg": "mean", "std": "std", "min": "min", "max": "max", "p1": "p1", **P}
    itl = []
    for row in ok:
        head = row.chunks[0][1] or 1
        if row.tokens >= 2 and row.tokens > head:
            itl.append((row.last - row.first) / (row.tokens - head))
    second = [row.gaps[0] for row in ok if row.gaps]
    visible = [row.visible for row in ok if row.visible is not None]
    return {
        **plain("time_to_first_token.{stat}", ms([row.first for row in ok]), names),
        **plain("time_to_first_output_token.{stat}", ms(visible), names),
        **plain("time_to_second_token.{stat}", ms(second), names),
        **plain("request_latency.{stat}", ms([row.last for row in ok]), names),
        **plain("inter_token_latency.{stat}", ms(itl), names),
        **plain("inter_chunk_latency.{stat}", ms([g for row in ok for g in row.gaps]), names),
        **plain(
            "output_token_throughput_per_user.{stat}", [1 / one for one in itl if one > 0], names
        ),
        **plain("e2e_output_token_throughput.{stat}", [r.tokens / r.last for r in ok], names),
        "request_throughput.avg": len(ok) / seconds,
        "output_token_throughput.avg": sum(row.tokens for row in ok) / seconds,
        "benchmark_duration.avg": max(r.start + r.last for r in ok) - min(r.start for r in ok),
    }


def guidellm(rows, from_start=True):
    ok = done(rows)
    seconds = span(ok)
    tokens = [row.tokens for row in ok]
    itl = [(r.last - r.first) / (r.tokens - 1) if r.tokens > 1 else 0.0 for r in ok]
    tpot = [(r.last - (0 if from_start else r.first)) / r.tokens for r in ok]
    ones = [1] * len(ok)
    found = {
        **_weighted("time_to_first_token_ms", ms([row.first for row in ok]), ones),
        **_weighted("time_per_output_token_ms", ms(tpot), tokens),
        **_weighted("request_latency", [row.end for row in ok], ones),
        "requests_per_second.successful.mean": len(ok) / seconds,
        "request_concurrency.successful.mean": sum(row.end for row in ok) / seconds,
    }
    if any(n > 1 for n in tokens):
        found |= _weighted("inter_token_latency_ms", ms(itl), [n - 1 for n in tokens])
    if from_start:
        found["output_tokens_per_second.successful.mean"] = sum(tokens) / seconds
    return found


def guidellm_02(rows):
    return guidellm(rows, from_start=False)


def _weighted(name, values, weights):
    stats = {"mean": weighted_mean(values, weights), "std_dev": weighted_deviation(values, weights)}
    for key, p in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p001", 0.001)):
        stats[f"percentiles.{key}"] = inverse(values, weights, p)
    return {f"{name}.successful.{stat}": value for stat, value in stats.items()}


def inference_perf(rows):
    ok, seconds = done(rows), span(rows)
    names = {"mean": "mean", "min": "min", "max": "max", "median": "p50", "p90": "p90"}
    ttft, tpot, gaps = [], [], []
    for row in ok:
        times = [at for at, count, thinks in row.chunks if not thinks for _ in range(count or 1)]
        gaps += [b - a for a, b in pairwise(times)]
        if len(times) > 1:
            ttft.append(times[0])
            if row.tokens > 1:
                tpot.append((times[-1] - times[0]) / (row.tokens - 1))
    at = "successes.latency."
    return {
        **plain(at + "time_to_first_token.{stat}", ttft, names),
        **plain(at + "time_per_output_token.{stat}", tpot, names),
        **plain(at + "inter_token_latency.{stat}", gaps, names),
        **plain(at + "request_latency.{stat}", [row.end for row in ok], names),
        **plain(
            at + "normalized_time_per_output_token.{stat}", [r.end / r.tokens for r in ok], names
        ),
        "successes.throughput.requests_per_sec": len(ok) / seconds,
        "failures.count": len(rows) - len(ok),
    }


def llmperf(rows):
    ok, seconds = done(rows), span(rows)
    names = {f"quantiles_p{p}": f"p{p}" for p in (25, 50, 75, 90, 95, 99)}
    names |= {"mean": "mean", "min": "min", "max": "max", "stddev": "std-1"}
    visible = [row.first if row.visible is None else row.visible for row in ok]
    return {
        **plain("results_ttft_s_{stat}", visible, names),
        **plain("results_inter_token_latency_s_{stat}", [r.last / r.tokens for r in ok], names),
        **plain("results_end_to_end_latency_s_{stat}", [row.end for row in ok], names),
        **plain(
            "results_request_output_throughput_token_per_s_{stat}",
            [row.tokens / row.end for row in ok],
            names,
        ),
        "results_num_completed_requests_per_min": 60 * len(ok) / seconds,
        "results_error_rate": (len(rows) - len(ok)) / len(rows),
    }


def mlperf(rows):
    ok = done(rows)
    found = {}
    tpot = [
        math.floor((round(r.last * 1e9) - round(r.first * 1e9)) / (r.tokens - 1))
        for r in ok
        if r.tokens > 1
    ]
    series = {"result_time_per_output_token_{stat}_ns": tpot}
    if ok[0].due is not None:
        series |= {
            "result_first_token_{stat}_latency_ns": [
                round((r.start - r.due + r.first) * 1e9) for r in ok
            ],
            "result_{stat}_latency_ns": [round((r.start - r.due + r.last) * 1e9) for r in ok],
        }
    for pattern, values in series.items():
        if values:
            found[pattern.format(stat="mean")] = mean(values)
            for p in (50, 90, 99):
                found[pattern.format(stat=f"{p}.00_percentile")] = floor_rank(values, p / 100)
    return found


SLOW = {
    "vllm": vllm,
    "sglang": sglang,
    "aiperf": aiperf,
    "guidellm": guidellm,
    "guidellm_02": guidellm_02,
    "inference_perf": inference_perf,
    "llmperf": llmperf,
    "mlperf": mlperf,
}
