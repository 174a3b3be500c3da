"""A `sim://PROFILE?KEY=VALUE&…` target as the command line of the simulator that a run starts."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from loadgen.plan_target import Target

TRUTH = "truth"  # a word of the query without a value


def simulator_arguments(target: Target, truth: Path) -> list[str]:
    """What `python -m simulator.server` is told.

    truth: where each token's time goes, 185 bytes a token, if the query holds the word; its other
    words are settings of `--set`, which the simulator judges itself.
    """
    parts = urlsplit(target.url)
    words = [unquote(word) for word in parts.query.split("&") if word]
    told = ["--port", "0", "--profile", parts.hostname or "", "--model", target.model]
    told.append("--with-parent")
    if TRUTH in words:
        told += ["--truth", str(truth)]
    for setting in words:
        if setting != TRUTH:
            told += ["--set", setting]
    return told
