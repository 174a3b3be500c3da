"""`headway worker`: this machine takes part in runs that are started on another one."""

import os
import signal
import sys

import click

from commands.data_folder import data_folder
from commands.refusal import FAILED, Failure, Refusal
from loadgen.limits import raise_open_files

SECRET_ENV = "HEADWAY_SECRET"


@click.command()
@click.option(
    "--master",
    required=True,
    metavar="HOST:PORT",
    help="Where the run's plan says that its leader listens (machines.bind and machines.port).",
)
@click.option(
    "--secret-env",
    metavar="NAME",
    help=f"Environment variable with the shared secret; {SECRET_ENV} is used if it is set.",
)
@click.option("--once", is_flag=True, help="End after one run instead of waiting for the next.")
def worker(master: str, secret_env: str | None, once: bool) -> None:
    """Carry a part of the load of runs that are started on another machine, until Ctrl-C.

    There the plan says how many such workers it waits for (machines.workers).  API keys do not
    travel: the variable that the plan names must be set here, too.
    """
    from loadgen.machines.addresses import parsed
    from loadgen.machines.channel import Refused
    from loadgen.machines.outpost import Outpost
    from loadgen.machines.secret import is_loopback

    secret = _secret(secret_env)
    try:
        host, _ = parsed(master)
    except ValueError as error:
        raise Refusal(f"--master {error}.") from None
    if secret is None and not is_loopback(host):
        raise Refusal(
            f"--master {master} is another machine, and no secret is set: whoever answers there "
            f"could have this one send load. Put the run's secret into {SECRET_ENV}, or name its "
            "variable with --secret-env."
        )
    raise_open_files()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stopped service leaves in order
    outpost = Outpost(master, secret, data_folder(), _say)
    try:
        outpost.serve(runs=1 if once else None)
    except Refused:
        raise Failure(
            f"{master} is there, but does not take this secret (or is no leader of a run). Set the "
            "same secret on both machines, or on neither; see docs/several-machines.md."
        ) from None
    except KeyboardInterrupt:
        sys.exit(FAILED)
    finally:
        outpost.close()


def _secret(secret_env: str | None) -> tuple[str, str] | None:
    """(variable, secret); None if there is none.  Raises Refusal."""
    from loadgen.machines.secret import SecretError, secret_of

    name = secret_env or (SECRET_ENV if os.environ.get(SECRET_ENV) else None)
    try:
        secret = secret_of(name, os.environ)
    except SecretError as error:
        raise Refusal(str(error)) from None
    return (name, secret) if name and secret else None


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)
