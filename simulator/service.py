"""What the server does with a request, HTTP aside: accept or refuse it, queue it, answer it."""

import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import orjson

from simulator import ollama, tgi
from simulator.answer import AnswerHead
from simulator.answer_length import answer_length
from simulator.api import Api, Job
from simulator.ask import ApiError, Ask, Posted, bad_request
from simulator.body import json_object
from simulator.engine import Engine
from simulator.engine_room import EngineRoom
from simulator.faults import parse_fault
from simulator.freezes import Freezer
from simulator.kv_blocks import block_hashes
from simulator.options import Options
from simulator.profiles import Profile, SettingError, adjusted, profile_named
from simulator.sequence import EngineRequest, Sequence
from simulator.token_stream import Answer, whole_finish
from simulator.truth_log import Arrival, TruthLog
from simulator.vllm_metrics import VllmMetrics

_INPUT_SHIFT = 40  # the engine's name of a job's input: its place above this bit, the job's below
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True, slots=True)
class SetUp:
    """Options that were found to be possible."""

    profile: Profile
    model: str
    api_key: str | None
    truth: TruthLog | None


def set_up(options: Options) -> SetUp:
    """Open and look up what `options` name; SettingError says in one sentence what is not there."""
    profile = adjusted(profile_named(options.profile), options.settings)
    api_key = None
    if options.api_key_env is not None:
        api_key = os.environ.get(options.api_key_env)
        if not api_key:
            raise SettingError(
                f"The environment variable {options.api_key_env} is not set; "
                "--api-key-env needs one that holds the key."
            )
    truth = None
    if options.truth is not None:
        try:
            truth = TruthLog(options.truth.open("wb"))
        except OSError as error:
            raise SettingError(
                f"The truth log {options.truth} cannot be written: {error.strerror}."
            ) from None
    return SetUp(profile, options.model or profile.name, api_key, truth)


class Came(NamedTuple):
    """What came with a POST."""

    path: str
    raw: bytes
    fault: str | None  # the header X-Sim-Fault


class Service:
    """One simulated server without its sockets; needs a running event loop."""

    def __init__(self, set_up: SetUp) -> None:
        self.profile = set_up.profile
        self.model = set_up.model
        self.metrics = VllmMetrics()
        self.truth_error: OSError | None = None
        self._truth = set_up.truth
        self._engine = Engine(self.profile.engine, random.Random(self.profile.seed))
        self._lengths = random.Random(self.profile.seed)
        self._room = EngineRoom(self._engine, self.metrics, self._spill_truth)
        self._freezer = Freezer(self.profile.freezes, self._room.freeze)
        self._n_requests = 0

    def arrival(self, x_request_id: str) -> Arrival:
        """Number and stamp a request now; an id that is missing or odd is replaced by ours."""
        self._n_requests += 1
        is_usable = REQUEST_ID.fullmatch(x_request_id)
        name = x_request_id if is_usable else f"sim-{self._n_requests}"
        return Arrival(self._n_requests, name, time.time_ns(), time.monotonic_ns())

    def accept(self, arrival: Arrival, api: Api, came: Came) -> Job:
        """The job that the body asks for; raises ApiError."""
        ask = self._ask(api, came)
        if ask.model and ask.model != self.model:
            message = f"The model `{ask.model}` does not exist. Valid aliases: {self.model}."
            raise ApiError(404, message, "NotFoundError", "model")
        length = answer_length(ask, self.profile, self._lengths)
        answer_id = f"{api.id_prefix}{arrival.x_request_id}"
        head = AnswerHead(answer_id, arrival.real_ns // 1_000_000_000, self.model)
        truth = self._truth.request(arrival) if self._truth is not None else None
        if truth is not None:
            truth.accepted(api.name, ask.prompt_tokens, length.output_tokens)
        if ask.max_tokens:
            self.metrics.observe("vllm:request_params_max_tokens", ask.max_tokens)
        return Job(arrival.request, api, ask, head, length, truth)

    def submit(self, job: Job, answer: Answer) -> None:
        """Queue the job, each of its inputs by itself; `answer` gets the tokens."""
        self._freezer.request()
        if job.ask.fault.freeze_ms:
            self._room.freeze(job.ask.fault.freeze_ms * 1_000_000)
        engine = self.profile.engine
        for name, words in zip(_engine_names(job), job.ask.inputs, strict=True):
            hashes = block_hashes(words, engine.block_tokens) if engine.has_prefix_cache else ()
            wanted = EngineRequest(name, len(words), job.length.output_tokens, hashes)
            self._room.submit(wanted, answer)

    def leave(self, job: Job, how: str) -> None:
        """The job is over: done, or aborted, cut, error while its sequence may still run."""
        for name in _engine_names(job):
            self._room.abort(name, "error" if how == "error" else "abort")
        if job.truth is not None:
            job.truth.end(how, time.monotonic_ns())

    def whole_answer(self, job: Job, sequences: list[Sequence]) -> bytes:
        """The body of an answer that is not streamed."""
        return job.api.whole(job, whole_finish(job, sequences))

    def models(self) -> bytes:
        """The body of /v1/models."""
        model = {
            "id": self.model,
            "object": "model",
            "created": int(time.time()),
            "owned_by": "headway-simulator",
            "root": self.profile.name,
            "parent": None,
            "max_model_len": self.profile.engine.context_tokens,
        }
        return orjson.dumps({"object": "list", "data": [model]})

    def tags(self) -> bytes:
        """The body of Ollama's /api/tags."""
        return ollama.tags(self.model)

    def info(self) -> bytes:
        """The body of TGI's /info."""
        return tgi.info(self.model, self.profile.engine.context_tokens)

    def metrics_page(self) -> bytes:
        """The body of /metrics."""
        return self.metrics.page(self._engine, self.model).encode()

    def flush_truth(self) -> None:
        """Write what the truth log holds; the first refusal of the disk is kept for the end."""
        self._write_truth(TruthLog.flush)

    def close(self) -> None:
        """Run no further step and close the truth log."""
        self._freezer.close()
        self._room.close()
        self._write_truth(TruthLog.close)

    def _spill_truth(self) -> None:
        self._write_truth(TruthLog.spill)

    def _write_truth(self, write: Callable[[TruthLog], None]) -> None:
        if self._truth is None or self.truth_error is not None:
            return
        try:
            write(self._truth)
        except OSError as error:
            self.truth_error = error

    def _ask(self, api: Api, came: Came) -> Ask:
        body = json_object(came.raw)
        try:
            fault = parse_fault(came.fault or body.get("x_sim_fault"))
        except ValueError as error:
            raise bad_request(str(error), "x_sim_fault") from None
        if fault.status is not None:
            asked_for = ApiError(fault.status, "x_sim_fault asked for it.", "SimulatedFault")
            asked_for.retry_after_s = fault.retry_after_s
            raise asked_for
        front = self.profile.front
        front.check_fields(body, api.fields)
        ask = api.parse(Posted(came.path, body, fault))
        return replace(ask, wants=ask.wants | {"metrics"}) if front.request_metrics else ask


def _engine_names(job: Job) -> list[int]:
    return [job.number + (i << _INPUT_SHIFT) for i in range(len(job.ask.inputs))]
