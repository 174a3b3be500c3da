"""`headway export`: a stored run as files for others."""

from pathlib import Path

import click

from commands.amounts import count, size
from commands.data_folder import data_folder
from commands.refusal import Refusal
from commands.show import find_run

FORMATS = ("parquet", "csv", "json", "zip")


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help="zip: a run that `headway import` takes in elsewhere; parquet, csv: a folder of tables; "
    "json: `show --json` and the requests.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="A new file (zip, json) or a new folder (parquet, csv).",
)
def export(run: str, form: str, out: Path) -> None:
    """Write a run to files: its uid, a unique beginning of it, its name, or `last`.

    Nothing that is there is overwritten.  docs/export.md tells what is in the files.
    """
    if out.exists():
        raise Refusal(f"{out} is there already; give another path, or remove it first.")
    from analysis.show import show
    from storage.client import Store
    from storage.exchange.export import export_run
    from storage.exchange.removed import removed_on

    store = Store.connect(data_folder())
    try:
        uid = find_run(store, run)
        done = export_run(store, uid, form, out, show(store.ask, uid))
        gone = removed_on(store.ask_arrow, uid)
    finally:
        store.close()
    rows = count(done.rows["requests"], "request")
    if "token_events" in done.rows:
        rows += f", {count(done.rows['token_events'], 'token event')}"
    click.echo(f"{done.path}: {rows}, {size(done.n_bytes)}.")
    if gone and form != "json":
        click.echo(f"The run's token events were removed on {gone}: none of them is in it.")
