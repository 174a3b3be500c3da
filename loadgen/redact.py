"""A key that a server echoes in its error must not reach a file, a page or a terminal."""

import os
from collections.abc import Callable

SHORTEST = 4  # shorter values occur in honest sentences


def redactor(*api_key_envs: str | None) -> Callable[[str | None], str | None]:
    """Replaces the keys held by those environment variables wherever they stand in a text."""
    named = {os.environ.get(name or "", "").strip() for name in api_key_envs}
    # The longest first: one may begin like another.
    keys = sorted((key for key in named if len(key) >= SHORTEST), key=len, reverse=True)

    def clean(text: str | None) -> str | None:
        for key in keys if text else ():
            text = text and text.replace(key, "[key removed]")
        return text

    return clean
