"""Mini-batches without the colour quotient: a state is computed once per node and surroundings.

With continuous features, or where hardly two colours are equal, a quotient of all graphs does not pay. Still,
most states repeat: far enough inside a rooted subgraph the state of a node is that in the whole graph, and
near the border it depends only on which of the surroundings the subgraph contains. So in a graph the pairs
(root, node) with the same node, whose neighbours have the same states, share one row. This is found out graph
by graph, at first use. Roots can be sampled.

Kernels that find the states which the rooted subgraphs of a graph share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from twinwl.arrays import Int32, Int64, pointer
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.neural.quotient import RootMark, n_marks
from twinwl.neural.slicing import LayerSlice, QuotientSlice, translated_codes

# Which nodes have a mark of their own, after 0 for none.
_ROOT_ONLY, _BY_DISTANCE = 1, 2


class Arcs(NamedTuple):
    """Steps of walks, and the messages of each node, with the code of each message."""

    indptr: Int64
    indices: Int32
    message_ptr: Int64
    sender: Int32
    code: Int32


class States(NamedTuple):
    """Shared states of all layers under one numbering.

    Of n nodes and K layers, number ``layer * n + node`` is the state in the whole graph,
    ``(K + 1 + mark) * n + node`` a marked input, and the numbers after these are rows of their own, graph by
    graph: row r has the entries ``ptr[r]`` to ``ptr[r + 1]``, its own state in the layer below and those that
    it hears.
    """

    ptr: Int64
    items: Int64
    message: Int64
    layer: Int32
    first_row: Int64
    times: Int32


@kernel
def _longer(array: np.ndarray, needed: int) -> np.ndarray:
    """Return the array, or a longer copy if it has fewer entries than needed."""
    if needed <= len(array):
        return array
    longer = np.zeros(max(needed, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def share_states(  # noqa: C901, PLR0912, PLR0915  (one pass, few calls)
    arcs: Arcs, graph_ptr: Int64, roots: Int64, root_ptr: Int64, hops: Int64, mark: int, n_marks: int
) -> States:
    """Give each node of each rooted subgraph the number of its state, layer by layer, and count them."""
    n, n_layers = len(arcs.indptr) - 1, len(hops)
    n_shared = (n_layers + 1) * n
    first = n_shared + n_marks * n
    ptr, items, message = np.zeros(64, np.int64), np.zeros(256, np.int64), np.zeros(256, np.int64)
    layer_of_row, hash_of_row = np.zeros(64, np.int32), np.zeros(64, np.int64)
    count = np.zeros(first + 64, np.int32)
    table = np.full(128, -1, np.int64)
    n_rows = 0
    first_row = np.zeros(len(graph_ptr), np.int64)
    members = np.empty(n, np.int32)
    distance = np.full(n, -1, np.int64)
    now, after = np.empty(n, np.int64), np.empty(n, np.int64)
    widest = 0
    for radius in hops:
        widest = max(widest, radius)
    for graph in range(len(graph_ptr) - 1):
        if n_rows:  # states of another graph cannot recur
            table = np.full(128, -1, np.int64)
        n_here = 0
        for place in range(root_ptr[graph], root_ptr[graph + 1]):
            root = roots[place]
            if hops[0] < 0:  # no rooted subgraphs: the states of the whole graph
                for layer in range(1, n_layers + 1):
                    count[layer * n + root] += 1
                continue
            members[0] = root
            distance[root] = 0
            n_members, cursor = 1, 0
            while cursor < n_members and distance[members[cursor]] < widest:
                node = members[cursor]
                cursor += 1
                for arc in range(arcs.indptr[node], arcs.indptr[node + 1]):
                    other = arcs.indices[arc]
                    if distance[other] < 0:
                        distance[other] = distance[node] + 1
                        members[n_members] = other
                        n_members += 1
            for radius in range(widest + 1):
                deepest = 0
                for layer in range(n_layers):
                    if hops[layer] == radius:
                        deepest = layer + 1
                if not deepest:
                    continue
                n_inside = 0
                while n_inside < n_members and distance[members[n_inside]] <= radius:
                    node = members[n_inside]
                    now[node] = node
                    if mark == _BY_DISTANCE:
                        now[node] = n_shared + distance[node] * n + node
                    n_inside += 1
                if mark == _ROOT_ONLY:
                    now[root] = n_shared + root
                for layer in range(1, deepest + 1):
                    for inside in range(n_inside):
                        node = members[inside]
                        start, stop = arcs.message_ptr[node], arcs.message_ptr[node + 1]
                        end = ptr[n_rows] + 1
                        items = _longer(items, end + stop - start)
                        message = _longer(message, end + stop - start)
                        own = now[node]
                        items[end - 1] = own
                        whole = own < n_shared
                        code = own & 0x3FFFFFFFFFF
                        for entry in range(start, stop):
                            other = arcs.sender[entry]
                            if distance[other] < 0 or distance[other] > radius:
                                whole = False
                                continue
                            state = now[other]
                            whole = whole and state < n_shared
                            items[end] = state
                            message[end] = entry
                            end += 1
                            code = ((code * 1000003) ^ state) & 0x3FFFFFFFFFF
                        if whole:
                            after[node] = layer * n + node
                            continue
                        if 2 * (n_here + 1) > len(table):
                            table = np.full(4 * len(table), -1, np.int64)
                            for row in range(n_rows - n_here, n_rows):
                                slot = (hash_of_row[row] ^ (hash_of_row[row] >> 19)) & (len(table) - 1)
                                while table[slot] >= 0:
                                    slot = (slot + 1) & (len(table) - 1)
                                table[slot] = row
                        slot = (code ^ (code >> 19)) & (len(table) - 1)
                        begin = ptr[n_rows]
                        while table[slot] >= 0:
                            row = table[slot]
                            if hash_of_row[row] == code and ptr[row + 1] - ptr[row] == end - begin:
                                same = True
                                for offset in range(end - begin):
                                    if items[ptr[row] + offset] != items[begin + offset]:
                                        same = False
                                        break
                                if same:
                                    break
                            slot = (slot + 1) & (len(table) - 1)
                        if table[slot] < 0:
                            table[slot] = n_rows
                            ptr = _longer(ptr, n_rows + 2)
                            layer_of_row = _longer(layer_of_row, n_rows + 1)
                            hash_of_row = _longer(hash_of_row, n_rows + 1)
                            count = _longer(count, first + n_rows + 1)
                            ptr[n_rows + 1] = end
                            layer_of_row[n_rows] = layer
                            hash_of_row[n_rows] = code
                            n_rows += 1
                            n_here += 1
                        after[node] = first + table[slot]
                    now, after = after, now
                    if hops[layer - 1] == radius:
                        for inside in range(n_inside):
                            count[now[members[inside]]] += 1
            for inside in range(n_members):
                distance[members[inside]] = -1
        first_row[graph + 1] = n_rows
    return States(
        ptr[: n_rows + 1], items, message, layer_of_row[:n_rows], first_row, count[: first + n_rows]
    )


@kernel
def pooled_states(
    states: States, graph_ptr: Int64, layer: int, heard: Int64, place: Int32
) -> tuple[Int64, Int64, Int32, Int32]:
    """Return the states of a layer, those that are heard first, and the pooling matrix in these places."""
    n, n_graphs = graph_ptr[-1], len(graph_ptr) - 1
    first = len(states.times) - len(states.layer)
    most = n
    for of_row in states.layer:
        most += of_row == layer
    ids = np.empty(len(heard) + most, np.int64)
    ids[: len(heard)] = heard
    n_ids, written = len(heard), 0
    pool_ptr = np.zeros(n_graphs + 1, np.int64)
    pooled, counts = np.empty(most, np.int32), np.empty(most, np.int32)
    for graph in range(n_graphs):
        n_nodes = graph_ptr[graph + 1] - graph_ptr[graph]
        for entry in range(n_nodes + states.first_row[graph + 1] - states.first_row[graph]):
            if entry < n_nodes:
                state = layer * n + graph_ptr[graph] + entry
            else:
                row = states.first_row[graph] + entry - n_nodes
                if states.layer[row] != layer:
                    continue
                state = first + row
            if not states.times[state]:
                continue
            if place[state] < 0:
                place[state] = n_ids
                ids[n_ids] = state
                n_ids += 1
            pooled[written] = place[state]
            counts[written] = states.times[state]
            written += 1
        pool_ptr[graph + 1] = written
    return ids[:n_ids].copy(), pool_ptr, pooled[:written].copy(), counts[:written].copy()


@kernel
def heard_states(  # noqa: C901, PLR0912  (one pass, few calls)
    states: States, arcs: Arcs, ids: Int64, place: Int32, sizes: tuple[int, int, int], coded: bool
) -> tuple[Int64, Int32, Int64]:
    """Return what each state hears, in places of the layer below, and the states in these places."""
    n, n_layers, n_marks = sizes
    first = (n_layers + 1 + n_marks) * n
    hear_ptr = np.zeros(len(ids) + 1, np.int64)
    for index in range(len(ids)):
        if ids[index] < first:
            node = ids[index] % n
            length = 1 + arcs.message_ptr[node + 1] - arcs.message_ptr[node]
        else:
            row = ids[index] - first
            length = states.ptr[row + 1] - states.ptr[row]
        hear_ptr[index + 1] = hear_ptr[index] + (2 * length - 1 if coded else length)
    heard = np.empty(hear_ptr[-1], np.int32)
    below = np.empty(hear_ptr[-1], np.int64)
    n_below = 0
    for index in range(len(ids)):
        shared = ids[index] < first
        node = ids[index] % n if shared else 0
        row = 0 if shared else ids[index] - first
        length = hear_ptr[index + 1] - hear_ptr[index]
        if coded:
            length = (length + 1) // 2
        for offset in range(length):
            if not shared:
                state = states.items[states.ptr[row] + offset]
            elif offset:
                other = arcs.sender[arcs.message_ptr[node] + offset - 1]
                state = ids[index] - node - n + other
            else:
                state = ids[index] - n
            if place[state] < 0:
                place[state] = n_below
                below[n_below] = state
                n_below += 1
            heard[hear_ptr[index] + offset] = place[state]
    if coded:  # the number of rows below is known only now
        for index in range(len(ids)):
            shared = ids[index] < first
            node = ids[index] % n if shared else 0
            row = 0 if shared else ids[index] - first
            length = (hear_ptr[index + 1] - hear_ptr[index] + 1) // 2
            for offset in range(1, length):
                if shared:
                    entry = arcs.message_ptr[node] + offset - 1
                else:
                    entry = states.message[states.ptr[row] + offset]
                heard[hear_ptr[index] + length + offset - 1] = n_below + arcs.code[entry]
    return hear_ptr, heard, below[:n_below].copy()


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
    >>> from twinwl.datasets.generators import worked_example
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
