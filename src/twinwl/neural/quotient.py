"""The colour quotient: one row per colour instead of one per (root, node) pair.

The state of a node inside a rooted subgraph after j layers depends only on its depth-j 1-WL colour inside
that subgraph. So the disjoint union of all rooted subgraphs is refined, and the encoder runs on colours:
``x_j = MLP_j(A_j x_{j-1})`` and ``R_k = P_k x_k``. The same function, to rounding, with far fewer rows.

The settings of an NTwin-GNN: the hops of each layer, and the mark of the root.

Rooted subgraphs in blocks of bounded memory, and an error if they need too much memory.

Pooling matrices: how often each colour occurs in the rooted subgraphs of each graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from twinwl.arguments import DEPTH, MAX_ITEMS, ROUNDS, checked, integer, number, one_of
from twinwl.arrays import Int32, Int64, pointer
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.memory import check_fits
from twinwl.refinement.alphabet import Round, RoundTable
from twinwl.refinement.colours import colour_round, messages_of
from twinwl.refinement.identities import rooted_sizes
from twinwl.refinement.rooted_subgraphs import RootedSubgraphs, rooted_subgraphs
from twinwl.refinement.round_kernels import Messages

Hops: TypeAlias = "int | tuple[int, ...] | Literal['growing']"
RootMark: TypeAlias = "Literal['none', 'root', 'distance']"

ROOT_MARK = one_of("none", "root", "distance")
HOPS = (ROUNDS, one_of("growing"))
ROOTS = (integer(1, MAX_ITEMS), number(0, 1, above=True), None)


def hops_of_layers(hops: Hops, layers: int) -> tuple[int, ...]:
    """Return the radius of the rooted subgraphs of each layer.

    ``"growing"`` is section 4.2 of the paper, k hops in layer k; a number is the same radius in every layer,
    as in section 5.3, which searches hops and layers separately. A tuple has one radius per layer.

    >>> hops_of_layers("growing", 3), hops_of_layers(2, 3)
    ((1, 2, 3), (2, 2, 2))
    """
    layers = checked("layers", layers, DEPTH)
    if isinstance(hops, tuple) and len(hops) == layers:
        return tuple(int(checked("hops", radius, ROUNDS)) for radius in hops)
    radius = checked("hops", hops, *HOPS)
    return tuple(range(1, layers + 1)) if isinstance(radius, str) else (radius,) * layers


def n_marks(root_mark: str, hops: tuple[int, ...]) -> int:
    """Return the number of different marks of a node of a rooted subgraph.

    >>> n_marks("none", (1, 2)), n_marks("root", (1, 2)), n_marks("distance", (1, 2))
    (1, 2, 3)
    """
    root_mark = checked("root_mark", root_mark, ROOT_MARK)
    return {"none": 1, "root": 2, "distance": max(hops) + 1}[root_mark]


# A block has about this many nodes and arcs of rooted subgraphs, a few megabytes, but at least as many as the
# batch has nodes, because each cut visits all of them.
_BLOCK_ENTRIES = 1 << 17
# Cost of one (root, node) pair if no two share a colour: its key, its places in the hash table, its signature
# and its entry in the pooling matrix.
BYTES_PER_PAIR = 96


def pairs_by_hops(batch: GraphBatch, hops: int) -> Int64:
    """Return the number of (root, node) pairs of the whole batch for 0, 1, …, ``hops`` hops.

    >>> from twinwl import GraphBatch
    >>> pairs_by_hops(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2).tolist()
    [3, 7, 9]
    """
    return rooted_sizes(batch, hops).sum(axis=1, dtype=np.int64)


def check_memory(
    batch: GraphBatch, hops: tuple[int, ...], max_memory: int | None, colours_per_pair: float = 1.0
) -> Int64:
    """Return `pairs_by_hops`, or refuse rooted subgraphs that might not fit into memory.

    Parameters
    ----------
    batch
        The graphs.
    hops
        Radius of each layer.
    max_memory
        Limit in bytes; None means half of the machine's memory.
    colours_per_pair
        The share of pairs with a colour of their own, if it was measured on a sample; 1 is the worst case.
    """
    radius = max(hops, default=0)
    pairs = pairs_by_hops(batch, radius)
    fewer = f"at radius {radius - 1} there are {pairs[radius - 1]:,}; " if radius else ""
    check_fits(
        int(colours_per_pair * BYTES_PER_PAIR * pairs[list(set(hops))].sum()),
        max_memory,
        f"the rooted subgraphs of {len(batch)} graph(s) hold {pairs[radius]:,} (root, node) pairs at radius "
        f"{radius}, which in the worst case",
        f"use fewer hops ({fewer}max_memory raises the limit) or fewer graphs at a time",
    )
    return pairs


def root_blocks(batch: GraphBatch, hops: int, entries: int | None = None) -> list[tuple[int, int]]:
    """Cut the nodes into consecutive ranges whose rooted subgraphs have about the size of a block.

    Parameters
    ----------
    batch, hops
        The graphs and the radius.
    entries
        Nodes plus arcs of a block; None chooses. Ranges end where graphs end, unless a graph is larger than
        a block.
    """
    if not batch.n_nodes:
        return []
    entries = max(_BLOCK_ENTRIES, batch.n_nodes) if entries is None else entries
    sizes = rooted_sizes(batch, hops)[hops].astype(np.int64)
    arcs_before_graph = batch.indptr[batch.graph_ptr]
    graph = np.repeat(np.arange(len(batch)), batch.nodes_per_graph)
    degree = np.zeros(len(batch), np.int64)
    np.maximum.at(degree, graph, np.diff(batch.indptr))
    arcs = np.minimum(sizes * degree[graph], np.diff(arcs_before_graph)[graph])
    before = np.concatenate([[0], np.cumsum(sizes + arcs)])
    bounds = [0]
    while bounds[-1] < batch.n_nodes:
        low = bounds[-1]
        high = int(np.searchsorted(before, before[low] + entries, side="right")) - 1
        at_graph = int(batch.graph_ptr[np.searchsorted(batch.graph_ptr, high, side="right") - 1])
        bounds.append(at_graph if at_graph > low else max(high, low + 1))
    return list(pairwise(bounds))


class Pool(NamedTuple):
    """One ``P_k`` in CSR form, one row per graph.

    ``colours`` and ``counts`` are aligned; within a graph colours are in order of first occurrence.
    """

    indptr: Int64
    colours: Int32
    counts: Int32


class PoolBuilder:
    """Count colours by graph, one block of rooted subgraphs after another.

    Parameters
    ----------
    graph_ptr : array of int64, shape (n_graphs + 1,)
        Node range of each graph.
    """

    def __init__(self, graph_ptr: Int64) -> None:
        self._graph_ptr = graph_ptr
        self._sizes = np.zeros(len(graph_ptr) - 1, np.int64)
        self._colours: list[Int32] = []
        self._counts: list[Int32] = []
        self._split = False

    def add(self, low: int, subgraph_ptr: Int64, colour_of_pair: Int32) -> None:
        """Count the subgraphs of the roots ``low, low + 1, …``; blocks come in order."""
        high = low + len(subgraph_ptr) - 1
        first = int(np.searchsorted(self._graph_ptr, low, side="right")) - 1
        last = int(np.searchsorted(self._graph_ptr, high, side="left"))
        bounds = np.clip(self._graph_ptr[first : last + 1], low, high) - low
        colours, counts, sizes = _count(subgraph_ptr[bounds], colour_of_pair)
        # A graph larger than a block comes in parts; the parts are joined at the end.
        self._split |= bool(self._sizes[first] > 0)
        self._sizes[first:last] += sizes
        self._colours.append(colours)
        self._counts.append(counts)

    def finished(self) -> Pool:
        """Return the matrix."""
        indptr = pointer(self._sizes)
        colours = np.concatenate([*self._colours, np.empty(0, np.int32)])
        counts = np.concatenate([*self._counts, np.empty(0, np.int32)])
        if self._split:
            matrix = csr_array((counts, colours, indptr), shape=(len(self._sizes), int(colours.max()) + 1))
            matrix.sum_duplicates()
            indptr, colours, counts = matrix.indptr.astype(np.int64), matrix.indices, matrix.data
        return Pool(indptr, colours.astype(np.int32, copy=False), counts.astype(np.int32, copy=False))


@kernel
def _count(pair_ptr: Int64, colour_of_pair: Int32) -> tuple[Int32, Int32, Int64]:
    """Count the colours within each range of pairs; one small hash table per graph stays in the cache."""
    n_graphs = len(pair_ptr) - 1
    most = 1
    for graph in range(n_graphs):
        most = max(most, pair_ptr[graph + 1] - pair_ptr[graph])
    length = 16
    while length < 2 * most:
        length *= 2
    mask = length - 1
    stamps = np.full(length, -1, np.int64)
    entry_at = np.empty(length, np.int64)
    colours = np.empty(len(colour_of_pair), np.int32)
    counts = np.empty(len(colour_of_pair), np.int32)
    sizes = np.zeros(n_graphs, np.int64)
    end = 0
    for graph in range(n_graphs):
        begin = end
        for pair in range(pair_ptr[graph], pair_ptr[graph + 1]):
            colour = colour_of_pair[pair]
            slot = ((np.int64(colour) * 0x9E3779B1) >> 7) & mask
            while stamps[slot] == graph and colours[entry_at[slot]] != colour:
                slot = (slot + 1) & mask
            if stamps[slot] == graph:
                counts[entry_at[slot]] += 1
            else:
                stamps[slot] = graph
                entry_at[slot] = end
                colours[end] = colour
                counts[end] = 1
                end += 1
        sizes[graph] = end - begin
    return colours[:end].copy(), counts[:end].copy(), sizes


@dataclass(frozen=True, eq=False)
class Quotient:
    """The matrices ``A_j`` and ``P_k`` of a batch of graphs.

    Attributes
    ----------
    labels : tuple of labels
        The node labels. A colour of layer 0 is ``label * n_marks + mark``.
    edge_labels : tuple of labels, or None
        The edge labels, if they are used.
    root_mark : str
    hops : tuple of int
        Radius of the rooted subgraphs of each layer.
    directed : bool
        In directed graphs messages pass along arcs both ways, distinguished by the message's code
        ``2 * edge label + end``.
    rounds : tuple of Round
        ``A_1, …, A_K``: for each colour its own colour in the previous layer, then the messages it receives.
    pools : tuple of Pool
        ``P_1, …, P_K``: how often each colour occurs in each graph.
    n_pairs : tuple of int
        Number of (root, node) pairs of each layer.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> quotient = build_quotient(worked_example(), layers=2, hops="growing")
    >>> quotient.n_colours, quotient.n_pairs
    ([2, 8, 8], (40, 60))
    """

    labels: tuple[Label, ...]
    edge_labels: tuple[Label, ...] | None
    root_mark: RootMark
    hops: tuple[int, ...]
    directed: bool
    rounds: tuple[Round, ...]
    pools: tuple[Pool, ...]
    n_pairs: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.pools[0].indptr) - 1

    @property
    def n_marks(self) -> int:
        """Number of different marks of a node."""
        return n_marks(self.root_mark, self.hops)

    @property
    def n_codes(self) -> int:
        """Number of kinds of messages."""
        return _n_codes(self.edge_labels, self.directed)

    @property
    def coded(self) -> bool:
        """Whether messages have a code."""
        return self.edge_labels is not None or self.directed

    @property
    def n_colours(self) -> list[int]:
        """Number of colours of each layer, layer 0 first."""
        return [len(self.labels) * self.n_marks, *(part.n_colours for part in self.rounds)]

    def statistics(self) -> QuotientStatistics:
        """Return how much the quotient saves.

        >>> from twinwl.datasets.generators import worked_example
        >>> print(build_quotient(worked_example(), layers=2).statistics())
        layer  hops  pairs  colours  compression
            1     1     40        8          5.0
            2     2     60        8          7.5
        """
        return QuotientStatistics(self.hops, self.n_pairs, tuple(self.n_colours[1:]))


class QuotientStatistics(NamedTuple):
    """Figures of a quotient, one entry per layer from layer 1 on; printed, it is a table.

    Attributes
    ----------
    hops : tuple of int
        Radius of the rooted subgraphs.
    n_pairs : tuple of int
        Rows without the quotient: (root, node) pairs.
    n_colours : tuple of int
        Rows with it.

    Examples
    --------
    >>> QuotientStatistics(hops=(3,), n_pairs=(1200,), n_colours=(100,)).compression
    (12.0,)
    """

    hops: tuple[int, ...]
    n_pairs: tuple[int, ...]
    n_colours: tuple[int, ...]

    @property
    def compression(self) -> tuple[float, ...]:
        """Pairs per colour."""
        return tuple(
            pairs / max(1, colours) for pairs, colours in zip(self.n_pairs, self.n_colours, strict=True)
        )

    def __str__(self) -> str:
        head = ("layer", "hops", "pairs", "colours", "compression")
        rows = [
            (str(layer), str(hops), f"{pairs:,}", f"{colours:,}", f"{ratio:.1f}")
            for layer, (hops, pairs, colours, ratio) in enumerate(
                zip(self.hops, self.n_pairs, self.n_colours, self.compression, strict=True), start=1
            )
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in [head, *rows]
        )


def build_quotient(
    batch: GraphBatch,
    layers: int,
    hops: Hops | tuple[int, ...] = "growing",
    *,
    root_mark: RootMark = "none",
    edge_labels: bool = False,
    max_memory: int | None = None,
    colours_per_pair: float = 1.0,
) -> Quotient:
    """Build the quotient of a batch.

    Parameters
    ----------
    batch
        The graphs; continuous features are ignored.
    layers
        Depth of the network. More layers than a graph has rounds only add to the cost.
    hops
        ``"growing"`` for k hops in layer k, one number for all layers, or a tuple with that of each.
    root_mark
        ``"none"`` (the paper), ``"root"`` to tell the root from the other nodes, ``"distance"`` to tell nodes
        by their distance from the root.
    edge_labels
        Distinguish messages by edge label, if the batch has any.
    max_memory
        Limit for the rooted subgraphs, in bytes; None allows half of the machine's memory.
    colours_per_pair
        The share of (root, node) pairs that are expected to have a colour of their own; by default it is
        checked that even the worst case fits.
    """
    radii = hops if isinstance(hops, tuple) else hops_of_layers(hops, layers)
    n_marks(root_mark, radii)
    empty = Quotient(
        labels=(),
        edge_labels=() if edge_labels and batch.edge_labels is not None else None,
        root_mark=root_mark,
        hops=radii,
        directed=batch.directed,
        rounds=(),
        pools=(),
        n_pairs=(),
    )
    return _built(batch.without_features(), empty, max_memory, colours_per_pair)


def pair_colours(batch: GraphBatch, quotient: Quotient, layer: int) -> tuple[RootedSubgraphs, Int32]:
    """Return the rooted subgraphs of a layer, all at once, and each of their nodes' colour in that layer.

    For inspecting a few graphs; the colours are those of the quotient, which must contain all of them.
    """
    plain = batch.without_features()
    refiner = _QuotientBuilder(plain, quotient)
    cut = rooted_subgraphs(plain, quotient.hops[layer - 1])
    return cut, list(refiner.rounds_of(cut, layer, insert=False))[-1]


def _built(batch: GraphBatch, known: Quotient, max_memory: int | None, colours_per_pair: float) -> Quotient:
    pairs = check_memory(batch, known.hops, max_memory, colours_per_pair)
    refiner = _QuotientBuilder(batch, known)
    layers = len(known.hops)
    builders = [PoolBuilder(batch.graph_ptr) for _ in known.hops]
    # Layers with the same radius share their subgraphs: they are cut once and read at several depths.
    for radius in sorted(set(known.hops)):
        deepest = max(layer for layer in range(1, layers + 1) if known.hops[layer - 1] == radius)
        for low, high in root_blocks(batch, radius):
            cut = rooted_subgraphs(batch, radius, np.arange(low, high, dtype=np.int64))
            for layer, colours in enumerate(refiner.rounds_of(cut, deepest, insert=True), start=1):
                if known.hops[layer - 1] == radius:
                    builders[layer - 1].add(low, cut.subgraph_ptr, colours)
    n_before = [len(refiner.labels) * known.n_marks, *(table.n_colours for table in refiner.tables)]
    rounds = [
        table.finished().restrided(max(1, before), refiner.n_codes)
        for table, before in zip(refiner.tables, n_before, strict=False)
    ]
    return replace(
        known,
        labels=refiner.labels,
        edge_labels=refiner.edge_labels,
        rounds=tuple(rounds),
        pools=tuple(builder.finished() for builder in builders),
        n_pairs=tuple(int(pairs[radius]) for radius in known.hops),
    )


class _QuotientBuilder:
    """Refine unions of rooted subgraphs, block by block, with one growing table per layer."""

    def __init__(self, batch: GraphBatch, known: Quotient) -> None:
        self.batch = batch
        self.root_mark = known.root_mark
        self.n_marks = known.n_marks
        self.labels, self.label_codes = _joined(known.labels, batch.node_vocabulary, batch.node_labels)
        self.edge_labels: tuple[Label, ...] | None = None
        self.edge_codes: Int32 | None = None
        if known.edge_labels is not None and batch.edge_labels is not None:
            self.edge_labels, self.edge_codes = _joined(
                known.edge_labels, batch.edge_vocabulary, batch.edge_labels
            )
        self.n_codes = _n_codes(self.edge_labels, batch.directed)
        stride = len(self.labels) * self.n_marks
        self.tables: list[RoundTable] = []
        for layer in range(len(known.hops)):
            before = known.rounds[layer] if known.rounds else None
            self.tables.append(RoundTable(_roomy(stride), self.n_codes, before))
            stride = self.tables[-1].n_colours

    def rounds_of(self, cut: RootedSubgraphs, deepest: int, *, insert: bool) -> Iterator[Int32]:
        """Yield the colours of the nodes of a union in layers 1, 2, …, ``deepest``."""
        messages = self._messages(cut)
        colours = self.label_codes[cut.node] * np.int32(self.n_marks)
        if self.root_mark == "root":
            colours += cut.distance > 0
        elif self.root_mark == "distance":
            colours += cut.distance
        n_before = len(self.labels) * self.n_marks
        for layer in range(deepest):
            table = self.tables[layer]
            if table.stride < n_before:
                # Each block goes through all layers, so the previous layer may have grown meanwhile.
                table = RoundTable(_roomy(n_before), self.n_codes, table.finished())
                self.tables[layer] = table
            after = np.empty_like(colours)
            colour_round(messages, colours, table, after, insert=insert)
            colours, n_before = after, table.n_colours
            yield colours

    def _messages(self, cut: RootedSubgraphs) -> Messages:
        codes = None if self.edge_codes is None else self.edge_codes[cut.arc]
        return messages_of(cut.as_batch(self.batch), codes, max(1, len(self.edge_labels or ())))


def _roomy(n_colours: int) -> int:
    """Leave room for new colours, at the cost of at most one bit per digit in packed signatures."""
    return 1 << max(4, n_colours.bit_length())


def _n_codes(edge_labels: tuple[Label, ...] | None, directed: bool) -> int:
    return max(1, len(edge_labels or ())) * (2 if directed else 1)


def _joined(
    known: tuple[Label, ...], here: tuple[Label, ...], codes: Int32
) -> tuple[tuple[Label, ...], Int32]:
    """Return the known vocabulary with new labels appended, and the codes in it."""
    if not known:
        return here, codes
    missing = recode(np.arange(len(here), dtype=np.int32), here, known) < 0
    joined = known + tuple(label for label, new in zip(here, missing, strict=True) if new)
    return joined, recode(codes, here, joined)
