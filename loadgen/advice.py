"""What to do about a request that failed, in one sentence: for the preflight and an early stop."""

WHAT_TO_DO = {
    "http_error": "Check target.url, target.api and target.model.",
    "rate_limited": "Wait, or ask for a higher limit; a load test needs one.",
    "stream_error": "See the server's own log.",
    "empty": "Check target.model and target.api.",
    "malformed": "Check target.url and target.api, and what stands before the server.",
    "truncated": "The server, or a proxy before it, cut it off.",
    "reset": "The server, or a proxy before it, cut the connection.",
    "timeout": "Raise limits.silence_s or limits.request_s if the server is just slow.",
}
KEY_REFUSED = (401, 403)
PROXY_REFUSED = 407


def advice(outcome: str, http_status: int | None, api_key_env: str | None) -> str:
    """One sentence; empty where the failure's own words say it (connect_failed)."""
    if http_status in KEY_REFUSED:
        if api_key_env:
            return f"Check the key in the environment variable {api_key_env}."
        return "It wants a key: name the environment variable that holds it (target.api_key_env)."
    if http_status == PROXY_REFUSED:
        return "A proxy wants http://USER:PASSWORD@… in the variable that names it."
    if http_status is not None and http_status >= 500:
        return "See the server's own log."
    return WHAT_TO_DO.get(outcome, "")
