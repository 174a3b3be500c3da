"""The tools' own summaries, computed again from the records beside them.

The files are real and not part of the project: without them the hand-made ones of the other tests
cover the same formulas.
"""

from collections import Counter

import pytest

from analysis.dialects.agreement import EXACT, compare, dialect_of
from analysis.dialects.line import Facts
from analysis.dialects.registry import DIALECTS
from storage.exchange.importers import read_file
from tests.storage.exchange.foreign_files import SAMPLES, needs_samples

FILES = {  # file -> (dialect, levels, numbers that agree, numbers that cannot be computed)
    "made_here/vllm_bench_0.32_c64.json": ("vllm", 1, 30, 0),
    "made_here/vllm_bench_0.32_c1.json": ("vllm", 1, 30, 0),
    "made_here/aiperf_0.13_c64_profile_export.jsonl": ("aiperf", 1, 204, 0),
    "aiperf/profile_export.jsonl": ("aiperf", 1, 138, 0),
    "made_here/guidellm_0.8.1_c64.json": ("guidellm", 1, 144, 0),
    "guidellm/fmperf-guidellm-evaluate-20250423-1820.json": ("guidellm_02", 10, 1160, 10),
    "llmperf/tgi_c1_individual_responses.json": ("llmperf", 1, 66, 0),
    "llmperf/vllm_c16_individual_responses.json": ("llmperf", 1, 66, 0),
    "llmperf/vllm_c64_individual_responses.json": ("llmperf", 1, 66, 0),
    "inference-perf/per_request_lifecycle_metrics.json": ("inference_perf", 2, 90, 10),
}


@needs_samples
@pytest.mark.parametrize("name", FILES)
def test_a_summary_can_be_computed_again_to_the_last_digit(name):
    dialect, n_levels, n_same, n_none = FILES[name]
    (run,) = read_file(SAMPLES / name)
    assert (dialect_of(run.tool, run.version), len(run.levels)) == (dialect, n_levels)
    found = [
        one
        for level in run.levels
        for one in compare(
            dialect,
            level.reported,
            DIALECTS[dialect].numbers(
                level.answers, Facts(duration_s=level.duration_s, is_foreign=True)
            ),
        )
    ]
    differ = [one for one in found if one.again is not None and not one.is_same]
    assert not differ
    counted = Counter("none" if one.again is None else "same" for one in found)
    assert (counted["same"], counted["none"]) == (n_same, n_none)
    assert all(one.why for one in found if one.allowed > EXACT)
