"""CFI: pairs of graphs over a base graph that low dimensions of Weisfeiler-Lehman cannot tell apart.

The construction of Cai, Fürer and Immerman, "An optimal lower bound on the number of variables for graph
identification" (1992), in its small form without extra nodes for the edges. Each node v of the base graph
becomes one node (v, S) for each set S of an even number of its edges. For an edge e between u and v, (u, S)
and (v, T) are adjacent if e is in both of S and T or in neither; in the other graph of the pair one edge is
*twisted*: there they are adjacent if e is in exactly one of them.

Two twists cancel, so it does not matter which edge is twisted, but one does not: the graphs are not
isomorphic. k-WL tells them apart only where k is at least the treewidth of the base graph. The pair over a
triangle is two triangles and a hexagon, the pair over K4 the 4×4 rook's graph and the Shrikhande graph.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.selection import relabelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.arrays import Int64

_MOST_NODES = 1_000_000
_LEAST_DEGREE = 2

# By family; within a family from low to high treewidth or size.
CFI_BASES: dict[str, dict[str, Callable[[], nx.Graph]]] = {
    "cycles": {f"C{n}": partial(nx.cycle_graph, n) for n in range(3, 9)},
    "grids": {f"{a}×{b} grid": partial(nx.grid_2d_graph, a, b) for a, b in [(2, 3), (3, 3), (3, 4)]},
    "cubic": {
        "K4": partial(nx.complete_graph, 4),
        "prism": partial(nx.circular_ladder_graph, 3),
        "K3,3": partial(nx.complete_bipartite_graph, 3, 3),
        "cube": nx.cubical_graph,
        "Petersen": nx.petersen_graph,
        "Heawood": nx.heawood_graph,
    },
    "dense": {
        "octahedron": nx.octahedral_graph,
        "K5": partial(nx.complete_graph, 5),
        "K4,4": partial(nx.complete_bipartite_graph, 4, 4),
        "K6": partial(nx.complete_graph, 6),
    },
}


def cfi_pair(base: nx.Graph) -> GraphBatch:
    """Return the two CFI graphs of a base graph: without a twist, and with one.

    Parameters
    ----------
    base
        A connected undirected networkx graph in which every node has at least two neighbours. A node of
        degree d becomes 2^(d - 1) nodes.

    >>> import networkx as nx
    >>> cfi_pair(nx.complete_graph(4))
    GraphBatch(2 graphs, 32 nodes, 96 edges)
    """
    if not isinstance(base, nx.Graph) or base.is_directed() or base.is_multigraph():
        raise TwinWLError(f"base: got {shown(base)}, expected an undirected networkx graph")
    base = nx.convert_node_labels_to_integers(base)
    if nx.number_of_selfloops(base):
        raise TwinWLError("the base graph has self-loops; remove them")
    lowest = min(dict(base.degree).values(), default=0)
    if lowest < _LEAST_DEGREE or not nx.is_connected(base):
        raise TwinWLError(
            "the base graph is not connected, or has a node with fewer than two neighbours; use its 2-core"
        )
    n_nodes = sum(2 ** (degree - 1) for _, degree in base.degree)
    if n_nodes > _MOST_NODES:
        raise TwinWLError(
            f"each CFI graph would have {n_nodes:,} nodes, the limit is {_MOST_NODES:,}; use a base graph "
            "with lower degrees"
        )
    return GraphBatch.from_edges([_edges(base, twisted=False), _edges(base, twisted=True)])


def _edges(base: nx.Graph, *, twisted: bool) -> list[tuple[int, int]]:
    """Return the edges of one of the two graphs."""
    incident: dict[int, list[int]] = {node: [] for node in base}
    for number, (u, v) in enumerate(base.edges):
        incident[u].append(number)
        incident[v].append(number)
    copies = [
        (node, frozenset(chosen))
        for node, edges in incident.items()
        for size in range(0, len(edges) + 1, 2)
        for chosen in combinations(edges, size)
    ]
    of_node: dict[int, list[tuple[int, frozenset[int]]]] = {node: [] for node in base}
    for place, (node, chosen) in enumerate(copies):
        of_node[node].append((place, chosen))
    return [
        (one, other)
        for number, (u, v) in enumerate(base.edges)
        for one, left in of_node[u]
        for other, right in of_node[v]
        if ((number in left) == (number in right)) != (twisted and number == 0)
    ]


def cfi(n_copies: int = 10, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64]:
    """Return shuffled copies of all pairs over `CFI_BASES`, whether each is twisted, and its pair.

    Parameters
    ----------
    n_copies
        Copies of each pair; the first graphs of a copy and its twisted partner are one group.
    random_state
        Seed of the node orders.

    >>> graphs, y, groups = cfi(n_copies=1)
    >>> len(graphs), y[:4].tolist(), groups[:4].tolist()
    (38, [0, 1, 0, 1], [0, 0, 1, 1])
    """
    if n_copies < 1:
        raise TwinWLError(f"n_copies: got {n_copies}, expected an integer of at least 1")
    bases = [make for family in CFI_BASES.values() for make in family.values()]
    pairs = [cfi_pair(make()) for make in bases]
    every = [graph for pair in pairs for _ in range(n_copies) for graph in pair]
    graphs = relabelled(concatenate(every), np.random.default_rng(random_state))
    n_pairs = len(pairs) * n_copies
    return graphs, np.tile(np.array([0, 1]), n_pairs), np.repeat(np.arange(n_pairs), 2)
