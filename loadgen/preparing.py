"""What a run asks before it loads: does the client see gaps, and how does the endpoint answer?"""

import os
import platform
from importlib.metadata import version
from typing import Any

import gevent

from loadgen.building import build
from loadgen.clocks import instant
from loadgen.crew import Crew
from loadgen.images import unfit_images
from loadgen.plan import Plan, place_of
from loadgen.prompts.stock import Progress
from loadgen.run_ended import RunEnded
from loadgen.run_folder import RunFolder
from loadgen.self_test import SelfTest, self_test
from loadgen.target_facts import learn, targets_in_order
from loadgen.transport.stamps import kept_stamps
from loadgen.wire.registry import APIS


@kept_stamps()
def prepare(
    plan: Plan, folder: RunFolder, crew: Crew, news: Progress = lambda _share, _said: None
) -> dict[str, Any]:
    """What run.json says, which is written here.  Raises RunEnded if nothing can be run.

    run["notes"]: sentences on what the numbers will lack.  news: how far the prompts are.

    The self-test runs while the simulator starts and the endpoint answers: all of them mostly
    wait.  It has ended before anything else keeps this process busy.
    """
    run = _first_facts(plan, folder)
    _check_keys(plan)
    _check_tokenizers(plan)
    testing: Any = gevent.spawn(self_test)
    try:
        trouble = learn(plan, run, crew)
        tested: SelfTest | None = testing.get() if trouble is None else None
        run["self_test"] = tested and tested.to_dict()
        run["notes"] += _notes(tested)
    finally:
        testing.kill()
    folder.write("run.json", run)
    if trouble is not None:
        raise RunEnded("failed", trouble)
    if tested is not None and tested.ok is False:
        raise RunEnded("failed", tested.sentence)
    run["prompts"] = build(plan, run, folder, news)
    if (unfit := unfit_images(plan, folder.path)) is not None:
        raise RunEnded("failed", unfit)
    told = dict.fromkeys(facts["note"] for facts in run["prompts"].values() if facts["note"])
    run["notes"] += [*told, *_natural_stops(plan)]
    folder.write("run.json", run)
    return run


def _notes(tested: SelfTest | None) -> list[str]:
    return [tested.sentence] if tested is not None and tested.is_doubtful else []


def _natural_stops(plan: Plan) -> list[str]:
    """Where answers end is up to the model, if its API cannot be told to go on."""
    apis = {
        plan.target_of(one).api
        for one in plan.traffic()
        if one.workload.ignore_eos and not APIS[plan.target_of(one).api].knows_ignore_eos
    }
    return [
        f"{api} cannot be told to go on to output_tokens: answers end where the model ends them "
        "(a natural stop), or there."
        for api in sorted(apis)
    ]


def _first_facts(plan: Plan, folder: RunFolder) -> dict[str, Any]:
    t0_ns, epoch_ns = instant()
    return {
        "run_uid": folder.run_uid,
        "name": plan.name,
        "t0_mono_ns": t0_ns,
        "epoch_ns": epoch_ns,
        "host": platform.node(),
        "versions": _versions(),
        "n_workers": plan.n_workers,
        "target_url": plan.target.url,
        "cpu_count": os.cpu_count(),
        "stamps": None,  # nothing was read yet
        "preflight": None,
        "self_test": None,
        "dropped_fields": [],
    }


def _check_keys(plan: Plan) -> None:
    for name, target in targets_in_order(plan).items():
        variable = target.api_key_env
        if variable and variable not in os.environ:
            where = f"{place_of(name)}.api_key_env"
            raise RunEnded(
                "failed", f"The environment variable {variable} ({where}) is not set here."
            )


def _check_tokenizers(plan: Plan) -> None:
    """Before anything is sent: the counts they shall give after the run cannot be had later."""
    from loadgen.tokenizer import TokenizerError, load

    for name, target in targets_in_order(plan).items():
        if target.tokenizer is None:
            continue
        try:
            load(target.tokenizer)
        except TokenizerError as error:
            raise RunEnded("failed", f"{error} ({place_of(name)}.tokenizer)") from None


def _versions() -> dict[str, str]:
    names = ("headway", "locust", "gevent", "httptools")
    return {"python": platform.python_version()} | {n: version(n) for n in names if _has(n)}


def _has(name: str) -> bool:
    try:
        return bool(version(name))
    except ModuleNotFoundError:
        return False
