"""What an import answers with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Imported:
    """A run that is here now.  is_new: False if it was before."""

    run_uid: str
    name: str
    is_new: bool
    sentence: str
