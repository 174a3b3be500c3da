"""Amounts in sentences of commands."""


def size(n_bytes: float) -> str:
    """`1.23 GB`, `4.5 MB`, `6.7 kB`, `89 bytes`."""
    for unit, least, digits in ((1e9, 1e9, 2), (1e6, 1e5, 1), (1e3, 1e3, 1)):
        if n_bytes >= least:
            return f"{n_bytes / unit:,.{digits}f} {_UNITS[unit]}"
    return count(round(n_bytes), "byte")


_UNITS = {1e9: "GB", 1e6: "MB", 1e3: "kB"}


def count(n: int, what: str) -> str:
    """`1 request`, `1,200 requests`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
