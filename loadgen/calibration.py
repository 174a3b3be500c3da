"""A server asked how many tokens texts have: by its /tokenize, or by the usage of short requests.

Before the clock starts only, and only as often as `most_texts` says.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from loadgen.http_body import HttpAnswer
from loadgen.memory_spool import MemorySpool
from loadgen.plan import MAIN_TARGET, Plan, Target
from loadgen.planned import PlannedRequest
from loadgen.prompts.counting import By, CannotCount
from loadgen.sender import Sender
from loadgen.target import facts_of, target_endpoint
from loadgen.transport.call import Call, Timeouts
from loadgen.transport.pool import Pool
from loadgen.transport.request import http_request
from loadgen.wire.registry import APIS

PATH = "/tokenize"
WITHIN_S = 10
TOKENIZE_TEXTS = 250
"""Of /tokenize, which answers in a millisecond."""
USAGE_TEXTS = 40
"""Of requests for one token; most servers' tokenizers need eight."""
PROBE = "a b c d"
ASKS = ("prompt", "content", "inputs")
"""vLLM and SGLang; llama.cpp; TGI."""
Between = Callable[[], None]
"""Called before each text is asked about; what it raises ends the asking."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Heard:
    status: int | None
    body: bytes
    detail: str


class TokenizeCounter:
    """The server's own /tokenize, without special tokens where it can leave them out.

    Raises CannotCount if there is none, or it does not count.
    """

    by: By = "server"
    most_texts: int | None = TOKENIZE_TEXTS

    def __init__(
        self, plan: Plan, run: dict[str, Any], traffic: int, between: Between = _nothing
    ) -> None:
        self._between = between
        one = plan.traffic()[traffic]
        self._target = plan.target_of(one)
        self._spool = MemorySpool()
        facts = facts_of(run, one.target or MAIN_TARGET)
        root = {**facts, "target_url": root_of(facts["target_url"])}
        self._endpoint, self._path = target_endpoint(self._target, root, PATH)
        self.name = f"{self._endpoint.name}{PATH}"
        limits = Timeouts(plan.limits.connect_s, WITHIN_S, WITHIN_S)
        self._pool = Pool(self._endpoint, self._spool, limits)
        self._n_calls = 0
        try:
            self._field = self._find_field()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close its connection."""
        self._pool.close()

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """One request after the other."""
        return [self._count(self._field, text) for text in texts]

    def _find_field(self) -> str:
        """In which field this server takes the text."""
        said = ""
        for field in ASKS:
            heard = self._ask(field, PROBE)
            n = tokens_told(heard.body) if heard.status == 200 else None
            if n is not None and n >= len(PROBE.split()):
                return field
            said = f"answers {heard.status}" if heard.status else heard.detail
            if heard.status in (None, 401, 403, 404, 405, 501):
                break  # there is no such path, or not for us
        raise CannotCount(f"{self.name} counts no tokens ({said}).")

    def _count(self, field: str, text: str) -> int:
        heard = self._ask(field, text)
        n = tokens_told(heard.body) if heard.status == 200 else None
        if n is None:
            said = f"HTTP {heard.status}" if heard.status else heard.detail
            raise CannotCount(f"{self.name} failed to count a text ({said}).")
        return n

    def _ask(self, field: str, text: str) -> _Heard:
        self._between()
        body = {"model": self._target.model, field: text}
        body |= {"add_special_tokens": False, "add_special": False}
        request = http_request(self._endpoint, self._path, _headers(self._target), _json(body))
        self._spool.reads.clear()
        self._n_calls += 1
        meta = {"request_id": self._n_calls, "dispatched_ns": 0}
        done = self._pool.perform(Call(self._n_calls, request, meta, done_line=None))
        answer = HttpAnswer()
        pieces = [piece for *_, data in self._spool.reads for piece in answer.feed(data)]
        return _Heard(answer.status, b"".join(pieces), done.detail or done.cause)


class UsageCounter:
    """Requests for one token, whose usage says how long the prompt was with all that is around it.

    count_all raises CannotCount if an answer fails, or tells no usage.
    """

    by: By = "server"
    most_texts: int | None = USAGE_TEXTS

    def __init__(
        self, plan: Plan, run: dict[str, Any], traffic: int, between: Between = _nothing
    ) -> None:
        self._between = between
        self._plan, self._run, self._traffic = plan, run, traffic
        one = plan.traffic()[traffic]
        self._api = APIS[plan.target_of(one).api]
        self._stream = one.workload.stream
        self.name = f"the usage told by {urlsplit(plan.target_of(one).url).netloc}"

    def close(self) -> None:
        """Each request had a connection of its own."""

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """One request after the other."""
        return [self._count(text) for text in texts]

    def _count(self, text: str) -> int:
        self._between()
        spool = MemorySpool()
        sender = Sender(self._plan, self._run, spool, self._traffic)
        planned = PlannedRequest(
            request_id=0,
            stage=0,
            due_ns=None,
            prompt=text,
            prompt_tokens=1,
            max_tokens=1,
            ignore_eos=False,
            is_streamed=self._stream,
            traffic=self._traffic,
        )
        try:
            sender.send(planned, None, phase="preflight")
        finally:
            sender.pool.close()
        row = spool.decoder(self._api, self._run["t0_mono_ns"]).close(spool.closed)
        if row.prompt_tokens is None:
            status = f", HTTP {row.http_status}" if (row.http_status or 200) >= 300 else ""
            raise CannotCount(f"A short request told no prompt tokens ({row.outcome}{status}).")
        return row.prompt_tokens


def root_of(url: str) -> str:
    """The server's root: the URL without an API's path and without /v1."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    tails = sorted((tail for a in APIS.values() for tail in (a.path, a.whole_path)), key=len)
    for tail in (*reversed(tails), "/v1"):
        if path.endswith(tail):
            path = path.removesuffix(tail)
            break
    return parts._replace(path=path, query="").geturl()


def tokens_told(body: bytes) -> int | None:
    """The number of tokens in an answer of /tokenize; None if it tells none.

    Sources: vLLM {"count": 3, "tokens": [..]}, llama.cpp {"tokens": [..]}, TGI [{"id": ..}, ..].
    """
    try:
        told: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if isinstance(told, dict):
        fields = cast("dict[str, Any]", told)
        count = fields.get("count")
        if isinstance(count, int) and not isinstance(count, bool):
            return count
        told = fields.get("tokens")
    return len(cast("list[Any]", told)) if isinstance(told, list) else None


def _headers(target: Target) -> dict[str, str]:
    key = os.environ.get(target.api_key_env, "") if target.api_key_env else ""
    return APIS[target.api].headers(key)


def _json(body: dict[str, Any]) -> bytes:
    return orjson.dumps(body)
