"""What one streamed answer has said so far: tokens, usage, finish, errors.  Knows no time."""

from loadgen.wire.api import Delta, ServerTimings, UsageCount
from storage.records import KINDS, TokenSource

KIND_NUMBER: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}


class Answer:
    """Fed with every delta of one request; counts what carries no token by its kind."""

    __slots__ = (
        "_base",
        "_carried",
        "_choices",
        "_finished",
        "_output",
        "_told",
        "_told_chunks",
        "_totals",
        "_usage",
        "done",
        "error",
        "error_code",
        "finish_reason",
        "first_chunk_tokens",
        "n_chunks",
        "other_events",
        "response_id",
        "timings",
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
        self.timings: ServerTimings | None = None  # where the server says that its time went
        self._choices: set[int] = set()
        self._finished: dict[int, int] = {}  # choice -> chunks of the answer at its first finish
        self._usage: UsageCount | None = None  # of each count the last one told
        self._told = self._told_chunks = 0  # tokens that chunks list, and how many chunks do
        self._output: int | None = None  # highest output count told
        self._totals: dict[str, list[int]] = {"usage": [], "finish": []}
        self._base: int | None = 0  # output count up to the last token event, if told then
        self._carried: dict[int, int] = {}  # choice -> tokens told by events without text

    def token_event(self, delta: Delta) -> int:
        """Take in a token event; returns its tokens, 0 where nobody told.

        Told by the chunk itself (logprobs, token ids) or by the growth of a cumulative usage.
        """
        _, _, n_tokens, choice, usage, finish_reason, response_id, _, _, timings = delta
        if choice not in self._choices:
            self._choices.add(choice)
        if self._carried:
            carried = self._carried.pop(choice, 0)
            n_tokens += carried if n_tokens else 0
        if n_tokens:
            self._told += n_tokens
            self._told_chunks += 1
        if timings is not None:
            self._note_timings(timings)
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

    def same_again(self, choice: int, n: int = 1) -> None:
        """So many more token events of `choice` that tell no more than their text."""
        if self._carried:
            self._carried.pop(choice, None)
        self.n_chunks += n
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
        if delta.timings is not None:
            self._note_timings(delta.timings)
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
    def n_choices(self) -> int:
        """Answers to the one prompt (`n`), by their index; 0 where none has said anything."""
        return len(self._choices | self._finished.keys())

    @property
    def ended(self) -> bool:
        """The server said that the answer is whole: [DONE], or each choice's finish reason."""
        return self.done or (bool(self._finished) and self._choices <= self._finished.keys())

    @property
    def usage(self) -> UsageCount:
        """The last counts told; output is the highest seen, or the sum of one total per choice.

        Where no usage counts the output, but each chunk lists its tokens, it is their sum.
        """
        return (self._usage or UsageCount())._replace(output_tokens=self._counted()[0])

    @property
    def token_source(self) -> TokenSource | None:
        """Who counted output_tokens; None: nobody did."""
        return self._counted()[1]

    @property
    def usage_contradicts(self) -> bool:
        """The usage counts fewer output tokens than there were chunks that list theirs."""
        output = self._output_of_usage()
        return output is not None and output < self._told_chunks

    def _counted(self) -> tuple[int | None, TokenSource | None]:
        """Output tokens and who counted them."""
        output = self._output_of_usage()
        if output is not None:
            is_total = any(self._totals.values()) or self.ended
            return output, "usage" if is_total else "usage_continuous"
        if 0 < self.n_chunks == self._told_chunks:
            return self._told + sum(self._carried.values()), "chunks"
        return None, None

    def _output_of_usage(self) -> int | None:
        # llama.cpp, n > 1: each choice ends with a usage of its own (vLLM: one for all of them).
        n_choices = self.n_choices
        totals = self._totals["usage"] or self._totals["finish"]
        if n_choices > 1 and len(totals) == n_choices:
            return sum(totals)
        # LiteLLM passes one choice's usage for all, or 0: then nobody has counted.
        least = self.n_chunks if n_choices > 1 or self._is_resumed else min(self.n_chunks, 1)
        return None if (self._output or 0) < least else self._output

    @property
    def _is_resumed(self) -> bool:
        """The only choice said more after its finish: LiteLLM has two choices under one index."""
        return any(self.n_chunks > n_chunks for n_chunks in self._finished.values())

    def _growth(self, usage: UsageCount) -> int:
        """Tokens since the last token event; unknown if that one told nothing, or n > 1."""
        if self._base is None or usage.output_tokens is None or len(self._choices) > 1:
            return 0
        return max(0, usage.output_tokens - self._base)

    def _note_usage(self, usage: UsageCount) -> None:
        before = self._usage or UsageCount()
        self._usage = usage.or_else(before)
        # The prompt does not shrink: Anthropic's last usage may leave out what came from the cache.
        if (before.prompt_tokens or 0) > (self._usage.prompt_tokens or 0):
            self._usage = self._usage._replace(prompt_tokens=before.prompt_tokens)
        if usage.output_tokens is not None:
            self._output = max(self._output or 0, usage.output_tokens)

    def _note_timings(self, timings: ServerTimings) -> None:
        self.timings = timings.or_else(self.timings) if self.timings else timings

    def _finish(self, choice: int, reason: str) -> None:
        self._finished.setdefault(choice, self.n_chunks)
        self.finish_reason = self.finish_reason or reason
