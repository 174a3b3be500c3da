"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loadgen.wire.registry import APIS

api_option = click.option("--api", metavar="NAME", help=f"One of {', '.join(APIS)}.")
key_option = click.option(
    "--api-key-env", metavar="NAME", help="Environment variable that holds the API key."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both `run` and `quick` take."""
    for option in (
        click.option(
            "--json",
            "json_file",
            type=click.Path(path_type=Path, dir_okay=False, writable=True),
            metavar="FILE",
            help="Write every metric there as JSON.",
        ),
        click.option("--workers", type=int, metavar="N", help="Load worker processes."),
        click.option("--name", metavar="TEXT", help="What the run is called."),
        key_option,
        api_option,
    ):
        command = option(command)
    return command
