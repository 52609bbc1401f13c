"""Short names for the array types that pass between layers, and runs of consecutive numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bool: TypeAlias = NDArray[np.bool_]
Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Ints: TypeAlias = NDArray[np.signedinteger]
"""Either width, whichever the values need."""
UInt64: TypeAlias = NDArray[np.uint64]
Float32: TypeAlias = NDArray[np.float32]
Float64: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating]
"""Of either precision."""
Values: TypeAlias = NDArray[np.generic]
"""Of any type: classes, labels, columns of a table."""


def pointer(lengths: Int64 | Sequence[int]) -> Int64:
    """Return where each of some consecutive runs starts, and where the last one ends.

    >>> pointer([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


def ranges(starts: Int64, lengths: Int64) -> Int64:
    """Concatenate ``arange(start, start + length)`` for each pair, without a Python loop."""
    ends = pointer(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1], dtype=np.int64)


def graph_of_node(graph_ptr: Int64, node: int) -> int:
    """Return the index of the graph that holds a node of the batch.

    >>> graph_of_node(np.array([0, 3, 3, 5]), 3)
    2
    """
    return int(np.searchsorted(graph_ptr, node, side="right")) - 1
