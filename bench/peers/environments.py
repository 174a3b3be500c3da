"""Each peer's own virtual environment: made, pinned, and given a tokenizer."""

import os
import subprocess
import sys
from pathlib import Path

from bench.peers.peer import Peer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEFAULT = HERE / ".envs"
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


class NotInstalled(RuntimeError):
    """The peer's environment is not there or could not be made; the message says why."""


def install(peer: Peer, environments: Path) -> None:
    """Make or complete `environments`/NAME; raises NotInstalled with the failed step's own words.

    pip's settings, such as PIP_EXTRA_INDEX_URL, are the caller's.
    """
    environment = environments / peer.name
    python = environment / "bin" / "python"
    if not python.exists():
        _step([sys.executable, "-m", "venv", str(environment)])
    requirements = str(HERE / "requirements" / f"{peer.name}.txt")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _step([*pip, "--no-deps", *peer.pip_options, "-r", requirements])
    _step([str(python), "-m", "bench.peers.tokenizer", str(tokenizer(environments, peer))])
    peer.finish(environment)


def program(environments: Path, peer: Peer) -> Path:
    """The peer's executable; raises NotInstalled."""
    found = environments / peer.name / "bin" / peer.program
    if not found.exists():
        raise NotInstalled(
            f"{found} is not there; make it with `python -m bench.peers install {peer.name}`"
        )
    return found


def tokenizer(environments: Path, peer: Peer) -> Path:
    """The folder of the peer's tokenizer."""
    return environments / peer.name / "tokenizer"


def variables(environments: Path, peer: Peer) -> dict[str, str]:
    """What the peer's process finds in its environment: ours, its own, and no hub to ask."""
    hub = {"HF_HOME": str(environments / peer.name / "hf"), "TOKENIZERS_PARALLELISM": "false"}
    loopback = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return {**os.environ, **OFFLINE, **hub, **loopback, **peer.env}


def _step(command: list[str]) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **OFFLINE},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotInstalled(f"{' '.join(command[:4])} … failed:\n{done.stdout[-1500:].strip()}")
