"""Identity sets ``t_h(v)``, the nodes that v reaches within h steps: their sizes and induced subgraphs.

`rooted_sizes` computes the sizes in one of four ways:

- In a graph of up to 64 nodes an identity set is one machine word, and words pass along arcs: O(arcs) steps
  per round.
- A forest takes one pass up and one pass down.
- In other graphs identity sets are bitsets that pass along arcs, for 512 targets (nodes that may be reached)
  at a time.
- In a large graph a breadth-first search from every node may be cheaper than bitsets.

Memory stays linear in the number of nodes. `rooted_subgraphs`, at the end of this file, cuts out the
subgraphs that identity sets induce.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS, check_fits, checked, integer
from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike, as_batch
from twinwl.refinement.colours import STEPS_PER_PIECE, balanced_ranges, grown, run_ranges

LARGE = 1 << 12
"""Graphs of at least this many nodes are cut into pieces and distributed over threads."""
_WORD_BITS = 64
_WORDS_PER_ROW = 8  # of bits: one cache line
_TARGETS_PER_BLOCK = _WORDS_PER_ROW * _WORD_BITS
_USUAL_DEGREE = 4  # atoms rarely have more than four neighbours
_SAMPLED_ROOTS = 64
# The cost of passing one row of bits along an arc, in steps (arcs) of a search. It is more than one because
# the rows of a large graph do not fit into the fast caches.
_STEPS_PER_ROW = 4
# Grouping nodes by their neighbours takes about this many steps per arc.
_GROUPING_STEPS_PER_ARC = 32
# The neighbour lists of this many nodes are prefetched before the first of them is read: cache misses then
# overlap, which made searches of large graphs two to three times as fast.
_AHEAD = 128
_LAST_STAMP = np.uint8(255)
_INITIAL_ROOM_IN_BATCHES = 8


def rooted_sizes(graphs: GraphsLike, n_iter: int = 3) -> Int32:
    """Return how many nodes every node reaches in at most h steps, itself included, for h = 0 to n_iter.

    That is ``|t_h(v)|``, the size of its rooted subgraph. In a directed batch arcs are followed in their
    direction.

    Parameters
    ----------
    graphs
        A GraphBatch, or anything `twinwl.as_batch` accepts.
    n_iter
        Largest number of steps.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes)
        Nodes stand graph after graph: ``graph_ptr`` of the batch tells where each graph begins.

    Examples
    --------
    >>> rooted_sizes(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2)
    array([[1, 1, 1],
           [2, 3, 2],
           [3, 3, 3]], dtype=int32)
    """
    batch, n_iter = as_batch(graphs), checked("n_iter", n_iter, integer(0, MAX_ITEMS))
    what = f"the rooted sizes of {batch.n_nodes:,} nodes in {n_iter + 1:,} rounds"
    check_fits(4 * (n_iter + 1) * batch.n_nodes, None, what, "lower n_iter")
    out = np.empty((n_iter + 1, batch.n_nodes), np.int32)
    # Work before each graph: one step per arc and per node, in each round.
    work = (batch.indptr[batch.graph_ptr] + batch.graph_ptr) * max(1, n_iter)

    def fill(first: int, last: int) -> None:
        sizes_of_graphs(batch, first, last, 0, out)

    run_ranges(fill, balanced_ranges(work))
    for graph in np.flatnonzero(batch.nodes_per_graph >= LARGE).tolist():
        first, last = batch.graph_ptr[graph : graph + 2]
        _sizes_of_large_graph(batch[graph], out[:, first:last])
    return out


def sizes_of_graphs(batch: GraphBatch, first: int, last: int, low: int, out: Int32) -> None:
    """Fill ``out`` for graphs ``first..last`` except large ones.

    ``out`` has one row per round; its first column is that of node ``low``.
    """
    n_nodes = batch.nodes_per_graph[first:last]
    arrays = batch.graph_ptr, batch.indptr, batch.indices
    # Kernels are compiled when they are first called, so each kind of graph has its own.
    if n_nodes.min(initial=LARGE) <= _WORD_BITS:
        _sizes_of_small_graphs(first, last, *arrays, low, out)
    if ((n_nodes > _WORD_BITS) & (n_nodes < LARGE)).any():
        # LARGE is passed, because numba freezes module constants and tests change it.
        _sizes_of_medium_graphs(first, last, *arrays, batch.directed, LARGE, low, out)


def _sizes_of_large_graph(graph: GraphBatch, out: Int32) -> None:
    """Write the rooted sizes of one graph, in pieces and on threads, in the cheapest way."""
    indptr, indices, n = graph.indptr, graph.indices, graph.n_nodes
    n_iter = len(out) - 1
    if not graph.directed and _sizes_of_forest(0, n, indptr, indices, 0, out):
        return
    n_blocks = -(-n // _TARGETS_PER_BLOCK)
    # Bitsets pass a row along each arc and to the node itself, in rounds 2 to n_iter.
    bitset_steps = _STEPS_PER_ROW * (len(indices) + n) * n_blocks * max(1, n_iter - 1)
    # The node whose sizes each node shares, at first itself; and the nodes to search from.
    representative = roots = np.arange(n)
    expected = _expected_steps(roots, indptr, indices, bitset_steps, out)
    if expected > _GROUPING_STEPS_PER_ARC * len(indices):
        # Searches from the many neighbours of a hub all go through the hub. Nodes with the same neighbours
        # have the same sizes, so one search is enough for all of them.
        representative = representatives(graph)
        roots = np.flatnonzero(representative == roots)
        expected = _expected_steps(roots, indptr, indices, bitset_steps, out)
    if expected > bitset_steps:
        _pass_all_targets(graph, n_blocks, out)
        return

    def search_some(first: int, last: int) -> int:
        return int(sizes_by_search(roots, first, last, indptr, indices, STEPS_PER_PIECE, out)[0])

    work = np.arange(len(roots) + 1) * (expected // len(roots) + 1)
    run_ranges(search_some, balanced_ranges(work))
    out[:] = out[:, representative]


def _expected_steps(roots: Int64, indptr: Int64, indices: Int32, most_steps: int, sizes: Int32) -> int:
    """Estimate the number of steps of searches from all roots by searching from a few of them.

    Searching stops once it is clear that the estimate exceeds ``most_steps``. ``sizes`` is scratch here: it
    is written again afterwards.
    """
    step = max(1, len(roots) // _SAMPLED_ROOTS)
    sample = roots[step // 2 :: step]  # without the first node, which is often a hub
    most_steps = most_steps // len(roots) * len(sample)
    _, steps = sizes_by_search(sample, 0, len(sample), indptr, indices, most_steps, sizes)
    return int(steps * (len(roots) / len(sample)))


def _pass_all_targets(graph: GraphBatch, n_blocks: int, out: Int32) -> None:
    """Write the rooted sizes of a large graph by bitsets.

    Threads share out the targets. The *gain* of a node in round h is the number of targets that it reaches in
    round h and not before. So the gains of all targets add up, and their sums over rounds are the sizes.
    """
    out[:] = 0
    adding = Lock()

    def pass_some(first: int, last: int) -> None:
        gains = np.zeros_like(out)
        targets = first * _TARGETS_PER_BLOCK, min(graph.n_nodes, last * _TARGETS_PER_BLOCK)
        _pass_targets(*targets, graph.indptr, graph.indices, graph.directed, 0, gains)
        with adding:
            out[:] += gains

    run_ranges(pass_some, balanced_ranges(np.arange(n_blocks + 1) * len(graph.indices) * len(out)))
    np.cumsum(out, axis=0, out=out)


@kernel
def _sizes_of_small_graphs(
    first: int, last: int, graph_ptr: Int64, indptr: Int64, indices: Int32, low: int, out: Int32
) -> None:
    """Fill the columns of graphs whose identity sets fit into a word.

    Words are indexed by node, numbered from 0 within the graph: ``here`` has the sets of the round before and
    ``there`` those of this round. ``near`` has four neighbours of each node, padded with the node itself.
    """
    here, there = np.empty(_WORD_BITS, np.uint64), np.empty(_WORD_BITS, np.uint64)
    near = np.empty(_WORD_BITS * _USUAL_DEGREE, np.uint64)
    for graph in range(first, last):
        begin, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        if n > _WORD_BITS:
            continue
        most = 0
        for node in range(n):
            here[node] = np.uint64(1) << np.uint64(node)
            out[0, begin - low + node] = 1
            start, degree = indptr[begin + node], indptr[begin + node + 1] - indptr[begin + node]
            most = max(most, degree)
            for offset in range(_USUAL_DEGREE):
                near[node * _USUAL_DEGREE + offset] = (
                    indices[start + offset] - begin if offset < degree else node
                )
        for h in range(1, len(out)):
            for node in range(n):
                word = here[node]
                if most <= _USUAL_DEGREE:
                    # Always four neighbours, without a loop: 1.7 × faster on NCI1.
                    first_near = node * _USUAL_DEGREE
                    word |= here[near[first_near]] | here[near[first_near + 1]]
                    word |= here[near[first_near + 2]] | here[near[first_near + 3]]
                else:
                    for arc in range(indptr[begin + node], indptr[begin + node + 1]):
                        word |= here[np.uint64(indices[arc] - begin)]
                there[node] = word
                out[h, begin - low + node] = popcount(word)
            here, there = there, here


@kernel
def _sizes_of_medium_graphs(
    first: int,
    last: int,
    graph_ptr: Int64,
    indptr: Int64,
    indices: Int32,
    directed: bool,
    large: int,
    low: int,
    out: Int32,
) -> None:
    """Fill the columns of graphs that are neither small nor large: by bitsets, unless they are trees."""
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        if not _WORD_BITS < stop - begin < large:
            continue
        column = begin - low
        if not directed and _sizes_of_forest(begin, stop, indptr, indices, column, out):
            continue
        # Nodes are numbered from 0 within the graph.
        own_indptr = indptr[begin : stop + 1] - indptr[begin]
        own_indices = indices[indptr[begin] : indptr[stop]] - np.int32(begin)
        for h in range(len(out)):
            for node in range(column, column + stop - begin):
                out[h, node] = 0
        _pass_targets(0, stop - begin, own_indptr, own_indices, directed, column, out)
        for h in range(1, len(out)):
            for node in range(column, column + stop - begin):
                out[h, node] += out[h - 1, node]


@kernel
def _sizes_of_forest(  # noqa: C901, PLR0912  (loops)
    low: int, high: int, indptr: Int64, indices: Int32, column: int, out: Int32
) -> bool:
    """Write the rooted sizes of nodes ``low..high`` if these are a forest; return whether they are.

    Leaves are removed one after the other, and the counts of each are added to those of the only neighbour
    that is left, its parent: on this way up, the nodes at most h steps below each node are counted. On the
    way down, a node adds what its parent reaches within h - 1 steps, minus the nodes below itself within
    h - 2 steps, which the parent's count includes.
    """
    n, n_iter = high - low, len(out) - 1
    # A forest has fewer edges than nodes, and every edge is two arcs.
    if indptr[high] - indptr[low] >= 2 * n:
        return False
    for h in range(n_iter + 1):
        for node in range(column, column + n):
            out[h, node] = 1
    n_left = np.empty(n, np.int32)
    # The exclusive or of the remaining neighbours: if only one remains, it is that one's number.
    parent = np.zeros(n, np.int32)
    for node in range(n):
        n_left[node] = indptr[low + node + 1] - indptr[low + node]
        for arc in range(indptr[low + node], indptr[low + node + 1]):
            parent[node] ^= np.int32(indices[arc] - low)
    order = np.empty(n, np.int32)
    n_peeled = 0
    for start in range(n):
        node = start
        while n_left[node] == 1:
            up = parent[node]
            order[n_peeled] = node
            n_peeled += 1
            n_left[node] = 0
            n_left[up] -= 1
            parent[up] ^= node
            for h in range(1, n_iter + 1):
                out[h, column + up] += out[h - 1, column + node]
            if up > start:  # the loop over ``start`` will come to it
                break
            node = up
    for node in range(n):
        if n_left[node] > 0:  # on a cycle, or between cycles
            return False
    for place in range(n_peeled - 1, -1, -1):
        node, up = column + order[place], column + parent[order[place]]
        # From large to small h, because out[h - 2, node] must still be the count of the way up.
        for h in range(n_iter, 1, -1):
            out[h, node] += out[h - 1, up] - out[h - 2, node]
        if n_iter > 0:
            out[1, node] += 1  # the parent itself
    return True


@kernel
def _pass_targets(
    first: int, last: int, indptr: Int64, indices: Int32, directed: bool, column: int, gains: Int32
) -> None:
    """Count which of the targets ``first..last`` each node reaches, and in which round.

    Each node has a row with one bit for each of 512 targets: whether it reaches the target. All rounds of a
    block of targets run before the next block begins, so memory is two rows per node for any size of the
    graph.

    Parameters
    ----------
    column, gains : array of int32, shape (n_iter + 1, at least column + n)
        Row h is increased by the number of targets that are reached in round h and not before. (Row 1 of an
        undirected graph is right only once all targets have been passed.)
    """
    n, n_iter = len(indptr) - 1, len(gains) - 1
    # Two separate arrays: numba does not know that halves of one array are contiguous, which makes the loops
    # twice as slow.
    here, there = np.empty((n, _WORDS_PER_ROW), np.uint64), np.empty((n, _WORDS_PER_ROW), np.uint64)
    for begin in range(first, last, _TARGETS_PER_BLOCK):
        here[:] = 0
        for target in range(begin, min(begin + _TARGETS_PER_BLOCK, last)):
            word = (target - begin) // _WORD_BITS
            bit = np.uint64(1) << np.uint64((target - begin) % _WORD_BITS)
            here[target, word] |= bit
            gains[0, column + target] += 1
            # In an undirected graph the neighbours of a target are the nodes that reach it in round 1. This
            # saves a pass. Each of these gains one target, and over all targets a node gains its degree.
            if not directed and n_iter > 0:
                gains[1, column + target] += indptr[target + 1] - indptr[target]
                for arc in range(indptr[target], indptr[target + 1]):
                    here[np.uint64(indices[arc]), np.uint64(word)] |= bit
        for h in range(1 if directed else 2, n_iter + 1):
            if not _pass_rows(indptr, indices, here, there, column, gains[h]):
                break
            here, there = there, here


@kernel
def _pass_rows(indptr: Int64, indices: Int32, here: UInt64, there: UInt64, column: int, gain: Int32) -> bool:
    """Write the rows of the next round and add their gains; return whether any row grew.

    The words of a row are eight variables, which stay in registers; a loop over an array takes twice as long.
    Unsigned indices are faster: for a signed one numba adds a test whether it is negative.
    """
    grew = False
    for node in range(len(indptr) - 1):
        row = np.uint64(node)
        a, b, c, d = here[row, 0], here[row, 1], here[row, 2], here[row, 3]
        e, f, g, h = here[row, 4], here[row, 5], here[row, 6], here[row, 7]
        for arc in range(indptr[node], indptr[node + 1]):
            other = np.uint64(indices[arc])
            a |= here[other, 0]
            b |= here[other, 1]
            c |= here[other, 2]
            d |= here[other, 3]
            e |= here[other, 4]
            f |= here[other, 5]
            g |= here[other, 6]
            h |= here[other, 7]
        new = popcount(a ^ here[row, 0]) + popcount(b ^ here[row, 1])
        new += popcount(c ^ here[row, 2]) + popcount(d ^ here[row, 3])
        new += popcount(e ^ here[row, 4]) + popcount(f ^ here[row, 5])
        new += popcount(g ^ here[row, 6]) + popcount(h ^ here[row, 7])
        there[row, 0], there[row, 1], there[row, 2], there[row, 3] = a, b, c, d
        there[row, 4], there[row, 5], there[row, 6], there[row, 7] = e, f, g, h
        gain[column + node] += new
        grew |= bool(new > 0)
    return grew


@kernel
def popcount(word: np.uint64) -> np.int32:
    """Count set bits; LLVM recognises the idiom and emits one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def sizes_by_search(  # noqa: C901  (loops)
    roots: Int64, first: int, last: int, indptr: Int64, indices: Int32, most_steps: int, sizes: Int32
) -> tuple[int, int]:
    """Search breadth-first from the roots ``first..last``, stopping early after about ``most_steps`` arcs.

    Parameters
    ----------
    roots : array of int64
        Nodes of the graph.
    sizes : array of int32, shape (n_iter + 1, n)
        The columns of the roots are filled.

    Returns
    -------
    first, steps
        The first root that was not searched from, and the number of arcs walked.
    """
    n, last_arc = len(indptr) - 1, len(indices) - 1
    # The number of the search (its stamp) that saw each node last. One byte per node, so that as much as
    # possible stays in the cache; reset after 255 searches.
    seen = np.zeros(n, np.uint8)
    stamp = np.uint8(0)
    queue = np.empty(n + 1, np.int32)  # written one place ahead, to avoid a branch
    start, stop, touched = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.int64)
    steps = 0
    while first < last and steps <= most_steps:
        if stamp == _LAST_STAMP:
            seen[:] = 0
            stamp = np.uint8(0)
        stamp += np.uint8(1)
        root = roots[first]
        seen[root] = stamp
        queue[0] = root
        cursor, level_end, end = 0, 1, 1
        sizes[0, root] = 1
        for h in range(1, len(sizes)):
            # Without arcs there is nothing to prefetch.
            while cursor < level_end and end < n and last_arc >= 0:
                n_ahead = min(_AHEAD, level_end - cursor)
                for place in range(n_ahead):
                    node = queue[cursor + place]
                    start[place], stop[place] = indptr[node], indptr[node + 1]
                    steps += stop[place] - start[place]
                # Reading the first and the last neighbour fetches the list, which usually spans two cache
                # lines at most. ``touched`` is never read; storing keeps the reads from being removed.
                for place in range(n_ahead):
                    touched[place] = indices[min(start[place], last_arc)] + indices[stop[place] - 1]
                # Unsigned indices: for a signed one numba adds a test whether it is negative.
                if h < len(sizes) - 1:
                    for place in range(n_ahead):
                        for arc in range(np.uint64(start[place]), np.uint64(stop[place])):
                            other = np.uint64(indices[arc])
                            queue[end] = indices[arc]
                            end += int(seen[other] != stamp)
                            seen[other] = stamp
                else:  # most arcs are those of the last round, whose nodes only have to be counted
                    for place in range(n_ahead):
                        for arc in range(np.uint64(start[place]), np.uint64(stop[place])):
                            other = np.uint64(indices[arc])
                            end += int(seen[other] != stamp)
                            seen[other] = stamp
                cursor += n_ahead
            cursor, level_end = level_end, end
            sizes[h, root] = end
        first += 1
    return first, steps


def representatives(graph: GraphBatch) -> Int64:
    """Return for each node the first node with the same neighbours, which may be itself.

    Swapping two such nodes is an automorphism, so their sizes are equal. In directed graphs both incoming and
    outgoing arcs must be the same.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to load, and few graphs need it)

    n, m = graph.n_nodes, len(graph.indices)
    # Each node gets 128 random bits; a list of neighbours is identified by the sum of theirs. Two different
    # lists have the same sum with a probability of 2⁻¹²⁸.
    words = np.random.default_rng(0).integers(1 << 64, size=(2, n, 2), dtype=np.uint64)
    arcs = csr_array((np.ones(m, np.uint64), graph.indices, graph.indptr), shape=(n, n))
    keys = arcs @ words[0]
    if graph.directed:
        keys += arcs.T @ words[1]
    order = np.lexsort(keys.T)  # stable, so of equal keys that of the first node comes first
    is_new = np.ones(n, np.bool_)
    is_new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    out = np.empty(n, np.int64)
    out[order] = order[is_new][np.cumsum(is_new) - 1]
    return out


class RootedSubgraphs(NamedTuple):
    """The disjoint union of rooted subgraphs, in CSR form.

    Within a subgraph nodes are in the order of the batch, so its neighbour lists are sorted.

    Attributes
    ----------
    subgraph_ptr : array of int64, shape (n_roots + 1,)
        Node range of each subgraph.
    root : array of int32, shape (n_roots,)
        Place of each root among the nodes of the union.
    node : array of int32, shape (n_union_nodes,)
        The batch's node that each node of the union is a copy of.
    distance : array of int32, shape (n_union_nodes,)
        Distance from the root.
    indptr : array of int64, shape (n_union_nodes + 1,)
    indices : array of int32, shape (n_union_arcs,)
        Neighbours, numbered within the union.
    arc : array of int64, shape (n_union_arcs,)
        The batch's arc that each arc of the union is a copy of.
    """

    subgraph_ptr: Int64
    root: Int32
    node: Int32
    distance: Int32
    indptr: Int64
    indices: Int32
    arc: Int64

    def with_room(self, n_nodes: int, n_arcs: int) -> RootedSubgraphs:
        """Return the same subgraphs in arrays with room for at least this many nodes and arcs."""
        node = grown(self.node, n_nodes)
        return self._replace(
            node=node,
            distance=grown(self.distance, len(node)),
            indptr=grown(self.indptr, len(node) + 1),  # `_cut` looks at the length of `node` alone
            indices=grown(self.indices, n_arcs),
            arc=grown(self.arc, n_arcs),
        )

    def as_batch(self, batch: GraphBatch) -> GraphBatch:
        """Return the subgraphs as a batch of their own, one graph per root.

        Parameters
        ----------
        batch
            The batch they were cut out of, which has the labels and features.
        """
        return GraphBatch.unchecked(
            indptr=self.indptr,
            indices=self.indices,
            graph_ptr=self.subgraph_ptr,
            node_labels=batch.node_labels[self.node],
            node_vocabulary=batch.node_vocabulary,
            edge_labels=None if batch.edge_labels is None else batch.edge_labels[self.arc],
            edge_vocabulary=batch.edge_vocabulary,
            node_features=None if batch.node_features is None else batch.node_features[self.node],
            directed=batch.directed,
        )


def rooted_subgraphs(batch: GraphBatch, hops: int, roots: Int64 | None = None) -> RootedSubgraphs:
    """Cut out the subgraph induced by the nodes within ``hops`` steps of each root.

    In a directed batch steps follow the arcs. The subgraph is the *induced* one: it includes the
    edges between two nodes that are both ``hops`` steps away, which are not in the identity tree.

    Parameters
    ----------
    batch
        The graphs.
    hops
        The h of ``G_v^h``.
    roots : array of int64, shape (n_roots,), optional
        Nodes of the batch; all of them by default.

    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> cut = rooted_subgraphs(batch, 1)
    >>> cut.subgraph_ptr.tolist(), cut.node.tolist()
    ([0, 2, 5, 8, 10], [0, 1, 0, 1, 2, 1, 2, 3, 2, 3])
    """
    hops = checked("hops", hops, integer(0))
    chosen = np.arange(batch.n_nodes, dtype=np.int64) if roots is None else np.asarray(roots, np.int64)
    nodes, arcs = np.empty(0, np.int32), np.empty(0, np.int64)
    cut = RootedSubgraphs(
        np.zeros(len(chosen) + 1, np.int64),
        np.empty(len(chosen), np.int32),
        nodes,
        nodes,
        np.zeros(1, np.int64),
        nodes,
        arcs,
    )
    done = n_nodes = n_arcs = 0
    initial_batches = min(len(chosen), _INITIAL_ROOM_IN_BATCHES)
    while done < len(chosen):
        # One subgraph may be as large as the batch, so make room for up to `_INITIAL_ROOM_IN_BATCHES` of
        # them, and at least for twice what is filled so far, so that copying stays linear. Pages that are
        # never touched cost nothing.
        cut = cut.with_room(
            n_nodes + max(n_nodes, initial_batches * batch.n_nodes),
            n_arcs + max(n_arcs, initial_batches * len(batch.indices)),
        )
        done = int(_cut(done, batch.indptr, batch.indices, chosen, hops, STEPS_PER_PIECE, cut))
        n_nodes = int(cut.subgraph_ptr[done])
        n_arcs = int(cut.indptr[n_nodes])
        if n_nodes > MAX_ITEMS:
            raise TwinWLError(
                f"the rooted subgraphs of {len(chosen)} nodes have more than {MAX_ITEMS} nodes together; "
                "pass fewer roots at a time or lower hops"
            )
    return cut._replace(
        node=cut.node[:n_nodes],
        distance=cut.distance[:n_nodes],
        indptr=cut.indptr[: n_nodes + 1],
        indices=cut.indices[:n_arcs],
        arc=cut.arc[:n_arcs],
    )


@kernel
def _ball(
    indptr: Int64, indices: Int32, root: int, hops: int, members: Int32, distance_of_node: Int32
) -> int:
    """Write the nodes within ``hops`` steps to ``members``, in order of distance; return their number.

    ``distance_of_node`` must be -1 everywhere and is left filled for the members.
    """
    members[0] = root
    distance_of_node[root] = 0
    n_members = 1
    cursor = 0
    while cursor < n_members:
        node = members[cursor]
        cursor += 1
        step = distance_of_node[node] + 1
        if step > hops:
            break
        for arc in range(indptr[node], indptr[node + 1]):
            other = indices[arc]
            if distance_of_node[other] < 0:
                distance_of_node[other] = step
                members[n_members] = other
                n_members += 1
    return n_members


@kernel
def _cut(
    first: int, indptr: Int64, indices: Int32, roots: Int64, hops: int, most_steps: int, cut: RootedSubgraphs
) -> int:
    """Write the subgraphs of the roots from ``roots[first]`` on; return the number of the next root.

    It stops after about ``most_steps`` arcs, or when another subgraph might not fit into the arrays.
    """
    subgraph_ptr, root, node_of_place, distance, cut_indptr, cut_indices, cut_arc = cut
    n_nodes = len(indptr) - 1
    members = np.empty(n_nodes, np.int32)
    distance_of_node = np.full(n_nodes, -1, np.int32)
    place_of_node = np.empty(n_nodes, np.int32)
    start = subgraph_ptr[first]
    next_arc = cut_indptr[start]
    arc_limit = min(next_arc + most_steps, len(cut_indices) - len(indices))
    while first < len(roots) and next_arc <= arc_limit and start + n_nodes <= len(node_of_place):
        n_members = _ball(indptr, indices, roots[first], hops, members, distance_of_node)
        members[:n_members].sort()
        for place in range(n_members):
            node = members[place]
            place_of_node[node] = start + place
            node_of_place[start + place] = node
            distance[start + place] = distance_of_node[node]
        root[first] = place_of_node[roots[first]]
        for place in range(n_members):
            node = members[place]
            for arc in range(indptr[node], indptr[node + 1]):
                other = indices[arc]
                if distance_of_node[other] >= 0:
                    cut_indices[next_arc] = place_of_node[other]
                    cut_arc[next_arc] = arc
                    next_arc += 1
            cut_indptr[start + place + 1] = next_arc
        for place in range(n_members):
            distance_of_node[members[place]] = -1
        start += n_members
        first += 1
        subgraph_ptr[first] = start
    return first
