"""The store's side of the socket: questions in, frames or a sentence out, a thread per client."""

import contextlib
import inspect
import logging
import os
import threading
import time
from collections.abc import Callable, Generator
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from storage.actions import ACTIONS, Owner
from storage.answers import UnknownRunError, one_row
from storage.answers_kept import Kept
from storage.database import Database, first_line
from storage.protocol import (
    GREETING,
    MAX_QUESTION_BYTES,
    Mistake,
    StoreError,
    answer,
    read_question,
    refusal,
)
from storage.queries import QUERIES
from storage.summarised import reads_events

ANSWER_WITHIN_S = 30.0
_WAIT_FOR_NEW_RUN_S = 2.0
_AFTER_TROUBLE_S = 0.2
_log = logging.getLogger("headway.store")


class Server:
    """Listens on a socket that only its owner may open, and answers until `close`.

    state: what the question `store` is answered with, one row.
    """

    def __init__(
        self, database: Database, data: Path, socket: str, state: Callable[[], dict[str, Any]]
    ) -> None:
        self._database = database
        self._owner = Owner(database, data)
        self._runs = data / "runs"
        self._state = state
        self._kept = Kept(database, keep_all_of=self._owner.keep_answers_of)
        self._scans = threading.BoundedSemaphore(2)  # the ingest needs the core too
        self._clients = 0
        self._count = threading.Lock()
        self._is_closing = threading.Event()
        before = os.umask(0o177)
        try:
            self._listener = Listener(socket, family="AF_UNIX", backlog=64)
        finally:
            os.umask(before)
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    @property
    def n_clients(self) -> int:
        """Connections open now."""
        return self._clients

    def close(self) -> None:
        """Take no new client; the socket's path is gone afterwards."""
        self._is_closing.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_closing.is_set():
            try:
                self._take(self._listener.accept())
            except (OSError, RuntimeError) as error:  # too many files or threads for a moment
                if not self._is_closing.wait(_AFTER_TROUBLE_S):
                    _log.error("no client can be taken at present: %s", first_line(error))

    def _take(self, client: "Connection[Any, Any]") -> None:
        with self._count:
            self._clients += 1
        try:
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()
        except RuntimeError:
            client.close()
            with self._count:
                self._clients -= 1
            raise

    def _serve(self, client: "Connection[Any, Any]") -> None:
        try:
            with client, contextlib.suppress(EOFError, OSError):  # the client has gone
                client.send_bytes(GREETING)
                while True:
                    client.send_bytes(self._reply(client.recv_bytes(MAX_QUESTION_BYTES)))
        finally:
            with self._count:
                self._clients -= 1

    def _reply(self, raw: bytes) -> bytes:
        try:
            name, args = read_question(raw)
            return answer(self._ask(name, args))
        except StoreError as error:
            return refusal(str(error), is_mistake=isinstance(error, Mistake))
        except Exception as error:  # the one edge: a client gets a sentence, the log the traceback
            _log.exception("a question could not be answered")
            return refusal(f"The store failed on a question ({first_line(error)}); see store.log.")

    def _ask(self, name: str, args: dict[str, Any]) -> pa.Table:
        if name == "store":
            return one_row(self._state())
        asked = QUERIES.get(name) or ACTIONS.get(name)
        if asked is None:
            raise StoreError(
                f"The store knows no question {name!r}; it knows {', '.join(QUERIES)}."
            )
        try:
            inspect.signature(asked).bind(None, **args)
        except TypeError as error:
            raise StoreError(f"The question {name!r} was asked wrongly: {error}.") from None
        if name in ACTIONS:
            return ACTIONS[name](self._owner, **args)
        return self._patiently(name, args)

    def _patiently(self, name: str, args: dict[str, Any]) -> pa.Table:
        """The answer; a run whose folder is there but which no turn has seen yet gets a moment."""
        deadline = time.monotonic() + _WAIT_FOR_NEW_RUN_S
        while True:
            is_last = time.monotonic() > deadline or not self._has_folder(args.get("run"))
            try:
                frame = self._run(name, args)
                if is_last or name != "run" or frame.num_rows:
                    return frame
            except UnknownRunError:
                if is_last:
                    raise
            time.sleep(0.1)

    def _has_folder(self, run: Any) -> bool:
        return isinstance(run, str) and (self._runs / run / "plan.json").exists()

    def _run(self, name: str, args: dict[str, Any]) -> pa.Table:
        try:
            with self._database.cursor() as cursor, _limit(cursor):
                if (kept := self._kept.find(cursor, name, args)) is not None:
                    return kept
                if not reads_events(cursor, name, args):
                    return QUERIES[name](cursor, **args)
            with self._scans, self._database.cursor() as cursor, _limit(cursor):
                return self._kept.compute(cursor, name, args, QUERIES[name])
        except duckdb.InterruptException:
            raise StoreError(
                f"The question {name!r} took longer than {ANSWER_WITHIN_S:g} s and was ended; "
                "ask for a shorter window."
            ) from None
        except duckdb.OutOfMemoryException as error:
            raise StoreError(
                f"The question {name!r} needs more memory than the store may take "
                f"({first_line(error)}); ask for a shorter window."
            ) from None
        except duckdb.ConversionException as error:
            raise StoreError(
                f"The question {name!r} was asked wrongly: {first_line(error)}"
            ) from None
        except ValueError as error:
            raise StoreError(f"The question {name!r} was asked wrongly: {error}.") from None


@contextlib.contextmanager
def _limit(cursor: duckdb.DuckDBPyConnection) -> Generator[None]:
    timer = threading.Timer(ANSWER_WITHIN_S, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
