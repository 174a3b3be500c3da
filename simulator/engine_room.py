"""The engine in real time: each step's tokens are written when the step ends on the clock.

A step that ends on time is followed by the next one from its end on, so that nothing drifts.  If
the simulator itself woke late by more than LATE_NS, the next step begins when it really could, and
/metrics counts the difference: the engine never hurries to make up for it.  Writing a large batch
overlaps with the next step, as it does on a GPU server.
"""

import asyncio
import time
from collections.abc import Callable

from simulator.alarm import Alarm
from simulator.engine import Engine
from simulator.sequence import EngineRequest, Sequence, Step
from simulator.token_stream import Answer
from simulator.vllm_metrics import VllmMetrics

LATE_NS = 1_000_000


class EngineRoom:
    """Runs one engine; `pause` is called after each step's writes, where there is time."""

    def __init__(self, engine: Engine, metrics: VllmMetrics, pause: Callable[[], None]) -> None:
        self.engine = engine
        self.metrics = metrics
        self._pause = pause
        self._alarm = Alarm(asyncio.get_running_loop(), self._step_ends)
        self._step: Step | None = None
        self._answers: dict[int, Answer] = {}

    def submit(self, request: EngineRequest, answer: Answer) -> None:
        """Queue a request; `answer` gets its tokens."""
        self._answers[request.request_id] = answer
        self.engine.submit(request, time.monotonic_ns())
        self._go_on()

    def abort(self, request_id: int, reason: str) -> None:
        """Forget a request that is not over; `reason` is counted."""
        if self._answers.pop(request_id, None) is not None:
            self.engine.abort(request_id)
            self.metrics.finished[reason] += 1

    def freeze(self, duration_ns: int) -> None:
        """Stand still from now on: the present step lasts longer, or the next begins later."""
        if self._step is not None:
            self._step.end_ns += duration_ns
            self._alarm.set(self._step.end_ns)
        else:
            self.engine.resume_at(time.monotonic_ns() + duration_ns)

    def close(self) -> None:
        """Run no further step."""
        self._alarm.close()

    def _go_on(self) -> None:
        if self._step is None:
            self._step = self.engine.plan_step()
            if self._step is not None:
                self._alarm.set(self._step.end_ns)

    def _step_ends(self) -> None:
        step, self._step = self._step, None
        assert step is not None
        late_ns = time.monotonic_ns() - step.end_ns
        over: list[tuple[Sequence, Answer]] = []
        for emission in self.engine.finish_step(step):
            sequence = emission.sequence
            answer = self._answers.get(sequence.request.request_id)
            if answer is None:
                continue
            answer.take(emission)
            if sequence.is_over:
                over.append((sequence, answer))
        for sequence, answer in over:
            del self._answers[sequence.request.request_id]
            answer.end(sequence)
        self._keep_time(step, late_ns)
        self._go_on()
        self.metrics.step_done(step)
        for sequence, answer in over:
            self.metrics.request_done(sequence, answer.finish_reason)
        self._pause()

    def _keep_time(self, step: Step, late_ns: int) -> None:
        """Move the next step if this one was late; a step without duration always "is"."""
        is_instant = step.end_ns == step.begin_ns
        if late_ns > LATE_NS or is_instant:
            self.engine.resume_at(step.end_ns + late_ns)
        if not is_instant:
            self.metrics.late(late_ns, late_ns if late_ns > LATE_NS else 0)
