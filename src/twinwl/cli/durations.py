"""Times as people write them: ``2h``, ``1h30m``, ``90s``."""

from __future__ import annotations

import re

from twinwl.errors import TwinWLError

__all__ = ["seconds_of"]

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*([hms])\s*")


def seconds_of(text: str) -> float:
    """Return a duration in seconds; a bare number is seconds.

    >>> seconds_of("1h30m"), seconds_of("0.5h"), seconds_of("90")
    (5400.0, 1800.0, 90.0)
    """
    stripped = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", stripped):
        return float(stripped)
    if not stripped or _PARTS.sub("", stripped):
        raise TwinWLError(f"--time-budget: got {text!r}, expected a duration such as 2h, 1h30m or 90s")
    return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(stripped))
