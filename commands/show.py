"""`headway show`: a stored run as text or JSON."""

import json
from collections.abc import Callable
from typing import Any

import click

from commands.data_folder import data_folder
from commands.refusal import Refusal


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Every metric, for programs.")
@click.option("--whole", is_flag=True, help="Whole levels, ramp and run-off included.")
@click.option("--dialect", metavar="NAME", help="As another tool would print it: vllm, aiperf, …")
def show(run: str, as_json: bool, whole: bool, dialect: str | None) -> None:
    """Print a run: its uid, a unique beginning of it, its name, or `last`."""
    from storage.client import Store

    store = Store.connect(data_folder())
    try:
        document, text = _document(store, run, whole, dialect)
    finally:
        store.close()
    click.echo(json.dumps(document, indent=1) + "\n" if as_json else text(document), nl=False)


def _document(
    store: Any, run: str, whole: bool, dialect: str | None
) -> tuple[dict[str, Any], Callable[[dict[str, Any]], str]]:
    """What is shown, and how it is made text."""
    if dialect is None:
        from analysis.show import show as document_of
        from analysis.text import text

        return document_of(store.ask, find_run(store, run), whole), text
    from analysis.dialects import text as dialect_text
    from analysis.dialects.document import run_in_dialect
    from analysis.dialects.registry import DIALECTS
    from analysis.reading import read

    if dialect not in DIALECTS:
        known = ", ".join(DIALECTS)
        raise Refusal(f"There is no dialect {dialect!r}; there are {known}.")
    reading = read(store.ask, find_run(store, run), whole)
    return run_in_dialect(reading, dialect, store.ask_arrow), dialect_text.text


def find_run(store: Any, text: str) -> str:
    """The one run that `text` means; Refusal if there is none or more than one."""
    found: list[str] = list(store.ask("find_run", text=text)["run_uid"])
    if len(found) == 1:
        return found[0]
    if not found:
        raise Refusal(f"There is no run {text!r} here; give a uid, its beginning, a name, or last.")
    shown = ", ".join(uid[:13] for uid in found[:5]) + (", …" if len(found) > 5 else "")
    raise Refusal(f"{text!r} means {len(found)} runs ({shown}); give more of the uid.")
