"""Entries of METRICS of a whole level: rates, goodput, failures, streams in flight.

Their SQL reads `w` (one row: run_id, stage, w0, w1), `load` (the level's requests) and `asked`
(those of the window); {objectives} stands for the level's own.
"""

from analysis.metric import Metric

_SECONDS = "(any_value(w1 - w0) / 1e6)"
_ARRIVED = "count(*) FILTER (WHERE outcome <> 'cancelled')"
_GOOD = "outcome = 'complete' AND {objectives}"
_TOKENS = """FROM token_events e JOIN load USING (run_id, request_id)
    CROSS JOIN (SELECT sum(output_tokens) / sum(n_chunks)::DOUBLE AS ratio FROM load
        WHERE output_tokens IS NOT NULL AND n_chunks > 0)
WHERE e.t_us >= w0 AND e.t_us < w1"""
_COUNT = "coalesce(e.n_tokens, CASE WHEN one_token_per_chunk THEN 1 ELSE ratio END)"
_PROMPTS = f"""SELECT sum(prompt_tokens) / {_SECONDS} AS value FROM load
WHERE outcome = 'complete' AND coalesce(first_token_us, whole_us) >= w0
    AND coalesce(first_token_us, whole_us) < w1"""

SYSTEM = (
    Metric(
        name="tps_system",
        title="System output TPS",
        short="System output",
        unit="tok/s",
        better="higher",
        per="system",
        formula="output tokens that arrived within the window ÷ its length, failed requests too",
        sql=f"SELECT sum({_COUNT}) / {_SECONDS} AS value, count(*) AS n\n{_TOKENS}",
        undefined_when="no token arrived, or no request of the level tells its output_tokens",
        source="Headway; never the configured duration, never whole requests only",
        columns=("value",),
        is_headline=True,
    ),
    Metric(
        name="tps_input",
        title="System input TPS",
        unit="tok/s",
        better="higher",
        per="system",
        formula="prompt tokens of the answers that began within the window ÷ its length",
        sql=_PROMPTS,
        undefined_when="no answer began within the window, or one does not tell its prompt_tokens",
        source="Headway; cached prompt tokens count. What an embeddings endpoint is measured by",
    ),
    Metric(
        name="tps_total",
        title="System total TPS, input + output",
        unit="tok/s",
        better="higher",
        per="system",
        formula="System output TPS + System input TPS",
        sql=(
            f"SELECT sum({_COUNT}) / {_SECONDS}\n    + (SELECT value FROM ({_PROMPTS})) AS value\n"
            f"{_TOKENS}"
        ),
        undefined_when="either of the two is",
        source="vLLM bench's total token throughput, there over the whole run",
    ),
    Metric(
        name="request_rate",
        title="Completed requests",
        short="Completed",
        unit="req/s",
        better="higher",
        per="system",
        formula="answers whose last arrival (token or whole) lies within the window ÷ its length",
        sql=(
            f"SELECT count(*) / {_SECONDS} AS value FROM load WHERE outcome = 'complete'\n"
            "    AND coalesce(last_token_us, whole_us) >= w0"
            " AND coalesce(last_token_us, whole_us) < w1"
        ),
        undefined_when="it is not known when requests were sent",
        source="Headway",
        columns=("value",),
        is_headline=True,
    ),
    Metric(
        name="offered_rate",
        title="Offered requests",
        short="Offered",
        unit="req/s",
        better="neither",
        per="system",
        formula="requests due (closed loop: sent) within the window ÷ its length",
        sql=f"SELECT count(*) / {_SECONDS} AS value FROM asked",
        undefined_when="it is not known when requests were sent",
        source="Headway; offered above completed is overload, or failures",
        is_headline=True,
    ),
    Metric(
        name="goodput",
        title="Goodput",
        unit="req/s",
        better="higher",
        per="system",
        formula="requests of the window that met every SLO that applies to them ÷ its length",
        sql=f"SELECT count(*) FILTER (WHERE {_GOOD}) / {_SECONDS} AS value FROM asked",
        undefined_when="the plan has no SLO",
        source="Hao AI Lab, DistServe (2024); open loop counts from schedule",
        is_headline=True,
    ),
    Metric(
        name="goodput_share",
        title="Goodput, share of requests",
        unit="%",
        better="higher",
        per="system",
        formula=(
            "requests of the window that met every SLO that applies to them ÷ all that arrived "
            "in it, failed ones too"
        ),
        sql=f"SELECT 100.0 * count(*) FILTER (WHERE {_GOOD}) / {_ARRIVED} AS value FROM asked",
        undefined_when="the plan has no SLO, or no request arrived",
        source="Headway; inference-perf's is of successful requests only",
        is_headline=True,
    ),
    Metric(
        name="token_goodput",
        title="Token goodput",
        unit="tok/s",
        better="higher",
        per="system",
        formula="output_tokens of the requests counted in goodput ÷ the window's length",
        sql=(
            f"SELECT coalesce(sum(output_tokens) FILTER (WHERE {_GOOD}), 0)\n"
            f"    / {_SECONDS} AS value FROM asked"
        ),
        undefined_when="the plan has no SLO, or such a request does not tell its output_tokens",
        source="Headway",
    ),
    Metric(
        name="error_rate",
        title="Failed requests",
        short="Failed",
        unit="%",
        better="lower",
        per="system",
        formula="requests of the window that failed ÷ all that arrived in it and were not censored",
        sql=(
            "SELECT 100.0 * count(*) FILTER (WHERE outcome NOT IN ('complete', 'cancelled'))\n"
            f"    / {_ARRIVED} AS value FROM asked"
        ),
        undefined_when="no request arrived",
        source="Headway",
        is_headline=True,
    ),
    Metric(
        name="censored",
        title="Requests censored",
        unit="requests",
        better="neither",
        per="system",
        formula="requests of the window whose stream Headway ended itself (outcome `cancelled`)",
        sql="SELECT count(*) FILTER (WHERE outcome = 'cancelled') AS value FROM asked",
        undefined_when="never",
        source="Headway; they count in no other number",
    ),
    Metric(
        name="mean_in_flight",
        title="Mean streams in flight",
        short="In flight",
        unit="streams",
        better="neither",
        per="system",
        formula="∫ (requests sent and not ended) dt over the window ÷ its length; measured",
        sql=(
            "SELECT sum(greatest(least(end_us, w1) - greatest(send_us, w0), 0))\n"
            "    / any_value(w1 - w0) AS value FROM load"
        ),
        undefined_when="it is not known when requests were sent",
        source="Headway",
        columns=("value",),
        is_headline=True,
    ),
)
