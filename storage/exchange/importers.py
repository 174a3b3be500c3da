"""Result files of other tools that Headway reads; a new one is a file here and a line below."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from storage.exchange import aiperf, guidellm, inference_perf, llmperf, sglang, vllm_bench
from storage.exchange.answers import ForeignRun
from storage.exchange.source import ImportProblem, NoResultFile, Source, load


@dataclass(frozen=True, slots=True)
class Importer:
    """One tool's files.  title: as the tool is called in sentences."""

    title: str
    is_it: Callable[[Source], bool]
    read: Callable[[Source], list[ForeignRun]]
    primary: Callable[[Path], Path] = lambda path: path
    """The file that a run is read from when it has several: its own path, or a neighbour's."""
    run_per_value: bool = False
    """Whether each JSON value in the file is a run of its own, also if the file grows later."""


IMPORTERS: dict[str, Importer] = {
    "vllm_bench": Importer("vLLM bench", vllm_bench.is_it, vllm_bench.read, run_per_value=True),
    "guidellm": Importer("GuideLLM", guidellm.is_it, guidellm.read),
    "aiperf": Importer("AIPerf", aiperf.is_it, aiperf.read, aiperf.primary),
    "sglang": Importer("SGLang", sglang.is_it, sglang.read, run_per_value=True),
    "llmperf": Importer("llmperf", llmperf.is_it, llmperf.read, llmperf.primary),
    "inference_perf": Importer(
        "inference-perf", inference_perf.is_it, inference_perf.read, inference_perf.primary
    ),
}


NO_TTFT = "No TTFT: the file tells none of any answer."


def importer_of(source: Source) -> str:
    """Key of the importer that knows the file by what is in it; raises NoResultFile if none."""
    for name, importer in IMPORTERS.items():
        if importer.is_it(source):
            return name
    known = ", ".join(importer.title for importer in IMPORTERS.values())
    raise NoResultFile(
        f"{source.path.name} is no result file that Headway knows ({known}). A log of requests to "
        "send again is a trace: docs/traces.md."
    )


def read_file(path: Path) -> list[ForeignRun]:
    """The runs in a result file, by whichever tool; a file of a pair brings its neighbour along.

    Raises ImportProblem, one sentence that names the file and the field.
    """
    source = load(path)
    name = importer_of(source)
    beside = IMPORTERS[name].primary(path)
    return runs_of(name, source if beside == path else load(beside))


def runs_of(name: str, source: Source) -> list[ForeignRun]:
    """The runs that the importer finds in a file; raises ImportProblem, which names the file."""
    try:
        return [_with_lacks(run) for run in IMPORTERS[name].read(source)]
    except ImportProblem as problem:
        said = str(problem)
        if said.startswith(f"{source.path.name}:"):
            raise
        raise source.problem(said) from None


def _with_lacks(run: ForeignRun) -> ForeignRun:
    """The run, and that no answer of it has a TTFT where that is so."""
    told = [level.answers for level in run.levels]
    n_complete = sum(one.outcome.count("complete") for one in told)
    if not n_complete or not all(np.isnan(one.ttft_s).all() for one in told):
        return run
    return replace(run, lacks=[*run.lacks, NO_TTFT])
