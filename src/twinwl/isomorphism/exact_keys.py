"""Exact keys: 128 bits for each graph that two graphs share if and only if they are isomorphic.

Where stable colours determine a graph, the key is a digest of them. Otherwise a node of a class that they
leave open is individualised and the colours are refined, until they determine the graph. If every other
choice of a node leads to the same digest, all choices are equivalent, and that digest is the key. For the
few graphs that are left (strongly regular ones, for example) it is a digest of the canonical form that
igraph computes. As with any digest, two keys are equal by chance with a probability of about 2⁻¹²⁸.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from twinwl.arrays import Int32, Int64, UInt64, pointer
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch, with_own_labels
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.values import absorbed
from twinwl.refinement.content_keys import HEARD, WHOLE, KeyedMessages, fold_keys, keyed_messages
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs
from twinwl.refinement.round_kernels import blended
from twinwl.refinement.stable_keys import (
    CLASS,
    LENGTH,
    N_NOTES,
    NODE,
    SIGNATURE,
    Classes,
    class_to_split,
    classes_of,
    individualise,
    run_rounds,
    sign_all,
    stable_classes,
)
from twinwl.refinement.threads import STEPS_PER_PIECE, balanced_ranges, run_ranges

# At most so many nodes are individualised one after the other, and so many steps are spent on a graph, before
# igraph takes over. Both are compared with numbers that are the same for isomorphic graphs.
_DEEPEST = 24
_MOST_STEPS = 1 << 22
_NODES_PER_BLOCK = 1 << 16
# Digits of the square root of 7: the salt of keys of components.
_COMPONENT = np.uint64(0xA54FF53A5F1D36F1)


class _Components(NamedTuple):
    """One node of each component of a batch, and the number of components of each graph."""

    roots: Int64
    counts: Int64


class _Path(NamedTuple):
    """The classes before each node that was individualised, and the cells that these were taken from."""

    words: UInt64
    marks: Int32
    cells: Int64


def exact_keys(batch: GraphBatch, n_threads: int | None = None) -> UInt64:
    """Return a key for each graph, shape (n_graphs, 2); equal exactly for isomorphic graphs.

    Directions and labels of nodes and edges count. Keys are the same in every process and on every machine.

    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> again = [(0, 3), (3, 1), (1, 4), (4, 2), (2, 5), (5, 0)]
    >>> keys = exact_keys(GraphBatch.from_edges([hexagon, triangles, again]))
    >>> bool((keys[0] == keys[2]).all()), bool((keys[0] == keys[1]).all())
    (True, False)
    """
    parts = [_keys_of_block(block, n_threads) for block in _blocks(batch)]
    return np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)


def _blocks(batch: GraphBatch) -> Iterator[GraphBatch]:
    """Cut a batch into blocks of moderate size: the classes of a node take a hundred bytes."""
    if batch.n_nodes <= _NODES_PER_BLOCK:
        yield batch
        return
    cuts = np.flatnonzero(np.diff(batch.graph_ptr[:-1] // _NODES_PER_BLOCK)) + 1
    for low, high in pairwise([0, *cuts.tolist(), len(batch)]):
        yield with_own_labels(batch[low:high])


def _keys_of_block(batch: GraphBatch, n_threads: int | None) -> UInt64:
    messages = keyed_messages(batch)
    words, marks = stable_classes(batch, messages, n_threads)
    graph_ptr = batch.graph_ptr
    out = np.zeros((len(batch), 3), np.uint64)

    def identify(first: int, last: int) -> int:
        most = int(batch.nodes_per_graph[first:last].max(initial=0))
        room = classes_of(words, marks, most), np.empty((most, N_NOTES), np.int32)
        return int(_identify(first, last, graph_ptr, messages, batch.directed, *room, out))

    run_ranges(identify, balanced_ranges(messages.indptr[graph_ptr] + graph_ptr, n_threads), n_threads)
    keys = out[:, :2].copy()
    left = np.flatnonzero(out[:, 2] == 0)
    if len(left):
        keys[left] = _keys_by_components(batch[left], n_threads)
    return keys


def _keys_by_components(batch: GraphBatch, n_threads: int | None) -> UInt64:
    """Return keys of graphs that the kernels gave up: of their components, where there are several."""
    components = _components(batch)
    several = (components.counts > 1) & (not batch.directed)  # rooted subgraphs follow arcs
    out = np.empty((len(batch), 2), np.uint64)
    connected = np.flatnonzero(~several)
    for graph, form in zip(connected.tolist(), certificates(batch, connected.tolist()), strict=True):
        digest = blake2b(form, digest_size=16, person=b"twl2 form").digest()
        out[graph] = np.frombuffer(digest, "<u8")
    if several.any():
        roots = components.roots[np.repeat(several, components.counts)]
        parts = rooted_subgraphs(batch, int(batch.nodes_per_graph.max()), roots).as_batch(batch)
        keys = exact_keys(parts, n_threads)
        ptr = pointer(components.counts[several])
        folds = np.empty((len(ptr) - 1, 2), np.uint64)
        fold_keys(ptr, keys, np.full_like(keys, _COMPONENT), folds)
        out[several] = folds
    return out


def _components(batch: GraphBatch) -> _Components:
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  (slow to load, rarely needed)

    arcs = sparse.csr_array(
        (np.ones(len(batch.indices), np.int8), batch.indices, batch.indptr), shape=(batch.n_nodes,) * 2
    )
    _, number = connected_components(arcs, directed=False)
    _, roots = np.unique(number, return_index=True)
    roots = np.sort(roots).astype(np.int64)
    graph = np.searchsorted(batch.graph_ptr, roots, side="right") - 1
    return _Components(roots, np.bincount(graph, minlength=len(batch)))


@kernel
def _identify(
    first: int,
    last: int,
    graph_ptr: Int64,
    messages: KeyedMessages,
    directed: bool,
    classes: Classes,
    notes: Int32,
    out: UInt64,
) -> int:
    """Write the keys of graphs ``first..last`` and 1 for each that has one; return where it stopped."""
    steps = np.int64(0)
    for graph in range(first, last):
        if steps > STEPS_PER_PIECE:
            return graph
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
        steps += messages.indptr[high] - messages.indptr[low] + high - low
        cell = class_to_split(low, high, messages, classes, notes)
        if cell >= 0:
            taken = _individualised(low, high, messages, directed, classes, notes, out[graph])
            steps += taken
        else:
            _digest(low, high, directed, classes.words, out[graph])
    return last


@kernel
def _digest(low: int, high: int, directed: bool, words: UInt64, out: UInt64) -> None:
    """Write the key of the multiset of a graph's signatures, and that there is one."""
    a, b = np.uint64(directed), np.uint64(high - low)
    for node in range(low, high):
        x, y = blended(words[node, SIGNATURE], words[node, SIGNATURE + 1], HEARD)
        a += x
        b += y
    a, b = blended(a, b, WHOLE)
    out[0], out[1] = absorbed(a, b, np.uint64(high - low), np.uint64(directed))
    out[2] = 1


@kernel
def _individualised(
    low: int, high: int, messages: KeyedMessages, directed: bool, classes: Classes, notes: Int32, out: UInt64
) -> int:
    """Write the key of a graph that its stable colours leave open, if it has one; return the steps taken."""
    words, marks, _, state = classes
    n = high - low
    cost = messages.indptr[high] - messages.indptr[low] + n
    if n * _DEEPEST > _MOST_STEPS:
        return 0
    state[0] = n + 3  # later than any round before
    path = _Path(
        np.empty((_DEEPEST, n, words.shape[1]), np.uint64),
        np.empty((_DEEPEST, n, marks.shape[1]), np.int32),
        np.empty(_DEEPEST, np.int64),
    )
    depth = 0
    n_paths = np.int64(0)
    cell = class_to_split(low, high, messages, classes, notes)
    while cell >= 0:
        if depth == _DEEPEST:
            return cost * depth
        path.words[depth], path.marks[depth], path.cells[depth] = words[low:high], marks[low:high], cell
        n_paths += marks[cell, LENGTH] * (depth + 1)
        cell = _step(marks[cell, NODE], depth, low, high, messages, directed, classes, notes)
        depth += 1
    if n_paths * cost > _MOST_STEPS:
        return cost * depth
    sign_all(low, high, messages.indptr, words, marks)
    _digest(low, high, directed, words, out)
    signatures = words[low:high, SIGNATURE:].copy()
    for level in range(depth - 1, -1, -1):
        begin = path.cells[level]
        cell_nodes = path.marks[level, begin - low :, NODE][: path.marks[level, begin - low, LENGTH]]
        orbit = np.arange(n)
        for node in cell_nodes[1:]:
            if _orbit_of(node - low, orbit) == _orbit_of(cell_nodes[0] - low, orbit):
                continue
            words[low:high], marks[low:high] = path.words[level], path.marks[level]
            if not _leads_to(out, node, level, depth, (low, high, directed), messages, classes, notes):
                out[2] = 0
                return cost * n_paths
            _unite(low, signatures, cell_nodes, classes, orbit)
    return cost * n_paths


@kernel
def _leads_to(
    key: UInt64,
    node: int,
    level: int,
    depth: int,
    graph: tuple[int, int, bool],
    messages: KeyedMessages,
    classes: Classes,
    notes: Int32,
) -> bool:
    """Return whether individualising another node leads to the same key, in as many steps."""
    low, high, directed = graph
    cell = _step(node, level, low, high, messages, directed, classes, notes)
    for deeper in range(level + 1, depth):
        if cell < 0:
            return False
        cell = _step(classes.marks[cell, NODE], deeper, low, high, messages, directed, classes, notes)
    if cell >= 0:
        return False
    sign_all(low, high, messages.indptr, classes.words, classes.marks)
    found = np.empty(3, np.uint64)
    _digest(low, high, directed, classes.words, found)
    return found[0] == key[0] and found[1] == key[1]


@kernel
def _step(
    node: int,
    level: int,
    low: int,
    high: int,
    messages: KeyedMessages,
    directed: bool,
    classes: Classes,
    notes: Int32,
) -> int:
    """Individualise a node and refine; return the class that is to be split next, or -1."""
    individualise(node, level, low, messages, directed, classes)
    run_rounds(low, messages, directed, classes, _MOST_STEPS)
    return class_to_split(low, high, messages, classes, notes)


@kernel
def _unite(low: int, signatures: UInt64, cell: Int32, classes: Classes, orbit: Int64) -> None:
    """Unite the orbits of the nodes of a cell that an automorphism maps onto each other.

    Two choices of nodes gave the same key, so an automorphism maps nodes with equal signatures onto each
    other where they are alone in their class. ``signatures`` are those of the first choice.
    """
    words, marks, _, _ = classes
    for there in cell:
        if marks[marks[there, CLASS], LENGTH] > 1:
            continue
        a, b = words[there, SIGNATURE], words[there, SIGNATURE + 1]
        for here in cell:
            if signatures[here - low, 0] == a and signatures[here - low, 1] == b:
                orbit[_orbit_of(here - low, orbit)] = _orbit_of(there - low, orbit)
                break


@kernel
def _orbit_of(place: int, orbit: Int64) -> int:
    while orbit[place] != place:
        place = orbit[place]
    return place
