"""The colour quotient: one row per colour instead of one per (root, node) pair.

The state of a node inside a rooted subgraph after j layers depends only on its colour after j rounds of 1-WL
inside that subgraph. So the disjoint union of all rooted subgraphs is refined, and the encoder runs on
colours: ``x_j = MLP_j(A_j x_{j-1})`` and ``R_k = P_k x_k``, with one row of ``x_j`` per colour of layer j.
For the path a–b–c and one hop, two rows take the place of seven::

    rooted subgraph of      a     b       c
    nodes                   a b | a b c | b c      7 (root, node) pairs
    degrees inside          1 1 | 1 2 1 | 1 1      2 colours after round 1, so P_1 = [6 1]


- ``A_j`` adds up, for each colour of layer j, its own colour in layer j - 1 and those of its neighbours.
- ``P_k`` counts how often each colour of layer k occurs in the rooted subgraphs of each graph.

This is the same function up to rounding, with far fewer rows. It also holds for continuous features: the
first colour of a node then stands for its label and its row of features together.

In this order: the options of a quotient, the `Quotient` itself, mini-batches (`RowExamples`), and the
construction, which cuts and refines rooted subgraphs in blocks and keeps only their colours.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import torch

from twinwl import arguments
from twinwl.arguments import (
    DEPTH,
    MAX_ITEMS,
    ROUNDS,
    checked,
    integer,
    number,
    one_of,
    owners,
    pointer,
    readable,
)
from twinwl.arrays import Float32, Float64, Int32, Int64
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.neural.rows import (
    NONE,
    Pool,
    RowBatch,
    RowLayer,
    count_rows,
    distinct_rows,
    entries_of,
    number_by_first,
)
from twinwl.refinement.colours import Round, RoundTable, colour_round, messages_of
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

Hops: TypeAlias = "int | tuple[int, ...] | Literal['growing']"
Radii: TypeAlias = "tuple[int | None, ...]"
"""Radius of the rooted subgraphs of each layer; None stands for the whole graph."""
RootMark: TypeAlias = "Literal['none', 'root', 'distance']"

ROOT_MARK = one_of("none", "root", "distance")
HOPS = (ROUNDS, one_of("growing"))
ROOTS = (integer(1, MAX_ITEMS), number(0, 1, above=True), None)

# A block has about this many nodes and arcs of rooted subgraphs: a few megabytes.
_BLOCK_ENTRIES = 1 << 17
# Cost of one colour: its key, its places in the hash table, its signature, its entry in the pooling matrix.
_BYTES_PER_COLOUR = 96


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


def check_memory(batch: GraphBatch, hops: tuple[int, ...], max_memory: int | None) -> None:
    """Refuse rooted subgraphs whose nodes together might not fit into memory.

    Parameters
    ----------
    batch
        The graphs.
    hops
        Radius of each layer.
    max_memory
        Limit in bytes; None means half of the machine's memory.
    """
    radius = max(hops)
    pairs = rooted_sizes(batch, radius).sum(axis=1, dtype=np.int64)
    fewer = f"at radius {radius - 1} there are {pairs[radius - 1]:,}; " if radius else ""
    arguments.check_fits(
        int(_BYTES_PER_COLOUR * pairs[list(set(hops))].sum()),
        max_memory,
        f"the rooted subgraphs of {len(batch)} graph(s) hold {pairs[radius]:,} (root, node) pairs at radius "
        f"{radius}, which in the worst case",
        f"use fewer hops ({fewer}max_memory raises the limit) or fewer graphs at a time",
    )


class TooManyColoursError(TwinWLError):
    """A quotient that does not fit into memory."""


@dataclass(frozen=True, eq=False)
class Quotient:
    """The matrices ``A_j`` and ``P_k`` of a batch of graphs.

    Printing a quotient shows how much it saves.

    Attributes
    ----------
    hops : tuple of int
        Radius of the rooted subgraphs of each layer.
    n_first : int
        Number of colours of layer 0. A colour is ``code of the node * number of marks + mark``.
    rounds : tuple of Round
        ``A_1, …, A_K``: the signature of each colour of a layer, that is its own colour in the layer before
        and the colours it receives from its neighbours.
    pools : tuple of Pool
        ``P_1, …, P_K``: the colours of each graph in CSR form, and how often each of them occurs.
    n_pairs : tuple of int
        Number of (root, node) pairs of each layer.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> print(build_quotient(worked_example(), layers=2, hops="growing"))
    layer  hops  pairs  colours  compression
        1     1     40        8          5.0
        2     2     60        8          7.5
    """

    hops: Radii
    n_first: int
    rounds: tuple[Round, ...]
    pools: tuple[Pool, ...]
    n_pairs: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.pools[0].ptr) - 1

    @property
    def n_colours(self) -> list[int]:
        """Number of colours of each layer, layer 0 first."""
        return [self.n_first, *(part.n_colours for part in self.rounds)]

    @property
    def compression(self) -> tuple[float, ...]:
        """Pairs per colour of each layer from layer 1 on."""
        return tuple(pairs / max(1, n) for pairs, n in zip(self.n_pairs, self.n_colours[1:]))

    def __str__(self) -> str:
        head = ("layer", "hops", "pairs", "colours", "compression")
        figures = zip(self.hops, self.n_pairs, self.n_colours[1:], self.compression)
        rows = [
            (str(layer), str(hops), f"{pairs:,}", f"{colours:,}", f"{ratio:.1f}")
            for layer, (hops, pairs, colours, ratio) in enumerate(figures, start=1)
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in [head, *rows])

    def take(self, graphs: Int64) -> tuple[Int64, tuple[RowLayer, ...]]:
        """Return the colours of layer 0 and the layers that these graphs need, from the pools downwards."""
        # From the top layer down. A layer needs the colours that the layer above reads and those that are
        # pooled. They are numbered in this order, so those to pass on come first (`RowLayer.n_passed`). Only
        # when a layer is numbered is it known where the colours stand that the layer above refers to. So
        # ``own`` and ``senders`` of a layer are filled in one iteration later.
        layers: list[RowLayer] = []
        # The colours that the layer above reads: first the own colours of its rows, then those of the
        # senders.
        read, n_own = NONE, 0
        for layer in range(len(self.rounds), -1, -1):
            pool = self.pools[layer - 1].take(graphs) if layer else Pool(NONE, NONE, NONE)
            # 1. Number the colours of this layer: those that the layer above reads, then those to pool.
            colours = np.concatenate([read, pool.rows])
            numbers, first = number_by_first(colours, self._places[layer])
            places, pooled = np.split(numbers, [len(read)])
            if layers:  # 2. Only now does the layer above know the places of what it reads.
                layers[-1] = layers[-1]._replace(own=places[:n_own], senders=places[n_own:])
            # The colour of each row of this layer.
            members, n_passed = colours[first], int(places.max(initial=-1)) + 1
            if not layer:
                break
            # 3. Collect what this layer reads of the layer below: own colours first, then those of senders.
            part, codes = self.rounds[layer - 1], NONE
            ptr, entries = entries_of(part.sig_ptr, members, 1)  # signatures without their own colours
            items, n_own = part.sig_items[entries], len(members)
            if part.n_codes > 1:
                codes, items = np.divmod(items.astype(np.int64), part.stride)
            read = np.concatenate([part.sig_items[part.sig_ptr[members]], items])
            layers.append(RowLayer(NONE, ptr, NONE, codes, pool._replace(rows=pooled), n_passed))
        # The loop ended at layer 0, so ``members`` are its colours.
        return members.astype(np.int64), tuple(reversed(layers))

    @cached_property
    def _places(self) -> list[Int32]:
        """Scratch array of `number_by_first` for each layer, shape (n_colours,); all -1 between two calls."""
        return [np.full(n, -1, np.int32) for n in self.n_colours]


def build_quotient(
    batch: GraphBatch,
    layers: int,
    hops: Hops = "growing",
    *,
    root_mark: RootMark = "none",
    edge_labels: bool = False,
    max_memory: int | None = None,
) -> Quotient:
    """Build the quotient of a batch.

    Parameters
    ----------
    batch
        The graphs; continuous features are ignored.
    layers
        Depth of the network. Layers beyond the round in which colours become stable only add to the cost.
    hops
        ``"growing"`` for k hops in layer k, one number for all layers, or a tuple with that of each.
    root_mark
        ``"none"`` (the paper), ``"root"`` to mark the root, ``"distance"`` to mark nodes
        by their distance from the root.
    edge_labels
        Distinguish messages by edge label, if the batch has any.
    max_memory
        Limit for the colours, in bytes; None allows half of the machine's memory.
    """
    radii = hops_of_layers(hops, layers)
    n_marks(root_mark, radii)  # called only to check ``root_mark``
    kinds = len(batch.edge_vocabulary) if edge_labels and batch.edge_labels is not None else 0
    plain = batch.without_features() if kinds else batch.without_features().without_edge_labels()
    return _build(plain, radii, root_mark, (len(batch.node_vocabulary), kinds), max_memory)


class RowExamples:
    """Graphs as rows of a network: mini-batches of one quotient of all graphs.

    If it does not fit into memory, or if roots are sampled, each mini-batch gets a quotient of its own.

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
    max_memory
        Limit for the colours of all graphs, in bytes; None allows half of the machine's memory.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> pair = worked_example()
    >>> examples = RowExamples(pair, (1, 2), "none", pair.node_vocabulary, None)
    >>> [layer.n_rows for layer in examples.take(np.array([1])).layers]
    [4, 4]
    """

    def __init__(
        self,
        batch: GraphBatch,
        hops: Radii,
        root_mark: RootMark,
        labels: tuple[Label, ...],
        edge_labels: tuple[Label, ...] | None,
        features: Float32 | None = None,
        roots: float | None = None,
        max_memory: int | None = None,
    ) -> None:
        # A code of a node stands for a label or, with continuous features, for a pair of a label and a row of
        # features; label_of_code and features_of_code tell which. A label of -1 is unknown to the network:
        # all of these share a code, because the network cannot tell them apart.
        codes = recode(batch.node_labels, batch.node_vocabulary, labels) + 1
        self.label_of_code: Int64 = np.arange(-1, len(labels))
        self.features_of_code = np.empty((len(labels) + 1, 0), np.float32)
        if features is not None and features.shape[1]:
            bits = (features + np.float32(0)).view(np.uint32)  # the sum turns -0.0 into 0.0
            numbers, first = distinct_rows(np.column_stack([bits, codes.astype(np.uint32)]))
            self.label_of_code, codes = codes[first].astype(np.int64) - 1, numbers
            self.features_of_code = features[first]
        kinds: Int32 | None = None
        if edge_labels is not None:
            known = batch.edge_labels if batch.edge_labels is not None else np.empty(0, np.int32)
            kinds = recode(known, batch.edge_vocabulary, edge_labels) + 1
        # Code 0 is that of all unknown edge labels. In a directed graph a label has two message codes, one
        # for each direction. So message codes below first_kind belong to unknown labels, and `take` turns
        # them into -1.
        self.first_kind = 0 if edge_labels is None else 2 if batch.directed else 1
        self.n_codes = (len(self.label_of_code), 0 if edge_labels is None else len(edge_labels) + 1)
        plain = batch.without_features()
        self.plain = plain.changed(node_labels=codes.astype(np.int32), edge_labels=kinds)
        self.hops, self.root_mark = hops, root_mark
        self.n_marks = 1 if None in hops else n_marks(root_mark, hops)  # type: ignore[arg-type]
        self.roots = roots
        self.quotient: Quotient | None = None
        if roots is None:
            with contextlib.suppress(TooManyColoursError):
                self.quotient = _build(self.plain, hops, root_mark, self.n_codes, max_memory)
        # Each call without a stored quotient builds one, so fewer graphs at a time.
        self.rows_at_once = 32 if self.quotient is None else 1024

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.plain)

    def heaviest(self, n_graphs: int) -> Int64:
        """Return the graphs with the most rows, or nodes if their rows are not known."""
        known = self.quotient
        weights = self.plain.nodes_per_graph if known is None else np.diff(known.pools[-1].ptr)
        return np.argsort(weights, kind="stable")[-n_graphs:]

    def take(self, graphs: Int64) -> RowBatch:
        """Return what the network needs for these graphs."""
        graphs, scale = np.asarray(graphs, np.int64), None
        if self.quotient is not None:
            bottom, layers = self.quotient.take(graphs)
        else:
            batch = self.plain[graphs]
            roots, scale = (None, None) if self.roots is None else draw_roots(batch.graph_ptr, self.roots)
            quotient = _build(batch, self.hops, self.root_mark, self.n_codes, None, roots)
            bottom, layers = quotient.take(np.arange(len(graphs)))
        code, mark = np.divmod(bottom, self.n_marks)
        layers = tuple(
            layer._replace(codes=np.maximum(layer.codes - self.first_kind, -1)) for layer in layers
        )
        return RowBatch(self.label_of_code[code], mark, self.features_of_code[code], layers, scale)


def draw_roots(graph_ptr: Int64, roots: float) -> tuple[Int64, Float64]:
    """Draw roots of each graph without replacement; all have the same chance, so scaled sums are unbiased.

    Returns
    -------
    roots : array of int64
        Node numbers, graph by graph.
    scale : array of float64, shape (n_graphs,)
        Nodes per root drawn.

    Examples
    --------
    >>> root, scale = draw_roots(np.array([0, 4, 6]), 0.5)
    >>> len(root), scale.tolist()
    (3, [2.0, 2.0])
    """
    sizes = np.diff(graph_ptr)
    wanted = np.full(len(sizes), roots) if isinstance(roots, int) else np.rint(roots * sizes)
    drawn = np.minimum(np.maximum(wanted, 1), sizes).astype(np.int64)
    random = torch.rand(int(graph_ptr[-1]), dtype=torch.float64).numpy()
    graph = owners(sizes)
    order = np.lexsort((random, graph))
    # The place of each node in a random order of its graph.
    rank = np.arange(len(order)) - graph_ptr[graph]
    scale = np.divide(sizes, drawn, out=np.ones(len(sizes)), where=drawn > 0)
    return np.sort(order[rank < drawn[graph]]), scale


# ---------------------------------------------------------------------- building


def _build(
    plain: GraphBatch,
    hops: Radii,
    root_mark: RootMark,
    n_codes: tuple[int, int],
    max_memory: int | None,
    roots: Int64 | None = None,
) -> Quotient:
    """Refine rooted subgraphs of graphs whose labels are codes; ``n_codes`` are those of nodes and edges."""
    roots = np.arange(plain.n_nodes) if roots is None else roots
    radii = tuple(radius for radius in hops if radius is not None)
    # In a layer on the whole graphs each node counts as one pair, as with radius 0.
    of_root = rooted_sizes(plain, max(radii, default=0))[:, roots].astype(np.int64)
    n_different_marks = n_marks(root_mark, radii) if radii else 1
    builder = _QuotientBuilder(plain, hops, root_mark, n_different_marks, n_codes)
    limit = arguments.allowed_memory(max_memory)
    for low, high in root_blocks(plain, of_root[-1], roots, whole=not radii):
        builder.add(roots[low:high])
        need = _BYTES_PER_COLOUR * sum(table.n_colours for table in builder.tables)
        if need > limit:
            last = np.searchsorted(plain.graph_ptr, roots[high - 1], side="right")
            raise TooManyColoursError(
                f"the rooted subgraphs with hops {hops} hold {of_root[-1].sum():,} (root, node) pairs, and "
                f"the colours of {last} of {len(plain)} graphs need {readable(need)}, more than the "
                f"{readable(limit)} allowed; use fewer hops or fewer graphs at a time, or raise max_memory"
            )
    n_pairs = tuple(int(of_root[0 if radius is None else radius].sum()) for radius in hops)
    return builder.to_quotient(n_pairs)


def root_blocks(
    batch: GraphBatch, sizes: Int64, roots: Int64, *, whole: bool = False
) -> list[tuple[int, int]]:
    """Cut the roots into consecutive ranges whose rooted subgraphs have about the size of a block.

    Parameters
    ----------
    sizes, roots : arrays of int64, shape (n_roots,)
        Rooted size of each root, and the roots themselves in ascending order.
    whole
        Whether a range must end where a graph ends.
    """
    graph_of_node = owners(batch.nodes_per_graph)
    graph = graph_of_node[roots]
    max_degree, arcs = np.zeros(len(batch), np.int64), np.diff(batch.indptr[batch.graph_ptr])
    np.maximum.at(max_degree, graph_of_node, np.diff(batch.indptr))
    # Nodes and arcs (at most) of all rooted subgraphs before each one.
    before = pointer(sizes + np.minimum(sizes * max_degree[graph], arcs[graph]))[:-1]
    if whole:
        # All roots of a graph belong to the block of its first root, so no graph is split.
        before = before[np.searchsorted(graph, graph)]
    block = before // _BLOCK_ENTRIES
    return list(pairwise([*np.flatnonzero(np.diff(block, prepend=-1)).tolist(), len(roots)]))


class _QuotientBuilder:
    """A quotient under construction, which grows by blocks of roots.

    Parameters
    ----------
    plain, hops, root_mark
        As for `_build`.
    n_different_marks
        Number of different marks.
    n_codes
        Number of codes of nodes, and of edges.
    """

    def __init__(
        self,
        plain: GraphBatch,
        hops: Radii,
        root_mark: RootMark,
        n_different_marks: int,
        n_codes: tuple[int, int],
    ) -> None:
        self.plain, self.hops, self.root_mark = plain, hops, root_mark
        self.n_different_marks = n_different_marks
        self.n_first, self.n_edge_codes = n_codes[0] * n_different_marks, n_codes[1]
        self.n_kinds = max(1, self.n_edge_codes) * (2 if plain.directed else 1)
        self.tables = [RoundTable(_stride_with_room(0), self.n_kinds) for _ in hops]
        # For each layer and block: the first graph of the block, and how often its graphs have each colour.
        self.pools: list[list[tuple[int, Pool]]] = [[] for _ in hops]

    def add(self, roots: Int64) -> None:
        """Refine the rooted subgraphs of some roots."""
        first, last = np.searchsorted(self.plain.graph_ptr, roots[[0, -1]], side="right") - 1
        batch, roots = self.plain[first : last + 1], roots - self.plain.graph_ptr[first]
        # Layers with the same radius share one union of rooted subgraphs, which is cut and refined once.
        for radius in dict.fromkeys(self.hops):
            union, mark, ptr = batch, None, batch.graph_ptr
            if radius is not None:
                cut = rooted_subgraphs(batch, radius, roots)
                union, ptr = cut.as_batch(batch), cut.subgraph_ptr[np.searchsorted(roots, batch.graph_ptr)]
                mark = {"none": None, "root": cut.distance > 0, "distance": cut.distance}[self.root_mark]
            colours = union.node_labels * np.int32(self.n_different_marks)
            # All layers up to the last one with this radius are refined, but only those with this radius are
            # pooled.
            for place, after in enumerate(self._rounds(union, colours if mark is None else colours + mark)):
                if self.hops[place] == radius:
                    self.pools[place].append((first, count_rows(ptr, after)))
                    if radius not in self.hops[place + 1 :]:  # no later layer needs these colours
                        break

    def _rounds(self, union: GraphBatch, colours: Int32) -> Iterator[Int32]:
        """Yield the colours of the nodes of a union in layers 1, 2 and so on."""
        messages = messages_of(union, union.edge_labels if self.n_edge_codes else None, self.n_edge_codes)
        n_before = self.n_first
        for place, table in enumerate(self.tables):
            if table.stride < n_before:
                # Each block goes through all layers, so the previous layer may have grown meanwhile.
                table = RoundTable(_stride_with_room(n_before), self.n_kinds, table.to_round())  # noqa: PLW2901
                self.tables[place] = table
            after = np.empty_like(colours)
            colour_round(messages, colours, table, after, insert=True)
            colours, n_before = after, table.n_colours
            yield colours

    def to_quotient(self, n_pairs: tuple[int, ...]) -> Quotient:
        """Return the quotient."""
        strides = [self.n_first, *(table.n_colours for table in self.tables)]
        rounds = [
            table.to_round().with_stride(max(1, n_below), self.n_kinds)
            for table, n_below in zip(self.tables, strides)
        ]
        pools = [_join_pools(blocks, len(self.plain)) for blocks in self.pools]
        return Quotient(self.hops, self.n_first, tuple(rounds), tuple(pools), n_pairs)


def _stride_with_room(n_colours: int) -> int:
    """Return a stride with room for new colours; it costs at most one bit per digit of packed signatures."""
    return 1 << max(4, n_colours.bit_length())


def _join_pools(blocks: list[tuple[int, Pool]], n_graphs: int) -> Pool:
    """Return the pooling matrix of all graphs; the rows of a graph that was split are side by side."""
    sizes = np.zeros(n_graphs, np.int64)
    for first, block in blocks:
        sizes[first : first + len(block.ptr) - 1] += np.diff(block.ptr)
    none = np.empty(0, np.int32)
    rows, counts = (np.concatenate([none, *(block[part] for _, block in blocks)]) for part in (1, 2))
    return Pool(pointer(sizes), rows, counts)
