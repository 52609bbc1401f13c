"""Paints for colours: light enough for dark numbers on them, and distinct for colour-blind readers.

The fills are Paul Tol's "light" scheme, made for filling labelled cells. From the tenth class on, a class
has a fill and a ring of another paint, so there are 81 combinations before any repeats.
"""

from __future__ import annotations

from typing import NamedTuple

FILLS = (
    "#77aadd",  # blue
    "#ee8866",  # orange
    "#eedd88",  # yellow
    "#44bb99",  # mint
    "#ffaabb",  # pink
    "#bbcc33",  # pear
    "#99ddff",  # cyan
    "#aaaa00",  # olive
    "#dddddd",  # grey
)


class Paint(NamedTuple):
    """How a class of nodes is painted."""

    fill: str
    ring: str | None


def paint(slot: int) -> Paint:
    """Return the paint of a class.

    >>> paint(0), paint(9)
    (Paint(fill='#77aadd', ring=None), Paint(fill='#77aadd', ring='#ee8866'))
    """
    turn, place = divmod(slot % len(FILLS) ** 2, len(FILLS))
    return Paint(FILLS[place], FILLS[(place + turn) % len(FILLS)] if turn else None)
