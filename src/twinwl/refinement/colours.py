"""Label passing: exact 1-WL colours of all nodes of a batch, and the alphabet that they come from.

The alphabet is the mapping from signatures to colours of each round, shared by all graphs.

In this order: alphabets (`Round`, `Alphabet`), label passing (`refine`, `colours`, `colour_rounds`,
`colour_round`), the table of a single round (`RoundTable`), which nodes lie on a cycle (`on_cycle`), and how
kernels run on threads (`balanced_ranges`, `run_ranges`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise, repeat
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import FLAG, ROUNDS, checked, integer, one_of, owners, pointer, read_only
from twinwl.arrays import Bool, Int32, Int64, Ints
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike, as_batch
from twinwl.graphs.labels import Label, recode
from twinwl.refinement import round_kernels
from twinwl.refinement.round_kernels import UNSEEN, USUAL_DEGREE, KeyFormat, Messages, Signatures, Table

_Scalar = TypeVar("_Scalar", bound=np.generic)

INITIALS = ("label", "degree", "ring")

# Threads fill tables of their own for one block of nodes at a time, so memory does not grow with the batch.
_NODES_PER_BLOCK = 1 << 18
FULL_HASH = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Round:
    """The signatures of one round, in colour order.

    Attributes
    ----------
    sig_ptr : array of int64, shape (n_colours + 1,)
        Range of each colour's signature in ``sig_items``.
    sig_items : array of int32 or int64
        For each colour its own colour in the previous round, then the sorted items it receives; an item is
        ``message code * stride + colour``.
    stride : int
        Number of colours of the round before.
    n_codes : int
        Number of kinds of messages.
    """

    sig_ptr: Int64
    sig_items: Ints
    stride: int
    n_codes: int = 1

    @property
    def n_colours(self) -> int:
        """Number of colours of this round."""
        return len(self.sig_ptr) - 1

    @property
    def pairs(self) -> Ints:
        """Signatures of two items each, such as a colour and a rooted size, shape (n_colours, 2)."""
        return self.sig_items.reshape(-1, 2)

    def signature(self, colour: int) -> tuple[int, list[tuple[int, int]]]:
        """Return a colour's signature: its previous colour, and sorted pairs (message code, colour)."""
        own, *items = self.sig_items[self.sig_ptr[colour] : self.sig_ptr[colour + 1]].tolist()
        return own, [divmod(item, self.stride) for item in items]

    def with_stride(self, stride: int, n_codes: int) -> Round:
        """Return the same signatures with their items coded by another stride.

        A larger stride leaves room for more colours in the previous round. Own colours are below any stride,
        so they do not change.
        """
        if stride == self.stride and n_codes == self.n_codes:
            return self
        codes, colours = np.divmod(self.sig_items.astype(np.int64), self.stride)
        items = (codes * stride + colours).astype(item_dtype(stride, n_codes))
        return Round(self.sig_ptr, items, stride, n_codes)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """All that is needed to colour new graphs consistently with earlier ones.

    Attributes
    ----------
    labels : tuple of labels
        Colours of round 0: colour c stands for ``labels[c]``.
    edge_labels : tuple of labels, or None
        Vocabulary of edge labels, if they are used.
    initial : str
        ``"label"``, ``"degree"`` or ``"ring"``: the initial colour.
    directed : bool
    rounds : tuple of Round
        Rounds 1, 2, … in order.
    """

    labels: tuple[Label, ...]
    edge_labels: tuple[Label, ...] | None
    initial: str
    directed: bool
    rounds: tuple[Round, ...]

    @property
    def n_iter(self) -> int:
        """Number of rounds after round 0."""
        return len(self.rounds)

    @property
    def n_colours(self) -> list[int]:
        """Number of colours of each round, round 0 first."""
        return [len(self.labels), *(part.n_colours for part in self.rounds)]


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
    later_rounds = _later_rounds(messages, first, n_colours, alphabet.rounds, insert=insert)
    while n_iter is None or len(rounds) < n_iter:
        colours, table = next(later_rounds)
        # A round only ever splits colours, so as many colours as before means the same partition.
        if n_iter is None and table.n_colours == n_colours:
            break
        rows.append(colours)
        # The table is emptied and reused for the next round, so its signatures are copied; frozen rounds are
        # kept as they are.
        rounds.append(table.to_round() if insert else alphabet.rounds[len(rounds)])
        n_colours = table.n_colours
    if insert:
        alphabet = Alphabet(labels, edge_vocabulary, alphabet.initial, batch.directed, tuple(rounds))
    return Colouring(np.array(rows), alphabet)


def colours(
    graphs: GraphsLike, n_iter: int | None = 3, *, edge_labels: bool = False, initial: str = "label"
) -> Int32:
    """Return the colour of every node in rounds 0 to n_iter of 1-WL, with one alphabet for all graphs.

    Two nodes, of one graph or of two, have the same colour in a round if and only if their neighbourhoods up
    to that many steps look alike to 1-WL. The numbers of colours are those of this call only.

    Parameters
    ----------
    graphs
        A GraphBatch, or anything `twinwl.as_batch` accepts.
    n_iter
        Number of rounds; None continues until the partition of all nodes is stable.
    edge_labels
        Let edge labels take part, where the graphs have them.
    initial
        What round 0 looks at: ``"label"``, ``"degree"``, or ``"ring"`` for the label and whether the node
        lies on a cycle.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes)
        Nodes stand graph after graph: ``graph_ptr`` of the batch tells where each graph begins.

    Examples
    --------
    >>> import twinwl as tw
    >>> graphs = tw.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])
    >>> tw.colours(graphs, 1)
    array([[0, 0, 0, 0, 0, 0],
           [0, 1, 0, 1, 1, 1]], dtype=int32)
    >>> graphs.graph_ptr
    array([0, 3, 6])
    """
    rounds = checked("n_iter", n_iter, ROUNDS, None)
    use_edges = checked("edge_labels", edge_labels, FLAG)
    return refine(as_batch(graphs), rounds, edge_labels=use_edges, initial=initial).colours


def colour_rounds(batch: GraphBatch) -> Iterator[Int32]:
    """Yield the colours of round 0, 1, … without end; edge labels are used if there are any.

    Once the partition is stable, every round is the same.

    >>> from twinwl import GraphBatch
    >>> [row.tolist() for row, _ in zip(colour_rounds(GraphBatch.from_edges([[(0, 1), (1, 2)]])), range(3))]
    [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    """
    codes = () if batch.edge_labels is not None else None  # an empty vocabulary to fill, or no edge labels
    alphabet = Alphabet((), codes, "label", batch.directed, ())
    colours, labels = _initial_colours(batch, alphabet, insert=True)
    messages, _ = _edge_messages(batch, alphabet, insert=True)
    n_colours = len(labels)
    yield colours
    for row, table in _later_rounds(messages, colours, n_colours, (), insert=True):
        if table.n_colours == n_colours:
            yield from repeat(row)  # stable: every later round equals this one
        yield row
        n_colours = table.n_colours


def _later_rounds(
    messages: Messages, colours: Int32, n_colours: int, known: tuple[Round, ...], *, insert: bool
) -> Iterator[tuple[Int32, RoundTable]]:
    """Yield the colours of round 1, 2, … and the table of their signatures, without end.

    The table is only valid until the next round starts. With ``known`` rounds, each of them has a table
    of its own; without, one table is emptied and used again.
    """
    table = RoundTable(n_colours, messages.n_codes)  # replaced before use if there are known rounds
    for h in count():
        if known:
            table = RoundTable(n_colours, messages.n_codes, known[h])
        else:
            table.start_over(n_colours)
        before, colours = colours, np.empty_like(colours)
        colour_round(messages, before, table, colours, insert=insert)
        yield colours, table
        n_colours = table.n_colours


def colour_round(messages: Messages, before: Int32, table: RoundTable, after: Int32, *, insert: bool) -> None:
    """Write the colours after one more round; new signatures are added to the table if ``insert`` is set.

    Parameters
    ----------
    messages
        Senders and receivers.
    before, after : arrays of int32, shape (n_nodes,)
        Colours of the previous round (in) and of this one (out). ``before`` may be longer than n_nodes:
        senders that receive nothing themselves come after the receivers.
    table
        The signatures known so far.
    insert
        Whether unknown signatures become colours of the table; otherwise they get -1. Colours are numbered by
        first occurrence, whatever the number of threads.
    """
    n_nodes = len(messages.indptr) - 1
    for first, last in pairwise([*range(0, n_nodes, _NODES_PER_BLOCK), n_nodes]):
        ranges = [
            (first + low, first + high) for low, high in balanced_ranges(messages.indptr[first : last + 1])
        ]
        # A frozen table is only read, so all threads share it. One that grows belongs to the first range; the
        # others fill tables of their own, whose few colours are then added one range after another.
        table_of = {part: table.empty_copy() if insert and part[0] > first else table for part in ranges}
        for low, high in ranges if insert else []:
            # Allocated on this thread: the allocator keeps freed memory for the thread that allocated it, and
            # this one allocated the tables of earlier blocks.
            table_of[low, high].make_room(high - low, int(messages.indptr[high] - messages.indptr[low]))

        def colour(low: int, high: int) -> None:
            # Only called within this iteration, so the variables of the loop are the right ones.
            table_of[low, high].pass_labels(messages, before, low, high, after, insert=insert)  # noqa: B023

        run_ranges(colour, ranges)
        # Replace the numbers that each thread gave by those of the shared table, in node order.
        for low, high in ranges[1:] if insert else []:
            after[low:high] = table.take_over(table_of[low, high])[after[low:high]]


def messages_of(batch: GraphBatch, edge_codes: Int32 | None, n_edge_codes: int) -> Messages:
    """Return the messages of a batch.

    Parameters
    ----------
    batch
        In a directed batch messages pass along arcs both ways, with different codes. If nodes only received
        messages from their successors, two arcs into one node and two arcs into two nodes would look the
        same.
    edge_codes : array of int32, shape (n_arcs,), or None
        Code of each arc's label, if edge labels are used.
    n_edge_codes
        Number of distinct codes.
    """
    if not batch.directed:
        codes = np.empty(0, np.int32) if edge_codes is None else edge_codes
        n_codes = 1 if edge_codes is None else n_edge_codes
        return read_only_messages(batch.indptr, batch.indices, codes, n_codes)
    sources, targets = batch.arcs()
    # A label that is not in a frozen alphabet, -1, has negative codes in both directions.
    forward = np.zeros(len(targets), np.int32) if edge_codes is None else 2 * edge_codes
    receivers = np.concatenate([sources, targets.astype(np.int64)])
    order = np.argsort(receivers, kind="stable")
    return read_only_messages(
        pointer(np.bincount(receivers, minlength=batch.n_nodes)),
        np.concatenate([targets, sources.astype(np.int32)])[order],
        np.concatenate([forward, forward + 1])[order],
        2 * (1 if edge_codes is None else n_edge_codes),
    )


def read_only_messages(indptr: Int64, indices: Int32, codes: Int32, n_codes: int) -> Messages:
    """Return messages with read-only arrays, as those of a batch are.

    To numba, read-only arrays are of another type: with some of either, every kernel would be compiled once
    for directed graphs, for edge labels, and for neither.
    """
    return Messages(read_only(indptr), read_only(indices), read_only(codes), n_codes)


def _initial_colours(
    batch: GraphBatch, alphabet: Alphabet, *, insert: bool
) -> tuple[Int32, tuple[Label, ...]]:
    """Return the colours of round 0, shape (n_nodes,), and the labels of all colours.

    These are the labels of the alphabet, with new ones appended if ``insert`` is set.
    """
    if alphabet.initial == "degree":
        degrees = np.diff(batch.indptr)
        values, inverse = np.unique(degrees, return_inverse=True)
        codes = inverse.astype(np.int32)
        vocabulary: tuple[Label, ...] = tuple(values.tolist())
    elif alphabet.initial == "ring":
        both_ways = messages_of(batch, None, 1)
        paired = 2 * batch.node_labels + on_cycle(both_ways.indptr, both_ways.indices)
        codes, used = _compress(paired, 2 * len(batch.node_vocabulary))
        vocabulary = tuple((batch.node_vocabulary[code // 2], bool(code % 2)) for code in used)
    else:
        codes, used = _compress(batch.node_labels, len(batch.node_vocabulary))
        vocabulary = tuple(batch.node_vocabulary[code] for code in used)
    return _translate(codes, vocabulary, alphabet.labels, insert=insert)


def _compress(codes: Int32, n_codes: int) -> tuple[Int32, list[int]]:
    """Return codes numbered 0, 1, … in their order, without gaps, and the codes that occur."""
    occurs = np.zeros(n_codes, np.bool_)
    occurs[codes] = True
    used = np.flatnonzero(occurs)
    place = np.full(n_codes, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return place[codes], used.tolist()


def _edge_messages(
    batch: GraphBatch, alphabet: Alphabet, *, insert: bool
) -> tuple[Messages, tuple[Label, ...] | None]:
    """Return the messages of a batch and the vocabulary of edge labels; None if they are not used."""
    if alphabet.edge_labels is None or batch.edge_labels is None:
        return messages_of(batch, None, 1), None
    codes, labels = _translate(batch.edge_labels, batch.edge_vocabulary, alphabet.edge_labels, insert=insert)
    return messages_of(batch, codes, max(1, len(labels))), labels


def _translate(
    codes: Int32, vocabulary: tuple[Label, ...], alphabet_labels: tuple[Label, ...], *, insert: bool
) -> tuple[Int32, tuple[Label, ...]]:
    """Translate codes to the alphabet's vocabulary; new labels are appended or, if frozen, become -1."""
    if not alphabet_labels and insert:
        return codes, vocabulary
    if insert:
        fresh = recode(np.arange(len(vocabulary), dtype=np.int32), vocabulary, alphabet_labels) < 0
        alphabet_labels = alphabet_labels + tuple(label for label, new in zip(vocabulary, fresh) if new)
    return recode(codes, vocabulary, alphabet_labels), alphabet_labels


def item_dtype(stride: int, n_codes: int) -> np.dtype[np.signedinteger]:
    """Return the smallest type that holds every item of a round."""
    return np.dtype(np.int32 if stride * n_codes < np.iinfo(np.int32).max else np.int64)


class RoundTable:
    """A round under construction or in use: its signatures and the hash table over them.

    Parameters
    ----------
    stride, n_codes
        Number of colours of the round before and of kinds of messages.
    known
        Signatures to start from.
    hash_mask
        The bits of hashes that are used; narrowed by tests only, to force collisions.
    """

    def __init__(
        self,
        stride: int,
        n_codes: int,
        known: Round | None = None,
        *,
        hash_mask: int = FULL_HASH,
    ) -> None:
        self.n_codes = n_codes
        n_colours = 0 if known is None else known.n_colours
        sig_ptr, sig_items = np.zeros(1, np.int64), np.empty(0, item_dtype(stride, n_codes))
        if known is not None:
            same = known.with_stride(stride, n_codes)
            # Kernels are compiled for writable arrays, but those of a memory-mapped model are read-only.
            sig_ptr = np.require(same.sig_ptr, requirements="W")
            sig_items = np.require(same.sig_items, requirements="W")
        self._table = Table(
            _key_format(stride, n_codes, np.uint64(hash_mask)),
            np.zeros(_table_length(n_colours), np.uint64),
            Signatures(np.empty((n_colours, 2), np.uint64), sig_ptr, sig_items),
            np.array([n_colours]),
        )
        self._entered = False
        self._ready()  # now and not on first use: threads share a frozen table

    @property
    def stride(self) -> int:
        """Number of colours of the previous round that keys have room for."""
        return self._table.key_format.stride

    @property
    def n_colours(self) -> int:
        """Number of colours so far."""
        return int(self._table.n_colours[0])

    def empty_copy(self) -> RoundTable:
        """Return an empty table with the same keys, for another thread."""
        return RoundTable(self.stride, self.n_codes, hash_mask=int(self._table.key_format.hash_mask))

    def start_over(self, stride: int) -> None:
        """Remove all signatures and prepare keys for the next round; the memory is reused."""
        key_format, slots, known, n_colours = self._table
        items = known.sig_items.astype(item_dtype(stride, self.n_codes), copy=False)
        self._table = Table(
            _key_format(stride, self.n_codes, key_format.hash_mask),
            slots,
            Signatures(known.keys, known.sig_ptr, items),
            n_colours,
        )
        known.sig_ptr[0] = n_colours[0] = 0
        self._entered = False

    def make_room(self, n_signatures: int, n_items: int) -> None:
        """Grow every array for the worst case, in which all signatures are new."""
        key_format, slots, known, _ = self._table
        n_colours = self.n_colours
        n_stored = int(known.sig_ptr[n_colours]) + n_signatures + n_items
        n_colours += n_signatures
        signatures = Signatures(
            grown(known.keys, n_colours),
            grown(known.sig_ptr, n_colours + 1),
            grown(known.sig_items, n_stored + 1),
        )
        if _table_length(n_colours) > len(slots):
            slots = np.empty(_table_length(n_colours), np.uint64)
            self._entered = False
        self._table = Table(key_format, slots, signatures, self._table.n_colours)

    def pass_labels(
        self, messages: Messages, before: Int32, first: int, last: int, after: Int32, *, insert: bool
    ) -> None:
        """Colour nodes ``first..last``; unknown signatures become colours or, frozen, -1.

        There must be room for the new colours.
        """
        round_kernels.pass_labels(first, last, messages, before, self._ready(), insert, after)

    def colour_pairs(self, own: Int32, received: Int32, out: Int32, *, insert: bool) -> None:
        """Colour pairs (own, received): signatures of one item, given directly instead of by messages.

        Digits must have 26 to 32 bits. Five digits of 26 bits exceed 126, so nothing is padded; two digits of
        32 bits fit into the low word, so the high word holds only the kind of the key.
        """
        # -1 wraps around to 0.
        digits = np.array([own, received]).astype(np.uint64) + np.uint64(1)
        low = (digits[0] << np.uint64(self._table.key_format.bits)) | digits[1]
        keys = np.column_stack([np.where(own < 0, UNSEEN, np.uint64(0)), low])
        if insert:
            self.make_room(len(keys), len(keys))
        none = np.empty(0, np.int64)
        round_kernels.look_up(len(keys), Signatures(keys, none, none), self._ready(), insert, 0, out)

    def take_over(self, other: RoundTable) -> Int32:
        """Append the new colours of another table; return the number here of each of its colours.

        The result has one more entry, -1, so that the colour -1 is translated to itself when it is used as an
        index (index -1 is the last entry).
        """
        known, n_colours = other._table.known, other.n_colours
        self.make_room(n_colours, int(known.sig_ptr[n_colours]) - n_colours)
        became = np.full(n_colours + 1, -1, np.int32)
        insert = True
        round_kernels.look_up(n_colours, known, self._ready(), insert, 0, became)
        return became

    def to_round(self) -> Round:
        """Return all signatures so far, trimmed to their size."""
        known = self._table.known
        sig_ptr = known.sig_ptr[: self.n_colours + 1].copy()
        return Round(sig_ptr, known.sig_items[: sig_ptr[-1]].copy(), self.stride, self.n_codes)

    def _ready(self) -> Table:
        """Return the table with all colours entered."""
        if not self._entered:
            self._table.slots.fill(0)
            if self.n_colours:
                round_kernels.enter_all(self._table)
            self._entered = True
        return self._table


def _key_format(stride: int, n_codes: int, hash_mask: np.uint64) -> KeyFormat:
    """Return the key format of a round: digits are an item plus one, so at most ``stride * n_codes``."""
    bits = max(1, (stride * n_codes).bit_length())
    padded = USUAL_DEGREE if (USUAL_DEGREE + 1) * bits <= round_kernels.PACKED_BITS else -1
    return KeyFormat(stride, bits, padded, hash_mask)


def _table_length(n_colours: int) -> int:
    """Return a power of two that keeps the table at most half full."""
    return 1 << max(4, (2 * n_colours).bit_length())


def grown(array: NDArray[_Scalar], length: int) -> NDArray[_Scalar]:
    """Return an array of at least this length that begins with the given one."""
    if length <= len(array):
        return array
    # A quarter extra, so that growing block by block stays linear; untouched pages cost no memory.
    longer = np.empty((length + length // 4, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def on_cycle(indptr: Int64, indices: Int32) -> Bool:
    """Return whether each node lies on a cycle: whether one of its edges is not a bridge.

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
    import igraph  # noqa: PLC0415  (which takes long to load)

    found = np.zeros(len(indptr) - 1, np.bool_)
    ends = np.column_stack([owners(np.diff(indptr)), indices])
    edges = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    bridges = igraph.Graph(len(found), edges.tolist()).bridges()
    found[np.delete(edges, bridges, axis=0)] = True
    return found


# Threads. Kernels release the GIL, so plain threads are enough. A signal such as Ctrl-C is only noticed
# between two calls of a kernel. So work is cut into pieces of a fraction of a second, and an interrupt or an
# error in one thread stops the others after their current piece.

# Below this many steps waking a thread costs more than it saves.
_STEPS_WORTH_A_THREAD = 50_000
# A step takes from under one to some thirty nanoseconds, so a piece takes half a second at most.
STEPS_PER_PIECE = 1 << 24


class _ThreadState(threading.local):
    """Whether this thread is one of several that share some work."""

    in_parallel = False


_THREAD_STATE = _ThreadState()


def available_threads() -> int:
    """Return how many threads kernels may use.

    One within work that is already shared among threads. Otherwise ``TWINWL_NUM_THREADS`` if it is set, else
    ``NUMBA_NUM_THREADS`` (which joblib sets in its workers, so that parallel folds do not multiply threads),
    else the number of processors that this process may run on.
    """
    if _THREAD_STATE.in_parallel:
        return 1
    for variable in ("TWINWL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(variable, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def balanced_ranges(pointer: Int64) -> list[tuple[int, int]]:
    """Cut ``0..len(pointer)-1`` into consecutive ranges of about equal work, none of them too long.

    Parameters
    ----------
    pointer : array of int64, shape (n + 1,)
        Work before each item, as in a CSR pointer.

    Returns
    -------
    list of (int, int)
        One range for little work, else one for each thread, or more so that none takes more than
        `STEPS_PER_PIECE` steps.

    >>> balanced_ranges(np.array([0, 1, 2]))
    [(0, 2)]
    """
    n = len(pointer) - 1
    work = int(pointer[-1] - pointer[0])
    n_useful = work // _STEPS_WORTH_A_THREAD
    n_threads = min(available_threads(), n_useful) if n_useful > 1 else 1
    parts = max(n_threads, -(-work // STEPS_PER_PIECE))
    if parts == 1:
        return [(0, n)]
    marks = pointer[0] + np.linspace(0, work, parts + 1)[1:-1]
    cuts = np.searchsorted(pointer, marks).tolist()
    return [(low, high) for low, high in pairwise([0, *cuts, n]) if low < high]


def run_ranges(function: Callable[[int, int], int | None], ranges: list[tuple[int, int]]) -> None:
    """Call ``function(low, high)`` for each range, on threads if there are several ranges.

    Parameters
    ----------
    function
        It returns where it stopped, and is called again for the rest of the range. None means that the range
        is finished.
    ranges
        As returned by `balanced_ranges`. Each goes to the first thread that is free.
    """
    n_workers = min(len(ranges), available_threads()) if len(ranges) > 1 else 1
    todo, failed = iter(ranges), False

    def work() -> None:
        nonlocal failed
        before = _THREAD_STATE.in_parallel
        _THREAD_STATE.in_parallel = before or n_workers > 1
        try:
            for low, high in todo:  # `next` holds the GIL, so each range goes to one thread only
                reached: int | None = low
                while reached is not None and reached < high:
                    if failed:
                        return
                    reached = function(reached, high)
        except BaseException:
            failed = True
            raise
        finally:
            _THREAD_STATE.in_parallel = before

    if n_workers == 1:
        work()
        return
    futures = [_pool(n_workers - 1).submit(work) for _ in range(n_workers - 1)]
    try:
        work()  # the caller works too
    finally:
        wait(futures)
    for future in futures:
        future.result()


@lru_cache(maxsize=1)
def _pool(n_workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_workers, thread_name_prefix="twinwl")


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
