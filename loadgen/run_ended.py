"""How a run ends before its last level, whoever notices."""

ENDED_BY = "Ended by limits."
"""So begins the message of a run that a limit of its plan ended, as was planned."""


class RunEnded(Exception):
    """The run cannot or shall not go on; carries the state and its sentence."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state
        self.message = message


class StartFailed(RunEnded):
    """The first requests all failed; the endpoint's own words are known once they are decoded.

    http_status: theirs, if they had one in common.
    """

    def __init__(self, why: str, http_status: int | None = None) -> None:
        super().__init__("failed", f"{why}.")
        self.why = why
        self.http_status = http_status
