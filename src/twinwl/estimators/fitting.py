"""What every estimator asks before it starts: that it was fitted, and that there is a graph to work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

from twinwl.errors import TwinWLError, warn_caller
from twinwl.graphs.coercion import as_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike

__all__ = ["NotFittedTwinError", "check_fitted", "graphs_of", "warn_unseen_labels"]


class NotFittedTwinError(TwinWLError, NotFittedError):
    """An estimator was used before ``fit``; scikit-learn's own error for it as well."""


def check_fitted(estimator: object, attribute: str) -> None:
    """Refuse to go on before ``fit`` has set an attribute.

    Raises
    ------
    NotFittedTwinError
    """
    if not hasattr(estimator, attribute):
        raise NotFittedTwinError(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def graphs_of(X: GraphsLike, what: str) -> GraphBatch:
    """Return the input as a batch, or refuse it where it holds no graph."""
    batch = as_batch(X)
    if len(batch) == 0:
        raise TwinWLError(f"there is no graph to {what}; pass at least one")
    return batch


def warn_unseen_labels(strange: NDArray[np.bool_]) -> None:
    """Warn once, with the count, where graphs carry only labels that training never saw.

    Parameters
    ----------
    strange : array of bool, shape (n_graphs,)
    """
    if strange.any():
        warn_caller(
            f"{np.count_nonzero(strange)} of {len(strange)} graphs carry only labels that no training graph "
            "has, so nothing is known about them; check that the labels mean the same"
        )
