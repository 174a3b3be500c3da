"""For commands that are a server: check the port, then turn into that server's process."""

import errno
import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from commands.refusal import Refusal

HOME = Path(__file__).resolve().parent.parent
ADVICE = {
    errno.EADDRINUSE: "end the program that uses it, or choose another: {other}",
    errno.EACCES: "ports below 1024 are for root; choose another: {other}",
    errno.EADDRNOTAVAIL: "this machine has no such address; leave out --host",
}


def check_free(host: str, port: int, command: str) -> None:
    """Refuses a port that cannot be had, naming it and what to do."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except OSError as error:
        other = f"headway {command} --port {port % 65535 + 1}"
        advice = ADVICE.get(error.errno or 0, "choose another --host or --port")
        raise Refusal(
            f"Port {port} on {host} cannot be had ({error.strerror or error}); "
            + advice.format(other=other)
        ) from None


def become(module: str, arguments: list[str], env: dict[str, str]) -> NoReturn:
    """Turns this process into `python -m module`: signals reach it, nothing is left behind.

    It runs in the project's folder, where its modules and Streamlit's config.toml lie whatever the
    caller's folder was; so every path among `arguments` and `env` must be absolute.
    """
    sys.stdout.flush()
    os.chdir(HOME)
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], {**os.environ, **env})
