"""What every part of a plan has in common, and the error that names an author's mistakes."""

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError


class PlanError(ValueError):
    """The plan's author must change something; `problems` holds one sentence for each mistake."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Part(BaseModel):
    """Frozen; a field that nobody knows is a mistake, and so are NaN, infinity and "3" for 3."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


def mistake(sentence: str, *fields: str) -> PydanticCustomError:
    """What a part's validator raises: a sentence without its subject and its stop.

    fields: those it compares; where one of them is wrong in itself, the comparison says nothing.
    """
    return PydanticCustomError("mistake", "{sentence}", {"sentence": sentence, "fields": fields})
