"""Identity passing: the number of nodes that each node reaches within h steps.

In a graph of up to 64 nodes identity sets pass along arcs, one machine word per set: O(arcs) per round. In a
larger one, trees are counted in O(nodes) per round, and the core they hang on is handled by searches or by
bitsets, whichever is cheaper.

Trees that hang on a core: their rooted sizes take one pass up and one pass down, and no search.

Leaves are removed until none is left. What remains is the *core*: cycles and the paths between them or, in a
tree, only its last node. Rooted sizes of a node outside the core follow from those of its parent: within h
steps are the nodes at most h below it, and those within h - 1 steps of its parent, minus those counted twice.

Identity passing with bitsets, for one block of targets at a time.

A row has one bit for each of 512 targets that a node of the core may reach: eight words, one cache line. All
rounds of a block run before the next block begins, so memory is two rows per node for any size of the graph.

Rooted sizes of the nodes of a core: by searches or by blocks of bitsets, whichever is cheaper.

Searches visit each ball once; bitsets pass along every arc for every 512 targets. A few searches give an
estimate of the cost of all, and searches that turn out to cost more than bitsets are abandoned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.arrays import Bool, Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.refinement.graph_arrays import Graph, Graphs, graph_between, graphs_of
from twinwl.refinement.searches import representatives, search
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

# In graphs of up to this many nodes, or with less than one leaf in this many, removing leaves costs more than
# keeping them.
_FEW_NODES, _FEW_LEAVES = 256, 16


class Core(NamedTuple):
    """A core, and the nodes that hang on it.

    ``anchors`` and ``depths``, of shape (n_hanging,), are the node of the core that each of the others hangs
    on, and its depth. Those that are deeper than the number of rounds are omitted.
    """

    graph: Graph
    anchors: Int32
    depths: Int32


@kernel
def is_core(low: int, high: int, graphs: Graphs) -> bool:
    """Return whether to treat nodes ``low..high`` as a core: directed, or few, or with few leaves."""
    if graphs.directed or high - low <= _FEW_NODES:
        return True
    n_leaves = 0
    for node in range(low, high):
        n_leaves += int(graphs.indptr[node + 1] - graphs.indptr[node] == 1)
    return n_leaves * _FEW_LEAVES < high - low


@kernel
def whole(low: int, high: int, graphs: Graphs) -> Core:
    """Return the graph of nodes ``low..high`` as a core on which nothing hangs."""
    nothing = np.empty(0, np.int32)
    return Core(graph_between(low, high, graphs), nothing, nothing)


@kernel
def peeled(
    low: int, high: int, graphs: Graphs, n_iter: int, column: int, out: Int32
) -> tuple[Core, Int32, Int32, Int32]:
    """Cut the core out of an undirected graph.

    Parameters
    ----------
    low, high
        The nodes of the graph; in the result they are numbered from ``low``.
    column
        The column of ``out`` that belongs to node ``low``.
    out : array of int32, shape (n_iter + 1, at least column + high - low)
        Filled with the number of nodes at most h below each node, itself included.

    Returns
    -------
    core : Core
    nodes : array of int32, shape (n_core,)
        The nodes of the core.
    order : array of int32, shape (n_peeled,)
        Nodes outside the core, each after all nodes below it.
    parent : array of int32, shape (n,)
        The node that each of them hangs on.
    """
    n = high - low
    indptr, indices = graphs.indptr, graphs.indices
    order, parent, left = _peel(low, high, graphs, n_iter, column, out)
    place = np.full(n, -1, np.int32)
    nodes = np.empty(n, np.int32)
    n_core, n_arcs = 0, 0
    for node in range(n):
        if left[node] > 0:
            place[node] = n_core
            nodes[n_core] = node
            n_core += 1
            n_arcs += left[node]
    core_ptr = np.zeros(n_core + 1, np.int64)
    core_indices = np.empty(n_arcs + 1, np.int32)  # written one place ahead, to avoid a branch
    end = 0
    for core_node in range(n_core):
        node = low + nodes[core_node]
        for arc in range(indptr[node], indptr[node + 1]):
            core_indices[end] = place[indices[arc] - low]
            end += int(place[indices[arc] - low] >= 0)
        core_ptr[core_node + 1] = end
    anchors, depths = _hanging(order if n_core > 0 else order[:0], parent, place, n_iter)
    core = Core(Graph(0, core_ptr, core_indices, graphs.directed), anchors, depths)
    return core, nodes[:n_core], order, parent


@kernel
def spread(order: Int32, parent: Int32, n_iter: int, column: int, out: Int32) -> None:
    """Turn the numbers of nodes below those outside the core into rooted sizes, from the core outwards."""
    for place in range(len(order) - 1, -1, -1):
        node, above = column + order[place], column + parent[order[place]]
        for h in range(n_iter, 1, -1):
            out[h, node] += out[h - 1, above] - out[h - 2, node]
        if n_iter > 0:
            out[1, node] += 1


@kernel
def _hanging(order: Int32, parent: Int32, place: Int32, n_iter: int) -> tuple[Int32, Int32]:
    """Return node of the core and depth of all nodes that hang on it."""
    anchors = np.empty(len(order), np.int32)
    depths = np.empty(len(order), np.int32)
    depth = np.zeros(len(place) if len(order) else 0, np.int32)
    n_hanging = 0
    for turn in range(len(order) - 1, -1, -1):
        node = order[turn]
        place[node] = place[parent[node]]
        depth[node] = depth[parent[node]] + 1
        if place[node] >= 0 and depth[node] <= n_iter:
            anchors[n_hanging], depths[n_hanging] = place[node], depth[node]
            n_hanging += 1
    return anchors[:n_hanging], depths[:n_hanging]


@kernel
def _peel(
    low: int, high: int, graphs: Graphs, n_iter: int, column: int, out: Int32
) -> tuple[Int32, Int32, Int32]:
    """Remove the leaves of an undirected graph, counting the nodes below each node on the way up.

    Returns the order in which they were taken off, what each node hangs on, and the number of neighbours that
    nodes have in the core, 0 outside of it.
    """
    n = high - low
    indptr, indices = graphs.indptr, graphs.indices
    for h in range(n_iter + 1):
        for node in range(column, column + n):
            out[h, node] = 1
    left = np.empty(n, np.int32)
    # The exclusive or of the remaining neighbours: if there is only one, it is its number.
    parent = np.empty(n, np.int32)
    for node in range(n):
        left[node] = indptr[low + node + 1] - indptr[low + node]
        others = np.int32(0)
        for arc in range(indptr[low + node], indptr[low + node + 1]):
            others ^= np.int32(indices[arc] - low)
        parent[node] = others
    order = np.empty(n, np.int32)
    n_peeled = 0
    for start in range(n):
        node = start
        while left[node] == 1:
            above = parent[node]
            order[n_peeled] = node
            n_peeled += 1
            left[node] = 0
            left[above] -= 1
            parent[above] ^= node
            for h in range(1, n_iter + 1):
                out[h, column + above] += out[h - 1, column + node]
            if above > start:  # its turn comes
                break
            node = above
    return order[:n_peeled], parent, left


WORDS = 8
TARGETS_PER_BLOCK = WORDS * 64
_WORD_BITS = 64
_FEW_WORDS = 4  # of a row where there are few targets
# An unsigned index is used as it is, a signed one might count from the end.
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(word) for word in range(1, WORDS))


class Room(NamedTuple):
    """Work space of a thread for the blocks of a large core.

    Two arrays of rows, flags of the rows that changed in the previous round and in this one, and the gains of
    each round and node.
    """

    here: UInt64
    there: UInt64
    changed: Bool
    changing: Bool
    gains: Int32


@kernel
def pass_block(
    first: int, core: Core, n_iter: int, here: UInt64, there: UInt64, column: int, gains: Int32
) -> None:
    """Count which of the targets ``first..first + 512`` each node of the core reaches, and in which round.

    Parameters
    ----------
    core
        Targets are its nodes and then the nodes that hang on it.
    here, there : arrays of uint64, shape (n_core * WORDS,)
        Work space.
    column, gains : array of int32, shape (n_iter + 1, at least column + n_core)
        Rows 2, 3, … are increased by the number of targets that are reached in that round and not before.
    """
    n_core = len(core.graph.indptr) - 1
    n_targets = n_core + len(core.anchors)
    last = min(first + TARGETS_PER_BLOCK, n_targets)
    width = WORDS if n_targets > _FEW_WORDS * _WORD_BITS else _FEW_WORDS
    deepest = 0
    for target in range(max(first, n_core), last):
        deepest = max(deepest, core.depths[target - n_core])
    _first_rows(width, first, last, core, here)
    for h in range(1 if core.graph.directed else 2, n_iter + 1):
        if width == WORDS:
            grew = _next_eight(core.graph, here, there, column, gains[h])
        else:
            grew = _next_four(core.graph, here, there, column, gains[h])
        if h <= deepest:
            _hang(width, first, last, core, h, there, column, gains[h])
        elif grew == 0:
            break
        here, there = there, here


def pass_far_block(first: int, core: Core, n_iter: int, room: Room) -> None:
    """Do the same for a large graph, whose rows exceed the near cache: only those that changed are read.

    It is not a kernel itself, so that an interrupt is noticed between two rounds.
    """
    here, there, changed, changing, gains = room
    n_core = len(changed)
    last = min(first + TARGETS_PER_BLOCK, n_core + len(core.anchors))
    hanging = slice(max(0, first - n_core), max(0, last - n_core))
    deepest = int(core.depths[hanging].max(initial=0))
    _first_rows(WORDS, first, last, core, here)
    _non_empty(here, changed)
    for h in range(1 if core.graph.directed else 2, n_iter + 1):
        grew = _next_far(core.graph, here, changed, there, changing, gains[h])
        if h <= deepest:
            _hang(WORDS, first, last, core, h, there, 0, gains[h])
            changing[core.anchors[hanging]] = True
        elif not grew:
            break
        here, there = there, here
        changed, changing = changing, changed


@kernel
def _first_rows(width: int, first: int, last: int, core: Core, rows: UInt64) -> None:
    """Write the rows of round 1 or, in directed graphs, of round 0."""
    base, core_ptr, core_indices, directed = core.graph
    anchors, depths = core.anchors, core.depths
    n_core = len(core_ptr) - 1
    rows[: n_core * width] = 0
    for target in range(first, last):
        word = (target - first) // _WORD_BITS
        bit = np.uint64(1) << np.uint64((target - first) % _WORD_BITS)
        if target >= n_core:
            if depths[target - n_core] == 1:
                rows[anchors[target - n_core] * width + word] |= bit
            continue
        rows[target * width + word] |= bit
        if not directed:
            for arc in range(core_ptr[target], core_ptr[target + 1]):
                rows[np.uint64(core_indices[arc] - base) * np.uint64(width) + np.uint64(word)] |= bit


@kernel
def _hang(
    width: int, first: int, last: int, core: Core, depth: int, rows: UInt64, column: int, gain: Int32
) -> None:
    """Add the targets of this depth to the rows of the nodes they hang on."""
    anchors, depths, n_core = core.anchors, core.depths, len(core.graph.indptr) - 1
    for target in range(max(first, n_core), last):
        if depths[target - n_core] == depth:
            word = (target - first) // _WORD_BITS
            bit = np.uint64(1) << np.uint64((target - first) % _WORD_BITS)
            rows[anchors[target - n_core] * width + word] |= bit
            gain[column + anchors[target - n_core]] += 1


@kernel
def _next_four(graph: Graph, here: UInt64, there: UInt64, column: int, gain: Int32) -> int:
    """Write the rows of the next round, four words each, and add their gains; return the sum of the gains."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    total = 0
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(_FEW_WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base) * np.uint64(_FEW_WORDS)
            a |= here[other]
            b |= here[other + _1]
            c |= here[other + _2]
            d |= here[other + _3]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        gain[column + node] += new
        total += new
    return total


@kernel
def _next_eight(graph: Graph, here: UInt64, there: UInt64, column: int, gain: Int32) -> int:
    """Do the same with rows of eight words. Eight variables stay in registers, an array would not."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    total = 0
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        e, f, g, h = here[row + _4], here[row + _5], here[row + _6], here[row + _7]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base) * np.uint64(WORDS)
            a |= here[other]
            b |= here[other + _1]
            c |= here[other + _2]
            d |= here[other + _3]
            e |= here[other + _4]
            f |= here[other + _5]
            g |= here[other + _6]
            h |= here[other + _7]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        new += popcount(e ^ here[row + _4]) + popcount(f ^ here[row + _5])
        new += popcount(g ^ here[row + _6]) + popcount(h ^ here[row + _7])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        there[row + _4], there[row + _5], there[row + _6], there[row + _7] = e, f, g, h
        gain[column + node] += new
        total += new
    return total


@kernel
def _next_far(graph: Graph, here: UInt64, changed: Bool, there: UInt64, changing: Bool, gain: Int32) -> bool:
    """Do the same, reading only rows that changed in the previous round; flag those that change now."""
    base, core_ptr, core_indices = graph.base, graph.indptr, graph.indices
    grew = False
    for node in range(len(core_ptr) - 1):
        row = np.uint64(node) * np.uint64(WORDS)
        a, b, c, d = here[row], here[row + _1], here[row + _2], here[row + _3]
        e, f, g, h = here[row + _4], here[row + _5], here[row + _6], here[row + _7]
        for arc in range(core_ptr[node], core_ptr[node + 1]):
            other = np.uint64(core_indices[arc] - base)
            if changed[other]:
                other *= np.uint64(WORDS)
                a |= here[other]
                b |= here[other + _1]
                c |= here[other + _2]
                d |= here[other + _3]
                e |= here[other + _4]
                f |= here[other + _5]
                g |= here[other + _6]
                h |= here[other + _7]
        new = popcount(a ^ here[row]) + popcount(b ^ here[row + _1])
        new += popcount(c ^ here[row + _2]) + popcount(d ^ here[row + _3])
        new += popcount(e ^ here[row + _4]) + popcount(f ^ here[row + _5])
        new += popcount(g ^ here[row + _6]) + popcount(h ^ here[row + _7])
        there[row], there[row + _1], there[row + _2], there[row + _3] = a, b, c, d
        there[row + _4], there[row + _5], there[row + _6], there[row + _7] = e, f, g, h
        gain[node] += new
        changing[node] = new > 0
        grew |= bool(new > 0)
    return grew


@kernel
def _non_empty(rows: UInt64, out: Bool) -> None:
    """Flag the rows that are not zero."""
    for node in range(len(out)):
        any_of_them = np.uint64(0)
        for word in range(node * WORDS, (node + 1) * WORDS):
            any_of_them |= rows[word]
        out[node] = any_of_them > 0


@kernel
def popcount(word: np.uint64) -> np.int32:
    """Count set bits; LLVM recognises the idiom and emits one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


_SAMPLED_ROOTS = 64
# Rows of more nodes than this do not fit into the near cache, where a step of a search is cheaper than a row.
_NEAR_NODES = 1 << 13
_NEAR_ROW_IN_STEPS, _FAR_ROW_IN_STEPS = 2, 4
# Grouping nodes by their neighbours takes about this many steps per arc.
_STEPS_TO_GROUP = 32


@kernel
def sizes_of_core(core: Core, n_iter: int, column: int, out: Int32) -> None:
    """Write the rooted sizes of a core of up to some thousand nodes, where blocks of bitsets are cheap.

    Nodes that hang directly on a node of the core are not counted.

    Parameters
    ----------
    column, out : array of int32, shape (n_iter + 1, at least column + n_core)
        First column of the core, and the array that is filled.
    """
    indptr = core.graph.indptr
    n_core = len(indptr) - 1
    here = np.empty(n_core * WORDS, np.uint64)
    there = np.empty(n_core * WORDS, np.uint64)
    for h in range(n_iter + 1):  # whole arrays would take ten times as long to compile
        for node in range(column, column + n_core):
            out[h, node] = 0
    for first in range(0, n_core + len(core.anchors), TARGETS_PER_BLOCK):
        pass_block(first, core, n_iter, here, there, column, out)
    # Blocks give the gains of each round; rounds 0 and 1 are known.
    for node in range(n_core):
        out[0, column + node] = 1
        out[1, column + node] = indptr[node + 1] - indptr[node] + 1
    for h in range(2, n_iter + 1):
        for node in range(column, column + n_core):
            out[h, node] += out[h - 1, node]


def sizes_of_large_core(core: Core, below: Int32, n_iter: int, n_threads: int | None) -> Int32:
    """Return the rooted sizes of a core of any size: in pieces, on threads, by the cheaper method.

    Parameters
    ----------
    below : array of int32, shape (n_core, n_iter + 1)
        Number of nodes that hang at most h below each; shape (0, n_iter + 1) if there are none.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_core)
    """
    indptr = core.graph.indptr
    n_core = len(indptr) - 1
    sizes = np.zeros((n_iter + 1, n_core), np.int32)
    n_arcs = int(indptr[-1] - indptr[0])
    n_blocks = -(-(n_core + len(core.anchors)) // TARGETS_PER_BLOCK)
    row = _NEAR_ROW_IN_STEPS if n_core <= _NEAR_NODES else _FAR_ROW_IN_STEPS
    most_steps = row * (n_arcs + n_core) * n_blocks * (n_iter - 1)
    roots = np.arange(n_core, dtype=np.int64)
    twins = roots
    expected = _expected_steps(roots, core.graph, below, most_steps, sizes)
    if expected > _STEPS_TO_GROUP * n_arcs:
        twins = representatives(core.graph)
        roots = np.flatnonzero(twins == roots)
        expected = _expected_steps(roots, core.graph, below, most_steps, sizes)
    walked: list[int] = []

    def search_some(first: int, last: int) -> int | None:
        if sum(walked) > most_steps:
            return None
        done, steps = search(roots, first, last, core.graph, below, STEPS_PER_PIECE, sizes)
        walked.append(steps)
        return done

    if expected <= most_steps:
        work = np.arange(len(roots) + 1, dtype=np.int64) * (expected // len(roots) + 1)
        run_ranges(search_some, balanced_ranges(work, n_threads), n_threads)
        if sum(walked) <= most_steps:
            return _copied_to_twins(twins, below, sizes)
    rooms: list[Room] = []
    idle: list[Room] = []

    def pass_some(block: int, _last: int) -> int:
        try:
            room = idle.pop()
        except IndexError:
            here, there = np.empty((2, n_core * WORDS), np.uint64)
            changed, changing = np.empty((2, n_core), np.bool_)
            room = Room(here, there, changed, changing, np.zeros_like(sizes))
            rooms.append(room)
        pass_far_block(block * TARGETS_PER_BLOCK, core, n_iter, room)
        idle.append(room)
        return block + 1

    work = np.arange(n_blocks + 1, dtype=np.int64) * n_arcs * n_iter
    run_ranges(pass_some, balanced_ranges(work, n_threads), n_threads)
    sizes[2:] = 0
    for room in rooms:
        sizes[2:] += room.gains[2:]
    sizes[0], sizes[1] = 1, np.diff(indptr) + (below[:, 1] if len(below) else 1)
    np.cumsum(sizes[1:], axis=0, out=sizes[1:])
    return sizes


def _expected_steps(roots: Int64, graph: Graph, below: Int32, most_steps: int, sizes: Int32) -> int:
    """Estimate the number of steps of searches from all roots, from a few of them.

    It stops as soon as the estimate exceeds ``most_steps``.
    """
    step = max(1, len(roots) // _SAMPLED_ROOTS)
    sample = roots[step // 2 :: step]  # not the first one, which is often a hub
    most_steps = most_steps // len(roots) * len(sample)
    _, steps = search(sample, 0, len(sample), graph, below, most_steps, sizes)
    return int(steps * (len(roots) / len(sample)))


def _copied_to_twins(twins: Int64, below: Int32, sizes: Int32) -> Int32:
    """Copy the sizes of a node that was searched from to all nodes with the same neighbours.

    Two of them are two steps apart, and what hangs below each may differ.
    """
    sizes = sizes[:, twins]
    if len(below):
        difference = (below - below[twins]).T
        sizes += difference
        sizes[2:] -= difference[:-2]
    return sizes


LARGE = 1 << 12
"""A graph of this many nodes is cut into pieces and distributed over threads."""
_USUAL_DEGREE = 4  # atoms rarely have more than four neighbours
_FIRST_UNKNOWN = 2  # the rounds before are known: a node alone, and with its neighbours


def rooted_sizes(batch: GraphBatch, n_iter: int, n_threads: int | None = None) -> Int32:
    """Return ``|t_h(v)|`` for h = 0..n_iter and every node: the size of its rooted subgraph.

    In a directed batch arcs are followed in their direction.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes)

    >>> from twinwl import GraphBatch
    >>> rooted_sizes(GraphBatch.from_edges([[(0, 1), (1, 2)]]), 2)
    array([[1, 1, 1],
           [2, 3, 2],
           [3, 3, 3]], dtype=int32)
    """
    n_iter = checked("n_iter", n_iter, integer(0))
    if len(batch) == 1 and batch.n_nodes >= LARGE:
        return sizes_of_large_graph(batch, 0, n_iter, n_threads)
    out = np.empty((n_iter + 1, batch.n_nodes), np.int32)
    arcs_before_graph = batch.indptr[batch.graph_ptr]
    work = (arcs_before_graph + batch.graph_ptr) * max(1, n_iter)

    def fill(first: int, last: int) -> None:
        sizes_of_graphs(batch, first, last, n_iter, 0, out)

    run_ranges(fill, balanced_ranges(work, n_threads), n_threads)
    for graph in np.flatnonzero(batch.nodes_per_graph >= LARGE).tolist():
        sizes = sizes_of_large_graph(batch, graph, n_iter, n_threads)
        out[:, batch.graph_ptr[graph] : batch.graph_ptr[graph + 1]] = sizes
    return out


def sizes_of_graphs(batch: GraphBatch, first: int, last: int, n_iter: int, low: int, out: Int32) -> None:
    """Fill ``out`` for graphs ``first..last`` except large ones; its columns begin with node ``low``."""
    n_nodes = batch.nodes_per_graph[first:last]
    graphs = graphs_of(batch)
    # Kernels are compiled when they are first called, so each kind of graphs has its own.
    if n_nodes.min(initial=LARGE) <= _WORD_BITS:
        _sizes_of_sparse_graphs(first, last, graphs, n_iter, low, out)
        nodes = batch.indptr[batch.graph_ptr[first] : batch.graph_ptr[last] + 1]
        if np.diff(nodes).max(initial=0) > _USUAL_DEGREE:
            _sizes_of_small_graphs(first, last, graphs, n_iter, low, out)
    if ((n_nodes > _WORD_BITS) & (n_nodes < LARGE)).any():
        _sizes_of_middling_graphs(first, last, graphs, n_iter, LARGE, low, out)


def sizes_of_large_graph(batch: GraphBatch, graph: int, n_iter: int, n_threads: int | None) -> Int32:
    """Return the rooted sizes of one graph, in pieces and on threads; shape (n_iter + 1, n)."""
    low, high = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
    out = np.empty((n_iter + 1, high - low), np.int32)
    degrees = np.diff(batch.indptr[low : high + 1])
    if n_iter < _FIRST_UNKNOWN or not degrees.any():
        out[:] = 1
        out[1:] += degrees.astype(np.int32)
        return out
    graphs = graphs_of(batch)
    if is_core(low, high, graphs):
        nothing = np.empty((0, n_iter + 1), np.int32)
        return sizes_of_large_core(whole(low, high, graphs), nothing, n_iter, n_threads)
    core, nodes, order, parent = peeled(low, high, graphs, n_iter, 0, out)
    if len(nodes):
        below = np.ascontiguousarray(out[:, nodes if len(core.anchors) else slice(0)].T)
        out[:, nodes] = sizes_of_large_core(core, below, n_iter, n_threads)
    spread(order, parent, n_iter, 0, out)
    return out


@kernel
def _sizes_of_sparse_graphs(first: int, last: int, graphs: Graphs, n_iter: int, low: int, out: Int32) -> None:
    """Fill the columns of graphs whose identity sets fit a word and whose degrees are at most four.

    Each node gets four neighbours, padded with itself, so there is no branch and no loop over arcs.
    """
    graph_ptr, indptr, indices = graphs.graph_ptr, graphs.indptr, graphs.indices
    here, there = np.empty(_WORD_BITS, np.uint64), np.empty(_WORD_BITS, np.uint64)
    near = np.empty(_WORD_BITS * _USUAL_DEGREE, np.int64)
    last_arc = len(indices) - 1
    for graph in range(first, last):
        begin, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        most = _USUAL_DEGREE + 1 if n > _WORD_BITS else 0
        for node in range(n if n <= _WORD_BITS else 0):
            start = indptr[begin + node]
            degree = indptr[begin + node + 1] - start
            most = max(most, degree)
            for offset in range(_USUAL_DEGREE):
                arc = min(last_arc, start + offset)
                other = np.int64(indices[arc]) - begin if arc >= 0 else 0
                near[node * _USUAL_DEGREE + offset] = other if offset < degree else node
        if most > _USUAL_DEGREE:
            continue
        for node in range(n):
            here[node] = np.uint64(1) << np.uint64(node)
            out[0, begin - low + node] = 1
        for h in range(1, n_iter + 1):
            for node in range(n):
                few = node * _USUAL_DEGREE
                word = here[node] | here[near[few]] | here[near[few + 1]]
                word |= here[near[few + 2]] | here[near[few + 3]]
                there[node] = word
                out[h, begin - low + node] = popcount(word)
            here, there = there, here


@kernel
def _sizes_of_small_graphs(first: int, last: int, graphs: Graphs, n_iter: int, low: int, out: Int32) -> None:
    """Fill the columns of graphs whose identity sets fit a word and that have a node of larger degree."""
    graph_ptr, indptr, indices = graphs.graph_ptr, graphs.indptr, graphs.indices
    here, there = np.empty(_WORD_BITS, np.uint64), np.empty(_WORD_BITS, np.uint64)
    for graph in range(first, last):
        begin, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        growing = False
        for node in range(n if n <= _WORD_BITS else 0):
            here[node] = np.uint64(1) << np.uint64(node)
            growing |= indptr[begin + node + 1] - indptr[begin + node] > _USUAL_DEGREE
        if not growing:
            continue
        for node in range(n):
            out[0, begin - low + node] = 1
        for h in range(1, n_iter + 1):
            if not growing:
                for column in range(begin - low, begin - low + n):
                    out[h, column] = out[h - 1, column]
                continue
            growing = False
            for node in range(n):
                word = here[node]
                for arc in range(indptr[begin + node], indptr[begin + node + 1]):
                    word |= here[np.uint64(indices[arc] - begin)]  # a signed index might count from the end
                there[node] = word
                growing |= bool(word != here[node])
                out[h, begin - low + node] = popcount(word)
            here, there = there, here


@kernel
def _sizes_of_middling_graphs(
    first: int, last: int, graphs: Graphs, n_iter: int, large: int, low: int, out: Int32
) -> None:
    """Fill the columns of graphs that are neither small nor large."""
    graph_ptr, indptr = graphs.graph_ptr, graphs.indptr
    for graph in range(first, last):
        begin, stop = graph_ptr[graph], graph_ptr[graph + 1]
        if not _WORD_BITS < stop - begin < large:
            continue
        column = begin - low
        if n_iter < _FIRST_UNKNOWN or indptr[begin] == indptr[stop]:
            for node in range(stop - begin):
                out[0, column + node] = 1
                for h in range(1, n_iter + 1):
                    out[h, column + node] = indptr[begin + node + 1] - indptr[begin + node] + 1
            continue
        if is_core(begin, stop, graphs):
            sizes_of_core(whole(begin, stop, graphs), n_iter, column, out)
            continue
        core, nodes, order, parent = peeled(begin, stop, graphs, n_iter, column, out)
        sizes = np.empty((n_iter + 1, len(nodes)), np.int32)
        sizes_of_core(core, n_iter, 0, sizes)
        for h in range(n_iter, 0, -1):
            for place in range(len(nodes)):
                there = column + nodes[place]
                out[h, there] = sizes[h, place] + out[1, there] - 1
        spread(order, parent, n_iter, column, out)
