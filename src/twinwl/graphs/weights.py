"""Edge weights: ignored, with one warning that counts them, unless they are named as edge labels.

The same rule holds for every kind of input: an edge exists or not, and may have a label. Weights that are all
1 add nothing to that. Any other weight is used as a label if it is named, else it is ignored with a warning
(see "What counts as the same graph" in the guide).
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import warn_caller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.arrays import Values

WEIGHT = "weight"  # what networkx, igraph and most files call it


def count_weights(values: Iterable[object] | Values) -> int:
    """Count the weights that are not 1; None means no weight.

    >>> count_weights([1, 1.0, None, 0.5, "strong"])
    2
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return int(np.count_nonzero(values != 1))
    return sum(not (value is None or (isinstance(value, numbers.Real) and value == 1)) for value in values)


def warn_weights(n_weighted: int, n_edges: int, edge_label: str = WEIGHT) -> None:
    """Warn that weights were left out, and how to let them take part.

    Parameters
    ----------
    n_weighted
        Edges with a weight other than 1; no warning where there are none.
    n_edges
        Edges in all.
    edge_label
        The attribute that holds the weights.
    """
    if n_weighted:
        warn_caller(
            f"ignored edge weights, {n_weighted:,} of {n_edges:,} other than 1; pass "
            f'edge_label="{edge_label}" to take them as labels, or remove them'
        )
