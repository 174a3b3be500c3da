"""What clients may ask the store to do, beside questions: one action = one function = one sentence.

`storage.client.Store.do(name, **arguments)` calls the function of that name in the store process.
An action that writes to the tables holds `owner.database.writing`, so that no turn of the intake
runs beside it.
"""

from collections.abc import Callable

import pyarrow as pa

from storage import check, compact, copies, retention, window_actions
from storage.exchange import load_tables, run_tables
from storage.owner import Owner

__all__ = ["ACTIONS", "Action", "Owner"]

Action = Callable[..., pa.Table]
"""(owner, **arguments) -> a frame, as its function documents; raises StoreError with a sentence."""

ACTIONS: dict[str, Action] = {
    "set_window": window_actions.set_window,
    "reset_window": window_actions.reset_window,
    "run_tables": run_tables.run_tables,
    "load_tables": load_tables.load_tables,
    "check": check.check,
    "compact": compact.compact,
    "vacuum": copies.vacuum,
    "backup": copies.backup,
    "keep_answers": retention.keep_answers,
    "drop_raw": retention.drop_raw,
    "delete_run": retention.delete_run,
}
