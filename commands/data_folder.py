"""Where runs and the database lie."""

import os
import tempfile
from pathlib import Path

from commands.refusal import Refusal


def data_folder() -> Path:
    """The absolute path of $HEADWAY_DATA or ./data, made if missing; Refusal if unwritable."""
    folder = Path(os.environ.get("HEADWAY_DATA") or "data").absolute()
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
