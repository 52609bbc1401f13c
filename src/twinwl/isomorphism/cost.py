"""The cost of readouts on large rooted subgraphs, checked before they start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.memory import check_fits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.arrays import Float64, Int32

# Colours of pairs before and after a round, and prepared for either side of a triangle: eight words per pair.
_BYTES_PER_PAIR = 64
_STEPS_PER_SECOND = 3e8  # on one core, measured, where few rounds are needed
MOST_STEPS = 1e13
_STEPS_PER_NODE = {"wl": 100, "rooted-wl": 100, "canonical": 2000}
_CUBIC = "rooted-fwl2"
_REMEDY = "use fewer rounds (n_iter), smaller graphs, or a weaker readout such as 'rooted-wl'"


def check_cost(readouts: Iterable[str], sizes: Int32) -> None:
    """Refuse rooted subgraphs that are too large for a readout of cubic cost.

    Parameters
    ----------
    readouts
        Names of known readouts.
    sizes : array of int32
        Rooted sizes, of any number of roots and rounds.

    Raises
    ------
    TwinWLError
        If the largest needs more than half of the machine's memory, or all together more than 10¹³ steps in
        each round of refinement inside them.

    >>> check_cost(["rooted-wl"], np.full(3_000, 3_000, np.int32))
    >>> check_cost(["rooted-fwl2"], np.full(30, 30, np.int32))
    """
    if _CUBIC not in readouts or not sizes.size:
        return
    largest = int(sizes.max())
    what = (
        f"the readout {_CUBIC!r} of {np.count_nonzero(sizes):,} rooted subgraphs with up to {largest:,} nodes"
    )
    check_fits(_BYTES_PER_PAIR * largest**2, None, what, _REMEDY)
    check_steps(float((sizes.astype(np.float64) ** 3).sum()), what)


def check_steps(steps: float, what: str) -> None:
    """Refuse work of more than 10¹³ steps.

    >>> check_steps(2e13, "the readout")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    twinwl.errors.TwinWLError: the readout takes 2e+13 steps or more, about 19 hours on one core; use fewer...
    """
    if steps > MOST_STEPS:
        hours = steps / _STEPS_PER_SECOND / 3600
        raise TwinWLError(
            f"{what} takes {steps:.0e} steps or more, about {hours:,.0f} hours on one core; {_REMEDY}"
        )


def n_marks_of(readout: str) -> int:
    """Return K of ``marked-wl-K``, and 0 for other readouts."""
    return int(readout[-1]) if readout.startswith("marked-wl-") else 0


def steps_of(readouts: Iterable[str], sizes: Int32) -> Float64:
    """Return about how many nanoseconds known readouts take for each rooted subgraph, shape (n_roots,)."""
    n = sizes.astype(np.float64)
    total = np.zeros(len(n))
    for name in readouts:
        if name == _CUBIC:
            total += 4 * n**3
        elif n_marks_of(name):
            total += 100 * n**2
        else:
            total += _STEPS_PER_NODE.get(name, 0) * n
    return total
