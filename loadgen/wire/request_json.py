"""What the requests of all APIs share: how a plan's own fields come in, how a key travels."""

from typing import Any

import orjson


def request_json(ours: dict[str, Any], extra: dict[str, Any]) -> bytes:
    """The request's JSON: `extra` overrides our fields, its None removes one.

    Where both hold an object (`options`, `parameters`, `stream_options`), so do its fields: who
    asks for a temperature keeps the limit on the output.
    """
    return orjson.dumps(_merged(ours, extra))


def bearer(key: str) -> dict[str, str]:
    """How a key travels to nearly every endpoint; no header without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def _merged(ours: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    merged = dict(ours)
    for name, value in extra.items():
        mine = ours.get(name)
        if isinstance(mine, dict) and isinstance(value, dict):
            merged[name] = _merged(mine, value)
        else:
            merged[name] = value
    return {name: value for name, value in merged.items() if value is not None}
