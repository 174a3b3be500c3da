"""Where runs and the database lie, for commands that write there."""

import tempfile
from pathlib import Path

from commands.refusal import Refusal
from loadgen import run_folder


def data_folder() -> Path:
    """The absolute path of $HEADWAY_DATA or ./data, made if missing; Refusal if unwritable."""
    folder = run_folder.data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable-"):
            pass
    except OSError as error:
        raise Refusal(
            f"The data folder {folder} cannot be written ({error.strerror or error}); "
            "set HEADWAY_DATA to a folder that can, or change its permissions."
        ) from None
    return folder
