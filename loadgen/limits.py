"""The process limits a load generator needs."""

import resource

WANTED_FILES = 65_536
FILES_PER_STREAM = 1
FILES_SPARE = 256  # spool, logs, libraries, event loop


def raise_open_files(wanted: int = WANTED_FILES) -> int:
    """Raises the soft limit of open files as far as allowed; returns the limit now in force.

    Each open stream is one file; children inherit the limit.  Raising it needs no privilege up to
    the hard limit, and default soft limits (256 on macOS, 1024 on Linux) end a run at that many.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    target = wanted if hard == unlimited else min(wanted, hard)
    if soft != unlimited and soft < target:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (ValueError, OSError):  # macOS refuses more than kern.maxfilesperproc
            return soft
        soft = target
    return WANTED_FILES if soft == unlimited else soft


def streams_allowed(open_files: int) -> int:
    """How many streams one worker can hold open under this limit of open files."""
    return max(0, (open_files - FILES_SPARE) // FILES_PER_STREAM)
