"""The parameters of the engine model: what a step costs and what the server can hold."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One engine.  A step lasts
    step_ns + sequence_ns x decoding + prefill_token_ns x prompt tokens + context_token_ns x context
    where context counts the KV entries that the decoding sequences read.
    """

    step_ns: int = 0
    sequence_ns: int = 0
    prefill_token_ns: int = 0
    context_token_ns: int = 0
    max_batch: int = 16
    token_budget: int = 512  # per step; longer prompts are computed in chunks
    block_tokens: int = 16
    kv_blocks: int = 4_096
    context_tokens: int = 8_192  # longest prompt + output of one request
    has_prefix_cache: bool = True
    draft_tokens: int = 0  # speculated per sequence and step
    acceptance: float = 0.0  # chance that a drafted token is right, given those before it are
    batching: Literal["continuous", "static"] = "continuous"

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise ValueError(problem)

    def _problem(self) -> str | None:
        smallest = min(
            self.max_batch,
            self.token_budget,
            self.block_tokens,
            self.kv_blocks,
            self.context_tokens,
        )
        costs = (self.step_ns, self.sequence_ns, self.prefill_token_ns, self.context_token_ns)
        room = self.kv_blocks * self.block_tokens
        per_step = self.max_batch * (1 + self.draft_tokens)
        checks = {
            "max_batch, token_budget, block_tokens, kv_blocks, context_tokens must be at least 1": (
                smallest < 1
            ),
            "step_ns, sequence_ns, prefill_token_ns and context_token_ns must not be negative": (
                min(costs) < 0
            ),
            f"draft_tokens is {self.draft_tokens}; it must not be negative": self.draft_tokens < 0,
            f"acceptance is {self.acceptance:g}; it must lie in 0…1": not 0 <= self.acceptance <= 1,
            f"kv_blocks x block_tokens is {room}; one request of context_tokens = "
            f"{self.context_tokens} must fit": room < self.context_tokens,
            f"token_budget is {self.token_budget}; max_batch x (1 + draft_tokens) = {per_step} "
            "must fit into a step": self.token_budget < per_step,
            f"batching is {self.batching!r}; it must be continuous or static": (
                self.batching not in ("continuous", "static")
            ),
        }
        return next((sentence for sentence, is_wrong in checks.items() if is_wrong), None)
