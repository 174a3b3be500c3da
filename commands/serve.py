"""`headway serve`: the dashboard, as Streamlit's own server process."""

import ipaddress
import os
import sys

import click

from commands.becoming import HOME, become, check_free
from commands.data_folder import data_folder
from commands.refusal import Refusal
from loadgen.limits import raise_open_files


@click.command()
@click.option("--port", default=8501, show_default=True, type=click.IntRange(1, 65535))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--no-auth", is_flag=True, help="Let everyone who reaches HOST in.")
def serve(port: int, host: str, no_auth: bool) -> None:
    """Open the dashboard in the browser; Ctrl-C ends it, runs go on."""
    if not (is_loopback(host) or no_auth):
        raise Refusal(
            f"Serving on {host} lets everyone who reaches it start load tests from this machine; "
            "keep 127.0.0.1 and use ssh -L, or say --no-auth if that is meant."
        )
    check_free(host, port, "serve")
    data = data_folder()
    raise_open_files()
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"Headway: http://{shown}:{port}   data: {data}   Ctrl-C ends the dashboard")
    become(
        "streamlit", ["run", str(HOME / "app.py"), *_flags(host, port)], {"HEADWAY_DATA": str(data)}
    )


def is_loopback(host: str) -> bool:
    """True if only this machine reaches `host`; a name other than localhost counts as no."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _flags(host: str, port: int) -> list[str]:
    flags = [f"--server.address={host}", f"--server.port={port}"]
    if not is_loopback(host):
        flags.append("--server.allowedHosts=*")  # config.toml allows this machine's names only
    if sys.stdout.isatty() and _has_screen():
        flags += ["--server.headless=false", "--server.showEmailPrompt=false"]  # opens the browser
    return flags


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(
        os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY")
    )
