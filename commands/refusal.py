"""The one edge where an error becomes a sentence on stderr and an exit code."""

import sys
from typing import TYPE_CHECKING, Any, ClassVar, cast

import click

from storage.protocol import Mistake, StoreError

if TYPE_CHECKING:
    from loadgen.plan import PlanError

MET, MISSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: SLOs met or none given; an SLO missed; plan or usage error; run failed; Ctrl-C
before there was a result, as shells have it."""
STOPPED = {
    "export": "Stopped; nothing was written.",
    "import": "Stopped; the runs named above are imported.",
    "db": "Stopped waiting; what the store has begun, it finishes.",
}
LONGEST_LINE = 4000


class Refusal(click.ClickException):
    """Headway will not begin: one sentence saying what, where and what to do."""

    exit_code: ClassVar[int] = USAGE

    def show(self, file: Any = None) -> None:
        """The sentence on stderr, without click's "Error:" in front."""
        from loadgen.explain_words import printable

        # Names in it may come from files of others: they must not steer the terminal.
        lines = [printable(line, LONGEST_LINE) for line in self.message.split("\n")]
        click.echo("\n".join(lines), err=True, file=file)


class Failure(Refusal):
    """Headway began and could not finish, or what it measured may not be believed."""

    exit_code: ClassVar[int] = FAILED


def plan_refusal(where: str, error: "PlanError") -> Refusal:
    """Every mistake of a plan, one line each, under a line that says whose they are."""
    problems = error.problems
    if len(problems) == 1:
        return Refusal(f"{where}: {problems[0]}")
    lines = "\n".join(f"  - {problem}" for problem in problems)
    return Refusal(f"{where} has {len(problems)} mistakes:\n{lines}")


class HeadwayGroup(click.Group):
    """A click group whose commands may raise the project's own errors."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a known error leaves as a sentence, Ctrl-C as exit code 130."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(f"\n{STOPPED.get(ctx.invoked_subcommand or '', 'Stopped.')}", err=True)
            sys.exit(INTERRUPTED)
        except Exception as error:
            told = _told(error)
            if told is None:
                raise
            raise told from None


def _told(error: Exception) -> Refusal | None:
    """One of the project's own errors as a sentence; None for any other.

    Plans take 0.4 s of CPU to load: a command that needs none cannot have raised their errors.
    """
    plan, launch = sys.modules.get("loadgen.plan"), sys.modules.get("loadgen.launch")
    if plan and isinstance(error, plan.PlanError):
        return plan_refusal("The plan", cast("PlanError", error))
    if isinstance(error, Mistake):
        return Refusal(str(error))
    if isinstance(error, StoreError) or (launch and isinstance(error, launch.LaunchError)):
        return Failure(str(error))
    return None
