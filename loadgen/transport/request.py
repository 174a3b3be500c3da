"""The bytes of one HTTP/1.1 request."""

import re

from loadgen.transport.endpoint import Endpoint
from loadgen.version import VERSION

_NOT_A_VALUE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


def http_request(
    endpoint: Endpoint, path: str, headers: dict[str, str], body: bytes | None
) -> bytes:
    """Head and body; a GET when body is None.  `headers` come after our own.

    A proxy that is not a tunnel is told the whole URL, and our right to use it.
    Raises ValueError for a header value that would break the request, such as a key read from a
    file together with its line end.
    """
    proxy = None if endpoint.is_tunnelled else endpoint.proxy
    target = f"http://{endpoint.authority}{path}" if proxy else path
    lines = [
        f"{'GET' if body is None else 'POST'} {target} HTTP/1.1",
        f"Host: {endpoint.authority}",
        f"User-Agent: headway/{VERSION}",
        "Accept: text/event-stream, application/json",
        "Accept-Encoding: identity",  # a compressed stream arrives in lumps, if not all at the end
    ]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if proxy is not None and proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    for name, value in headers.items():
        if _NOT_A_VALUE.search(value):
            raise ValueError(
                f"The {name} header holds a line break or a character HTTP cannot carry; "
                f"check the variable it comes from."
            )
        lines.append(f"{name}: {value}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1") + (body or b"")
