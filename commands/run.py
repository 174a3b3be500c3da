"""`headway run`: a plan file, measured from beginning to verdict."""

from pathlib import Path
from typing import Any

import click

from commands.measuring import measure
from commands.planning import plan_from_file
from commands.run_options import run_options


@click.command()
@click.argument("plan_file", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", help="The endpoint's root or …/v1, or sim://PROFILE.")
@click.option("--model", metavar="M", help="The model's name as the server knows it.")
@click.option(
    "--set", "sets", metavar="KEY=VALUE", multiple=True, help="E.g. stages[0].concurrency=4."
)
@run_options
def run(plan_file: Path, sets: tuple[str, ...], json_file: Path | None, **options: Any) -> None:
    """Run a plan and print what was measured.

    Exit code: 0 SLOs met or none given, 1 an SLO missed, 2 a mistake in plan or command, 3 the run
    failed or its numbers may not be believed.
    """
    measure(plan_from_file(plan_file, options, sets), json_file)
