"""`headway simulate`: the built-in endpoint whose truth is known."""

from pathlib import Path

import click

from commands.becoming import become, check_free
from commands.refusal import Refusal
from loadgen.limits import raise_open_files


@click.command()
@click.option("--port", default=8100, show_default=True, type=click.IntRange(0, 65535))
@click.option("--profile", default="small-gpu", show_default=True, help="Which server to imitate.")
@click.option(
    "--truth",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write each token's real emission time here, one JSON line per token.",
)
def simulate(port: int, profile: str, truth: Path | None) -> None:
    """Serve a simulated LLM endpoint on 127.0.0.1 until Ctrl-C; port 0 takes any free one."""
    from simulator.profiles import PROFILES

    if profile not in PROFILES:
        raise Refusal(f"There is no profile {profile!r}; choose one of {', '.join(PROFILES)}.")
    check_free("127.0.0.1", port, "simulate")
    raise_open_files()
    arguments = ["--port", str(port), "--profile", profile]
    if truth:
        arguments += ["--truth", str(truth.absolute())]
    become("simulator.server", arguments, {})
