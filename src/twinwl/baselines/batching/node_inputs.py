"""Input of a network for each node: its label as one-hot columns, its continuous features standardised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.graphs.labels import recode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label

__all__ = ["NodeInputs"]


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """One-hot labels and standardised features, fitted on the training graphs.

    Attributes
    ----------
    labels : tuple of labels
        One column each; a node with any other label has zeros there.
    centre, scale : arrays of float64, shape (n_continuous,)
        Mean and standard deviation of each continuous feature.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> inputs = NodeInputs.fitted(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    >>> inputs.rows(GraphBatch.from_edges([[(0, 1)]], node_labels=[["O", "N"]]))
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """

    labels: tuple[Label, ...]
    centre: Float64
    scale: Float64

    @classmethod
    def fitted(cls, batch: GraphBatch, extra: Float64 | None = None) -> NodeInputs:
        """Fit labels and scales to the training graphs.

        Parameters
        ----------
        batch
            The graphs.
        extra : array of float64, shape (n_nodes, n_extra), optional
            Further continuous features of the nodes.
        """
        _check_undirected(batch)
        used = np.flatnonzero(np.bincount(batch.node_labels, minlength=len(batch.node_vocabulary)))
        values = _continuous(batch, extra)
        scale = values.std(axis=0) if len(values) else np.ones(values.shape[1])
        return cls(
            labels=tuple(batch.node_vocabulary[code] for code in used.tolist()),
            centre=values.mean(axis=0) if len(values) else np.zeros(values.shape[1]),
            scale=np.where(scale > 0, scale, 1.0),  # a constant column: do not divide by 0
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels) + len(self.centre)

    def rows(self, batch: GraphBatch, extra: Float64 | None = None) -> NDArray[np.float32]:
        """Return the columns of every node, shape (n_nodes, n_columns)."""
        _check_undirected(batch)
        if not batch.n_nodes:
            return np.empty((0, self.n_columns), np.float32)
        values = _continuous(batch, extra)
        if values.shape[1] != len(self.centre):
            n_extra = 0 if extra is None else extra.shape[1]
            raise TwinWLError(
                f"the nodes have {values.shape[1] - n_extra} continuous features, but the network was "
                f"trained with {len(self.centre) - n_extra}; give it the same columns"
            )
        places = recode(batch.node_labels, batch.node_vocabulary, self.labels)
        # The last row is zero, and the place of an unseen label is -1.
        one_hot = np.eye(len(self.labels) + 1, len(self.labels), dtype=np.float32)[places]
        if not len(self.centre):
            return one_hot
        scaled = (values - self.centre) / self.scale
        return np.hstack([one_hot, scaled.astype(np.float32)])


def _continuous(batch: GraphBatch, extra: Float64 | None) -> Float64:
    parts = [part for part in (batch.node_features, extra) if part is not None]
    return np.hstack(parts) if parts else np.empty((batch.n_nodes, 0))


def _check_undirected(batch: GraphBatch) -> None:
    if batch.directed:
        raise TwinWLError(
            "the graphs are directed, but the method is defined for undirected graphs; symmetrise them"
        )
