"""`headway quick`: an endpoint measured without a plan file."""

from pathlib import Path
from typing import Any

import click

from commands.measuring import measure
from commands.planning import QUICK_CONCURRENCY, QUICK_SECONDS, quick_plan
from commands.run_options import run_options


@click.command()
@click.argument("url")
@click.option("--model", metavar="M", required=True, help="The model's name in the server.")
@click.option(
    "--concurrency", metavar="N,N,…", help=f"Streams in flight per level.  [{QUICK_CONCURRENCY}]"
)
@click.option("--rate", type=float, metavar="R", help="Or: R requests/s, Poisson, open loop.")
@click.option("--requests", type=int, metavar="N", help="Requests per level.")
@click.option(
    "--seconds", type=float, metavar="S", help=f"Or: seconds per level.  [{QUICK_SECONDS:g}]"
)
@click.option("--prompt-tokens", type=int, metavar="N", help="About N tokens per prompt.  [256]")
@click.option("--output-tokens", type=int, metavar="N", help="At most N per answer.  [128]")
@run_options
def quick(url: str, json_file: Path | None, **options: Any) -> None:
    """Measure URL (its root or …/v1, or sim://PROFILE) at a few levels; exit codes as of run."""
    for one, other in (("rate", "concurrency"), ("requests", "seconds")):
        if options[one] is not None and options[other] is not None:
            raise click.UsageError(f"--{one} and --{other} exclude each other; leave one out.")
    measure(quick_plan(url, options), json_file)
