"""What a run learns of each of its targets before it loads: is it there, how does it answer?"""

import json
from typing import Any

from loadgen.crew import Crew
from loadgen.plan import MAIN_TARGET, Plan, Target, place_of
from loadgen.preflight import Preflight, preflight
from loadgen.target import target_endpoint
from loadgen.wire.registry import APIS

Facts = dict[str, Any]


def targets_in_order(plan: Plan) -> dict[str, Target]:
    """Those that classes use, [target] first."""
    used = plan.targets_used()
    return dict(sorted(used.items(), key=lambda item: item[0] != MAIN_TARGET))


def learn(plan: Plan, run: Facts, crew: Crew) -> str | None:
    """Ask every target, one after the other; a sentence if one does not answer as it must.

    run["targets"] holds by the target's name what it showed; what the first one showed stands at
    the top of `run` as well, for a run mostly has one.  run["notes"]: what the numbers will lack.
    """
    targets = targets_in_order(plan)
    run |= {"targets": {}, "notes": []}
    for name, target in targets.items():
        facts: Facts = {"target_url": target.url, "model": target.model, "api": target.api}
        if target.url.startswith("sim://"):
            facts["target_url"] = crew.start_simulator(target, name)
        facts |= _connection(target, facts)
        seen = _ask(plan, name, run | facts | {"targets": None})
        facts |= _showed(seen)
        if not run["targets"]:
            run |= {key: facts[key] for key in facts if key not in ("model", "api")}
        run["targets"][name] = facts
        if not seen[-1].ok:
            where = "" if name == MAIN_TARGET else f" ({place_of(name)})"
            return f"{seen[-1].sentence}{where}"
        whose = f"{facts['target_url']}: " if len(targets) > 1 else ""
        run["notes"] += dict.fromkeys(f"{whose}{note}" for one in seen for note in one.notes)
    return None


def _connection(target: Target, facts: Facts) -> Facts:
    """How the endpoint is spoken to."""
    endpoint, _ = target_endpoint(target, facts, APIS[target.api].path)
    return {
        "http": endpoint.http,
        "insecure": endpoint.scheme == "https" and not endpoint.verify_tls,
        "proxy": endpoint.proxy.name if endpoint.proxy else None,
    }


def _ask(plan: Plan, name: str, run: Facts) -> list[Preflight]:
    """One short request of each kind that goes to this target, until one fails."""
    seen: list[Preflight] = []
    for traffic in _kinds(plan, name):
        seen.append(preflight(plan, run, traffic=traffic))
        if not seen[-1].ok:
            break
    return seen


def _kinds(plan: Plan, name: str) -> list[int]:
    """The first class of each kind: those whose requests have the same fields need not all ask."""
    kinds: dict[tuple[Any, ...], int] = {}
    for i, one in enumerate(plan.traffic()):
        if (one.target or MAIN_TARGET) == name:
            work = one.workload
            fields = json.dumps(work.extra_body, sort_keys=True)
            key = (work.stream, work.ignore_eos, work.inputs_per_request > 1, fields)
            kinds.setdefault(key, i)
    return list(kinds.values())


def _showed(seen: list[Preflight]) -> Facts:
    """Of several requests the first one's facts; but one that failed, and all refused fields."""
    first = seen[0] if seen[-1].ok else seen[-1]
    dropped = dict.fromkeys(field for one in seen for field in one.dropped_fields)
    return {
        "preflight": first.to_dict(),
        "stamps": first.stamps,
        "http": first.http,
        "dropped_fields": list(dropped),
    }
