"""What one streamed answer has said so far: tokens, usage, finish, errors.  Knows no time."""

from loadgen.wire.api import Delta, UsageCount
from storage.records import KINDS, TokenSource

KIND_NUMBER: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}


class Answer:
    """Fed with every delta of one request; counts what carries no token by its kind."""

    __slots__ = (
        "_base",
        "_carried",
        "_choices",
        "_finished",
        "_last",
        "_output",
        "_totals",
        "done",
        "error",
        "error_code",
        "finish_reason",
        "first_chunk_tokens",
        "n_chunks",
        "other_events",
        "response_id",
    )

    def __init__(self) -> None:
        self.n_chunks = 0
        self.first_chunk_tokens: int | None = None
        self.other_events: dict[str, int] = {}
        self.response_id: str | None = None
        self.finish_reason: str | None = None
        self.done = False  # [DONE] was seen
        self.error: str | None = None
        self.error_code: int | str | None = None
        self._choices: set[int] = set()
        self._finished: set[int] = set()
        self._last: UsageCount | None = None
        self._output: int | None = None  # highest output count told
        self._totals: dict[str, list[int]] = {"usage": [], "finish": []}
        self._base: int | None = 0  # output count up to the last token event, if told then
        self._carried: dict[int, int] = {}  # choice -> tokens told by events without text

    def token_event(self, delta: Delta) -> int:
        """Take in a token event; returns its tokens, 0 where nobody told.

        Told by the chunk itself (logprobs, token ids) or by the growth of a cumulative usage.
        """
        _, _, n_tokens, choice, usage, finish_reason, response_id, _, _, _ = delta
        if choice not in self._choices:
            self._choices.add(choice)
        if self._carried:
            carried = self._carried.pop(choice, 0)
            n_tokens += carried if n_tokens else 0
        if usage is None:
            self._base = None
        else:
            n_tokens = n_tokens or self._growth(usage)
            self._base = usage.output_tokens
            self._note_usage(usage)
        if self.n_chunks == 0:
            self.first_chunk_tokens = n_tokens or None
            self.response_id = self.response_id or response_id
        self.n_chunks += 1
        if finish_reason:
            self._finish(choice, finish_reason)
        return n_tokens

    def same_again(self, choice: int) -> None:
        """One more token event of `choice` that tells no more than its text."""
        if self._carried:
            self._carried.pop(choice, None)
        self.n_chunks += 1
        self._base = None

    def other_event(self, delta: Delta) -> None:
        """Take in an event that carries no token."""
        kind = delta.kind
        self.count(kind)
        self.response_id = self.response_id or delta.response_id
        if delta.usage is not None:
            self._note_usage(delta.usage)
            if self._base is None:
                self._base = delta.usage.output_tokens
            if kind in self._totals and delta.usage.output_tokens is not None:
                self._totals[kind].append(delta.usage.output_tokens)
        if delta.n_tokens:
            self._carried[delta.choice] = self._carried.get(delta.choice, 0) + delta.n_tokens
        if delta.finish_reason:
            self._finish(delta.choice, delta.finish_reason)
        if kind == "done":
            self.done = True
        elif kind == "error" and self.error is None:
            self.error, self.error_code = delta.error, delta.error_code

    def count(self, kind: str) -> None:
        """One more event of a kind that carries no token."""
        self.other_events[kind] = self.other_events.get(kind, 0) + 1

    @property
    def n_events(self) -> int:
        """Events of any kind so far, comments apart."""
        return self.n_chunks + sum(self.other_events.values())

    @property
    def ended(self) -> bool:
        """The server said that the answer is whole: [DONE], or each choice's finish reason."""
        return self.done or (bool(self._finished) and self._choices <= self._finished)

    @property
    def usage(self) -> UsageCount:
        """The last counts told; output is the highest seen, or the sum of one total per choice."""
        if self._last is None:
            return UsageCount()
        return self._last._replace(output_tokens=self._output_tokens())

    @property
    def token_source(self) -> TokenSource | None:
        """Who counted output_tokens; None: nobody did."""
        if self._output_tokens() is None:
            return None
        return "usage" if any(self._totals.values()) or self.ended else "usage_continuous"

    def _output_tokens(self) -> int | None:
        # llama.cpp, n > 1: each choice ends with a usage of its own (vLLM: one for all of them).
        n_choices = len(self._choices | self._finished)
        totals = self._totals["usage"] or self._totals["finish"]
        if n_choices > 1 and len(totals) == n_choices:
            return sum(totals)
        # LiteLLM passes one choice's usage for all, or 0: then nobody has counted.
        is_short = (self._output or 0) < (self.n_chunks if n_choices > 1 else min(self.n_chunks, 1))
        return None if is_short else self._output

    def _growth(self, usage: UsageCount) -> int:
        """Tokens since the last token event; unknown if that one told nothing, or n > 1."""
        if self._base is None or usage.output_tokens is None or len(self._choices) > 1:
            return 0
        return max(0, usage.output_tokens - self._base)

    def _note_usage(self, usage: UsageCount) -> None:
        self._last = usage
        if usage.output_tokens is not None:
            self._output = max(self._output or 0, usage.output_tokens)

    def _finish(self, choice: int, reason: str) -> None:
        self._finished.add(choice)
        self.finish_reason = self.finish_reason or reason
