"""The version of Headway that is running."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("headway")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "dev"


VERSION = _installed()
