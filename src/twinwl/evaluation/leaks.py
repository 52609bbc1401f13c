"""Leaks: test graphs with an isomorphic copy, labels and features included, among the training graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.isomorphism.deduplication import deduplicate

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int64
    from twinwl.evaluation.folds import Fold
    from twinwl.graphs.batch import GraphBatch


def copies_of(graphs: GraphBatch) -> Int64:
    """Return a number for each graph, equal for isomorphic graphs, shape (n_graphs,).

    Graphs with different node features are not copies.

    >>> from twinwl import GraphBatch
    >>> copies_of(GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (2, 1)]]))
    array([0, 1, 0])
    """
    return deduplicate(graphs.discretise()).labels


def leaked_test_graphs(copies: Int64, fold: Fold) -> Bool:
    """Mark the test graphs that have a copy in the training part, hold-out included.

    Parameters
    ----------
    copies : array of int64, shape (n_graphs,)
        The result of `copies_of`.
    fold
        Fold with the training and test graphs.

    Returns
    -------
    array of bool, shape (n_test,)

    >>> from twinwl.evaluation.folds import Fold
    >>> fold = Fold(np.array([0]), np.array([], int), np.array([1, 2]))
    >>> leaked_test_graphs(np.array([0, 1, 0]), fold).tolist()
    [False, True]
    """
    return np.isin(copies[fold.test], copies[fold.training_part])
