"""Leaks: test graphs with an isomorphic copy, labels and features included, among the training graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.isomorphism.deduplication import deduplicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.evaluation.folds import Fold
    from twinwl.graphs.batch import GraphBatch

__all__ = ["LeakReport", "WithAndWithout", "accuracy_without_leaks", "leak_report", "leaked_test_graphs"]


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
        One a fold, aligned with ``fold.test``.

    >>> from twinwl import GraphBatch
    >>> from twinwl.evaluation.folds import Fold
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (2, 1)]])
    >>> fold = Fold(np.array([0]), np.array([], int), np.array([1, 2]))
    >>> leaked_test_graphs(graphs, [fold])[0].tolist()
    [False, True]
    """
    copies = _copies(graphs)
    return [np.isin(copies[fold.test], copies[fold.training_part]) for fold in folds]


def _copies(graphs: GraphBatch) -> Int64:
    """Return a number for each graph that its copies share."""
    return deduplicate(graphs.discretise()).labels


@dataclass(frozen=True, eq=False)
class LeakReport:
    """How much of each test part has been seen in training.

    Attributes
    ----------
    leaked : list of bool arrays, shape (n_test,)
        One a fold: which test graphs have a copy in training.
    contradicted : list of bool arrays, shape (n_test,)
        Of these, the ones all of whose copies in training have another class: they cannot be got right by
        memory.
    """

    leaked: list[NDArray[np.bool_]]
    contradicted: list[NDArray[np.bool_]]

    @property
    def n_leaked(self) -> int:
        """Number of test graphs, over all folds, with a copy in training."""
        return sum(int(marks.sum()) for marks in self.leaked)

    def __str__(self) -> str:
        n_tested = sum(map(len, self.leaked))
        n_contradicted = sum(int(marks.sum()) for marks in self.contradicted)
        share = self.n_leaked / max(n_tested, 1)
        return (
            f"{self.n_leaked:,} of {n_tested:,} test graphs ({share:.1%}) have an isomorphic copy in training"
            f", {n_contradicted:,} of them with another class only"
        )


def leak_report(graphs: GraphBatch, y: NDArray[np.generic], folds: Sequence[Fold]) -> LeakReport:
    """Find copies of test graphs in training, and whether their classes agree.

    >>> from twinwl import load_dataset
    >>> from twinwl.evaluation.folds import folds_of
    >>> twins = load_dataset("TWINS", n_pairs=20)
    >>> print(leak_report(twins.graphs, twins.y, folds_of(twins)))
    0 of 40 test graphs (0.0%) have an isomorphic copy in training, 0 of them with another class only
    """
    copies = _copies(graphs)
    _, codes = np.unique(y, return_inverse=True)
    copies_of_class = copies * (codes.max() + 1) + codes  # one number for graph and class together
    leaked, contradicted = [], []
    for fold in folds:
        training = fold.training_part
        seen = np.isin(copies[fold.test], copies[training])
        leaked.append(seen)
        contradicted.append(seen & ~np.isin(copies_of_class[fold.test], copies_of_class[training]))
    return LeakReport(leaked, contradicted)


class WithAndWithout(NamedTuple):
    """Accuracy on all test graphs, and on those without a copy in training (NaN where there are none)."""

    everything: float
    without_leaks: float
    n_leaked: int


def accuracy_without_leaks(right: NDArray[np.bool_], leaked: NDArray[np.bool_]) -> WithAndWithout:
    """Return the accuracy with and without the leaked test graphs.

    Parameters
    ----------
    right : array of bool, shape (n_test,)
        Which test graphs were classified rightly.
    leaked : array of bool, shape (n_test,)
        As from `leaked_test_graphs`.

    >>> accuracy_without_leaks(np.array([True, True, False, True]), np.array([True, False, False, False]))
    WithAndWithout(everything=0.75, without_leaks=0.6666666666666666, n_leaked=1)
    """
    if len(right) != len(leaked):
        raise TwinWLError(f"{len(right)} answers for {len(leaked)} test graphs; give one a graph")
    kept = right[~leaked]
    return WithAndWithout(
        float(np.mean(right)) if len(right) else float("nan"),
        float(np.mean(kept)) if len(kept) else float("nan"),
        int(leaked.sum()),
    )
