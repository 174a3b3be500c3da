"""A key that a server echoes in its error must not reach a file, a page or a terminal."""

import os
from collections.abc import Callable

SHORTEST = 4  # shorter values occur in honest sentences


def redactor(api_key_env: str | None) -> Callable[[str | None], str | None]:
    """Replaces the key held by that environment variable wherever it stands in a text."""
    key = os.environ.get(api_key_env or "", "").strip()
    if len(key) < SHORTEST:
        return lambda text: text
    return lambda text: text.replace(key, "[key removed]") if text else text
