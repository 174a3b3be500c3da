"""The `headway` command: load-test streaming LLM endpoints from a terminal or in CI."""

import click

from commands.doctor import doctor
from commands.quick import quick
from commands.refusal import HeadwayGroup
from commands.run import run
from commands.serve import serve
from commands.show import show
from commands.simulate import simulate
from loadgen.transport.request import VERSION


@click.group(cls=HeadwayGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION)
def main() -> None:
    """Load-test streaming LLM endpoints; every number is true or says where it is not.

    Begin with `headway serve`, or with `headway quick sim://small-gpu --model demo`.
    """


for command in (serve, run, quick, simulate, show, doctor):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="headway")
