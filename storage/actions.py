"""What clients may ask the store to do, beside questions: one action = one function = one sentence.

`storage.client.Store.do(name, **arguments)` calls the function of that name in the store process.
An action that writes to the tables holds `owner.database.writing`, so that no turn of the intake
runs beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from storage.database import Database


@dataclass(frozen=True, slots=True)
class Owner:
    """The one open database, and its data folder."""

    database: Database
    data: Path


Action = Callable[..., pa.Table]
"""(owner, **arguments) -> a frame, as its function documents; raises StoreError with a sentence."""

ACTIONS: dict[str, Action] = {}
