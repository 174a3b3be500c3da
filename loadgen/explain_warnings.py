"""Every rule that may warn about an answer, in reading order.

A new warning is one function in explain_delivery or explain_answer, and one line here.
"""

from collections.abc import Callable

from loadgen import explain_answer as answer
from loadgen import explain_delivery as delivery
from loadgen.explain_facts import Explanation, Level, Warning

RULES: dict[Callable[[Explanation], str | None], Level] = {
    answer.rate_limited: "warn",
    answer.error_inside: "warn",
    answer.malformed: "warn",
    delivery.whole_answer: "warn",
    delivery.batched: "warn",
    delivery.bursts: "warn",
    delivery.compressed: "warn",
    answer.no_usage: "warn",
    answer.usage_contradicts: "warn",
    answer.length_ignored: "warn",
    answer.other_model: "warn",
    answer.fields_refused: "warn",
    delivery.insecure: "warn",
    delivery.clock_trouble: "warn",
    delivery.content_type: "warn",
    answer.reasoning_first: "note",
    answer.hidden_reasoning: "note",
    answer.early_byte: "note",
    answer.model_alias: "note",
    answer.several_tokens: "note",
    answer.counted_in_chunks: "note",
    answer.no_done: "note",
    answer.unknown_events: "note",
    delivery.closes: "note",
    delivery.comments: "note",
    delivery.proxy: "note",
    delivery.http2: "note",
    delivery.user_stamps: "note",
    delivery.late_reads: "note",
}


def warnings(seen: Explanation) -> list[Warning]:
    """What the rules find, each under its function's name."""
    found: list[Warning] = []
    for rule, level in RULES.items():
        if text := rule(seen):
            found.append(Warning(rule.__name__, level, text))
    return found
