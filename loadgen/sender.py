"""From a planned request to bytes on a connection: what both a worker and the preflight send."""

import os
import time
from typing import Any

from loadgen.body_form import BodyForm
from loadgen.plan import MAIN_TARGET, Plan
from loadgen.schedule import PlannedRequest
from loadgen.target import facts_of, target_endpoint
from loadgen.transport.call import Call, Done, OnDone, Timeouts
from loadgen.transport.pool import Pool
from loadgen.transport.request import RequestForm
from loadgen.wire.registry import APIS


class Sender:
    """One class of traffic: its target's connections, headers and body format.

    spool: where raw reads go (storage.raw_spool.RawWriter, or one in memory).  pool: that of
    another class with the same target.
    """

    def __init__(
        self,
        plan: Plan,
        run: dict[str, Any],
        spool: Any,
        traffic: int = 0,
        pool: Pool | None = None,
    ) -> None:
        one, limits = plan.traffic()[traffic], plan.limits
        target = plan.target_of(one)
        facts = facts_of(run, one.target or MAIN_TARGET)
        self._plan, self._traffic = plan, one
        self._run_uid: str = run["run_uid"]
        self._worker: int = run.get("worker", 0)
        self._spool = spool
        dropped: list[str] = facts.get("dropped_fields") or []  # the endpoint refuses these
        self._api = APIS[target.api]
        self._bodies = BodyForm(
            self._api, target.model, dict.fromkeys(dropped) | one.workload.extra_body
        )
        is_streamed = one.workload.stream and self._api.is_streaming
        path = self._api.path if is_streamed else self._api.whole_path
        self.endpoint, path = target_endpoint(target, facts, path)
        key = os.environ.get(target.api_key_env, "") if target.api_key_env else ""
        self._form = RequestForm(self.endpoint, path, self._api.headers(key))
        self.pool = pool or Pool(
            self.endpoint,
            spool,
            Timeouts(
                connect_s=limits.connect_s, silence_s=limits.silence_s, total_s=limits.request_s
            ),
            keep_alive=plan.connections == "warm",
        )

    def send(self, planned: PlannedRequest, due_ns: int | None, phase: str | None = None) -> Done:
        """Send and wait for the end of the stream; endpoint trouble is in the answer."""
        return self.pool.perform(self._call(planned, due_ns, phase or planned.phase))

    def begin(self, planned: PlannedRequest, due_ns: int, on_done: OnDone) -> None:
        """Send and return at once; the loop calls on_done, later and once, when it has ended."""
        self.pool.begin(self._call(planned, due_ns, planned.phase), on_done)

    def record_not_sent(
        self, planned: PlannedRequest, due_ns: int | None, why: str | None = None
    ) -> None:
        """Kept in the data, never dropped.  why: None for too many streams that were open."""
        now_ns = time.monotonic_ns()
        meta = {**self._meta(planned, due_ns, now_ns, planned.phase), "send_ns": None}
        self._spool.open(planned.request_id, meta, now_ns)
        limit = self._plan.limits.max_in_flight
        ended = {"end_ns": now_ns, "cause": "not_sent"}
        ended["detail"] = why or f"{limit} streams were open (limits.max_in_flight)"
        self._spool.close(planned.request_id, ended, now_ns)

    def _call(self, planned: PlannedRequest, due_ns: int | None, phase: str) -> Call:
        meta = self._meta(planned, due_ns, time.monotonic_ns(), phase)
        body = self._bodies.body(planned)
        return Call(
            request_id=planned.request_id,
            head_and_body=self._form.request(meta["x_request_id"], body),
            meta=meta,
            done_line=self._api.done_line,
        )

    def _meta(
        self, planned: PlannedRequest, due_ns: int | None, dispatched_ns: int, phase: str
    ) -> dict[str, Any]:
        return {
            "request_id": planned.request_id,
            "x_request_id": f"{self._run_uid}-{planned.request_id}",
            "worker": self._worker,
            "stage": planned.stage,
            "phase": phase,
            "api": self._api.name,
            "is_streamed": planned.is_streamed,
            "due_ns": due_ns,
            "dispatched_ns": dispatched_ns,
            "prompt_tokens_planned": planned.prompt_tokens,
            "max_tokens": planned.max_tokens,
            "traffic_class": self._traffic.name,
            "target": self._traffic.target or MAIN_TARGET,
            "conversation": planned.conversation,
            "turn": planned.turn,
            "prefix_group": planned.prefix_group,
            "prompt_no": planned.prompt_no,
        }
