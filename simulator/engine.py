"""Continuous batching as a pure step machine in virtual integer nanoseconds.

It knows no clock and no socket: arrivals are told, times are computed.  A server sleeps between
`plan_step` and `finish_step`; a prediction calls `step` in a loop, with arrivals in its future.
"""

import heapq
from collections.abc import Sequence as Many
from dataclasses import replace
from random import Random

from simulator.batching import BATCHING, Queues
from simulator.engine_config import EngineConfig
from simulator.kv_blocks import KvBlocks
from simulator.sequence import Emission, EngineRequest, Sequence, Step


class Engine:
    """One model replica.  `now_ns` is the earliest begin of its next step."""

    def __init__(self, config: EngineConfig, rng: Random) -> None:
        self.config = config
        self.now_ns = 0
        self.blocks = KvBlocks(config.kv_blocks, config.block_tokens)
        self._rng = rng
        self._queues = Queues(config, self.blocks)
        self._plan = BATCHING[config.batching]
        self._coming: list[tuple[int, int, Sequence]] = []  # heap of (arrival, order, sequence)
        self._n_submitted = 0
        self._by_id: dict[int, Sequence] = {}

    @property
    def has_work(self) -> bool:
        """True while a submitted request is neither finished nor aborted."""
        return bool(self._by_id)

    @property
    def n_running(self) -> int:
        """Sequences in the batch that still get tokens."""
        return sum(not sequence.is_over for sequence in self._queues.running)

    @property
    def n_waiting(self) -> int:
        """Sequences in the queue, and those whose arrival no step has seen yet."""
        return len(self._by_id) - self.n_running

    def submit(self, request: EngineRequest, now_ns: int) -> Sequence:
        """Let `request` arrive at `now_ns`; a step that begins then or later may take it."""
        total = request.prompt_tokens + request.output_tokens
        assert request.prompt_tokens > 0, "a prompt has at least one token"
        assert request.output_tokens >= 0, "0 is a prompt without an answer"
        assert total <= self.config.context_tokens, "the caller refuses what does not fit"
        assert request.request_id not in self._by_id, "request ids are unique while they live"
        if not self.config.has_prefix_cache:
            request = replace(request, block_hashes=())
        sequence = Sequence(request, now_ns)
        self._by_id[request.request_id] = sequence
        heapq.heappush(self._coming, (now_ns, self._n_submitted, sequence))
        self._n_submitted += 1
        return sequence

    def abort(self, request_id: int) -> bool:
        """Forget a request; its blocks are free at once.  False if it was already over."""
        sequence = self._by_id.pop(request_id, None)
        if sequence is None:
            return False
        sequence.is_aborted = True
        if sequence in self._queues.waiting:
            self._queues.waiting.remove(sequence)
        self._retire()
        return True

    def resume_at(self, now_ns: int) -> None:
        """Let no further step begin before `now_ns`: the server was late, or is frozen."""
        self.now_ns = max(self.now_ns, now_ns)

    def step(self) -> Step | None:
        """Plan and finish the next step; None when there is nothing to do."""
        step = self.plan_step()
        if step is not None:
            self.finish_step(step)
        return step

    def plan_step(self) -> Step | None:
        """Choose what the next step computes, and until when; None when there is nothing to do."""
        queues = self._queues
        self._drop_aborted_arrivals()
        begin_ns = self.now_ns
        if not queues.running and not queues.waiting:
            if not self._coming:
                return None
            begin_ns = max(begin_ns, self._coming[0][0])
        while self._coming and self._coming[0][0] <= begin_ns:
            sequence = heapq.heappop(self._coming)[2]
            if not sequence.is_aborted:
                queues.waiting.append(sequence)
        step = Step(begin_ns)
        self._plan(queues, step)
        assert step.parts, "a planned step always computes something"
        step.end_ns = begin_ns + self._duration_ns(step)
        return step

    def finish_step(self, step: Step) -> list[Emission]:
        """Move the engine to the step's end; returns (and keeps in the step) who got tokens."""
        self.now_ns = max(self.now_ns, step.end_ns)
        for sequence, n_tokens in step.parts:
            if not sequence.is_aborted:
                self._advance(step, sequence, n_tokens)
        if any(emission.sequence.is_over for emission in step.emissions):
            self._retire()
        return step.emissions

    def _advance(self, step: Step, sequence: Sequence, n_tokens: int) -> None:
        if sequence.is_decoding:
            emitted = self._accepted(n_tokens)
            sequence.computed += emitted
        else:
            sequence.computed += n_tokens
            if sequence.request.block_hashes:
                hashes = sequence.request.block_hashes
                self.blocks.publish(sequence.held, hashes, sequence.computed)
            if sequence.behind > 0:
                return
            emitted = min(1, sequence.remaining)
        sequence.generated += emitted
        step.emissions.append(Emission(sequence, emitted, sequence.last_token_ns))
        sequence.last_token_ns = step.end_ns
        if sequence.first_token_ns is None:
            sequence.first_token_ns = step.end_ns

    def _accepted(self, n_tokens: int) -> int:
        """Tokens out of a verified draft: one is certain, the first wrong guess ends the rest."""
        accepted = 1
        while accepted < n_tokens and self._rng.random() < self.config.acceptance:
            accepted += 1
        return accepted

    def _duration_ns(self, step: Step) -> int:
        config = self.config
        return (
            config.step_ns
            + config.sequence_ns * step.decoding
            + config.prefill_token_ns * step.prefill_tokens
            + config.context_token_ns * step.context_tokens
        )

    def _retire(self) -> None:
        """Take sequences that are over out of the batch; a static batch only as a whole."""
        running = self._queues.running
        over = [sequence for sequence in running if sequence.is_over]
        for sequence in over:
            self._by_id.pop(sequence.request.request_id, None)
        if self.config.batching == "static" and len(over) < len(running):
            return
        for sequence in over:
            self.blocks.release(sequence.held)
        self._queues.running = [sequence for sequence in running if not sequence.is_over]

    def _drop_aborted_arrivals(self) -> None:
        while self._coming and self._coming[0][2].is_aborted:
            heapq.heappop(self._coming)


def run_all(engine: Engine, arrivals: Many[tuple[int, EngineRequest]]) -> list[Sequence]:
    """Serve `arrivals` (virtual ns, request) to the end; their sequences, in that order."""
    sequences = [engine.submit(request, arrival_ns) for arrival_ns, request in arrivals]
    while engine.step() is not None:
        pass
    return sequences
