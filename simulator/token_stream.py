"""One request's answer while its tokens come: written to its connection, or gathered."""

import asyncio
import socket
import struct
import time
from dataclasses import dataclass
from typing import Literal, Protocol

from simulator import text
from simulator.answer_length import AnswerLength
from simulator.openai_answer import DONE, AnswerHead, Kind, StreamEvents, Usage
from simulator.openai_request import Ask
from simulator.sequence import Emission, Sequence
from simulator.truth_log import RequestTruth

Ending = Literal["done", "cut", "error"]


@dataclass(frozen=True, slots=True)
class Job:
    """A request the server accepted; `number` is the engine's name for it."""

    number: int
    ask: Ask
    head: AnswerHead
    length: AnswerLength
    truth: RequestTruth | None


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


class Wire:
    """The body of one streamed HTTP answer, written past aiohttp: one write for one event."""

    def __init__(self, transport: asyncio.WriteTransport, is_chunked: bool) -> None:
        self._transport = transport
        self._is_chunked = is_chunked
        self.buffered_writes = 0  # the client's socket was full: the write came later than stamped

    def framed(self, event: bytes) -> bytes:
        """`event` as it goes onto the wire."""
        return b"%x\r\n%b\r\n" % (len(event), event) if self._is_chunked else event

    def write(self, framed: bytes) -> None:
        """Hand over bytes; asyncio passes them to the kernel at once if the socket has room."""
        self._transport.write(framed)
        if self._transport.get_write_buffer_size():
            self.buffered_writes += 1

    @property
    def is_closing(self) -> bool:
        """True once nobody reads any more."""
        return self._transport.is_closing()

    def cut(self) -> None:
        """Close without the end of the body."""
        self._transport.close()

    def reset(self) -> None:
        """Close with a TCP reset."""
        connection = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()


class TokenStream:
    """Writes a streamed answer; `ended` becomes how it went."""

    def __init__(self, job: Job, wire: Wire) -> None:
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.wire = wire
        self._job = job
        self._events = StreamEvents(job.ask.api, job.head)
        self._position = text.first_position(job.head.answer_id)
        self._seq = 0
        self._sent_tokens = 0

    @property
    def finish_reason(self) -> str:
        """As the finish event will say it."""
        return self._job.length.finish_reason

    def take(self, emission: Emission) -> None:
        """Write the tokens of one engine step: one event, two where thinking ends within it."""
        if self.ended.done() or self.wire.is_closing:
            return
        cached_tokens = emission.sequence.cached_tokens
        if self._sent_tokens == 0:
            self.send(self._events.role(self._running_usage(cached_tokens)))
        n_tokens = emission.n_tokens
        thinking = min(n_tokens, self._job.length.thinking_tokens - self._sent_tokens)
        if thinking > 0:
            self._send_tokens("reasoning", thinking, cached_tokens)
            n_tokens -= thinking
        if n_tokens:
            self._send_tokens("content", n_tokens, cached_tokens)

    def end(self, sequence: Sequence) -> None:
        """Write the finish event, the usage event if asked for, and [DONE]."""
        if self.ended.done():
            return
        usage = self._usage(sequence.cached_tokens)
        running = self._running_usage(sequence.cached_tokens)
        self.send(self._events.finish(self.finish_reason, running))
        if self._job.ask.has_usage:
            self.send(self._events.usage(usage))
        self.send(DONE)
        self.stop("done")

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
        words = text.tokens(self._position, n_tokens)
        self._position += n_tokens
        self._sent_tokens += n_tokens
        if self._job.ask.has_continuous_usage:
            event = self._events.tokens(kind, words, self._usage(cached_tokens))
        else:
            before, after = self._events.parts[kind]
            event = before + words + after
        framed = self.wire.framed(event)
        at_ns = time.time_ns(), time.monotonic_ns()
        self.wire.write(framed)
        if self._job.truth is not None:
            self._job.truth.token(self._seq, n_tokens, kind.encode(), at_ns)
        self._seq += 1

    def _usage(self, cached_tokens: int) -> Usage:
        sent = self._sent_tokens
        return Usage(
            prompt_tokens=len(self._job.ask.words),
            cached_tokens=cached_tokens,
            completion_tokens=sent,
            reasoning_tokens=min(sent, self._job.length.thinking_tokens),
        )

    def _running_usage(self, cached_tokens: int) -> Usage | None:
        return self._usage(cached_tokens) if self._job.ask.has_continuous_usage else None


class GatheredAnswer:
    """An answer that is sent whole; `ended` becomes its finished sequence."""

    def __init__(self, job: Job) -> None:
        self.ended: asyncio.Future[Sequence] = asyncio.get_running_loop().create_future()
        self.finish_reason: str = job.length.finish_reason

    def take(self, emission: Emission) -> None:
        """Nothing to do before the end."""

    def end(self, sequence: Sequence) -> None:
        """All tokens are there."""
        if not self.ended.done():
            self.ended.set_result(sequence)
