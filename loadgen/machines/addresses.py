"""Where the leader listens, and by which names its workers find it."""

import ipaddress
import socket

LOOPBACK = "127.0.0.1"
EVERY_ADDRESS = {"*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""Bound to all of a machine's addresses -> the one its own workers use."""


def to_bind(host: str) -> str:
    """As ZeroMQ takes it: an address, no name.  Raises OSError for a name that nobody knows."""
    if host in EVERY_ADDRESS:
        return host
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])


def own(bound: str, port: int) -> str:
    """HOST:PORT for the workers beside the leader."""
    return _with_port(EVERY_ADDRESS.get(bound, bound), port)


def told(bind: str, port: int) -> str:
    """HOST:PORT as the commands for other machines show it."""
    return _with_port(socket.gethostname() if bind in EVERY_ADDRESS else bind, port)


def parsed(address: str) -> tuple[str, int]:
    """(host, port) of HOST:PORT or [IPV6]:PORT; raises ValueError with what is wrong."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError(f"{address!r} is not HOST:PORT, such as leader.example:5557")
    return host, int(port)


def _with_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
