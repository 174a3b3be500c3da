"""DIALECTS: one level as each tool would report it.  docs/dialects.md must name each.

A new one is one file with its formulas and its source, and a line below.
"""

from analysis.dialects.aiperf import AIPERF
from analysis.dialects.guidellm import GUIDELLM
from analysis.dialects.guidellm_02 import GUIDELLM_02
from analysis.dialects.inference_perf import INFERENCE_PERF
from analysis.dialects.line import Dialect
from analysis.dialects.llmperf import LLMPERF
from analysis.dialects.mlperf import MLPERF
from analysis.dialects.sglang import SGLANG
from analysis.dialects.vllm import VLLM

DIALECTS: dict[str, Dialect] = {
    "vllm": VLLM,
    "sglang": SGLANG,
    "aiperf": AIPERF,
    "guidellm_02": GUIDELLM_02,
    "guidellm": GUIDELLM,
    "inference_perf": INFERENCE_PERF,
    "llmperf": LLMPERF,
    "mlperf": MLPERF,
}
