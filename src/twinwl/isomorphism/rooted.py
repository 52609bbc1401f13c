"""Rooted subgraphs for readouts: in blocks for kernels, one by one for user functions.

In this order: the argument of a user's function (`RootedSubgraph`), blocks of rooted subgraphs
(`RootedSource`, `RootedBlock`), groups of isomorphic ones (`Groups`), and a check that refuses
readouts that would take too much memory, before they start (`check_cost`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import check_fits
from twinwl.arrays import Int32, Int64, UInt64
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label
from twinwl.isomorphism.canonical import exact_keys, number_keys
from twinwl.refinement.colours import messages_of
from twinwl.refinement.content_keys import KeyedMessages, label_keys, message_keys
from twinwl.refinement.identities import RootedSubgraphs, rooted_subgraphs

if TYPE_CHECKING:
    import networkx as nx

# A block of rooted subgraphs holds about this many nodes and arcs together: some tens of megabytes.
_BLOCK_ENTRIES = 1 << 21


@dataclass(frozen=True)
class RootedSubgraph:
    """The subgraph induced by the nodes within h steps of a root; the argument of a readout function.

    Nodes have the same numbers as in their graph. A readout must not depend on this numbering, or it would
    tell a graph apart from its own renumbered copy.

    Attributes
    ----------
    root : int
    nodes : tuple of int
        In ascending order, the root among them.
    distances : tuple of int
        Steps from the root to each of ``nodes``.
    labels : tuple of labels
        Label of each of ``nodes``; None without labels.
    edges : tuple of (int, int)
        Each undirected edge once, the lower number first; if ``directed``, arcs from tail to head.
    edge_labels : tuple of labels, or None
        Label of each of ``edges``.
    directed : bool

    >>> import twinwl as tw
    >>> bull = tw.GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0), (1, 3), (2, 4)]])
    >>> degree = lambda rooted: sum(d == 1 for d in rooted.distances)
    >>> tw.compare(bull, bull, readout=degree).distinguished
    False
    """

    root: int
    nodes: tuple[int, ...]
    distances: tuple[int, ...]
    labels: tuple[Label, ...]
    edges: tuple[tuple[int, int], ...]
    edge_labels: tuple[Label, ...] | None = None
    directed: bool = False

    def __len__(self) -> int:
        return len(self.nodes)

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph whose nodes have the attributes ``label``, ``distance`` and ``root``.

        Edges have a ``label`` if there are edge labels.
        """
        import networkx as nx  # noqa: PLC0415  (slow to load and rarely needed)

        graph = nx.DiGraph() if self.directed else nx.Graph()
        for node, label, distance in zip(self.nodes, self.labels, self.distances):
            graph.add_node(node, label=label, distance=distance, root=node == self.root)
        if self.edge_labels is None:
            graph.add_edges_from(self.edges)
        else:
            for (u, v), label in zip(self.edges, self.edge_labels):
                graph.add_edge(u, v, label=label)
        return graph


class Subgraphs(NamedTuple):
    """The arrays of some rooted subgraphs, as kernels take them. Their nodes are numbered one after another.

    Attributes
    ----------
    subgraph_ptr : array of int64, shape (n_subgraphs + 1,)
        Range of the nodes of each subgraph.
    root : array of int32, shape (n_subgraphs,)
        Number of each root.
    messages : KeyedMessages
        Senders and receivers of messages inside the subgraphs.
    label_keys : array of uint64, shape (n_nodes, 2)
        Key of each node's label.
    """

    subgraph_ptr: Int64
    root: Int32
    messages: KeyedMessages
    label_keys: UInt64


@dataclass(eq=False)
class RootedSource:
    """The rooted subgraphs of a batch, in blocks of bounded memory.

    Parameters
    ----------
    batch
        The graphs; edge labels are used if there are any.
    """

    batch: GraphBatch

    @cached_property
    def label_keys(self) -> UInt64:
        """Keys of the node vocabulary, shape (n_labels, 2)."""
        return label_keys(self.batch.node_vocabulary, b"twl1 inner label")

    @cached_property
    def code_keys(self) -> UInt64:
        """Keys of the kinds of messages: edge label and, if directed, which end of the arc sends it."""
        ends = ("head", "tail") if self.batch.directed else ("edge",)
        return message_keys(self.batch.edge_vocabulary, ends, b"twl1 inner code")

    def blocks(self, roots: Int64, hops: int, size_of_root: Int32) -> Iterator[RootedBlock]:
        """Yield the subgraphs of the given roots, in order."""
        arcs_before_graph = self.batch.indptr[self.batch.graph_ptr]
        graph = np.searchsorted(self.batch.graph_ptr, roots, side="right") - 1
        sizes = size_of_root.astype(np.int64)
        n_arcs_at_most = np.minimum(sizes * sizes, np.diff(arcs_before_graph)[graph])
        block = np.cumsum(sizes + n_arcs_at_most) // _BLOCK_ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(roots)]
        for low, high in pairwise(cuts):
            if low < high:
                yield RootedBlock(self, roots[low:high], hops, size_of_root[low:high])


@dataclass(eq=False)
class RootedBlock:
    """Some rooted subgraphs of one radius; they are cut out when a readout first asks for more than sizes.

    Attributes
    ----------
    source : RootedSource
        The batch that they are cut out of, with the keys of its labels.
    roots : array of int64, shape (n_roots,)
        Nodes of the batch.
    hops : int
        The radius, the h of ``G_v^h``.
    sizes : array of int32, shape (n_roots,)
        Rooted sizes.
    """

    source: RootedSource
    roots: Int64
    hops: int
    sizes: Int32

    def __len__(self) -> int:
        return len(self.roots)

    def at(self, places: Int64) -> RootedBlock:
        """Return the block of some of the subgraphs."""
        return RootedBlock(self.source, self.roots[places], self.hops, self.sizes[places])

    @cached_property
    def cut(self) -> RootedSubgraphs:
        """The subgraphs as one CSR structure."""
        return rooted_subgraphs(self.source.batch, self.hops, self.roots)

    @cached_property
    def graphs(self) -> GraphBatch:
        """The subgraphs as a batch, one graph per root."""
        return self.cut.as_batch(self.source.batch)

    @cached_property
    def messages(self) -> KeyedMessages:
        """Senders and receivers of messages inside the subgraphs."""
        graphs = self.graphs
        messages = messages_of(graphs, graphs.edge_labels, max(1, len(graphs.edge_vocabulary)))
        return KeyedMessages(*messages[:3], self.source.code_keys)

    @property
    def label_keys(self) -> UInt64:
        """Keys of the node labels, shape (n_union_nodes, 2)."""
        return self.source.label_keys[self.graphs.node_labels]

    def as_subgraphs(self) -> Subgraphs:
        """Return the subgraphs as kernels take them."""
        return Subgraphs(self.cut.subgraph_ptr, self.cut.root, self.messages, self.label_keys)

    def subgraphs(self) -> Iterator[RootedSubgraph]:
        """Yield the subgraphs one by one, as the argument of a user's function."""
        cut, batch = self.cut, self.graphs
        first_of_graph = self.source.batch.graph_ptr
        graph = np.searchsorted(first_of_graph, self.roots, side="right") - 1
        # The number of each node in its own graph.
        own_number = cut.node - np.repeat(first_of_graph[graph], np.diff(cut.subgraph_ptr))
        sources, targets = batch.arcs()
        keep = np.flatnonzero((sources < targets) | batch.directed)  # undirected edges once
        edge_ptr = np.searchsorted(keep, batch.indptr[cut.subgraph_ptr])
        from_nodes, to_nodes = own_number[sources[keep]], own_number[targets[keep]]
        labels = batch.labels_of_nodes()
        codes = None if batch.edge_labels is None else batch.edge_labels[keep]
        for index, place in enumerate(cut.root):
            nodes = slice(int(cut.subgraph_ptr[index]), int(cut.subgraph_ptr[index + 1]))
            edges = slice(int(edge_ptr[index]), int(edge_ptr[index + 1]))
            yield RootedSubgraph(
                root=int(own_number[place]),
                nodes=tuple(own_number[nodes].tolist()),
                distances=tuple(cut.distance[nodes].tolist()),
                labels=tuple(labels[nodes]),
                edges=tuple(zip(from_nodes[edges].tolist(), to_nodes[edges].tolist())),
                edge_labels=None
                if codes is None
                else tuple(batch.edge_vocabulary[code] for code in codes[edges]),
                directed=batch.directed,
            )


class Groups:
    """Numbers of rooted subgraphs: equal ones if and only if they are isomorphic, root and labels included.

    Numbers are given in order of first occurrence and are shared by all blocks of a batch, of any radius. So
    an expensive readout is only computed for one subgraph of each group.

    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> (block,) = RootedSource(path).blocks(np.arange(4), 1, np.array([2, 3, 3, 2], np.int32))
    >>> Groups().of_block(block)
    array([0, 1, 1, 0])
    """

    def __init__(self) -> None:
        self._number_of_key: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._number_of_key)

    def of_block(self, block: RootedBlock) -> Int64:
        """Return the group of each rooted subgraph of a block, shape (n_roots,)."""
        graphs = block.graphs
        labels = 2 * graphs.node_labels
        labels[block.cut.root] += 1  # the root is marked by a label of its own
        vocabulary = tuple((label, is_root) for label in graphs.node_vocabulary for is_root in (False, True))
        marked = graphs.changed(node_labels=labels, node_vocabulary=vocabulary)
        return number_keys(exact_keys(marked), self._number_of_key)


# Eight words per pair: its colour before and after a round, and mixed for both roles that it has in a round.
_BYTES_PER_PAIR = 64
_QUADRATIC = "rooted-fwl2"
_REMEDY = "use fewer rounds (n_iter), smaller graphs, or a weaker readout such as 'rooted-wl'"


def check_cost(readouts: Iterable[str], sizes: Int32) -> None:
    """Refuse readouts whose memory for the largest rooted subgraph would exceed half of the machine's.

    Parameters
    ----------
    readouts
        Names of known readouts.
    sizes : array of int32
        Rooted sizes, of any number of roots and rounds.

    >>> check_cost(["rooted-fwl2"], np.full(30, 30, np.int32))
    """
    if _QUADRATIC in readouts:
        largest = int(sizes.max(initial=0))
        what = f"the readout {_QUADRATIC!r} of a rooted subgraph with {largest:,} nodes"
        check_fits(_BYTES_PER_PAIR * largest**2, None, what, _REMEDY)
