"""What `python -m simulator.server` (and `headway simulate`) can be told."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.profiles import PROFILES


@dataclass(frozen=True, slots=True)
class Options:
    """One simulated server."""

    port: int = 8100  # 0 = any free one
    profile: str = "small-gpu"
    truth: Path | None = None
    host: str = "127.0.0.1"
    has_parent: bool = False  # end when the process that started us does
    api_key_env: str | None = None  # the NAME of an environment variable
    model: str | None = None  # None: the profile's name
    settings: tuple[str, ...] = ()  # KEY=VALUE over the profile's parameters


def parse_options(arguments: Sequence[str]) -> Options:
    """Options from a command line; exits with 2 and a sentence if they are wrong."""
    usual = Options()
    parser = argparse.ArgumentParser(
        prog="simulator.server", description="A streaming LLM server whose truth is known."
    )
    profiles = "; ".join(f"{profile.name}: {profile.summary}" for profile in PROFILES.values())
    parser.add_argument("--port", type=int, default=usual.port, help="0 = any free one")
    parser.add_argument("--profile", default=usual.profile, help=profiles)
    parser.add_argument("--truth", type=Path, metavar="FILE", help="write each token's time there")
    parser.add_argument("--host", default=usual.host)
    parser.add_argument("--with-parent", action="store_true", help="end when our parent does")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable with the key")
    parser.add_argument("--model", help="name to answer to; default: the profile's")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a parameter"
    )
    given = parser.parse_args(arguments)
    return Options(
        port=given.port,
        profile=given.profile,
        truth=given.truth,
        host=given.host,
        has_parent=given.with_parent,
        api_key_env=given.api_key_env,
        model=given.model,
        settings=tuple(given.set),
    )
