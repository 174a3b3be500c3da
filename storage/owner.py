"""What an action works with: the one open database, and its data folder."""

from dataclasses import dataclass, field
from pathlib import Path

from storage.database import Database


@dataclass(frozen=True, slots=True)
class Owner:
    """The one open database, and its data folder."""

    database: Database
    data: Path
    keep_answers_of: set[str] = field(default_factory=set[str])
    """Runs whose every answer is kept, however cheap: their token events are about to go."""
