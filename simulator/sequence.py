"""What the engine model works on: a request, its sequence while it is served, and one step."""

from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.kv_blocks import Held


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """What one request costs: lengths in tokens, and the hashes of its prompt's full blocks."""

    request_id: int
    prompt_tokens: int
    output_tokens: int  # 0: over once the prompt is computed (embeddings)
    block_hashes: tuple[int, ...] = ()  # kv_blocks.block_hashes; empty = never cached


@dataclass(slots=True, eq=False)
class Sequence:
    """One request inside the engine.  Virtual ns; None is "not yet"."""

    request: EngineRequest
    arrival_ns: int
    computed: int = 0  # tokens whose KV entries exist
    generated: int = 0  # output tokens so far
    cached_tokens: int = 0  # prompt tokens found in the prefix cache at first admission
    preemptions: int = 0
    admitted_ns: int | None = None  # begin of the first step that worked on it
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    is_aborted: bool = False
    held: Held = field(default_factory=Held)

    @property
    def behind(self) -> int:
        """Tokens whose KV entries are missing before the next token can be sampled; at least 1."""
        return self.request.prompt_tokens + self.generated - self.computed

    @property
    def is_decoding(self) -> bool:
        """True once only the newest token's KV entry is missing."""
        return self.generated > 0 and self.behind == 1

    @property
    def remaining(self) -> int:
        """Output tokens still to come."""
        return self.request.output_tokens - self.generated

    @property
    def is_over(self) -> bool:
        """True when no further token will come."""
        request = self.request
        return self.is_aborted or (
            self.generated >= request.output_tokens and self.computed >= request.prompt_tokens
        )


class Emission(NamedTuple):
    """Tokens one sequence got at the end of a step."""

    sequence: Sequence
    n_tokens: int  # 0: the prompt is computed, and nothing else was asked for
    previous_ns: int | None  # when the sequence got its tokens before these; None = these are first


@dataclass(slots=True)
class Step:
    """One pass of the engine over its batch; the emissions exist once it is finished."""

    begin_ns: int
    end_ns: int = 0
    parts: list[tuple[Sequence, int]] = field(default_factory=list[tuple[Sequence, int]])
    decoding: int = 0  # sequences (static batching: slots) that decode
    prefill_tokens: int = 0
    context_tokens: int = 0  # KV entries read by the decoding sequences
    preempted: list[Sequence] = field(default_factory=list[Sequence])
    admitted: list[Sequence] = field(default_factory=list[Sequence])  # for the first time
    emissions: list[Emission] = field(default_factory=list[Emission])

    def take(self, sequence: Sequence, n_tokens: int) -> None:
        """Let the step compute `n_tokens` of `sequence`."""
        self.parts.append((sequence, n_tokens))
        if sequence.is_decoding:
            self.decoding += 1
            self.context_tokens += sequence.computed
        else:
            self.prefill_tokens += n_tokens
        if sequence.admitted_ns is None:
            sequence.admitted_ns = self.begin_ns
            self.admitted.append(sequence)
