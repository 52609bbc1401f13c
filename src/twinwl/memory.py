"""A check of the memory that a method needs, before it is allocated."""

from __future__ import annotations

import os

from twinwl.errors import TwinWLError

_WHERE_UNKNOWN = 8 << 30


def check_fits(needed: int, max_memory: int | None, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than allowed.

    Parameters
    ----------
    needed
        Bytes, estimated.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    what
        What would be that large, with its size, as the start of a sentence.
    remedy
        What to do about it.

    Raises
    ------
    TwinWLError

    >>> check_fits(3 << 30, 1 << 30, "graph 7", "leave it out")
    Traceback (most recent call last):
        ...
    twinwl.errors.TwinWLError: graph 7 needs about 3.0 GiB, more than the 1.0 GiB allowed; leave it out
    """
    allowed = allowed_memory(max_memory)
    if needed > allowed:
        raise TwinWLError(
            f"{what} needs about {readable(needed)}, more than the {readable(allowed)} allowed; {remedy}"
        )


def allowed_memory(max_memory: int | None) -> int:
    """Return the limit in bytes: half of the machine's memory if it is None."""
    return _half_of_memory() if max_memory is None else max_memory


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # no POSIX here
        return _WHERE_UNKNOWN // 2


def readable(n_bytes: int) -> str:
    """Write a number of bytes for people.

    >>> readable(3 << 29)
    '1.5 GiB'
    """
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:,.1f} MiB"
