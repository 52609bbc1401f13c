"""A stable hash of graphs: equal for isomorphic graphs, and never weaker than 1-WL.

The default hash (``twl2``) digests the multiset of (stable signature, growth of the rooted subgraph) of the
nodes; `stable_folds` computes it. The hash of the first version (``twl1``) digests the multisets of
(colour, readout) of each round. `graph_keys` computes either of them, on blocks of graphs and on threads.

In this order: the multisets of ``twl2`` with the growth of rooted subgraphs, the public functions
(`graph_hash`, `graph_hashes`), and the keys of blocks of graphs.

``docs/hash.md`` defines the hashes bit by bit. **Any change here breaks every stored hash.**
"""

import struct
from typing import Literal

import numpy as np

from twinwl.arguments import FLAG, ROUNDS, checked, one_of
from twinwl.arrays import Bool, Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.graphs.atom_labels import warn_of_level
from twinwl.graphs.batch import GraphBatch, labels_only, without_unused_labels
from twinwl.graphs.building import GraphsLike, as_batch, one_graph
from twinwl.isomorphism import Readouts
from twinwl.isomorphism.inner_colours import n_distinct
from twinwl.isomorphism.readouts import ReadoutChoice, ReadoutError, RoundReader, only_sizes, resolve
from twinwl.refinement import content_keys
from twinwl.refinement.colours import STEPS_PER_PIECE, balanced_ranges, run_ranges
from twinwl.refinement.content_keys import absorb, fold_keys, node_keys
from twinwl.refinement.identities import rooted_sizes, sizes_by_search

Rounds = int | Literal["stable"] | None

VERSION, FIRST_VERSION = "twl2", "twl1"

EVERY_RADIUS_UP_TO = 256
"""Rooted subgraphs of larger graphs are followed to `RADIUS_BEYOND` only, so that the cost stays bounded."""
RADIUS_BEYOND = 3
_FIRST_ROUNDS = 16
# Sizes are computed by a search from each node, if at most one node in this many is wanted: with more
# searches than that, bitsets, which give 64 nodes at a time, are faster.
_NODES_PER_SEARCH = 64
# Keys and sizes of a block of graphs have about this many entries each: memory stays bounded, a block stays
# in the cache, and there are enough blocks for all threads.
_BLOCK_ENTRIES = 1 << 16
_USUAL_ROUNDS = 3  # assumed for ``twl2``, to choose the size of blocks


def stable_folds(batch: GraphBatch, readouts: Readouts) -> UInt64:
    """Return a key for each graph's multiset of (stable signature, growth), shape (n_graphs, 2)."""
    signatures, class_size = content_keys.stable_signatures(batch)
    # A node that is alone in its class needs no growth: its rooted sizes follow from the stable classes.
    wanted = class_size > 1 if only_sizes(readouts) else np.ones(batch.n_nodes, np.bool_)
    large = np.repeat(batch.nodes_per_graph > EVERY_RADIUS_UP_TO, batch.nodes_per_graph)
    growths = _growths(batch, readouts, wanted & large, RADIUS_BEYOND, to_the_end=False)
    growths += _growths(batch, readouts, wanted & ~large, _FIRST_ROUNDS, to_the_end=True)
    folds = np.empty((len(batch), 2), np.uint64)
    fold_keys(batch.graph_ptr, signatures, growths, folds)
    return folds


def _growths(batch: GraphBatch, readouts: Readouts, wanted: Bool, n_iter: int, *, to_the_end: bool) -> UInt64:
    """Return the key of the readouts of each wanted node's rooted subgraphs while they grow.

    The shape is (n_nodes, 2); other nodes have the key 0. With ``to_the_end``, graphs in which some wanted
    node's subgraph still grows after ``n_iter`` rounds are repeated with four times as many rounds.
    """
    out = np.zeros((batch.n_nodes, 2), np.uint64)
    graphs = _graphs_with(batch, wanted)
    if not graphs.any():
        return out
    nodes = np.repeat(graphs, batch.nodes_per_graph)
    part, wanted = batch[np.flatnonzero(graphs)], wanted[nodes]
    few = only_sizes(readouts) and np.count_nonzero(wanted) <= part.n_nodes // _NODES_PER_SEARCH
    rows = _searched_sizes(part, np.flatnonzero(wanted), n_iter) if few else rooted_sizes(part, n_iter)
    try:
        if only_sizes(readouts):
            keys = np.zeros((part.n_nodes, 2), np.uint64)
            _absorb_sizes(rows, wanted, keys)
        else:
            keys = _absorb_readouts(part, readouts, rows)
        still_growing = wanted & (rows[-1] != rows[-2])
        if to_the_end and still_growing.any():
            again = wanted & np.repeat(_graphs_with(part, still_growing), part.nodes_per_graph)
            keys[again] = _growths(part, readouts, again, 4 * n_iter, to_the_end=True)[again]
    except ReadoutError as error:
        raise error.at(int(np.flatnonzero(graphs)[error.graph])) from error
    out[nodes] = keys
    return out


def _searched_sizes(batch: GraphBatch, roots: Int64, n_iter: int) -> Int32:
    """Return rooted sizes as `rooted_sizes` does, but of the roots only; the other columns are ones.

    It pays off for large random graphs, in which nearly every node is alone in its class.
    """
    sizes = np.ones((n_iter + 1, batch.n_nodes), np.int32)
    done = 0
    while done < len(roots):
        done, _ = sizes_by_search(
            roots, done, len(roots), batch.indptr, batch.indices, STEPS_PER_PIECE, sizes
        )
    return sizes


def _graphs_with(batch: GraphBatch, nodes: Bool) -> Bool:
    """Return for each graph whether it has one of the nodes."""
    before = np.concatenate([[0], np.cumsum(nodes)])
    return before[batch.graph_ptr[1:]] > before[batch.graph_ptr[:-1]]


def _absorb_readouts(batch: GraphBatch, readouts: Readouts, rows: Int32) -> UInt64:
    """Absorb the readouts of each node's rooted subgraphs, round by round, while these grow."""
    keys = np.zeros((batch.n_nodes, 2), np.uint64)
    reader = RoundReader(batch, readouts)
    before = np.zeros(batch.n_nodes, np.int32)
    for sizes in rows:
        growing = np.flatnonzero(sizes != before)
        if not len(growing):
            break
        keys[growing] = content_keys.absorb_rows(keys[growing], reader.read_keys(sizes)[growing])
        before = sizes
    return keys


@kernel
def _absorb_sizes(rows: Int32, wanted: Bool, keys: UInt64) -> None:
    """Absorb (size, h) of each round h while the rooted subgraph of a wanted node grows; write the keys.

    These keys differ from those of `_absorb_readouts`, which absorbs the key of a readout.
    """
    for node in range(len(wanted)):
        if not wanted[node]:
            continue
        a, b = np.uint64(0), np.uint64(0)
        for h in range(len(rows)):
            if h > 0 and rows[h, node] == rows[h - 1, node]:
                break
            a, b = absorb(a, b, np.uint64(rows[h, node]), np.uint64(h))
        keys[node, 0], keys[node, 1] = a, b


def graph_hash(
    g: object,
    n_iter: Rounds = None,
    readout: ReadoutChoice = "size",
    *,
    edge_labels: bool = True,
    ignore_features: bool = False,
) -> str:
    """Return the hash of one graph; see `graph_hashes`.

    Parameters
    ----------
    g
        A batch of one, or a single graph of any kind that `twinwl.as_batch` takes in a list.
    n_iter, readout, edge_labels, ignore_features
        As in `graph_hashes`.

    Returns
    -------
    str

    See Also
    --------
    graph_hashes : The hashes of many graphs.
    deduplicate : Exact groups.
    compare : Where two graphs differ.

    Examples
    --------
    >>> import networkx as nx
    >>> graph_hash(nx.path_graph(3))
    'twl2:3772b50e39eec530dc7d7307a0ce9aec'
    >>> graph_hash(nx.cycle_graph(6)) == graph_hash(nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)))
    False
    """
    graph = one_graph(g, "the graph")
    return graph_hashes(graph, n_iter, readout, edge_labels=edge_labels, ignore_features=ignore_features)[0]


def graph_hashes(
    graphs: GraphsLike,
    n_iter: Rounds = None,
    readout: ReadoutChoice = "size",
    *,
    edge_labels: bool = True,
    ignore_features: bool = False,
) -> list[str]:
    """Return the hash of each graph: ``twl2:`` and 32 hexadecimal digits.

    Isomorphic graphs have equal hashes. Two graphs have equal hashes if and only if their nodes have the same
    multiset of (stable 1-WL colour, growth). The growth of a node is the sequence of readouts of its rooted
    subgraph while that grows, in graphs of more than 256 nodes up to round 3. So a hash is never weaker
    than 1-WL run to the end, and up to 256 nodes never weaker than `twinwl.compare`. (All this up to
    collisions of 128 bits.) It also covers the numbers of nodes and edges, and whether the graph is directed.

    A hash depends on its graph alone, not on the rest of the batch, the machine or the process. Labels count
    by type and value; a graph without labels is treated as if all labels were None. ``docs/hash.md`` has the
    exact definition. Colours take O((n + m) log n) steps, however many rounds are needed until they are
    stable.

    Parameters
    ----------
    graphs
        A batch, or anything `twinwl.as_batch` accepts.
    n_iter
        None, or for a hash of the first version (``twl1:``) the number of rounds: that one covers the
        multisets of (colour, readout) in rounds 0..n_iter. ``"stable"`` takes for each graph the rounds
        0..max(s + 1, d): s is the first round in which its colours are stable, d its largest finite distance
        between two nodes. Long paths make that slow.
    readout
        As in `twinwl.compare`. A function must return None, bool, int, float, str, bytes or tuples of these.
    edge_labels
        Whether to use edge labels, if there are any.
    ignore_features
        Whether to ignore continuous node features; otherwise graphs with features are an error. To use
        features, turn them into labels with `GraphBatch.discretise`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import twinwl as tw
    >>> path, same, labelled = tw.graph_hashes(tw.GraphBatch.from_edges(
    ...     [[(0, 1), (1, 2)], [(0, 2), (2, 1)], [(0, 1), (1, 2)]],
    ...     node_labels=[[None] * 3, [None] * 3, ["C", "C", "O"]],
    ... ))
    >>> path == same, path == labelled
    (True, False)
    """
    batch = labels_only(as_batch(graphs), ignore_features=ignore_features)
    warn_of_level(batch.atoms)
    if not checked("edge_labels", edge_labels, FLAG):
        batch = batch.without_edge_labels()
    digits = graph_keys(batch, n_iter, resolve(readout)).astype(">u8").tobytes().hex()
    version = VERSION if n_iter is None else FIRST_VERSION
    return [f"{version}:{digits[start : start + 32]}" for start in range(0, len(digits), 32)]


def graph_keys(batch: GraphBatch, n_iter: Rounds, readouts: Readouts) -> UInt64:
    """Return each graph's hash as two words, shape (n_graphs, 2)."""
    n_iter = checked("n_iter", n_iter, ROUNDS, one_of("stable"), None)
    if n_iter == "stable":
        rounds = _diameters(batch, np.arange(len(batch)), _FIRST_ROUNDS)
    else:
        rounds = np.full(len(batch), _USUAL_ROUNDS if n_iter is None else n_iter, np.int64)
    blocks = _blocks(batch, rounds)
    out = np.empty((len(batch), 2), np.uint64)

    def fill(place: int, _last: int) -> int:
        # One block per call; `run_ranges` calls again for the next.
        chosen = blocks[place]
        block, n_rounds = without_unused_labels(batch[chosen]), rounds[chosen]
        try:
            if n_iter is None:
                # twl2 has a single multiset, which is stored as that of round 0.
                folds, counts = stable_folds(block, readouts)[None], _counts(block, np.zeros_like(n_rounds))
                out[chosen] = _finish_hashes(folds, counts, _names(b"twl2", readouts), block.directed)
            else:
                n_rounds = _stable_rounds(block, n_rounds) if n_iter == "stable" else n_rounds
                out[chosen] = _keys_of_block(block, n_rounds, readouts)
        except ReadoutError as error:
            raise error.at(int(chosen[error.graph])) from error
        return place + 1

    # A user's function may not be fit for threads, and would gain nothing from them.
    on_threads = all(readout.is_known for readout in readouts)
    work = np.cumsum(
        [0, *(int((batch.nodes_per_graph[chosen] * (rounds[chosen] + 1)).sum()) for chosen in blocks)]
    )
    run_ranges(fill, balanced_ranges(work) if on_threads else [(0, len(blocks))])
    return out


def _blocks(batch: GraphBatch, rounds: Int64) -> list[Int64]:
    """Split the graphs into blocks of bounded size, sorted by number of rounds.

    All graphs of a block run as many rounds as any of them needs. So the many rounds of one long path are
    only run for graphs that need similarly many.
    """
    order = np.argsort(rounds, kind="stable")
    entries = np.cumsum(batch.nodes_per_graph[order] * (rounds[order] + 1))
    cuts = np.flatnonzero(np.diff(entries // _BLOCK_ENTRIES)) + 1
    return np.split(order, cuts)


def _diameters(batch: GraphBatch, graphs: Int64, n_rounds: int) -> Int64:
    """Return the largest finite distance in each of some graphs: after that round no identity set grows.

    Graphs in which one still grew in the last round are repeated with four times as many rounds.
    """
    part = batch[graphs]
    rows = rooted_sizes(part, n_rounds)
    grew = np.zeros((n_rounds + 1, len(part)), np.bool_)
    for h in range(1, n_rounds + 1):
        grew[h] = _graphs_with(part, rows[h] != rows[h - 1])
    # The last round in which an identity set grew; 0 if none did.
    out = (n_rounds - np.argmax(grew[::-1], axis=0)) * grew.any(axis=0)
    if (out == n_rounds).any():
        out[out == n_rounds] = _diameters(batch, graphs[out == n_rounds], 4 * n_rounds)
    return out


def _stable_rounds(batch: GraphBatch, diameters: Int64) -> Int64:
    """Return max(s + 1, d) of each graph, given d: later rounds distinguish no more graphs."""
    settled = np.full(len(batch), -1, np.int64)  # s + 1: the first round that splits no colour
    before = np.full(len(batch), -1, np.int64)
    for h, keys in enumerate(node_keys(batch)):
        n_colours = _distinct_in_graphs(batch.graph_ptr, keys)
        settled[(settled < 0) & (n_colours == before)] = h
        before = n_colours
        if (settled >= 0).all():
            break
    return np.maximum(settled, diameters)


def _keys_of_block(batch: GraphBatch, rounds: Int64, readouts: Readouts) -> UInt64:
    """Return the hash of each graph by its rounds 0..rounds[graph] (``twl1``), shape (n_graphs, 2)."""
    last = int(rounds.max(initial=0))
    reader = RoundReader(batch, readouts)
    folds = np.empty((last + 1, len(batch), 2), np.uint64)
    for fold, sizes, keys in zip(folds, rooted_sizes(batch, last), node_keys(batch), strict=False):
        fold_keys(batch.graph_ptr, keys, reader.read_keys(sizes), fold)
    return _finish_hashes(folds, _counts(batch, rounds), _names(b"", readouts), batch.directed)


def _counts(batch: GraphBatch, rounds: Int64) -> Int64:
    """Return the numbers of nodes, arcs and rounds of each graph, shape (n_graphs, 3)."""
    return np.column_stack([batch.nodes_per_graph, np.diff(batch.indptr[batch.graph_ptr]), rounds])


def _names(version: bytes, readouts: Readouts) -> UInt64:
    """Return the key of the names of the readouts, shape (1, 2), different for each version."""
    token = version
    for readout in readouts:
        name = (readout.name if readout.is_known else "function").encode()
        token += struct.pack("<Q", len(name)) + name
    return content_keys.digest_keys([token])


@kernel
def _distinct_in_graphs(graph_ptr: Int64, keys: UInt64) -> Int64:
    """Return the number of different keys in each graph, shape (n_graphs,)."""
    out = np.empty(len(graph_ptr) - 1, np.int64)
    for graph in range(len(out)):
        out[graph] = n_distinct(keys, graph_ptr[graph], graph_ptr[graph + 1])
    return out


@kernel
def _finish_hashes(folds: UInt64, counts: Int64, names: UInt64, directed: bool) -> UInt64:
    """Return the hash of each graph: names of readouts, direction, counts and folds of all rounds, absorbed.

    Parameters
    ----------
    folds : array of uint64, shape (n_rounds, n_graphs, 2)
    counts, names
        From `_counts` and `_names`.
    """
    out = np.empty((len(counts), 2), np.uint64)
    for graph in range(len(counts)):
        n_nodes, n_arcs, last_round = counts[graph]
        a, b = absorb(names[0, 0], names[0, 1], np.uint64(directed), np.uint64(last_round))
        a, b = absorb(a, b, np.uint64(n_nodes), np.uint64(n_arcs))
        for h in range(last_round + 1):
            a, b = absorb(a, b, folds[h, graph, 0], folds[h, graph, 1])
        out[graph, 0], out[graph, 1] = a, b
    return out
