"""A plan with mistakes, mended so far that the rest of it can be judged too.

A wrong field goes back to its default, one that must be there gets a value that means nothing, and
both are doubtful from then on: what is said of a doubtful field is a consequence, not a mistake.
"""

import copy
from collections.abc import Sequence
from typing import Any

from loadgen.plan_fields import meant
from loadgen.plan_parts import Part
from loadgen.plan_place import Path, has, path_of, shown
from loadgen.plan_sentences import sentence

NEUTRAL: dict[str, Any] = {
    "target": {"url": "http://unknown", "model": "unknown"},
    "stages": [{"kind": "idle", "seconds": 1}],
    "url": "http://unknown",
    "model": "unknown",
    "name": "unknown",
    "concurrency": 1,
    "rate_per_s": 1,
    "seconds": 1,
    "metric": "e2e",
    "max_ms": 1,
    "tokens": 1,
    "turns": 1,
    "file": "unknown",
    "path": "unknown",
    "workers": 1,
}
NEUTRAL_ITEM: dict[str, Any] = {
    "stages": {"kind": "idle", "seconds": 1},
    "classes": {"name": "unknown"},
    "slos": {"metric": "e2e", "max_ms": 1},
}


class Mending:
    """The mended values, and what of them is doubtful."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = copy.deepcopy(raw)
        self._doubtful: set[str] = set()

    def take(self, errors: Sequence[Any], top: type[Part]) -> list[str]:
        """Mend what pydantic found wrong; a sentence for each that is a mistake of its own."""
        found = [(error, path_of(error, self.raw)) for error in errors]
        for error, path in found:
            self._expect_misspelt(error, path, top)
        told = [sentence(e, self.raw, top) for e, path in found if not self._follows(e, path)]
        for error, path in found:
            if error["type"] == "missing":
                self._fill(path)
            else:
                self._remove(path)
        return told

    def is_doubtful(self, *fields: str) -> bool:
        """Whether one of these was mended, or something in or around it."""
        return any(_overlap(field, doubt) for field in fields for doubt in self._doubtful)

    def _expect_misspelt(self, error: Any, path: Path, top: type[Part]) -> None:
        """The field that an unknown one was meant to be is not missing: it is misspelt."""
        if error["type"] != "extra_forbidden":
            return
        field = meant(str(path[-1]), error["loc"][:-1], top)
        if field is not None and not has(self._at(path[:-1]), field):
            self._doubt((*path[:-1], field))

    def _follows(self, error: Any, path: Path) -> bool:
        """Whether this error is but a consequence of what was mended before."""
        compared = error.get("ctx", {}).get("fields", ()) if error["type"] == "mistake" else ()
        if compared:
            return self.is_doubtful(*(shown((*path, field)) for field in compared))
        return self.is_doubtful(shown(path))

    def _fill(self, path: Path) -> None:
        name, around = path[-1], self._at(path[:-1])
        if not isinstance(around, dict):
            return  # another field was missing there too, and all of it is mended
        if name not in NEUTRAL:
            self._remove(path[:-1])
        else:
            around[name] = copy.deepcopy(NEUTRAL[str(name)])
            self._doubt(path)

    def _remove(self, path: Path) -> None:
        if not path:
            return
        around, last = self._at(path[:-1]), path[-1]
        name = path[-2] if isinstance(last, int) and len(path) > 1 else None
        if isinstance(last, int) and name not in NEUTRAL_ITEM:
            self._remove(path[:-1])
            return
        is_new = shown(path) not in self._doubtful
        self._doubt(path)
        if not has(around, last):
            return  # what it was in is gone already
        if isinstance(last, int):
            around[last] = copy.deepcopy(NEUTRAL_ITEM[str(name)])
        elif last in NEUTRAL and is_new:  # its being there may tell what kind of part this is
            around[last] = copy.deepcopy(NEUTRAL[last])
        else:
            del around[last]

    def _at(self, path: Path) -> Any:
        here: Any = self.raw
        for step in path:
            if not has(here, step):
                return None
            here = here[step]
        return here

    def _doubt(self, path: Path) -> None:
        self._doubtful.add(shown(path))


def _overlap(one: str, other: str) -> bool:
    """Whether one is the other, or lies in it."""
    short, long = sorted((one, other), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")
