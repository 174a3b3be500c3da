"""No page ends in a traceback: known errors become one sentence, unknown ones go to the log."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from zlib import crc32

from loadgen.launch import LaunchError
from loadgen.plan import PlanError
from storage.client import StoreError
from ui.card import verdict
from ui.plain import sentence

log = logging.getLogger("headway")


@contextmanager
def guard() -> Generator[None]:
    """Around a page or a fragment: what the user or the disk did wrong, said where it happened."""
    try:
        yield
    except (StoreError, PlanError, LaunchError, OSError) as error:
        say(sentence(error))


def say(text: str) -> None:
    """An error's sentence, as plain text: it may quote a server or a file name."""
    verdict("red", "This did not work", text, key=f"error_{crc32(text.encode())}")


def show_unexpected(error: Exception) -> bool:
    """For st.App(on_script_error=): our own fault; the log gets the traceback."""
    log.error("A page failed.", exc_info=error)
    say(
        f"Headway itself failed here ({type(error).__name__}). Reload the page; if it comes back, "
        "report it with the lines of the server's log."
    )
    return True
