"""Mistakes of our own in greenlets: gevent and Locust would print them and go on, less by one."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from storage.raw_record import SpoolError


class Failing(Protocol):
    """Whoever can end the run."""

    def fail(self, why: str) -> None:
        """Say this sentence to the leader, and do no more."""
        ...


P = ParamSpec("P")
S = TypeVar("S", bound=Failing)


def told(method: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
    """The method; whatever it raises ends the run with a sentence."""

    @wraps(method)
    def guarded(self: S, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except SpoolError as error:
            self.fail(str(error))
        except Exception as error:  # the edge of a greenlet: nobody else would tell of it
            logging.exception("a fault of the load generator")
            self.fail(
                f"The load generator itself failed ({type(error).__name__}: {error}). The run's "
                "log says where: please report it."
            )

    return guarded
