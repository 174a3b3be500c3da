"""What an API makes of one event, or of one whole answer, given as Python values."""

import json
from typing import Any

from loadgen.wire.api import Delta
from loadgen.wire.framing import WireEvent
from loadgen.wire.registry import APIS


def decoded(api: str, value: Any, name: str = "message") -> list[Delta]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return APIS[api].decode(WireEvent(name, data))


def one(api: str, value: Any, name: str = "message") -> Delta:
    (delta,) = decoded(api, value, name)
    return delta


def whole(api: str, document: dict[str, Any]) -> list[Delta]:
    return APIS[api].decode_whole(document)


def texts(deltas: list[Delta]) -> list[tuple[str, str]]:
    return [(delta.kind, delta.text) for delta in deltas if delta.text]
