"""Mini-batches without the colour quotient: a state is computed once per node and surroundings.

With continuous features, or where hardly two colours are equal, a quotient of all graphs does not pay. Still,
most states repeat: far enough inside a rooted subgraph the state of a node is that in the whole graph, and
near the border it depends only on which of the surroundings the subgraph contains. So in a graph the pairs
(root, node) with the same node, whose neighbours have the same states, share one row. This is found out graph
by graph, at first use. Roots can be sampled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from twinwl.graphs.labels import recode
from twinwl.graphs.selection import pointer
from twinwl.ntwin.node_state_kernels import Arcs, heard_states, pooled_states, share_states
from twinwl.ntwin.settings import n_marks
from twinwl.ntwin.slicing import LayerSlice, QuotientSlice, translated_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label
    from twinwl.ntwin.settings import RootMark

__all__ = ["NodeSlicer", "joined", "sampled_roots"]

_MAX_KEPT = 1 << 30
_MARKS = {"none": 0, "root": 1, "distance": 2}


class NodeSlicer:
    """Cut mini-batches out of graphs; it is used like a `QuotientSlicer`, and gives the same sums.

    Parameters
    ----------
    batch
        The graphs.
    hops : tuple of int
        Radius of the rooted subgraphs of each layer; None for layers on the whole graphs.
    root_mark
        The mark of the nodes.
    labels, edge_labels : tuples of labels
        The labels of the network, in its order; ``edge_labels`` is None if they are not used.
    features : array of float32, shape (n_nodes, n_features), optional
        Continuous features of the nodes, scaled.
    roots : int, float or None
        Number or share of the roots of each graph that `take` draws, anew in each call, from torch's
        generator; None takes all.
    max_kept
        Bytes of prepared graphs to keep for later calls; None allows 1 GiB.

    Examples
    --------
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> pair = worked_example()
    >>> slicer = NodeSlicer(pair, (1, 2), "none", pair.node_vocabulary, None)
    >>> [layer.n_rows for layer in slicer.take(np.array([1])).layers]
    [10, 10]
    """

    rows_at_once = 32

    def __init__(
        self,
        batch: GraphBatch,
        hops: tuple[int | None, ...],
        root_mark: RootMark,
        labels: tuple[Label, ...],
        edge_labels: tuple[Label, ...] | None,
        features: NDArray[np.float32] | None = None,
        roots: float | None = None,
        max_kept: int | None = None,
    ) -> None:
        self.batch = batch.without_features()
        self.hops = hops
        self.root_mark = root_mark
        self.n_marks = 1 if None in hops else n_marks(root_mark, hops)  # type: ignore[arg-type]
        self.labels = recode(batch.node_labels, batch.node_vocabulary, labels).astype(np.int64)
        self.features = features
        self.roots = roots
        self.coded = edge_labels is not None or batch.directed
        self.edge_codes: Int32 | None = None
        known: tuple[Label, ...] | None = None
        if edge_labels is not None:
            known = batch.edge_vocabulary if batch.edge_labels is not None else ()
            self.edge_codes = batch.edge_labels
        self.codes = translated_codes(known, edge_labels, directed=batch.directed, coded=self.coded)

        self._kept: dict[int, QuotientSlice] = {}
        self._free = _MAX_KEPT if max_kept is None else max_kept

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.batch)

    def take(self, rows: Int64) -> QuotientSlice:
        """Return what the encoder needs for these graphs."""
        rows = np.asarray(rows, np.int64)
        if self.roots is not None or not len(rows) or (self._free <= 0 and not self._kept):
            return self._cut(rows)
        return joined([self._one(row) for row in rows.tolist()])

    def _one(self, row: int) -> QuotientSlice:
        """Return one graph, and keep it if there is room."""
        found = self._kept.get(row)
        if found is None:
            found = self._cut(np.array([row]))
            if self._free > 0:
                self._kept[row] = found
                self._free -= sum(
                    part.nbytes for layer in found.layers for part in layer if isinstance(part, np.ndarray)
                )
        return found

    def _cut(self, rows: Int64) -> QuotientSlice:
        sizes = self.batch.nodes_per_graph[rows]
        graph_ptr = pointer(sizes)
        node = np.repeat(self.batch.graph_ptr[rows] - graph_ptr[:-1], sizes) + np.arange(graph_ptr[-1])
        arcs = self._arcs(node)
        n_nodes, n_layers = len(node), len(self.hops)
        root, root_ptr, scale = sampled_roots(graph_ptr, self.roots)
        radii = np.array([-1 if radius is None else radius for radius in self.hops], np.int64)
        states = share_states(arcs, graph_ptr, root, root_ptr, radii, _MARKS[self.root_mark], self.n_marks)
        place = np.full(len(states.times), -1, np.int32)
        heard_ids = np.empty(0, np.int64)
        layers: list[LayerSlice] = []
        for layer in range(n_layers, 0, -1):
            ids, pool_ptr, pooled, counts = pooled_states(states, graph_ptr, layer, heard_ids, place)
            hear_ptr, heard, below = heard_states(
                states, arcs, ids, place, (n_nodes, n_layers, self.n_marks), self.coded
            )
            layers.append(LayerSlice(hear_ptr, heard, len(below), len(heard_ids), pool_ptr, pooled, counts))
            heard_ids = below
        first_marked = (n_layers + 1) * n_nodes
        marked = heard_ids >= first_marked
        local = np.where(marked, heard_ids - first_marked, heard_ids)
        mark = np.where(marked, local // max(1, n_nodes), 1)  # only the mark "root" has unmarked nodes
        chosen = node[local % max(1, n_nodes)]
        return QuotientSlice(
            self.labels[chosen],
            mark,
            self.codes,
            tuple(reversed(layers)),
            None if self.features is None else self.features[chosen],
            scale,
        )

    def _arcs(self, node: Int64) -> Arcs:
        """Return steps and messages of some graphs, with their nodes numbered from 0."""
        batch = self.batch
        degree = np.diff(batch.indptr)[node]
        indptr = pointer(degree)
        arc = np.repeat(batch.indptr[node] - indptr[:-1], degree) + np.arange(indptr[-1])
        shift = np.repeat(np.arange(len(node)) - node, degree)
        indices = (batch.indices[arc] + shift).astype(np.int32)
        labels = np.zeros(len(arc), np.int32) if self.edge_codes is None else self.edge_codes[arc]
        if not batch.directed:
            return Arcs(indptr, indices, indptr, indices, labels)
        source = np.repeat(np.arange(len(node), dtype=np.int32), degree)
        receiver = np.concatenate([indices, source])
        order = np.argsort(receiver, kind="stable")
        sender = np.concatenate([source, indices])[order]
        code = np.concatenate([2 * labels + 1, 2 * labels])[order]
        return Arcs(indptr, indices, pointer(np.bincount(receiver, minlength=len(node))), sender, code)


def joined(parts: list[QuotientSlice]) -> QuotientSlice:
    """Return one mini-batch of several, whose graphs share no rows."""
    layers = []
    below = np.array([len(part.label) for part in parts])
    for number in range(len(parts[0].layers)):
        of_parts = [part.layers[number] for part in parts]
        layers.append(_joined_layer(of_parts, below, coded=len(parts[0].codes) > 0))
        below = np.array([layer.n_heard for layer in of_parts])
    features = [part.features for part in parts if part.features is not None]
    return QuotientSlice(
        np.concatenate([part.label for part in parts]),
        np.concatenate([part.mark for part in parts]),
        parts[0].codes,
        tuple(layers),
        np.concatenate(features) if features else None,
    )


def _joined_layer(parts: list[LayerSlice], below: Int64, *, coded: bool) -> LayerSlice:
    n_below = int(below.sum())
    n_heard = np.array([part.n_heard for part in parts])
    n_rest = np.array([part.n_rows for part in parts]) - n_heard
    heard, lengths, pooled = [], [], []
    rest_lengths, rest_heard = [], []
    shifts = zip(
        parts,
        (np.cumsum(below) - below).tolist(),
        (np.cumsum(n_heard) - n_heard).tolist(),
        (n_heard.sum() + np.cumsum(n_rest) - n_rest - n_heard).tolist(),
        strict=True,
    )
    for part, shift, first, rest in shifts:
        entries = part.heard + np.int32(shift)
        if coded:
            entries[part.heard >= part.n_below] += np.int32(n_below - part.n_below - shift)
        length, cut = np.diff(part.hear_ptr), part.hear_ptr[part.n_heard]
        # The rows that are heard come first.
        heard.append(entries[:cut])
        rest_heard.append(entries[cut:])
        lengths.append(length[: part.n_heard])
        rest_lengths.append(length[part.n_heard :])
        pooled.append(part.pooled + np.where(part.pooled < part.n_heard, np.int32(first), np.int32(rest)))
    return LayerSlice(
        pointer(np.concatenate(lengths + rest_lengths)),
        np.concatenate(heard + rest_heard),
        n_below,
        int(n_heard.sum()),
        pointer(np.concatenate([np.diff(part.pool_ptr) for part in parts])),
        np.concatenate(pooled),
        np.concatenate([part.counts for part in parts]),
    )


def sampled_roots(graph_ptr: Int64, roots: float | None) -> tuple[Int64, Int64, NDArray[np.float64] | None]:
    """Draw roots of each graph without replacement; all have the same chance, so scaled sums are unbiased.

    Returns
    -------
    root : array of int64
        Node numbers, graph by graph.
    root_ptr : array of int64, shape (n_graphs + 1,)
    scale : array of float64, shape (n_graphs,), or None
        Nodes per root drawn; None if all are taken.

    Examples
    --------
    >>> root, root_ptr, scale = sampled_roots(np.array([0, 4, 6]), 0.5)
    >>> root_ptr.tolist(), scale.tolist()
    ([0, 2, 3], [2.0, 2.0])
    """
    if roots is None:
        return np.arange(graph_ptr[-1]), graph_ptr, None
    sizes = np.diff(graph_ptr)
    wanted = np.full(len(sizes), roots) if isinstance(roots, int) else np.rint(roots * sizes)
    drawn = np.minimum(np.maximum(wanted, 1), sizes).astype(np.int64)
    random = torch.rand(int(graph_ptr[-1]), dtype=torch.float64).numpy()
    graph = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((random, graph))
    rank = np.arange(len(order)) - graph_ptr[graph]
    scale = np.divide(sizes, drawn, out=np.ones(len(sizes)), where=drawn > 0)
    return np.sort(order[rank < drawn[graph]]), pointer(drawn), scale
