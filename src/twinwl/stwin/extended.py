"""Encode new graphs for kernels, leaving nothing out: similarity with oneself counts every node."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from twinwl.estimators.fitting import warn_of_strangers
from twinwl.stwin.column_choice import keep_columns
from twinwl.stwin.features import stwin_features

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.features import FeatureSpace

__all__ = ["encode_in_full"]


def encode_in_full(batch: GraphBatch, space: FeatureSpace) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Encode graphs once, and return their features twice.

    Returns
    -------
    known : csr_matrix, shape (n_graphs, space.n_columns)
        The columns of the space.
    full : csr_matrix
        The same and temporary columns for all that the space lacks.
    """
    encoding = stwin_features(batch, space=space, extend=True)
    widths, grown = space.columns_per_round, encoding.space.columns_per_round
    if widths == grown:
        return encoding.matrix, encoding.matrix
    # What is new in a round stands behind what was known.
    bounds = np.concatenate([[0], np.cumsum(grown)])
    columns = np.concatenate(
        [np.arange(first, first + width) for (first, _), width in zip(pairwise(bounds), widths, strict=True)]
    )
    known = keep_columns(encoding.matrix, columns)
    warn_of_strangers((np.diff(known.indptr) == 0) & (batch.nodes_per_graph > 0))
    return known, encoding.matrix
