"""From a data folder to an open connection: connect, or start the store process and connect."""

import os
import select
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from storage.lock import default_socket, is_held, make_folder, read_holder
from storage.protocol import GREETING, StoreError

START_WITHIN_S = 20.0
LOG = "store.log"
_LONGEST_LOG_BYTES = 1 << 20
_PROJECT = Path(__file__).resolve().parent.parent
_ELSEWHERE_FOR_S = 1.0
_started: list[subprocess.Popen[bytes]] = []  # polled, so that an ended store is no zombie
# The store needs no keys of endpoints, which the environment of a command line may hold.
_INHERITED = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


def connect(data: Path, within_s: float = START_WITHIN_S) -> "Connection[Any, Any]":
    """A connection to the folder's store, started if there is none; raises StoreError.

    Any number of clients may do this at once: one of the processes they start takes the lock, the
    others end, and all clients meet at its socket.
    """
    began_s = time.monotonic()
    while True:
        connection = _plug_in(data)
        if connection is not None and _is_greeted(connection, data, began_s + within_s):
            return connection
        if not is_held(data):
            make_folder(data)
            _start(data, began_s + within_s)
        waited_s = time.monotonic() - began_s
        if waited_s > _ELSEWHERE_FOR_S:  # sooner, the file may still tell the holder before
            _refuse_if_elsewhere(data)
        if waited_s > within_s:
            raise StoreError(_silent(data, within_s))
        time.sleep(0.02)


def _refuse_if_elsewhere(data: Path) -> None:
    holder = read_holder(data) if is_held(data) else None
    if holder and holder.is_elsewhere:
        raise StoreError(
            f"The data folder {data} is in use by {holder}; work on that machine, "
            "or set HEADWAY_DATA to another folder."
        )


def _plug_in(data: Path) -> "Connection[Any, Any] | None":
    holder = read_holder(data)
    path = holder.socket if holder and not holder.is_elsewhere else str(default_socket(data))
    try:
        with socket.socket(socket.AF_UNIX) as plug:
            plug.settimeout(5)  # a stopped store with a full queue would block for ever
            plug.connect(path)
            plug.settimeout(None)
            return Connection(plug.detach())
    except PermissionError:
        raise StoreError(
            f"The store of {data} belongs to another user ({path} may not be opened); "
            "run as that user, or set HEADWAY_DATA to a folder of your own."
        ) from None
    except (FileNotFoundError, ConnectionError, NotADirectoryError):
        return None
    except OSError:  # the path is too long for a socket, and no lock file names another
        return None


def _is_greeted(connection: "Connection[Any, Any]", data: Path, deadline: float) -> bool:
    """Whether a live store is behind the connection; a process being killed still accepts some."""
    try:
        if connection.poll(max(0.0, deadline - time.monotonic())):
            greeting = connection.recv_bytes()
            if greeting == GREETING:
                return True
            connection.close()
            raise StoreError(
                f"The store of {data} is that of another version of Headway "
                f"({read_holder(data) or greeting!r}); end it and try again."
            )
    except (EOFError, ConnectionError):
        pass
    connection.close()
    return False


def _start(data: Path, deadline: float) -> None:
    """Start the process and wait for its first word; `held` means that another was faster."""
    _started[:] = [process for process in _started if process.poll() is None]
    read_fd, write_fd = os.pipe()
    try:
        with _log_file(data).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "storage.store", str(data), "--ready-fd", str(write_fd)],
                cwd=_PROJECT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(write_fd,),
                start_new_session=True,
            )
    except OSError as error:
        os.close(read_fd)
        raise StoreError(f"The store process cannot be started for {data}: {error}.") from None
    finally:
        os.close(write_fd)
    _started.append(process)
    try:
        word = _first_word(read_fd, deadline)
    finally:
        os.close(read_fd)
    if word not in ("ready", "held"):
        code = process.wait(timeout=5) if not word else 1
        raise StoreError(
            word or f"The store process ended while starting (code {code}); see {data / LOG}."
        )


def _first_word(fd: int, deadline: float) -> str:
    """What the new process says: `ready`, `held`, a sentence, or nothing if it died."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    told = b""
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        part = os.read(fd, 65536)
        if not part:
            return told.decode(errors="replace")
        told += part
    return "held"  # it is still starting: connect() goes on trying until its own deadline


def _log_file(data: Path) -> Path:
    path = data / LOG
    if path.exists() and path.stat().st_size > _LONGEST_LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path


def _environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or name.startswith(("PYTHON", "LC_"))
    }


def _silent(data: Path, within_s: float) -> str:
    holder = read_holder(data) if is_held(data) else None
    if holder is None:
        return f"No store could be started for {data} within {within_s:g} s; see {data / LOG}."
    return (
        f"The data folder {data} is held by {holder}, which has not answered within {within_s:g} s."
        f" End it (kill {holder.pid}) and try again."
    )
