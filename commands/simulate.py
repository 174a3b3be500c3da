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
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a parameter of the profile, such as freeze_at_s=5; may be repeated.",
)
def simulate(port: int, profile: str, truth: Path | None, settings: tuple[str, ...]) -> None:
    """Serve a simulated LLM endpoint on 127.0.0.1 until Ctrl-C; port 0 takes any free one."""
    from simulator.profiles import SettingError, adjusted, profile_named

    try:
        adjusted(profile_named(profile), settings)
    except SettingError as error:
        raise Refusal(str(error)) from None
    check_free("127.0.0.1", port, "simulate")
    raise_open_files()
    arguments = ["--port", str(port), "--profile", profile]
    if truth:
        arguments += ["--truth", str(truth.absolute())]
    for setting in settings:
        arguments += ["--set", setting]
    become("simulator.server", arguments, {})
