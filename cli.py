"""The `headway` command: load-test streaming LLM endpoints from a terminal or in CI."""

from importlib import import_module

import click

from commands.refusal import HeadwayGroup
from loadgen.version import VERSION

COMMANDS = (
    "serve",
    "run",
    "quick",
    "simulate",
    "worker",
    "show",
    "import",
    "export",
    "doctor",
    "db",
)
"""Each is a file of the same name in commands/, imported only when it is used: `serve` shall not
wait for what `show` needs."""


FILES = {"import": "import_files"}
"""Commands whose name is a word of Python's own."""


class LazyGroup(HeadwayGroup):
    """Finds a command's file by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As `--help` lists them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """None for a name that is no command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = FILES.get(cmd_name, cmd_name)
        return getattr(import_module(f"commands.{name}"), name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION)
def main() -> None:
    """Load-test streaming LLM endpoints; every number is true or says where it is not.

    Begin with `headway serve`, or with `headway quick sim://small-gpu --model demo`.
    """


if __name__ == "__main__":
    main(prog_name="headway")
