"""Dataset: graphs with their classes, and what belongs to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.graphs.labels import label_token

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.datasets.catalogue.cards import Card
    from twinwl.graphs.batch import GraphBatch

__all__ = ["Dataset", "content_digest"]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Dataset:
    """A collection of graphs to classify.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    y : array, shape (n_graphs,)
        The class of each graph, as it stands in the file.
    card : Card
        Its figures.
    digest : str
        64 hex digits, a function of graphs, classes and groups alone: the same data packed in another way
        have the same.
    groups : array of int64, shape (n_graphs,), or None
        Graphs of one group must stay in one fold (the pairs of EXP and TWINS).
    smiles : tuple of str, or None
        One a graph, where the graphs are molecules read from SMILES.

    Examples
    --------
    >>> from twinwl import load_dataset
    >>> load_dataset("TWINS", n_pairs=10)
    Dataset('TWINS', 20 graphs, 2 classes)
    """

    name: str
    graphs: GraphBatch
    y: NDArray[np.generic]
    card: Card
    digest: str
    groups: Int64 | None = None
    smiles: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for what, values in (("y", self.y), ("groups", self.groups), ("smiles", self.smiles)):
            if values is not None and len(values) != len(self.graphs):
                raise TwinWLError(
                    f"{self.name}: {what} has {len(values)} entries for {len(self.graphs)} graphs; "
                    "give one a graph"
                )
        self.y.flags.writeable = False
        if self.groups is not None:
            self.groups.flags.writeable = False

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self):,} graphs, {self.card.n_classes} classes)"


def content_digest(
    graphs: GraphBatch, y: NDArray[np.generic], groups: NDArray[np.signedinteger] | None = None
) -> str:
    """Return the SHA-256 of what a data set holds, whatever file it came from.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> content_digest(GraphBatch.from_edges([[(0, 1)]]), np.array([1]))[:8]
    '57715376'
    """
    total = hashlib.sha256(b"twinwl data set 1" + (b"directed" if graphs.directed else b"undirected"))
    integers: list[NDArray[np.generic] | None] = [
        graphs.graph_ptr, graphs.indptr, graphs.indices, graphs.node_labels, graphs.edge_labels, groups
    ]  # fmt: skip
    for array in integers:
        _add(total, b"" if array is None else np.ascontiguousarray(array, "<i8").tobytes())
    features = graphs.node_features
    _add(total, b"" if features is None else np.ascontiguousarray(features, "<f8").tobytes())
    for labels in (graphs.node_vocabulary, graphs.edge_vocabulary, y.tolist()):
        _add(total, b"".join(map(label_token, labels)))
    return total.hexdigest()


def _add(total: hashlib._Hash, content: bytes) -> None:
    """Add a part after its length, so that no two parts run together."""
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)
