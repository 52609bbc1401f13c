"""What ``random_state`` means, in every estimator alike.

An integer (the default is 0) gives the same result every time. A NumPy RandomState or Generator is drawn
from, so that a second call differs from the first. None draws from NumPy's global generator, as in
scikit-learn: a different result every time, unless ``numpy.random.seed`` was called.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["RandomState", "one_seed", "seeds"]

RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"

_SEEDS_BELOW = 2**31 - 1


def one_seed(random_state: RandomState) -> int:
    """Return an integer as it is; from a generator draw one.

    >>> one_seed(7)
    7
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return seeds(random_state, 1)[0]


def seeds(random_state: RandomState, count: int) -> list[int]:
    """Return several seeds that do not depend on each other.

    >>> seeds(0, 2), seeds(np.random.default_rng(0), 1)
    ([209652396, 398764591], [1826701614])
    """
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(_SEEDS_BELOW, size=count)]
    return [int(seed) for seed in check_random_state(random_state).randint(_SEEDS_BELOW, size=count)]
