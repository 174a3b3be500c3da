"""One request's answer while its tokens come: written to its connection, or gathered."""

import asyncio
import time
from collections.abc import Iterable
from typing import Literal, Protocol

from simulator import text
from simulator.answer import Burst, Finish, Kind, Usage, times_of
from simulator.api import Job
from simulator.sequence import Emission, Sequence
from simulator.wire import Wire

Ending = Literal["done", "cut", "error"]


class Answer(Protocol):
    """What the engine room needs of an answer."""

    @property
    def finish_reason(self) -> str:
        """Why it will end if nothing goes wrong: stop or length."""
        ...

    def take(self, emission: Emission) -> None:
        """The request got tokens."""
        ...

    def end(self, sequence: Sequence) -> None:
        """The request got its last token."""
        ...


class TokenStream:
    """Writes a streamed answer; `ended` becomes how it went."""

    def __init__(self, job: Job, wire: Wire) -> None:
        assert job.api.events is not None, "only for APIs that stream"
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.wire = wire
        self.events = job.api.events(job)
        self._job = job
        self._prompt_tokens = job.ask.prompt_tokens
        self._thinking_tokens = job.length.thinking_tokens
        self._position = job.first_position
        self._kind: Kind | None = None
        self._seq = 0
        self._sent_tokens = 0
        self.send(self.events.hello())

    @property
    def finish_reason(self) -> str:
        """As the finish event will say it."""
        return self._job.length.finish_reason

    def take(self, emission: Emission) -> None:
        """Write the tokens of one engine step: one event, two where thinking ends within it.

        An API with an event for each token gets one for each.
        """
        if self.ended.done() or self.wire.is_closing:
            return
        cached_tokens = emission.sequence.cached_tokens
        if self._sent_tokens == 0:
            self.send(self.events.begin(self._usage(cached_tokens)))
        if self.events.is_one_by_one:
            for _ in range(emission.n_tokens):
                self._send_tokens("content", 1, cached_tokens)
            return
        n_tokens = emission.n_tokens
        thinking = min(n_tokens, self._thinking_tokens - self._sent_tokens)
        if thinking > 0:
            self._send_tokens("reasoning", thinking, cached_tokens)
            n_tokens -= thinking
        if n_tokens:
            self._send_tokens("content", n_tokens, cached_tokens)

    def end(self, sequence: Sequence) -> None:
        """Write what the API has after its last token."""
        if self.ended.done():
            return
        finish = Finish(self._usage(sequence.cached_tokens), times_of([sequence]))
        for event in self.events.end(finish):
            self.send(event)
        self.stop("done")

    def fail(self) -> None:
        """End as a server does whose engine failed."""
        for event in self.events.failed():
            self.send(event)
        self.stop("error")

    def stop(self, how: Ending) -> None:
        """Take no more tokens."""
        if not self.ended.done():
            self.ended.set_result(how)

    def send(self, event: bytes | None) -> None:
        """Write an event that carries no tokens."""
        if event is not None and not self.wire.is_closing:
            self.wire.write(self.wire.framed(event))

    def _send_tokens(self, kind: Kind, n_tokens: int, cached_tokens: int) -> None:
        """The hot path: some 10 µs, most of it the kernel's."""
        if kind != self._kind:
            self._kind = kind
            self.send(self.events.turn(kind))
        words = text.tokens(self._position, n_tokens)
        self._sent_tokens += n_tokens
        if self.events.fixed is not None:
            before, after = self.events.fixed[kind]
            event = before + words + after
        else:
            usage = self._usage(cached_tokens)
            event = self.events.tokens(Burst(kind, words, n_tokens, self._position, usage))
        self._position += n_tokens
        framed = self.wire.framed(event)
        at_ns = time.time_ns(), time.monotonic_ns()
        self.wire.write(framed)
        if self._job.truth is not None:
            self._job.truth.token(self._seq, n_tokens, kind.encode(), at_ns)
        self._seq += 1

    def _usage(self, cached_tokens: int) -> Usage:
        return Usage(
            prompt_tokens=self._prompt_tokens,
            cached_tokens=cached_tokens,
            completion_tokens=self._sent_tokens,
            reasoning_tokens=min(self._sent_tokens, self._thinking_tokens),
        )


class GatheredAnswer:
    """An answer that is sent whole; `ended` becomes the finished sequences of all its inputs."""

    def __init__(self, job: Job) -> None:
        self.ended: asyncio.Future[list[Sequence]] = asyncio.get_running_loop().create_future()
        self.finish_reason: str = job.length.finish_reason
        self._n_inputs = len(job.ask.inputs)
        self._over: list[Sequence] = []

    def take(self, emission: Emission) -> None:
        """Nothing to do before the end."""

    def end(self, sequence: Sequence) -> None:
        """All tokens of one input are there."""
        self._over.append(sequence)
        if len(self._over) == self._n_inputs and not self.ended.done():
            self.ended.set_result(self._over)


def whole_finish(job: Job, sequences: Iterable[Sequence]) -> Finish:
    """Counts and times of an answer that was gathered."""
    all_of_it = list(sequences)
    usage = Usage(
        prompt_tokens=job.ask.prompt_tokens,
        cached_tokens=sum(sequence.cached_tokens for sequence in all_of_it),
        completion_tokens=job.length.output_tokens,
        reasoning_tokens=job.length.thinking_tokens,
    )
    return Finish(usage, times_of(all_of_it))
