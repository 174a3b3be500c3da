"""The truth log: what the simulator sent, and when, as JSON lines.

    {"event":"request","request":7,"x_request_id":"…","arrival_real_ns":…,"arrival_mono_ns":…,
     "prompt_tokens":256,"output_tokens":128,"api":"chat"}
    {"event":"token","request":7,"x_request_id":"…","seq":0,"n_tokens":1,"kind":"content",
     "real_ns":…,"mono_ns":…}
    {"event":"end","request":7,"x_request_id":"…","how":"done","mono_ns":…}

`real_ns` and `mono_ns` are CLOCK_REALTIME and CLOCK_MONOTONIC, both read just before the event was
written to the socket; `seq` counts token events of the request from 0; `request` is the server's
own number, so that an X-Request-Id used twice stays two requests.  A request that is not streamed
has no token lines.  `how`: done; cut or error (a fault asked for it); aborted (the client left).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import orjson

SPILL_LINES = 400  # about 64 KB: some 50 µs to write, in the pause after a step


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as the server met it; `x_request_id` is plain ASCII without quotes."""

    request: int
    x_request_id: str
    real_ns: int
    mono_ns: int


class RequestTruth:
    """The lines of one request; `write` keeps one for later."""

    def __init__(self, write: Callable[[bytes], None], arrival: Arrival) -> None:
        self._write = write
        self._arrival = arrival
        who = f'"request":{arrival.request},"x_request_id":"{arrival.x_request_id}"'.encode()
        self._token_begin = b'{"event":"token",' + who
        self._who = who

    def accepted(self, api: str, prompt_tokens: int, output_tokens: int) -> None:
        """The request is in the engine's queue; `api` is plain ASCII, see apis.py."""
        arrival = self._arrival
        self._write(
            b'{"event":"request",%b,"arrival_real_ns":%d,"arrival_mono_ns":%d,'
            b'"prompt_tokens":%d,"output_tokens":%d,"api":"%b"}\n'
            % (
                self._who,
                arrival.real_ns,
                arrival.mono_ns,
                prompt_tokens,
                output_tokens,
                api.encode(),
            )
        )

    def token(self, seq: int, n_tokens: int, kind: bytes, at_ns: tuple[int, int]) -> None:
        """A token event was written; `at_ns` = CLOCK_REALTIME, CLOCK_MONOTONIC just before."""
        self._write(
            b'%b,"seq":%d,"n_tokens":%d,"kind":"%b","real_ns":%d,"mono_ns":%d}\n'
            % (self._token_begin, seq, n_tokens, kind, *at_ns)
        )

    def end(self, how: str, mono_ns: int) -> None:
        """The request is over."""
        line = b'{"event":"end",%b,"how":"%b","mono_ns":%d}\n'
        self._write(line % (self._who, how.encode(), mono_ns))


class TruthLog:
    """Collects lines and writes them when told to; nothing here waits for the disk in between."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines: list[bytes] = []

    def request(self, arrival: Arrival) -> RequestTruth:
        """Where the lines of a new request go."""
        return RequestTruth(self._lines.append, arrival)

    def spill(self) -> None:
        """Write if much has gathered; to be called where there is time."""
        if len(self._lines) >= SPILL_LINES:
            self.flush()

    def flush(self) -> None:
        """Write everything; raises OSError if the disk refuses."""
        text = b"".join(self._lines)
        self._lines.clear()
        self._file.write(text)
        self._file.flush()

    def close(self) -> None:
        """Write everything and close the file."""
        self.flush()
        self._file.close()


@dataclass(frozen=True, slots=True)
class TrueToken:
    """One token event as it was sent."""

    seq: int
    n_tokens: int
    kind: str
    real_ns: int
    mono_ns: int


@dataclass(slots=True)
class TrueRequest:
    """One request of a truth log; `how` is None if the log ends before the request does."""

    request: int
    x_request_id: str
    arrival_real_ns: int
    arrival_mono_ns: int
    prompt_tokens: int
    output_tokens: int
    api: str | None = None  # None: written before the log told it
    tokens: list[TrueToken] = field(default_factory=list[TrueToken])
    how: str | None = None


def read_truth(path: Path) -> list[TrueRequest]:
    """The requests of a truth log in order; a torn last line (killed server) is left out."""
    requests: dict[int, TrueRequest] = {}
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            row = orjson.loads(line)
            event = row.pop("event")
            if event == "request":
                requests[row["request"]] = TrueRequest(**row)
                continue
            request = requests[row.pop("request")]
            del row["x_request_id"]
            if event == "token":
                request.tokens.append(TrueToken(**row))
            else:
                request.how = row["how"]
    return list(requests.values())
