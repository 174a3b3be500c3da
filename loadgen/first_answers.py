"""The leader's eye on a run's first answers, and how a run without a good one is said to end."""

import time

from loadgen.plan import Plan
from loadgen.run_ended import RunEnded, StartFailed
from loadgen.run_folder import RunFolder
from loadgen.start_watch import StartWatch
from storage.live import LiveTail

LOOK_EVERY_S = 0.25
ENDED_EARLY = " The run was ended early (limits.failed_at_start); what it measured is kept."


class FirstAnswers:
    """What the decoders say of them, until one is complete; they say so about once a second."""

    def __init__(self, folder: RunFolder, plan: Plan) -> None:
        self._live = LiveTail(folder.path)
        self._watch = StartWatch(plan.limits.failed_at_start)
        self._key = plan.target.api_key_env
        self._look_s = 0.0

    def look(self) -> None:
        """Call it often.  Raises StartFailed once all is lost."""
        now_s = time.monotonic()
        if self._watch.is_open and now_s >= self._look_s:
            self._look_s = now_s + LOOK_EVERY_S
            self._watch.add(self._live.read())
            if why := self._watch.hopeless():
                raise StartFailed(why)

    def explained(self, ending: RunEnded) -> RunEnded:
        """A run whose answers all failed has failed, and the endpoint's own words say why.

        Call it when everything is decoded.
        """
        if self._watch.is_open:
            self._watch.add(self._live.read())
        until_now = ENDED_EARLY
        if ending.state == "finished" and (why := self._watch.all_failed()):
            ending, until_now = StartFailed(why), ""
        if not isinstance(ending, StartFailed):
            return ending
        words = self._watch.explained(ending.why, ending.http_status, self._key)
        return RunEnded("failed", words + until_now)
