"""What the prompts and answers of a class must be to each other and to its endpoint."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loadgen.plan_problem import Problem, problem, target_at, workload_at

if TYPE_CHECKING:
    from loadgen.plan import Plan, Target
    from loadgen.plan_workload import Workload

EMBEDDINGS = "openai_embeddings"


def work_problems(plan: "Plan") -> Iterator[Problem]:
    """Of every class; what its target must know only where it is known which that is."""
    for i, traffic in enumerate(plan.traffic()):
        where, work = workload_at(plan, i), traffic.workload
        yield from _alone(where, work)
        if (target := plan.target_if_known(traffic)) is not None:
            at = (target_at(plan, i), f"classes[{i}].target")
            yield from _by_target(where, work, target, at)


def _alone(where: str, work: "Workload") -> Iterator[Problem]:
    if work.prefix is not None and isinstance(work.prompt_tokens, int):
        shared, whole = work.prefix.tokens, work.prompt_tokens
        if shared > whole:
            yield problem(
                f"{where}.prefix.tokens is {shared}, more than {where}.prompt_tokens = {whole}, of "
                "which they are the first.",
                f"{where}.prompt_tokens",
            )
    if work.prefix is not None and work.file is not None:
        yield problem(
            f"{where}.prefix is given beside {where}.file, whose prompts are sent as they are; "
            "leave one of them out.",
        )
    if "stream" in work.extra_body:
        yield problem(
            f"{where}.extra_body.stream is given; say it as {where}.stream, so that answers are "
            "read as what they are.",
        )
    if work.file is not None and work.file.format == "sharegpt":
        for name in ("prompt_column", "output_column"):
            if getattr(work.file, name) is not None:
                yield problem(
                    f"{where}.file.{name} is given, but ShareGPT files have no columns; leave it "
                    "out.",
                    f"{where}.file.format",
                )


def _by_target(
    where: str, work: "Workload", target: "Target", at: tuple[str, str]
) -> Iterator[Problem]:
    """at: where the target is written, and where it is named."""
    api, about = target.api, (f"{at[0]}.api", at[1])
    if work.inputs_per_request > 1 and api != EMBEDDINGS:
        yield problem(
            f"{where}.inputs_per_request is {work.inputs_per_request}, and {api} takes one prompt "
            f"in a request; only {EMBEDDINGS} takes several.",
            *about,
        )
    if work.conversation is not None and api == EMBEDDINGS:
        yield problem(
            f"{where}.conversation is given, but {EMBEDDINGS} answers nothing that could be "
            "replied to.",
            *about,
        )
    if work.count_by == "tokenizer" and target.tokenizer is None:
        yield problem(
            f"{where}.count_by is 'tokenizer', but {at[0]}.tokenizer names none.",
            f"{at[0]}.tokenizer",
            at[1],
        )
