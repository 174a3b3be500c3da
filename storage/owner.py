"""What an action works with: the one open database, and its data folder."""

from dataclasses import dataclass
from pathlib import Path

from storage.database import Database


@dataclass(frozen=True, slots=True)
class Owner:
    """The one open database, and its data folder."""

    database: Database
    data: Path
