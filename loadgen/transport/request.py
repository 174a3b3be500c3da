"""The bytes of one HTTP/1.1 request."""

import re

from loadgen.transport.endpoint import Endpoint
from loadgen.version import VERSION

_NOT_A_VALUE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")
_BLANK = "\0"  # where a form is filled in; no header may hold it


def http_request(
    endpoint: Endpoint, path: str, headers: dict[str, str], body: bytes | None
) -> bytes:
    """Head and body; a GET when body is None.  `headers` come after our own.

    A proxy that is not a tunnel is told the whole URL, and our right to use it.
    Raises ValueError for a header value that would break the request, such as a key read from a
    file together with its line end.
    """
    length = None if body is None else str(len(body))
    return _head(endpoint, path, headers, length) + (body or b"")


class RequestForm:
    """POST requests that differ in X-Request-Id and body only: all else is written once.

    Raises ValueError as http_request does, whose bytes these are.
    """

    def __init__(self, endpoint: Endpoint, path: str, headers: dict[str, str]) -> None:
        head = _head(endpoint, path, {**headers, "X-Request-Id": ""}, _BLANK)
        before, _, after = (
            head.removesuffix(b"\r\n\r\n").replace(b"%", b"%%").partition(_BLANK.encode())
        )
        self._form = before + b"%d" + after + b"%b\r\n\r\n%b"

    def request(self, x_request_id: str, body: bytes) -> bytes:
        """Head and body."""
        return self._form % (len(body), x_request_id.encode("latin-1"), body)


def _head(endpoint: Endpoint, path: str, headers: dict[str, str], length: str | None) -> bytes:
    """length: the body's, None if there is no body."""
    proxy = None if endpoint.is_tunnelled else endpoint.proxy
    target = f"http://{endpoint.authority}{path}" if proxy else path
    lines = [
        f"{'GET' if length is None else 'POST'} {target} HTTP/1.1",
        f"Host: {endpoint.authority}",
        f"User-Agent: headway/{VERSION}",
        "Accept: text/event-stream, application/json",
        "Accept-Encoding: identity",  # a compressed stream arrives in lumps, if not all at the end
    ]
    if length is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    if proxy is not None and proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    for name, value in headers.items():
        if _NOT_A_VALUE.search(value):
            raise ValueError(
                f"The {name} header holds a line break or a character HTTP cannot carry; "
                f"check the variable it comes from."
            )
        lines.append(f"{name}: {value}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
