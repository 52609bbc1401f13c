"""Label passing: exact 1-WL colours of all nodes of a batch.

Which nodes lie on a cycle: one depth-first search over all graphs, linear in nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arguments import checked, integer, one_of
from twinwl.arrays import Bool, Int32, Int64, pointer
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.graphs.labels import Label, recode
from twinwl.refinement.alphabet import Alphabet, Round, RoundTable
from twinwl.refinement.round_kernels import Messages, translate
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch


@kernel
def on_cycle(indptr: Int64, indices: Int32) -> Bool:
    """Return whether each node lies on a cycle.

    Parameters
    ----------
    indptr, indices
        Neighbours of each node, in both directions; repeated ones count once.

    Returns
    -------
    array of bool, shape (n_nodes,)

    >>> from twinwl import GraphBatch
    >>> lollipop = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0), (2, 3)]])
    >>> on_cycle(lollipop.indptr, lollipop.indices)
    array([ True,  True,  True, False])
    """
    n = len(indptr) - 1
    found = np.zeros(n, np.bool_)
    place = np.full(n, -1, np.int64)  # in the order of the search
    lowest = np.empty(n, np.int64)  # the first place that a node or what is below it has an edge to
    parent = np.empty(n, np.int32)
    arc = indptr[:-1].copy()  # the next one to walk
    n_seen = 0
    for root in range(n):
        if place[root] >= 0:
            continue
        parent[root] = -1
        node = np.int64(root)
        while node >= 0:
            if place[node] < 0:
                place[node] = lowest[node] = n_seen
                n_seen += 1
            if arc[node] < indptr[node + 1]:
                other = np.int64(indices[arc[node]])
                arc[node] += 1
                if place[other] < 0:
                    parent[other] = node
                    node = other
                elif other != parent[node] and place[other] < place[node]:
                    lowest[node] = min(lowest[node], place[other])
                    found[node] = found[other] = True
                continue
            above = np.int64(parent[node])
            if above >= 0:
                lowest[above] = min(lowest[above], lowest[node])
                # An edge of the search is on a cycle if something below it leads back to above it.
                if lowest[node] <= place[above]:
                    found[node] = found[above] = True
            node = above
    return found


INITIALS = ("label", "degree", "ring")

# Threads fill tables of their own for one block of nodes at a time, so memory does not grow with the batch.
_NODES_PER_BLOCK = 1 << 18


class Colouring(NamedTuple):
    """The colours of every node in every round, and the alphabet they come from.

    ``colours`` has shape (n_iter + 1, n_nodes); -1 marks a signature that is not in a frozen alphabet.
    """

    colours: Int32
    alphabet: Alphabet

    @property
    def n_iter(self) -> int:
        """Number of rounds after round 0."""
        return len(self.colours) - 1


def refine(
    batch: GraphBatch,
    n_iter: int | None,
    *,
    edge_labels: bool = False,
    initial: str = "label",
    alphabet: Alphabet | None = None,
    extend: bool = False,
    n_threads: int | None = None,
) -> Colouring:
    """Run rounds of 1-WL on all graphs of a batch, with one alphabet.

    Parameters
    ----------
    batch
        The graphs.
    n_iter
        Number of rounds; None continues until the partition of the whole batch is stable.
    edge_labels
        Pair each neighbour's colour with the label of the edge, if the batch has edge labels.
    initial
        Initial colour: the node's ``"label"``, its ``"degree"`` (out-degree in directed graphs), or
        ``"ring"``: its label and whether it lies on a cycle (the direction of arcs does not matter).
    alphabet
        A frozen alphabet to use; it sets ``n_iter``, ``edge_labels`` and ``initial``. Signatures that are not
        in it get the colour -1, and so does every signature that contains -1.
    extend
        Give signatures that are not in the alphabet new colours instead, in a new alphabet; the given one is
        not changed.
    n_threads
        Number of threads; None uses all cores. The result does not depend on it.

    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> refine(path, 2).colours
    array([[0, 0, 0],
           [0, 1, 0],
           [0, 1, 0]], dtype=int32)
    """
    n_iter = checked("n_iter", n_iter, integer(0), None)
    initial = checked("initial", initial, one_of(*INITIALS))
    insert = alphabet is None or extend
    if alphabet is None:
        use_edges = edge_labels and batch.edge_labels is not None
        alphabet = Alphabet((), () if use_edges else None, initial, batch.directed, ())
    else:
        n_iter = alphabet.n_iter
    if alphabet.directed != batch.directed:
        kinds = ("undirected", "directed")
        raise TwinWLError(
            f"the alphabet is for {kinds[alphabet.directed]} graphs, but these are {kinds[batch.directed]}"
        )
    if alphabet.edge_labels is not None and batch.edge_labels is None:
        raise TwinWLError("the alphabet was built with edge labels, which these graphs lack; add them")
    first, labels = _initial_colours(batch, alphabet, insert=insert)
    messages, edge_vocabulary = _edge_messages(batch, alphabet, insert=insert)
    rows, rounds, n_colours = [first], list[Round](), len(labels)
    tables = _later_rounds(messages, first, n_colours, alphabet.rounds, insert=insert, n_threads=n_threads)
    while n_iter is None or len(rounds) < n_iter:
        colours, table = next(tables)
        # A round only ever splits colours, so as many colours as before means the same partition.
        if n_iter is None and table.n_colours == n_colours:
            break
        rows.append(colours)
        rounds.append(table.finished() if insert else alphabet.rounds[len(rounds)])
        n_colours = table.n_colours
    if insert:
        alphabet = Alphabet(labels, edge_vocabulary, alphabet.initial, batch.directed, tuple(rounds))
    return Colouring(np.array(rows), alphabet)


def colour_rounds(batch: GraphBatch) -> Iterator[Int32]:
    """Yield the colours of round 0, 1, … without end; edge labels are used if there are any.

    Once the partition is stable, every round is the same.

    >>> from twinwl import GraphBatch
    >>> [row.tolist() for row, _ in zip(colour_rounds(GraphBatch.from_edges([[(0, 1), (1, 2)]])), range(3))]
    [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    """
    codes = () if batch.edge_labels is not None else None
    alphabet = Alphabet((), codes, "label", batch.directed, ())
    colours, labels = _initial_colours(batch, alphabet, insert=True)
    messages, _ = _edge_messages(batch, alphabet, insert=True)
    n_colours = len(labels)
    yield colours
    for row, table in _later_rounds(messages, colours, n_colours, (), insert=True, n_threads=None):
        if table.n_colours == n_colours:
            yield from repeat(row)
        yield row
        n_colours = table.n_colours


def _later_rounds(
    messages: Messages,
    colours: Int32,
    n_colours: int,
    known: tuple[Round, ...],
    *,
    insert: bool,
    n_threads: int | None,
) -> Iterator[tuple[Int32, RoundTable]]:
    """Yield the colours of round 1, 2, … and the table of their signatures, which the next round reuses."""
    table = RoundTable(n_colours, messages.n_codes)
    for h in count():
        if known:
            table = RoundTable(n_colours, messages.n_codes, known[h])
        else:
            table.start_over(n_colours)
        before, colours = colours, np.empty_like(colours)
        colour_round(messages, before, table, colours, insert=insert, n_threads=n_threads)
        yield colours, table
        n_colours = table.n_colours


def colour_round(
    messages: Messages,
    before: Int32,
    table: RoundTable,
    after: Int32,
    *,
    insert: bool,
    n_threads: int | None = None,
) -> None:
    """Write the colours after one more round; new signatures are added to the table if ``insert`` is set.

    Parameters
    ----------
    messages
        Senders and receivers.
    before, after : arrays of int32, shape (n_nodes,)
        Colours of the previous round (in) and of this one (out).
    table
        The signatures known so far.
    insert
        Whether unknown signatures become colours of the table; otherwise they get -1.
    n_threads
        Maximum number of threads; None uses all cores. Colours are always numbered by first occurrence.
    """
    n_nodes = len(messages.indptr) - 1
    for first, last in pairwise([*range(0, n_nodes, _NODES_PER_BLOCK), n_nodes]):
        ranges = [
            (first + low, first + high)
            for low, high in balanced_ranges(messages.indptr[first : last + 1], n_threads)
        ]
        # A frozen table is only read, so all threads share it. One that grows belongs to the first thread;
        # the others fill tables of their own, whose few colours are then added one range after another.
        tables = [table, *(table.apart() if insert else table for _ in ranges[1:])]
        table_of = dict(zip(ranges, tables, strict=True))
        for low, high in ranges if insert else []:
            # Allocated here and not on the thread: memory that this thread freed can be reused.
            table_of[low, high].make_room(high - low, int(messages.indptr[high] - messages.indptr[low]))

        def colour(low: int, high: int) -> None:
            table_of[low, high].pass_labels(messages, before, low, high, after, insert=insert)  # noqa: B023

        run_ranges(colour, ranges, n_threads)
        for low, high in ranges[1:] if insert else []:
            translate(low, high, table.absorb(table_of[low, high]), after)


def messages_of(batch: GraphBatch, edge_codes: Int32 | None, n_edge_codes: int) -> Messages:
    """Return the messages of a batch.

    Parameters
    ----------
    batch
        In a directed batch messages pass along arcs both ways, with different codes. Successors alone would
        miss much: two arcs into one node and two arcs into two nodes would look the same.
    edge_codes : array of int32, shape (n_arcs,), or None
        Code of each arc's label, if edge labels are used.
    n_edge_codes
        Number of distinct codes.
    """
    if not batch.directed:
        codes = np.empty(0, np.int32) if edge_codes is None else edge_codes
        return Messages(batch.indptr, batch.indices, codes, 1 if edge_codes is None else n_edge_codes)
    sources, targets = batch.arcs()
    labels = np.zeros(len(targets), np.int32) if edge_codes is None else edge_codes
    forward = np.where(labels < 0, -1, 2 * labels)
    backward = np.where(labels < 0, -1, 2 * labels + 1)
    heard_by = np.concatenate([sources, targets.astype(np.int64)])
    order = np.argsort(heard_by, kind="stable")
    return Messages(
        pointer(np.bincount(heard_by, minlength=batch.n_nodes)),
        np.concatenate([targets, sources.astype(np.int32)])[order],
        np.concatenate([forward, backward])[order].astype(np.int32),
        2 * (1 if edge_codes is None else n_edge_codes),
    )


def _initial_colours(
    batch: GraphBatch, alphabet: Alphabet, *, insert: bool
) -> tuple[Int32, tuple[Label, ...]]:
    """Return the colours of round 0 and their labels, only those that occur."""
    if alphabet.initial == "degree":
        degrees = np.diff(batch.indptr)
        values, inverse = np.unique(degrees, return_inverse=True)
        codes = inverse.astype(np.int32)
        here: tuple[Label, ...] = tuple(values.tolist())
    elif alphabet.initial == "ring":
        both_ways = messages_of(batch, None, 1)
        paired = 2 * batch.node_labels + on_cycle(both_ways.indptr, both_ways.indices)
        codes, used = _compressed(paired, 2 * len(batch.node_vocabulary))
        here = tuple((batch.node_vocabulary[code // 2], bool(code % 2)) for code in used)
    else:
        codes, used = _compressed(batch.node_labels, len(batch.node_vocabulary))
        here = tuple(batch.node_vocabulary[code] for code in used)
    return _translated(codes, here, alphabet.labels, insert=insert)


def _compressed(codes: Int32, n_codes: int) -> tuple[Int32, list[int]]:
    """Return codes numbered 0, 1, … in their order, only those that occur, and which they are."""
    occurs = np.zeros(n_codes, np.bool_)
    occurs[codes] = True
    used = np.flatnonzero(occurs)
    place = np.full(n_codes, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return place[codes], used.tolist()


def _edge_messages(
    batch: GraphBatch, alphabet: Alphabet, *, insert: bool
) -> tuple[Messages, tuple[Label, ...] | None]:
    if alphabet.edge_labels is None or batch.edge_labels is None:
        return messages_of(batch, None, 1), None
    codes, labels = _translated(batch.edge_labels, batch.edge_vocabulary, alphabet.edge_labels, insert=insert)
    return messages_of(batch, codes, max(1, len(labels))), labels


def _translated(
    codes: Int32, here: tuple[Label, ...], known: tuple[Label, ...], *, insert: bool
) -> tuple[Int32, tuple[Label, ...]]:
    """Translate codes to the alphabet's vocabulary; new labels are appended or, if frozen, become -1."""
    if not known and insert:
        return codes, here
    if insert:
        fresh = recode(np.arange(len(here), dtype=np.int32), here, known) < 0
        known = known + tuple(label for label, new in zip(here, fresh, strict=True) if new)
    return recode(codes, here, known), known
