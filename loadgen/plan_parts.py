"""What every part of a plan has in common, and the error that names an author's mistakes."""

from pydantic import BaseModel, ConfigDict


class PlanError(ValueError):
    """The plan's author must change something; `problems` holds one sentence for each mistake."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Part(BaseModel):
    """Frozen; a field that nobody knows is a mistake, and so are NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
