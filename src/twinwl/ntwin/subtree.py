"""The subtree encoder for labels: histograms of 1-WL colours, equation (4) summed over the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from twinwl.refinement.colours import refine
from twinwl.refinement.histograms import colour_histograms

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet

__all__ = ["SubtreeHistograms"]

# Measured: square roots keep frequent colours from drowning rare ones, and rows of equal length keep large
# graphs from drowning small ones; with length 5 the wide layer learns about as fast as the narrow one.
_ROW_LENGTH = 5.0


class SubtreeHistograms:
    """How often each colour of layers 1, …, K occurs in a graph, as sparse rows for a network.

    Counts are square-rooted and each row is scaled to length 5. Colours that occur in
    fewer than ``min_df`` training graphs are ignored: a colour of a single graph does not generalise.

    Parameters
    ----------
    alphabet
        The alphabet of colours.
    columns : array of int64
        The colours that are used, numbered over all layers from layer 0 on.

    Examples
    --------
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> histograms, rows = SubtreeHistograms.fitted(worked_example(), layers=2, edge_labels=False, min_df=1)
    >>> histograms.n_columns, rows.shape
    (4, (2, 4))
    """

    def __init__(self, alphabet: Alphabet, columns: Int64) -> None:
        self.alphabet = alphabet
        self.columns = columns

    @classmethod
    def fitted(
        cls, batch: GraphBatch, layers: int, *, edge_labels: bool, min_df: int = 2
    ) -> tuple[SubtreeHistograms, csr_matrix]:
        """Take the alphabet and the columns from a batch of graphs; also return the rows of these graphs."""
        colours, alphabet = refine(batch, layers, edge_labels=edge_labels)
        counts = _counts(batch, colours, alphabet)
        graphs_of_column = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = graphs_of_column >= min_df
        kept[: len(alphabet.labels)] = False  # the paper's representation starts at layer 1
        histograms = cls(alphabet, np.flatnonzero(kept).astype(np.int64))
        return histograms, histograms._scaled(counts)

    @property
    def n_columns(self) -> int:
        """Width of the rows."""
        return len(self.columns)

    def rows(self, batch: GraphBatch) -> csr_matrix:
        """Return the scaled histograms, shape (n_graphs, n_columns)."""
        colours, _ = refine(batch, None, alphabet=self.alphabet)
        return self._scaled(_counts(batch, colours, self.alphabet))

    def _scaled(self, counts: csr_matrix) -> csr_matrix:
        counts = counts[:, self.columns]
        rows = csr_matrix((np.sqrt(counts.data), counts.indices, counts.indptr), shape=counts.shape)
        lengths = np.sqrt(np.asarray(counts.sum(axis=1)).ravel())  # of the square roots
        scale = np.divide(_ROW_LENGTH, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        rows.data *= np.repeat(scale, np.diff(rows.indptr))
        return rows


def _counts(batch: GraphBatch, colours: np.ndarray, alphabet: Alphabet) -> csr_matrix:
    sizes = alphabet.n_colours
    data, indices, indptr = colour_histograms(batch, colours, sizes, weigh_by_size=False)
    return csr_matrix((data, indices, indptr), shape=(len(batch), sum(sizes)))
