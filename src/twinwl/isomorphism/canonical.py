"""Exact identity of graphs: canonical forms, and keys of 128 bits that only isomorphic graphs share.

A canonical form is a byte string that two labelled graphs share exactly when they are isomorphic; igraph
computes it. An exact key is much cheaper for nearly all graphs:

- If the stable colours determine the graph, the key is a digest of them.
- Otherwise a node of a class that they leave open is *individualised* (it gets a class of its own), and the
  colours are refined, until they determine the graph. If every other choice of a node leads to the same
  digest, all choices are equivalent, and that digest is the key.
- For the few graphs that are left (strongly regular ones, for example) it is a digest of the canonical form.

Which of these applies does not depend on how nodes are numbered, so isomorphic graphs always get the same
kind of key. As with any digest, two keys are equal by chance with a probability of about 2⁻¹²⁸.

In this order: canonical forms (`certificates`), exact keys (`exact_keys`) with the search over individualised
nodes, and the question whether stable colours determine a graph (`class_to_split`).
"""

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from twinwl.arguments import pointer
from twinwl.arrays import Bool, Int32, Int64, Ints, UInt64
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch, without_unused_labels
from twinwl.graphs.labels import Label, label_token
from twinwl.refinement import content_keys
from twinwl.refinement.colours import STEPS_PER_PIECE, balanced_ranges, run_ranges
from twinwl.refinement.content_keys import CLASS, KEY, LENGTH, NODE, SIGNATURE, Classes, sign_all
from twinwl.refinement.identities import rooted_subgraphs
from twinwl.refinement.round_kernels import blend

# At most this many nodes are individualised one after the other, and at most this many steps are spent on a
# graph, before igraph takes over. Both are compared with numbers that are equal for isomorphic graphs, so
# that these get the same kind of key.
_DEEPEST = 24
_MOST_STEPS = 1 << 22
_NODES_PER_BLOCK = 1 << 16
# The salt of keys of components (digits of the square root of 7).
_COMPONENT = np.uint64(0xA54FF53A5F1D36F1)


def certificates(batch: GraphBatch, graphs: Iterable[int], roots: Ints | None = None) -> list[bytes]:
    """Return the certificates of some graphs of a batch.

    Two certificates are equal if and only if there is an isomorphism that preserves directions, node labels,
    edge labels and root. They contain the labels themselves, not codes, and so are comparable between
    batches.

    Parameters
    ----------
    batch
        The graphs.
    graphs
        Indices of the wanted ones.
    roots : array of int, shape (n_graphs,), optional
        One node of the batch to mark in each graph of the batch.

    >>> from twinwl import GraphBatch
    >>> path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    >>> forms = certificates(GraphBatch.from_edges([path, [(2, 0), (0, 3), (3, 1)], star]), range(3))
    >>> forms[0] == forms[1], forms[0] == forms[2]
    (True, False)
    """
    node_tokens, rank_of_node = _rank_labels(batch.node_vocabulary, batch.node_labels)
    sources, targets = batch.arcs()
    kept = np.flatnonzero((sources < targets) | batch.directed)  # undirected edges once
    ends = np.column_stack([sources[kept], targets[kept]])
    edge_ptr = np.searchsorted(kept, batch.indptr[batch.graph_ptr]).tolist()  # range of each graph's edges
    labelled = batch.edge_labels is not None
    edge_labels = np.zeros(len(batch.indices), np.int32) if batch.edge_labels is None else batch.edge_labels
    edge_tokens, rank_of_edge = _rank_labels(batch.edge_vocabulary or (None,), edge_labels[kept])
    out = []
    for graph in graphs:
        first, last = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
        here = slice(edge_ptr[graph], edge_ptr[graph + 1])
        tokens, colours = _used_tokens(rank_of_node[first:last], node_tokens)
        if roots is not None:
            # The root gets a colour of its own, next to that of its label.
            colours = [2 * colour for colour in colours]
            colours[int(roots[graph]) - first] += 1
        used_edge_tokens, kinds = _used_tokens(rank_of_edge[here], edge_tokens) if labelled else ([], [])
        # The header: two flags, then the numbers of nodes, edges and labels.
        counts = last - first, here.stop - here.start, len(tokens)
        head = struct.pack("<BBQQQ", batch.directed, roots is not None, *counts)
        form = _canonical_form(colours, ends[here] - first, kinds, directed=batch.directed)
        out.append(b"".join([head, *tokens, *used_edge_tokens, form]))
    return out


def _canonical_form(colours: list[int], ends: Int64, kinds: list[int], *, directed: bool) -> bytes:
    """Return colours and edges in canonical order.

    igraph's search supports colours of nodes only. So an edge of any kind but the first (0) is replaced by a
    node between its ends, with a colour that only edges of this kind have.

    Parameters
    ----------
    colours
        Colour of each node, from 0.
    ends : array of int64, shape (n_edges, 2)
    kinds
        Kind of each edge, from 0; empty without edge labels.
    """
    import igraph  # noqa: PLC0415  (takes most of a second, and few graphs need it)

    if any(kinds):
        special = np.flatnonzero(kinds)
        between = len(colours) + np.arange(len(special))  # the new nodes
        highest = max(colours)
        colours = colours + [highest + kinds[edge] for edge in special]
        ends = np.concatenate(
            [
                np.delete(ends, special, axis=0),
                np.column_stack([ends[special, 0], between]),
                np.column_stack([between, ends[special, 1]]),
            ]
        )
    n = len(colours)
    # The base class, because the constructor of igraph.Graph takes longer than the search on a small graph.
    graph = igraph.GraphBase(n, ends.tolist(), directed)
    place = np.array(graph.canonical_permutation(color=colours), dtype=np.int64)
    if not _gives_new_places():
        place = np.argsort(place)
    ends = place[ends]
    if not directed:
        ends.sort(axis=1)
    numbers = np.sort(ends[:, 0] * n + ends[:, 1])
    in_order = np.empty(n, "<i8")
    in_order[place] = colours
    return in_order.tobytes() + numbers.astype("<i8").tobytes()


@lru_cache(maxsize=1)
def _gives_new_places() -> bool:
    """Return whether entry i of igraph's canonical permutation is the new place of vertex i.

    ``canonical_permutation`` is made for ``permute_vertices``. Up to 0.11 entry i is the new place of vertex
    i, from 1.0 on it is the vertex that moves to place i; read the wrong way, isomorphic graphs get different
    forms. This is tested on one edge: moved by (1, 2, 0), the edge 0-1 becomes 1-2 in the one reading and 0-2
    in the other.
    """
    import igraph  # noqa: PLC0415

    return sorted(igraph.GraphBase(3, [(0, 1)]).permute_vertices([1, 2, 0]).get_edgelist()[0]) == [1, 2]


def _rank_labels(vocabulary: tuple[Label, ...], codes: Int32) -> tuple[list[bytes], Int64]:
    """Return the tokens of a vocabulary in order, each after its length, and the rank of each code."""
    tokens = [label_token(label) for label in vocabulary]
    ordered = sorted(set(tokens))
    rank_of_token = {token: rank for rank, token in enumerate(ordered)}
    ranks = np.array([rank_of_token[token] for token in tokens], dtype=np.int64)
    return [struct.pack("<Q", len(token)) + token for token in ordered], ranks[codes]


def _used_tokens(ranks: Int64, tokens: list[bytes]) -> tuple[list[bytes], list[int]]:
    """Return the tokens that occur, in order, and the ranks among these only.

    Ranks among all tokens would depend on the rest of the batch.
    """
    present, places = np.unique(ranks, return_inverse=True)
    return [tokens[rank] for rank in present.tolist()], places.tolist()


def exact_keys(batch: GraphBatch) -> UInt64:
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
    parts = [_keys_of_block(block) for block in _blocks(batch)]
    return np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)


def are_isomorphic(pair: GraphBatch) -> bool | None:
    """Return whether the two graphs of a batch are isomorphic, or None if their stable colours do not tell.

    False means that 1-WL tells them apart. Directions and labels count.

    >>> from twinwl import GraphBatch
    >>> path, cycle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> are_isomorphic(GraphBatch.from_edges([path, [(2, 0), (0, 1)]])), are_isomorphic(
    ...     GraphBatch.from_edges([path, cycle])
    ... )
    (True, False)
    """
    classes = content_keys.stable_classes(pair)
    room = content_keys.with_scratch(classes, pair.n_nodes, _N_NOTES)
    return (None, True, False)[_compare_colours(pair.graph_ptr, room)]


@kernel
def _compare_colours(graph_ptr: Int64, classes: Classes) -> int:
    """Return whether the stable colours of two graphs differ (2), determine both (1), or do neither (0)."""
    keys = np.empty((2, 3), np.uint64)
    for graph in range(2):
        _digest(graph_ptr[graph], graph_ptr[graph + 1], classes, keys[graph])
    if keys[0, 0] != keys[1, 0] or keys[0, 1] != keys[1, 1]:
        return 2
    # Graphs with equal digests have the same classes, so one of them shows whether these determine both.
    return int(class_to_split(graph_ptr[0], graph_ptr[1], classes) < 0)


def number_keys(keys: UInt64, number_of_key: dict[bytes, int]) -> Int64:
    """Return the number of each key, shape (n, 2); new ones get the next numbers and are entered."""
    data = keys.tobytes()
    found = (data[start : start + 16] for start in range(0, len(data), 16))
    return np.array([number_of_key.setdefault(key, len(number_of_key)) for key in found], np.int64)


def _blocks(batch: GraphBatch) -> Iterator[GraphBatch]:
    """Cut a batch into blocks, to bound the memory: `stable_classes` takes a hundred bytes per node."""
    if batch.n_nodes <= _NODES_PER_BLOCK:
        yield batch
        return
    # A block ends where the number of nodes passes a multiple of _NODES_PER_BLOCK.
    cuts = np.flatnonzero(np.diff(batch.graph_ptr[:-1] // _NODES_PER_BLOCK)) + 1
    for low, high in pairwise([0, *cuts.tolist(), len(batch)]):
        yield without_unused_labels(batch[low:high])


def _keys_of_block(batch: GraphBatch) -> UInt64:
    classes, graph_ptr = content_keys.stable_classes(batch), batch.graph_ptr
    out = np.zeros((len(batch), 3), np.uint64)  # two words of a key, and 1 if there is one

    def write_some(first: int, last: int) -> int:
        room = content_keys.with_scratch(
            classes, int(batch.nodes_per_graph[first:last].max(initial=0)), _N_NOTES
        )
        return int(_write_keys(first, last, graph_ptr, room, out))

    work = classes.messages.indptr[graph_ptr] + graph_ptr  # one step per message and per node
    run_ranges(write_some, balanced_ranges(work))
    keys = out[:, :2].copy()
    left = np.flatnonzero(out[:, 2] == 0)
    if len(left):
        keys[left] = _keys_by_components(batch[left])
    return keys


def _keys_by_components(batch: GraphBatch) -> UInt64:
    """Return keys of the graphs for which `_write_keys` found none.

    The key of an undirected graph with several components is made of theirs, because each of them is smaller
    and may be determined by its colours. Components are cut out as rooted subgraphs, which follow arcs: in a
    directed graph a root need not reach all of its component, so a directed graph stays whole.
    """
    from scipy import sparse  # noqa: PLC0415  (slow to load, rarely needed)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    arcs = sparse.csr_array(
        (np.ones(len(batch.indices), np.int8), batch.indices, batch.indptr), shape=(batch.n_nodes,) * 2
    )
    _, number = connected_components(arcs, directed=False)
    roots = np.sort(np.unique(number, return_index=True)[1]).astype(np.int64)  # one node of each component
    graph_of_root = np.searchsorted(batch.graph_ptr, roots, side="right") - 1
    n_components = np.bincount(graph_of_root, minlength=len(batch))
    several = (n_components > 1) & (not batch.directed)
    out = np.empty((len(batch), 2), np.uint64)
    connected = np.flatnonzero(~several)
    for graph, form in zip(connected.tolist(), certificates(batch, connected.tolist())):
        out[graph] = np.frombuffer(blake2b(form, digest_size=16, person=b"twl2 form").digest(), "<u8")
    if several.any():
        hops = int(batch.nodes_per_graph.max())  # enough to reach all of a component
        keys = exact_keys(rooted_subgraphs(batch, hops, roots[several[graph_of_root]]).as_batch(batch))
        folds = np.empty((int(several.sum()), 2), np.uint64)
        content_keys.fold_keys(pointer(n_components[several]), keys, np.full_like(keys, _COMPONENT), folds)
        out[several] = folds
    return out


@kernel
def _write_keys(first: int, last: int, graph_ptr: Int64, classes: Classes, out: UInt64) -> int:
    """Write the keys of graphs ``first..last``, and 1 behind each key; return the graph where it stopped.

    It stops after about `STEPS_PER_PIECE` steps and is called again for the rest (see `run_ranges`).
    """
    indptr, steps = classes.messages.indptr, np.int64(0)
    for graph in range(first, last):
        if steps > STEPS_PER_PIECE:
            return graph
        low, high = graph_ptr[graph], graph_ptr[graph + 1]
        steps += indptr[high] - indptr[low] + high - low
        open_class = class_to_split(low, high, classes)
        if open_class >= 0:
            steps += _search_key(low, high, open_class, classes, out[graph])
        else:
            _digest(low, high, classes, out[graph])
    return last


@kernel
def _digest(low: int, high: int, classes: Classes, out: UInt64) -> None:
    """Write the key of the multiset of a graph's signatures, and 1 behind it."""
    words, directed = classes.words, np.uint64(classes.directed)
    a, b = directed, np.uint64(high - low)
    for node in range(low, high):
        x, y = blend(words[node, SIGNATURE], words[node, SIGNATURE + 1], content_keys.RECEIVED)
        a += x
        b += y
    a, b = blend(a, b, content_keys.WHOLE)
    out[0], out[1] = content_keys.absorb(a, b, np.uint64(high - low), directed)
    out[2] = 1


@kernel
def _search_key(low: int, high: int, open_class: int, classes: Classes, out: UInt64) -> int:
    """Search for the key of a graph that its stable colours do not determine; return the steps taken.

    First a path: nodes are individualised, each the first of the class that `class_to_split` names, until the
    colours determine the graph. The digest of these colours is written to ``out``. It must not depend on
    which node of a class was chosen. So each other node of each of these classes is tried as well, followed
    by first choices. Where two graphs are determined by their colours, equal digests mean that they are
    isomorphic, so two choices with equal digests are equivalent, and so is all that follows from them. If one
    choice leads to another digest, ``out[2]`` is set to 0, and the graph gets no key here.
    """
    words, marks, indptr = classes.words, classes.marks, classes.messages.indptr
    n = high - low
    cost = indptr[high] - indptr[low] + n
    # Wherever this returns before the digest is written, ``out[2]`` is still 0: the graph gets no key.
    if n * _DEEPEST > _MOST_STEPS:  # too much memory for the snapshots
        return 0
    # A number that no earlier round had: all rounds but the first and the last split a class, so there were
    # at most n + 1. It is never reset, not even when classes are restored, because _QUEUED_IN stores it.
    classes.round[0] = n + 3
    # By level: a snapshot of the classes before the node of this level was individualised, and its class.
    words_at = np.empty((_DEEPEST, n, words.shape[1]), np.uint64)
    marks_at = np.empty((_DEEPEST, n, marks.shape[1]), np.int32)
    open_class_at = np.empty(_DEEPEST, np.int64)
    depth = n_refinements = np.int64(0)
    while open_class >= 0:
        if depth == _DEEPEST:
            return cost * depth
        words_at[depth], marks_at[depth], open_class_at[depth] = words[low:high], marks[low:high], open_class
        # A rough estimate of the refinements that follow. Do not refine it: it decides which kind of key a
        # graph gets, so another estimate would change stored keys.
        n_refinements += marks[open_class, LENGTH] * (depth + 1)
        content_keys.individualise(marks[open_class, NODE], depth, low, classes)
        open_class = class_to_split(low, high, classes)
        depth += 1
    if n_refinements * cost > _MOST_STEPS:
        return cost * depth
    sign_all(low, high, classes)
    _digest(low, high, classes, out)
    # Every other choice must lead to the same key. From the last level to the first: the choices of the last
    # one change the fewest classes.
    signatures = words[low:high, SIGNATURE:].copy()
    for level in range(depth - 1, -1, -1):
        begin = open_class_at[level] - low
        class_nodes = marks_at[level, begin:, NODE][: marks_at[level, begin, LENGTH]]  # the first was chosen
        is_equivalent = np.zeros(n, np.bool_)
        is_equivalent[class_nodes[0] - low] = True
        for node in class_nodes[1:]:
            if is_equivalent[node - low]:
                continue
            words[low:high], marks[low:high] = words_at[level], marks_at[level]
            if not _leads_to(out, node, level, depth, low, high, classes):
                out[2] = 0
                return cost * n_refinements
            _record_automorphism(low, signatures, class_nodes, classes, is_equivalent)
            is_equivalent[node - low] = True
    return cost * n_refinements


@kernel
def _leads_to(key: UInt64, node: int, level: int, depth: int, low: int, high: int, classes: Classes) -> bool:
    """Return whether individualising ``node`` at this level leads to the same key at the same depth."""
    for deeper in range(level, depth):
        content_keys.individualise(node, deeper, low, classes)
        open_class = class_to_split(low, high, classes)
        if (open_class < 0) != (deeper + 1 == depth):
            return False
        # Without an open class the loop ends, and ``node`` is not used.
        node = classes.marks[max(open_class, 0), NODE]
    sign_all(low, high, classes)
    found = np.empty(3, np.uint64)
    _digest(low, high, classes, found)
    return found[0] == key[0] and found[1] == key[1]


@kernel
def _record_automorphism(
    low: int, signatures: UInt64, class_nodes: Int32, classes: Classes, is_equivalent: Bool
) -> None:
    """Mark the nodes of a class that the automorphism just found proves equivalent.

    Another choice gave the same key as the first one, so an automorphism maps the classes of the first path
    to those of the other: a node that is alone in its class to the one with the same signature. A node and
    its image are equivalent. So if one of them is equivalent to the first choice, both are, and neither has
    to be tried.

    Parameters
    ----------
    signatures : array of uint64, shape (n, 2)
        The last signature of each node on the first path; ``classes`` has those of the other.
    class_nodes
        The nodes to choose from.
    is_equivalent : array of bool, shape (n,)
        Which of them are known to be equivalent to the first choice.
    """
    words, marks = classes.words, classes.marks
    for there in class_nodes:
        if marks[marks[there, CLASS], LENGTH] > 1:
            continue
        a, b = words[there, SIGNATURE], words[there, SIGNATURE + 1]
        for here in class_nodes:
            if signatures[here - low, 0] == a and signatures[here - low, 1] == b:
                alike = is_equivalent[here - low] or is_equivalent[there - low]
                is_equivalent[here - low] = is_equivalent[there - low] = alike
                break


# Whether stable colours determine a graph, and which class is left open if they do not.
#
# All nodes of a stable class Q have the same relations to a stable class P. If a node is related to all of P
# in the same way, the pair holds no information. If every node of Q singles out one node of P (for example
# its only neighbour there, or the only one that is not), Q *hangs on* P: equally many nodes of Q belong to
# each node of P, and which ones they are does not matter up to isomorphism. So if classes hang on one another
# like a forest, the colours determine the graph: any two graphs with these classes and relations are
# isomorphic.
#
#     Q    q1   q2   q3   q4      Each node of Q has one neighbour in P, so Q hangs on P: giving q1 and q3 to
#           |    |    |    |      p1, and q2 and q4 to p2, is the same graph up to isomorphism.
#     P      p1         p2

# The relation of a class to another: all pairs of nodes alike (which includes that no messages pass between
# them); each node singles one out; anything else. _OTHER is always a safe answer: at worst a graph that its
# colours do determine is searched without need. Two classes are *partners* if their relation is not _ALIKE.
_ALIKE, _SINGLES_ONE_OUT, _OTHER = 0, 1, 2
# Columns of `notes`. Rows are counted from the first node of the graph; what a row stands for depends on the
# column:
#
# - Row = class (its first position). _DEGREE: number of its partners that are left. _PARTNERS: the exclusive
#   or of these; if only one is left, it is that one's number. _INNER: its relation to itself.
# - _LIST: a stack of classes with one partner, which begins in row 0.
# - Row = sending class, while one receiver is looked at. _N_MESSAGES: how many messages the receiver gets
#   from it. _N_OF_FIRST: how many of these are of the kind _FIRST. _SECOND: another kind, _NO_KIND or
#   _MANY_KINDS. _RECEIVER: the class of the receiver, which shows whether the row is up to date.
# - Row = sending node. _LAST: the last node that received a message from it.
_DEGREE, _PARTNERS, _INNER, _LIST = 0, 1, 2, 3
_N_MESSAGES, _N_OF_FIRST, _FIRST, _SECOND, _RECEIVER = 4, 5, 6, 7, 8
_LAST, _N_NOTES = 9, 10
_NO_KIND, _MANY_KINDS = -1, -2


@kernel
def class_to_split(low: int, high: int, classes: Classes) -> int:
    """Return a class that the stable colours leave open, or -1 if they determine the graph.

    The graph has the nodes ``low..high``. A class is named by its first position.
    """
    _note_relations(low, high, classes)
    marks, notes = classes.marks, classes.notes
    n_leaves = 0
    begin = low
    while begin < high:
        if notes[begin - low, _DEGREE] == 1:
            notes[n_leaves, _LIST] = begin
            n_leaves += 1
        begin += marks[begin, LENGTH]
    # Remove classes that hang on their only partner, like leaves of a tree, until there are none of these.
    while n_leaves > 0:
        n_leaves -= 1
        leaf = notes[n_leaves, _LIST]
        # The partner may have been removed meanwhile; and a class with an inner structure is not determined.
        if notes[leaf - low, _DEGREE] != 1 or notes[leaf - low, _INNER] != _ALIKE:
            continue
        stem = notes[leaf - low, _PARTNERS]
        _count_messages(marks[leaf, NODE], leaf, low, classes)
        if _relation(leaf, stem, low, classes) != _SINGLES_ONE_OUT:
            continue
        notes[leaf - low, _DEGREE] = 0
        notes[stem - low, _DEGREE] -= 1
        notes[stem - low, _PARTNERS] ^= leaf
        if notes[stem - low, _DEGREE] == 1:
            notes[n_leaves, _LIST] = stem
            n_leaves += 1
    return _smallest_open_class(low, high, classes)


@kernel
def _note_relations(low: int, high: int, classes: Classes) -> None:
    """Write the number of partners of each class, their exclusive or, and the relation to itself."""
    marks, notes = classes.marks, classes.notes
    indptr, indices, _, _ = classes.messages
    begin = low
    while begin < high:
        place = begin - low
        notes[place, _DEGREE] = notes[place, _PARTNERS] = notes[place, _INNER] = 0
        if marks[begin, LENGTH] > 1:
            node = marks[begin, NODE]
            _count_messages(node, begin, low, classes)
            for message in range(indptr[node], indptr[node + 1]):
                other = marks[indices[message], CLASS]
                if notes[other - low, _RECEIVER] != begin:  # a class of one node, or seen before
                    continue
                relation = _relation(begin, other, low, classes)
                notes[other - low, _RECEIVER] = -1
                if other == begin:
                    notes[place, _INNER] = relation
                elif relation != _ALIKE:
                    notes[place, _DEGREE] += 1
                    notes[place, _PARTNERS] ^= other
        begin += marks[begin, LENGTH]


@kernel
def _count_messages(node: int, begin: int, low: int, classes: Classes) -> None:
    """Count the messages that a node, the first of class ``begin``, receives from each larger class.

    One node is enough, because all nodes of a stable class receive the same multiset of messages. Classes of
    one node are left out: their relations are the same for all nodes of a class.
    """
    marks, notes = classes.marks, classes.notes
    indptr, indices, codes, _ = classes.messages
    for message in range(indptr[node], indptr[node + 1]):
        notes[indices[message] - low, _LAST] = -1
        notes[marks[indices[message], CLASS] - low, _RECEIVER] = -1
    for message in range(indptr[node], indptr[node + 1]):
        other = marks[indices[message], CLASS]
        if marks[other, LENGTH] == 1:
            continue
        code = codes[message] if len(codes) else 0
        row = other - low
        if notes[row, _RECEIVER] != begin:
            notes[row, _RECEIVER] = begin
            notes[row, _N_MESSAGES] = notes[row, _N_OF_FIRST] = 0
            notes[row, _FIRST] = code
            notes[row, _SECOND] = _NO_KIND
        notes[row, _N_MESSAGES] += 1
        if code == notes[row, _FIRST]:
            notes[row, _N_OF_FIRST] += 1
        elif notes[row, _SECOND] in (_NO_KIND, code):
            notes[row, _SECOND] = code
        else:
            notes[row, _SECOND] = _MANY_KINDS
        sender = indices[message] - low
        if notes[sender, _LAST] == node:  # twice from the same node: arcs both ways
            notes[row, _SECOND] = _MANY_KINDS
        notes[sender, _LAST] = node


@kernel
def _relation(begin: int, other: int, low: int, classes: Classes) -> int:
    """Return the relation of class ``begin`` to another, from what `_count_messages` has counted."""
    row, notes = other - low, classes.notes
    n = classes.marks[other, LENGTH] - (other == begin)  # a node has no relation to itself
    n_messages, n_of_first = notes[row, _N_MESSAGES], notes[row, _N_OF_FIRST]
    if notes[row, _SECOND] == _MANY_KINDS:
        return _OTHER
    if n_of_first == n:
        return _ALIKE
    if n_of_first == n_messages and n_messages in (1, n - 1):  # one neighbour, or one that is not
        return _SINGLES_ONE_OUT
    if n_messages == n and n_of_first in (1, n - 1):  # one edge is of another kind
        return _SINGLES_ONE_OUT
    return _OTHER


@kernel
def _smallest_open_class(low: int, high: int, classes: Classes) -> int:
    """Return the smallest class that is left (in a tie, the one with the smallest key), or -1.

    The choice depends on lengths and keys only, so it is the same in isomorphic graphs.
    """
    words, marks, notes = classes.words, classes.marks, classes.notes
    chosen, least = -1, (0, np.uint64(0), np.uint64(0))
    begin = low
    while begin < high:
        length, node = int(marks[begin, LENGTH]), marks[begin, NODE]
        rank = length, words[node, KEY], words[node, KEY + 1]
        is_left = notes[begin - low, _DEGREE] > 0 or notes[begin - low, _INNER] == _OTHER
        if length > 1 and is_left and (chosen < 0 or rank < least):
            chosen, least = begin, rank
        begin += length
    return chosen
