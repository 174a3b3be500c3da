"""The prefix caches of a run's servers, by their own counters, from its begin to its end."""

from typing import Any

from loadgen.cache_counters import CacheCounters, cache_counters, cache_use
from loadgen.plan import Plan
from loadgen.run_folder import RunFolder
from loadgen.target import facts_of


class CacheWatch:
    """Looks at each target's counters once when made and once when asked."""

    def __init__(self, plan: Plan, run: dict[str, Any]) -> None:
        self._targets = {
            name: target.model_dump() | {"url": facts_of(run, name)["target_url"]}
            for name, target in plan.targets_used().items()
        }
        self._before = self._look()

    def note(self, folder: RunFolder) -> None:
        """Keep what was used as `cache` in run.json, where any server tells."""
        run, use = folder.read("run.json"), self.use()
        if run is not None and use is not None:
            folder.write("run.json", {**run, "cache": use})

    def use(self) -> dict[str, Any] | None:
        """Tokens looked up and found since then over all targets; None where nobody tells."""
        after = self._look()
        found = [cache_use(before, after[name]) for name, before in self._before.items()]
        told = [use for use in found if use is not None]
        if not told:
            return None
        return {
            "looked_up": sum(use["looked_up"] for use in told),
            "found": sum(use["found"] for use in told),
            "name": told[0]["name"],
        }

    def _look(self) -> dict[str, CacheCounters | None]:
        return {name: cache_counters(target) for name, target in self._targets.items()}
