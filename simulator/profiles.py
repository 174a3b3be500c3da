"""The servers one can simulate: engine parameters, and how long and how thoughtful answers are."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from simulator.engine_config import EngineConfig
from simulator.freezes import Freezes
from simulator.front import Front


class SettingError(ValueError):
    """The user's profile name or KEY=VALUE cannot be used; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of server.  Lengths in tokens."""

    name: str
    summary: str
    engine: EngineConfig
    natural_tokens: int = 180  # median output of a request that may stop by itself
    natural_spread: float = 0.6  # sigma of its log-normal distribution; 0 = always the median
    thinking_share: float = 0.0  # of the output, thought before the first visible token
    seed: int = 1  # of output lengths and accepted drafts
    front: Front = field(default_factory=Front)
    freezes: Freezes = field(default_factory=Freezes)


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "null",
            "Answers at once: what is left is the client and the network.",
            EngineConfig(
                max_batch=4_096,
                token_budget=1 << 22,
                kv_blocks=1 << 24,
                context_tokens=1 << 20,
                has_prefix_cache=False,
            ),
        ),
        Profile(
            "small-gpu",
            "An 8 B model on one 24 GB card: 15 to 20 ms per token, full at 16 streams.",
            EngineConfig(
                step_ns=14_000_000,  # reading 16 GB of weights at about 1.1 TB/s
                sequence_ns=300_000,
                prefill_token_ns=150_000,  # 6,700 prompt tokens/s
                context_token_ns=200,  # 128 KB of KV entries at about 0.65 TB/s
                max_batch=16,
                token_budget=512,
                kv_blocks=2_304,  # 36,864 tokens in the 4.8 GB beside the weights
                context_tokens=8_192,
            ),
        ),
        Profile(
            "large-gpu",
            "A 70 B model on eight cards: 9 to 16 ms per token, batches of up to 256 streams.",
            EngineConfig(
                step_ns=9_000_000,
                sequence_ns=25_000,
                prefill_token_ns=30_000,
                context_token_ns=12,
                max_batch=256,
                token_budget=2_048,
                kv_blocks=65_536,
                context_tokens=131_072,
            ),
        ),
        Profile(
            "reasoning",
            "The large server with a model that thinks for two thirds of its output first.",
            EngineConfig(
                step_ns=9_000_000,
                sequence_ns=25_000,
                prefill_token_ns=30_000,
                context_token_ns=12,
                max_batch=128,
                token_budget=2_048,
                kv_blocks=65_536,
                context_tokens=131_072,
            ),
            natural_tokens=900,
            thinking_share=2 / 3,
        ),
    )
}


def profile_named(name: str) -> Profile:
    """The profile, or SettingError naming those there are."""
    if name not in PROFILES:
        raise SettingError(f"There is no profile {name!r}; choose one of {', '.join(PROFILES)}.")
    return PROFILES[name]


def adjusted(profile: Profile, settings: Iterable[str]) -> Profile:
    """`profile` with each `KEY=VALUE` applied; SettingError says which one is wrong, and why."""
    present: dict[str, Any] = {
        "engine": profile.engine,
        "front": profile.front,
        "freezes": profile.freezes,
        "profile": profile,
    }
    owners = {key.name: owner for owner, values in present.items() for key in fields(values)}
    for name in ("name", "summary", "engine", "front", "freezes"):
        del owners[name]
    given: dict[str, dict[str, Any]] = {owner: {} for owner in present}
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator or key not in owners:
            known = ", ".join(sorted(owners))
            raise SettingError(f"{setting!r} is not KEY=VALUE with a KEY out of {known}.")
        owner = owners[key]
        given[owner][key] = _parsed(setting, text, getattr(present[owner], key))
    try:
        return replace(
            profile,
            engine=replace(profile.engine, **given["engine"]),
            front=replace(profile.front, **given["front"]),
            freezes=replace(profile.freezes, **given["freezes"]),
            **given["profile"],
        )
    except ValueError as error:
        raise SettingError(f"{error}.") from None


def _parsed(setting: str, text: str, present: bool | int | float | str) -> bool | int | float | str:
    """`text` as a value of the same type as the `present` one."""
    if isinstance(present, bool):
        if text.lower() not in ("true", "false"):
            raise SettingError(f"{setting!r}: the value must be true or false.")
        return text.lower() == "true"
    try:
        return type(present)(text)
    except ValueError:
        kind = "a whole number" if isinstance(present, int) else "a number"
        raise SettingError(f"{setting!r}: the value must be {kind}.") from None
