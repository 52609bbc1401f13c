"""The checks of what a kernel machine may choose from: rounds, penalties and inner folds."""

from __future__ import annotations

import numbers

import numpy as np

from twinwl.errors import TwinWLError

__all__ = ["check_inner_folds", "penalties", "rounds"]


def rounds(n_iter: object) -> list[int]:
    """Return the numbers of rounds to choose from, rising.

    >>> rounds((5, 3, 3))
    [3, 5]
    """
    values = _listed(n_iter, "n_iter")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise TwinWLError(f"n_iter holds {value!r}; give whole numbers of rounds, 0 or more")
    return sorted({int(value) for value in values})  # type: ignore[call-overload]


def penalties(C: object) -> list[float]:
    """Return the values of C to choose from, rising.

    >>> penalties(10)
    [10.0]
    """
    values = _listed(C, "C")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
            raise TwinWLError(f"C holds {value!r}; give numbers above 0")
    return sorted({float(value) for value in values})  # type: ignore[arg-type]


def check_inner_folds(inner_folds: object) -> None:
    """Refuse anything but a whole number of folds, at least 2."""
    if isinstance(inner_folds, bool) or not isinstance(inner_folds, int | np.integer) or inner_folds < 2:  # noqa: PLR2004
        raise TwinWLError(f"inner_folds is {inner_folds!r}; give a whole number from 2 on")


def _listed(values: object, name: str) -> list[object]:
    if isinstance(values, numbers.Number):
        return [values]
    try:
        listed = list(values)  # type: ignore[call-overload]
    except TypeError as error:
        raise TwinWLError(f"{name} is {values!r}; give a number or a list of them") from error
    if not listed:
        raise TwinWLError(f"{name} is empty; give at least one number to choose from")
    return listed
