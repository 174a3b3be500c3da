"""What is wrong in the files of loads that a plan names, told before anything is sent."""

from collections.abc import Iterator
from pathlib import Path

from loadgen.plan import Plan
from loadgen.plan_parts import PlanError
from loadgen.plan_shapes import Table
from loadgen.shapes import problem_of, read_points


def bad_tables(plan: Plan) -> list[str]:
    """A sentence for each table that is no load; missing files are told of elsewhere."""
    return [
        f"{where}: {said}"
        for where, path in _tables(plan)
        if path.is_file()
        for said in _problems(path)
    ]


def _tables(plan: Plan) -> Iterator[tuple[str, Path]]:
    for i, stage in enumerate(plan.stages):
        for name in ("rate_per_s", "concurrency"):
            load = getattr(stage, name, None)
            if isinstance(load, Table) and load.file is not None:
                yield f"stages[{i}].{name}.file", Path(load.file).expanduser()


def _problems(path: Path) -> list[str]:
    try:
        points = read_points(path)
    except PlanError as error:
        return error.problems
    if problem := problem_of(points):
        return [f"{path} {problem}."]
    if not any(value for _, value in points):
        return [f"{path} is 0 throughout; to pause, use kind = 'idle'."]
    return []
