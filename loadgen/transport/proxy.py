"""Which proxy the environment names for an endpoint; never one for this machine itself."""

import base64
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

PROXY_PORT = 80  # of http://, which is the only scheme understood


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy.  variable: where its address came from, for sentences.

    authorization: the header's value, made of the user and password in the URL; never shown.
    """

    host: str  # without brackets, also for IPv6
    port: int
    variable: str
    authorization: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """`host:port`, without user and password."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def proxy_for(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> Proxy | None:
    """HTTP_PROXY, HTTPS_PROXY, else ALL_PROXY, unless NO_PROXY says otherwise; None: go directly.

    A name in small letters is taken before the same in capitals, an empty one stands for none.
    Raises ValueError with a sentence that holds no password.
    """
    if is_loopback(host):
        return None
    _, excepted = _variable("no_proxy", environment)
    if is_excepted(host, port, excepted):
        return None
    for wanted in (f"{scheme}_proxy", "all_proxy"):
        name, url = _variable(wanted, environment)
        if url:
            return _proxy(name, url)
    return None


def is_loopback(host: str) -> bool:
    """Whether this is `localhost`, a name under it, or an address of this machine's own loop."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or mapped.is_unspecified


def is_excepted(host: str, port: int, no_proxy: str) -> bool:
    """Whether NO_PROXY covers this host.

    Its entries, between commas or blanks: `*`, a domain (with or without a leading `.` or `*.`,
    its subdomains are meant too), an address, a network such as 10.0.0.0/8; each may end in :PORT.
    """
    name = host.rstrip(".").lower()
    return any(_covers(entry, name, port) for entry in no_proxy.lower().replace(",", " ").split())


def _covers(entry: str, name: str, port: int) -> bool:
    entry, entry_port = _with_port(entry)
    if entry == "*":
        return True
    if entry_port is not None and entry_port != port:
        return False
    address = _address(name)
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False  # the entry is a name
    domain = entry.removeprefix("*").strip(".")
    return bool(domain) and (name == domain or name.endswith(f".{domain}"))


def _with_port(entry: str) -> tuple[str, int | None]:
    """`[::1]:80` and `host:80` in their two parts; an IPv6 address without brackets has no port."""
    host, _, port = entry.rpartition(":")
    if port.isdecimal() and host and (host.endswith("]") or ":" not in host):
        return host.strip("[]"), int(port)
    return entry.strip("[]"), None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        pass
    try:  # 127.1 and the like, which the resolver takes for addresses too
        return ipaddress.IPv4Address(socket.inet_aton(name)) if name[-1:].isdecimal() else None
    except OSError:
        return None


def _variable(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """The name as it stands in the environment, and its value; empty if it is not set."""
    for written in (name, name.upper()):
        if written in environment:
            return written, environment[written].strip()
    return name, ""


def _proxy(variable: str, url: str) -> Proxy:
    expected = f"The environment variable {variable} names no proxy that can be used here; "
    expected += "expected http://[USER:PASSWORD@]HOST[:PORT]."
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port or PROXY_PORT
    except ValueError:  # an open bracket, or a port that is no number from 1 to 65535
        raise ValueError(expected) from None
    if parts.scheme != "http":
        raise ValueError(
            f"{expected} Its scheme is {parts.scheme}://; unset it or add the host to NO_PROXY."
        )
    if not host:
        raise ValueError(expected)
    if parts.username is None:
        return Proxy(host, port, variable)
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(host, port, variable, f"Basic {base64.b64encode(pair.encode()).decode()}")
