"""Leaks: test graphs with an isomorphic copy, labels and features included, among the training graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.isomorphism.deduplication import deduplicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twinwl.evaluation.folds import Fold
    from twinwl.graphs.batch import GraphBatch

__all__ = ["LeakAdjustedAccuracy", "accuracy_without_leaks", "leaked_test_graphs"]


def leaked_test_graphs(graphs: GraphBatch, folds: Sequence[Fold]) -> list[NDArray[np.bool_]]:
    """Mark, for each fold, the test graphs that are isomorphic to a graph of the training part.

    Parameters
    ----------
    graphs
        All graphs; canonical forms decide, once for the whole set. Graphs with different node features are
        no copies.
    folds
        The hold-out belongs to the training part.

    Returns
    -------
    list of bool arrays, shape (n_test,)
        One per fold, aligned with ``fold.test``.

    >>> from twinwl import GraphBatch
    >>> from twinwl.evaluation.folds import Fold
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (2, 1)]])
    >>> fold = Fold(np.array([0]), np.array([], int), np.array([1, 2]))
    >>> leaked_test_graphs(graphs, [fold])[0].tolist()
    [False, True]
    """
    copies = deduplicate(graphs.discretise()).labels  # a number for each graph that its copies share
    return [np.isin(copies[fold.test], copies[fold.training_part]) for fold in folds]


class LeakAdjustedAccuracy(NamedTuple):
    """Accuracy on all test graphs, and on those without a copy in training (NaN where there are none)."""

    everything: float
    without_leaks: float
    n_leaked: int


def accuracy_without_leaks(right: NDArray[np.bool_], leaked: NDArray[np.bool_]) -> LeakAdjustedAccuracy:
    """Return the accuracy with and without the leaked test graphs.

    Parameters
    ----------
    right : array of bool, shape (n_test,)
        Which test graphs were classified rightly.
    leaked : array of bool, shape (n_test,)
        As from `leaked_test_graphs`.

    >>> accuracy_without_leaks(np.array([True, True, False, True]), np.array([True, False, False, False]))
    LeakAdjustedAccuracy(everything=0.75, without_leaks=0.6666666666666666, n_leaked=1)
    """
    if len(right) != len(leaked):
        raise TwinWLError(f"{len(right)} answers for {len(leaked)} test graphs; give one a graph")
    kept = right[~leaked]
    return LeakAdjustedAccuracy(
        float(np.mean(right)) if len(right) else float("nan"),
        float(np.mean(kept)) if len(kept) else float("nan"),
        int(leaked.sum()),
    )
