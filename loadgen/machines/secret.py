"""The shared secret of a leader and its remote workers, and the keys that come of it.

Both sides derive the leader's CURVE key pair from the secret.  Who does not have it can neither
open a connection to the leader nor pass for it, and what travels is encrypted.
The secret itself comes from an environment variable, is in no file and is never sent.
"""

import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

import zmq
from zmq.utils import z85

LEAST_CHARACTERS = 16
HOW_TO_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(24))'"


class SecretError(ValueError):
    """The channel cannot be protected as it must be; the message says why and what to do."""


@dataclass(frozen=True, slots=True, repr=False)
class LeaderKeys:
    """The leader's CURVE key pair (z85), known to whoever knows the secret."""

    public: bytes
    private: bytes


def leader_keys(secret: str) -> LeaderKeys:
    """The same for the same secret; slow on purpose, so that guessing is.  Raises SecretError."""
    if not zmq.has("curve"):
        raise SecretError(
            "This machine's ZeroMQ was built without encryption (CURVE); install pyzmq from PyPI: "
            "pip install --force-reinstall pyzmq."
        )
    seed = hashlib.scrypt(secret.encode(), salt=b"headway/leader", n=1 << 14, r=8, p=1, dklen=32)
    private = z85.encode(seed)
    return LeaderKeys(public=zmq.curve_public(private), private=private)


def secret_of(name: str | None, environment: Mapping[str, str]) -> str | None:
    """The secret in the variable `name`; None if no variable is named.  Raises SecretError."""
    if name is None:
        return None
    secret = environment.get(name, "")
    if not secret:
        raise SecretError(
            f"The environment variable {name} with the secret of the load workers is not set here; "
            f"set the same one on every machine, such as one made by: {HOW_TO_MAKE}"
        )
    if len(secret) < LEAST_CHARACTERS:
        raise SecretError(
            f"The secret in {name} has {len(secret)} characters and could be guessed; "
            f"at least {LEAST_CHARACTERS} are needed. Make one by: {HOW_TO_MAKE}"
        )
    return secret


def is_loopback(host: str) -> bool:
    """True if only this machine can reach a socket bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, or * for every address
        return False


def keys_for(
    bind: str, secret_env: str | None, environment: Mapping[str, str]
) -> LeaderKeys | None:
    """The leader's keys; None where none are needed.  Raises SecretError."""
    secret = secret_of(secret_env, environment)
    if secret is not None:
        return leader_keys(secret)
    if not is_loopback(bind):
        raise SecretError(
            f"machines.bind is {bind!r}, which other machines can reach, and machines.secret_env "
            "names no variable; whoever reaches the port could send load. Name one that holds the "
            f"same secret on every machine, such as one made by: {HOW_TO_MAKE}"
        )
    return None
