"""Where in a plan something is: pydantic's `loc` as the path that its author wrote."""

from typing import Any, cast

Path = tuple[str | int, ...]


def path_of(error: Any, raw: Any) -> Path:
    """The path of one of pydantic's errors in `raw`; tags of unions are no fields of the file."""
    here, path = raw, list[str | int]()
    loc: Path = error["loc"]
    for i, step in enumerate(loc):
        if has(here, step):
            here = here[step]
        elif not (i == len(loc) - 1 and error["type"] == "missing"):
            continue  # a tag
        path.append(step)
    return tuple(path)


def has(here: Any, step: str | int) -> bool:
    """Whether a table has this field, or a list this item."""
    if isinstance(here, dict):
        return step in here
    return isinstance(here, list) and isinstance(step, int) and step < len(cast("list[Any]", here))


def shown(path: Path) -> str:
    """As sentences name it: `stages[1].seconds`."""
    where = ""
    for step in path:
        where += f"[{step}]" if isinstance(step, int) else f".{step}" if where else step
    return where
