"""Who owns a data folder: an flock on DATA/headway.lock, which tells its holder and socket.

Why not DuckDB's own lock: a POSIX lock is dropped as soon as ANY descriptor of the file is closed,
and then a second writer's committed rows vanish silently.  So nobody may open() the .duckdb file;
the lock lives beside it, and reading this file harms nothing.  The file is never removed.
"""

import errno
import fcntl
import os
import shlex
import socket
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from storage.protocol import StoreError

NAME = "headway.lock"
LONGEST_SOCKET_PATH_BYTES = 103  # sockaddr_un holds 104 (macOS) or 108 with the final zero
_TEMP_PREFIX = "headway-store-"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that owns, or last owned, the folder, and where it listens."""

    pid: int
    host: str
    command: str
    socket: str

    @property
    def is_elsewhere(self) -> bool:
        """On another machine, as seen through a shared disk."""
        return self.host != socket.gethostname()

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} ({self.command})"


def default_socket(data: Path) -> Path:
    """Where the store listens unless that path is too long for AF_UNIX."""
    return data / "store.sock"


def read_holder(data: Path) -> Holder | None:
    """What the lock file tells; None if there is none, or nothing was written yet."""
    try:
        return Holder(**orjson.loads((data / NAME).read_bytes()))
    except (FileNotFoundError, NotADirectoryError, orjson.JSONDecodeError, TypeError):
        return None


def is_held(data: Path) -> bool:
    """Whether some live process owns the folder now."""
    try:
        fd = os.open(data / NAME, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def make_folder(data: Path) -> None:
    """Create the data folder if needed; raises StoreError if nothing can be written there."""
    try:
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=data):
            return
    except OSError as error:
        raise StoreError(
            f"The data folder {data} cannot be written ({error.strerror or error}); make it "
            "writable, or set HEADWAY_DATA to a folder that is."
        ) from None


class Lock:
    """The folder's lock, held until `release` or the end of the process."""

    def __init__(self, data: Path, fd: int) -> None:
        self._data = data
        self._fd = fd
        self._clean_up_after_a_dead_holder()
        os.ftruncate(fd, 0)  # nobody shall take the last holder for this one
        self.socket = _socket_path(data)

    def is_ours(self) -> bool:
        """False once the data folder was removed or its lock file replaced: time to end."""
        try:
            return os.path.samestat(os.fstat(self._fd), (self._data / NAME).stat())
        except FileNotFoundError:
            return False

    def tell(self) -> None:
        """Write who we are and where we listen; call it once the socket is there."""
        me = Holder(os.getpid(), socket.gethostname(), shlex.join(sys.orig_argv), self.socket)
        raw = orjson.dumps(asdict(me), option=orjson.OPT_APPEND_NEWLINE)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, raw, 0)

    def release(self) -> None:
        """Remove what lies at the socket's path and give the folder free."""
        _remove_socket(Path(self.socket))
        os.close(self._fd)

    def _clean_up_after_a_dead_holder(self) -> None:
        last = read_holder(self._data)
        _remove_socket(default_socket(self._data))
        if last and not last.is_elsewhere and Path(last.socket).parent.name[:14] == _TEMP_PREFIX:
            _remove_socket(Path(last.socket))


def take(data: Path, within_s: float = 1.0) -> Lock | None:
    """The folder's lock, or None if another process keeps it for `within_s`.

    It waits a little: a client that asks `is_held` holds the lock shared for some microseconds.
    """
    fd = os.open(data / NAME, os.O_CREAT | os.O_RDWR, 0o600)
    deadline = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Lock(data, fd)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(fd)
                return None
            time.sleep(0.02)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise StoreError(
                    f"The disk of {data} knows no file locks ({error.strerror}), so two programs "
                    "could write there at once; set HEADWAY_DATA to a folder on a local disk."
                ) from None
            raise


def _socket_path(data: Path) -> str:
    path = default_socket(data)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH_BYTES:
        return str(path)
    return str(Path(tempfile.mkdtemp(prefix=_TEMP_PREFIX, dir="/tmp")) / "store.sock")


def _remove_socket(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent.name.startswith(_TEMP_PREFIX) and path.parent.is_dir():
        path.parent.rmdir()
