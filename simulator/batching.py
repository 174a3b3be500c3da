"""Who is computed in the next step: continuous batching, or the older static batching."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.engine_config import EngineConfig
from simulator.kv_blocks import KvBlocks
from simulator.sequence import Sequence, Step


@dataclass(slots=True)
class Queues:
    """The engine's state: first come first served, `running` in the order of admission."""

    config: EngineConfig
    blocks: KvBlocks
    waiting: deque[Sequence] = field(default_factory=deque[Sequence])
    running: list[Sequence] = field(default_factory=list[Sequence])


def continuous(queues: Queues, step: Step) -> None:
    """Fill `step` within the token budget: running sequences first, then the waiting queue.

    A prompt may be computed in chunks.  When the KV cache is full the youngest sequence loses its
    blocks, goes back to the head of the queue and is computed anew later (preemption by
    recompute); nobody is admitted in such a step.
    Source: the scheduler of vLLM v1; chunked prefill: Agrawal et al., OSDI 2024 (Sarathi-Serve).
    """
    budget = queues.config.token_budget
    index = 0
    while index < len(queues.running):
        sequence = queues.running[index]
        n_tokens = min(_due_tokens(sequence, queues.config), budget)
        if n_tokens == 0 or not _make_room(queues, step, sequence, n_tokens):
            break
        step.take(sequence, n_tokens)
        budget -= n_tokens
        index += 1
    if not step.preempted:
        _admit(queues, step, budget)


def static(queues: Queues, step: Step) -> None:
    """Fill `step` from a batch that is admitted whole, prefilled in one step, and ends whole.

    A sequence that is over keeps its slot as padding until the last one is; its blocks too, which
    are reserved for the longest possible output at admission, so that nothing is preempted.
    Source: request-level batching as described by Yu et al., OSDI 2022 (Orca), section 3.
    """
    if not queues.running:
        _admit_whole(queues, step)
        return
    for sequence in queues.running:
        if not sequence.is_over:
            step.take(sequence, _due_tokens(sequence, queues.config))
    step.decoding = len(queues.running)  # padding is computed like the rest


def _due_tokens(sequence: Sequence, config: EngineConfig) -> int:
    """What the sequence would compute now: its missing prompt, or one token and its draft."""
    if sequence.is_decoding:
        return min(1 + config.draft_tokens, sequence.remaining)
    return sequence.behind


def _make_room(queues: Queues, step: Step, sequence: Sequence, n_tokens: int) -> bool:
    """Let `sequence` grow, at the cost of the youngest; False if it was itself the youngest."""
    while not queues.blocks.grow(sequence.held, sequence.computed + n_tokens):
        youngest = queues.running.pop()
        queues.blocks.release(youngest.held)
        youngest.computed = 0
        youngest.preemptions += 1
        queues.waiting.appendleft(youngest)
        step.preempted.append(youngest)
        if youngest is sequence:
            return False
    return True


def _admit(queues: Queues, step: Step, budget: int) -> None:
    while queues.waiting and budget > 0 and len(queues.running) < queues.config.max_batch:
        sequence = queues.waiting[0]
        _find_prefix(queues, sequence)
        n_tokens = min(sequence.behind, budget)
        if not queues.blocks.grow(sequence.held, sequence.computed + n_tokens):
            queues.blocks.release(sequence.held)
            sequence.computed = 0
            return
        _start(queues, step, n_tokens)
        budget -= n_tokens


def _admit_whole(queues: Queues, step: Step) -> None:
    while queues.waiting and len(queues.running) < queues.config.max_batch:
        sequence = queues.waiting[0]
        request = sequence.request
        _find_prefix(queues, sequence)
        if not queues.blocks.grow(sequence.held, request.prompt_tokens + request.output_tokens):
            queues.blocks.release(sequence.held)
            sequence.computed = 0
            return
        _start(queues, step, sequence.behind)


def _find_prefix(queues: Queues, sequence: Sequence) -> None:
    """Begin behind the cached part of the prompt; its last token is always computed."""
    block_tokens = queues.config.block_tokens
    limit = (sequence.behind - 1) // block_tokens
    hit = queues.blocks.adopt(sequence.held, sequence.request.block_hashes, limit)
    sequence.computed = hit * block_tokens


def _start(queues: Queues, step: Step, n_tokens: int) -> None:
    sequence = queues.waiting.popleft()
    if sequence.admitted_ns is None:
        sequence.cached_tokens = sequence.computed
    queues.running.append(sequence)
    step.take(sequence, n_tokens)


BATCHING: dict[str, Callable[[Queues, Step], None]] = {"continuous": continuous, "static": static}
