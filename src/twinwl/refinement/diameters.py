"""Diameters: the number of rounds after which identity sets stop growing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arrays import Int32, Int64
from twinwl.compilation import kernel
from twinwl.refinement.graph_arrays import Graphs, graph_between, graphs_of
from twinwl.refinement.identities import LARGE
from twinwl.refinement.searches import representatives
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

_UNKNOWN = np.iinfo(np.int32).max


def diameters(batch: GraphBatch, n_threads: int | None = None) -> Int64:
    """Return the largest finite distance in each graph: the round after which no identity set grows.

    For an undirected graph that is the largest diameter of its components. Shape (n_graphs,).

    Not every node is searched from: in an undirected graph, a node at distance d from a node of eccentricity
    e has an eccentricity between e - d and e + d. After a few searches, alternately from the rim and from the
    middle, usually no node can exceed the largest distance found so far.

    >>> from twinwl import GraphBatch
    >>> diameters(GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (2, 3)], []])).tolist()
    [2, 1, 0]
    """
    largest = np.zeros(len(batch), np.int64)
    # Upper and lower bounds of the eccentricities.
    most = np.full(batch.n_nodes, _UNKNOWN, np.int32)
    least = np.zeros(batch.n_nodes, np.int32)
    graphs = graphs_of(batch)
    if batch.directed:
        for graph in np.flatnonzero(batch.nodes_per_graph >= LARGE).tolist():
            low, high = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
            twins = representatives(graph_between(low, high, graphs))
            most[low:high][twins != np.arange(high - low)] = 0  # their first one is searched from

    def search(first: int, last: int) -> int:
        return int(_search_graphs(first, last, graphs, most, least, largest, STEPS_PER_PIECE))

    work = batch.graph_ptr + batch.indptr[batch.graph_ptr]
    run_ranges(search, balanced_ranges(work, n_threads), n_threads)
    return largest


@kernel
def _search_graphs(
    first: int, last: int, graphs: Graphs, most: Int32, least: Int32, largest: Int64, most_steps: int
) -> int:
    """Search graphs ``first..last``; return the first that is not finished after about ``most_steps``."""
    graph_ptr = graphs.graph_ptr
    widest = 0
    for graph in range(first, last):
        widest = max(widest, graph_ptr[graph + 1] - graph_ptr[graph])
    members = np.empty(widest, np.int32)
    distances = np.full(widest, -1, np.int32)
    steps = 0
    for graph in range(first, last):
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
        for start in range(low, high):
            root = start if most[start] > largest[graph] else -1
            middle = True
            while root >= 0:
                if steps > most_steps:
                    return graph
                n_members, walked = _distances(low, root, graphs, members, distances)
                farthest = distances[members[n_members - 1]]
                largest[graph] = max(largest[graph], farthest)
                most[root] = least[root] = farthest
                steps += walked + 2 * n_members
                if graphs.directed:
                    for place in range(n_members):
                        distances[members[place]] = -1
                    break
                root = _bounded(low, n_members, middle, members, distances, largest[graph], most, least)
                middle = not middle
    return last


@kernel
def _distances(low: int, root: int, graphs: Graphs, members: Int32, distances: Int32) -> tuple[int, int]:
    """Search from a root; return the number of nodes it reaches, in order of distance, and of arcs walked.

    ``distances`` must be -1 everywhere; places are counted from ``low``.
    """
    indptr, indices = graphs.indptr, graphs.indices
    members[0] = root - low
    distances[root - low] = 0
    n_members, cursor, walked = 1, 0, 0
    while cursor < n_members:
        node = members[cursor]
        cursor += 1
        for arc in range(indptr[low + node], indptr[low + node + 1]):
            other = indices[arc] - low
            if distances[other] < 0:
                distances[other] = distances[node] + 1
                members[n_members] = other
                n_members += 1
        walked += indptr[low + node + 1] - indptr[low + node]
    return n_members, walked


@kernel
def _bounded(
    low: int,
    n_members: int,
    middle: bool,
    members: Int32,
    distances: Int32,
    largest: int,
    most: Int32,
    least: Int32,
) -> int:
    """Narrow the bounds of all members of a component, and return which to search from next; -1 for none.

    From the middle that is the one with the smallest lower bound, from the rim the one with the largest
    upper.
    """
    farthest = distances[members[n_members - 1]]
    best, more = -1, False
    for place in range(n_members):
        distance = distances[members[place]]
        distances[members[place]] = -1
        node = low + members[place]
        most[node] = min(most[node], farthest + distance, n_members - 1)
        least[node] = max(least[node], distance, farthest - distance)
        more |= most[node] > largest
        if least[node] == most[node]:
            continue
        if best < 0 or (least[node] < least[best] if middle else most[node] > most[best]):
            best = node
    return best if more else -1
