"""`headway show`: a stored run as text or JSON."""

import json
from typing import Any

import click

from commands.data_folder import data_folder
from commands.refusal import Refusal


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Every metric, for programs.")
@click.option("--whole", is_flag=True, help="Whole levels, ramp and run-off included.")
def show(run: str, as_json: bool, whole: bool) -> None:
    """Print a run: its uid, a unique beginning of it, its name, or `last`."""
    from analysis.show import show as document_of
    from analysis.text import text
    from storage.client import Store

    store = Store.connect(data_folder())
    try:
        document = document_of(store.ask, find_run(store, run), whole)
    finally:
        store.close()
    click.echo(json.dumps(document, indent=1) + "\n" if as_json else text(document), nl=False)


def find_run(store: Any, text: str) -> str:
    """The one run that `text` means; Refusal if there is none or more than one."""
    found: list[str] = list(store.ask("find_run", text=text)["run_uid"])
    if len(found) == 1:
        return found[0]
    if not found:
        raise Refusal(f"There is no run {text!r} here; give a uid, its beginning, a name, or last.")
    shown = ", ".join(uid[:13] for uid in found[:5]) + (", …" if len(found) > 5 else "")
    raise Refusal(f"{text!r} means {len(found)} runs ({shown}); give more of the uid.")
