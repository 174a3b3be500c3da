"""Do a run's prompts from files hold images?  Not every API can take them."""

import mmap
from pathlib import Path

from loadgen.plan import Plan
from loadgen.prompts.material import FOLDER
from loadgen.wire.messages import IMAGE_MARK, TAKES_IMAGES


def unfit_images(plan: Plan, run_dir: Path) -> str | None:
    """A sentence if a class's prompts, kept in the run's folder, hold what its API cannot take."""
    for i, one in enumerate(plan.traffic()):
        api = plan.target_of(one).api
        if one.workload.file is None or api in TAKES_IMAGES:
            continue
        if _has_images(run_dir / FOLDER / f"prompts-{i}.jsonl"):
            where = f"classes[{i}].workload" if plan.classes else "workload"
            return (
                f"{where}.file holds messages with images, which {api} cannot take; expected one "
                f"of {', '.join(TAKES_IMAGES)}."
            )
    return None


def _has_images(kept: Path) -> bool:
    if kept.stat().st_size == 0:
        return False
    with kept.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return IMAGE_MARK.search(text) is not None
