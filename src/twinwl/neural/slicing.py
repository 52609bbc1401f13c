"""A mini-batch of the quotient: only the rows of its own graphs, from the pooling matrices downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.graphs.labels import Label, recode

if TYPE_CHECKING:
    from twinwl.neural.quotient import Quotient


class LayerSlice(NamedTuple):
    """One layer of a mini-batch, in local row numbers.

    Attributes
    ----------
    hear_ptr, heard
        ``A_j`` as CSR with ones: the rows of the previous layer that each row sums, including itself. If
        messages have codes, each code is one more entry, row ``n_below + code``, because the embeddings
        are appended to the rows.
    n_below : int
        Number of rows of the previous layer that are heard: its first rows.
    n_heard : int
        Number of rows that the next layer hears, which come first; the others are only pooled.
    pool_ptr, pooled, counts
        ``P_j`` as CSR, one row per graph.
    """

    hear_ptr: Int64
    heard: Int32
    n_below: int
    n_heard: int
    pool_ptr: Int64
    pooled: Int32
    counts: Int32

    @property
    def n_rows(self) -> int:
        """Number of colours of this layer that the mini-batch needs."""
        return len(self.hear_ptr) - 1

    def n_pairs(self) -> Int64:
        """Return the number of (root, node) pairs of each graph."""
        before = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return before[self.pool_ptr[1:]] - before[self.pool_ptr[:-1]]


class QuotientSlice(NamedTuple):
    """The part of a quotient that the encoder needs for some graphs.

    Attributes
    ----------
    label, mark : arrays of int64
        Label and mark of each row of layer 0; a label of -1 is unknown to the network.
    codes : array of int64, shape (n_codes,)
        Number of each kind of message in the network; -1 if unknown. Empty if there is one kind only.
    layers : tuple of LayerSlice
        Layers 1, 2, …
    features : array of float32, shape (n_rows, n_features), or None
        Continuous features of each row of layer 0.
    scale : array of float64, shape (n_graphs,), or None
        What the sums of each graph are multiplied by, if only some of its roots are pooled.
    """

    label: Int64
    mark: Int64
    codes: Int64
    layers: tuple[LayerSlice, ...]
    features: NDArray[np.float32] | None = None
    scale: NDArray[np.float64] | None = None

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.layers[0].pool_ptr) - 1


class QuotientSlicer:
    """Cut mini-batches out of a quotient; the cost of a batch does not depend on the quotient's size.

    Parameters
    ----------
    quotient
        The quotient of all graphs.
    labels, edge_labels : tuples of labels, optional
        The labels of the network, in its order; by default those of the quotient.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> from twinwl.neural.quotient import build_quotient
    >>> slicer = QuotientSlicer(build_quotient(worked_example(), layers=2))
    >>> [layer.n_rows for layer in slicer.take(np.array([1])).layers]
    [4, 4]
    """

    rows_at_once = 1024

    def __init__(
        self,
        quotient: Quotient,
        labels: tuple[Label, ...] | None = None,
        edge_labels: tuple[Label, ...] | None = None,
    ) -> None:
        self.quotient = quotient
        self.known_labels = _places(quotient.labels, labels)
        self.known_codes = translated_codes(
            quotient.edge_labels, edge_labels, directed=quotient.directed, coded=quotient.coded
        )
        # Place of each colour among the rows of the mini-batch; -1 between two calls.
        self._places = [np.full(n, -1, np.int32) for n in quotient.n_colours]
        self._members = [np.empty(n, np.int32) for n in quotient.n_colours]

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.quotient)

    def take(self, rows: Int64) -> QuotientSlice:
        """Return the part of the quotient that these graphs need."""
        rows = np.asarray(rows, np.int64)
        quotient = self.quotient
        layers: list[LayerSlice] = []
        n_heard = 0
        for layer in range(len(quotient.rounds), 0, -1):
            places, members = self._places[layer], self._members[layer]
            *pooled, n_members = _take_pool(*quotient.pools[layer - 1], rows, places, members, n_heard)
            part = quotient.rounds[layer - 1]
            hear_ptr, heard, n_below = _take_round(
                part.sig_ptr,
                part.sig_items,
                part.stride,
                quotient.coded,
                members[:n_members],
                self._places[layer - 1],
                self._members[layer - 1],
            )
            places[members[:n_members]] = -1
            layers.append(LayerSlice(hear_ptr, heard, n_below, n_heard, *pooled))
            n_heard = n_below
        bottom = self._members[0][:n_heard].astype(np.int64)
        self._places[0][bottom] = -1
        label, mark = np.divmod(bottom, quotient.n_marks)
        return QuotientSlice(self.known_labels[label], mark, self.known_codes, tuple(reversed(layers)))


def _places(here: tuple[Label, ...], known: tuple[Label, ...] | None) -> Int64:
    numbers = np.arange(len(here), dtype=np.int32)
    return (numbers if known is None else recode(numbers, here, known)).astype(np.int64)


def translated_codes(
    here: tuple[Label, ...] | None, known: tuple[Label, ...] | None, *, directed: bool, coded: bool
) -> Int64:
    """Return the network's codes of messages: ``edge label``, or ``2 * edge label + end`` in directed graphs.

    Parameters
    ----------
    here, known
        The edge labels of the graphs, and those of the network; None for the same.
    directed, coded
        Whether messages have directions, and whether they have codes at all.
    """
    if not coded:
        return np.empty(0, np.int64)
    places = _places(here, known) if here else np.zeros(1, np.int64)
    if not directed:
        return places
    return np.stack([np.where(places < 0, -1, 2 * places + end) for end in (0, 1)], axis=1).ravel()


@kernel
def _take_pool(
    indptr: Int64,
    colours: Int32,
    counts: Int32,
    rows: Int64,
    place: Int32,
    members: Int32,
    n_members: int,
) -> tuple[Int64, Int32, Int32, int]:
    """Slice a pooling matrix; new colours are added to the members."""
    out_ptr = np.zeros(len(rows) + 1, np.int64)
    for index in range(len(rows)):
        out_ptr[index + 1] = out_ptr[index] + indptr[rows[index] + 1] - indptr[rows[index]]
    out_rows = np.empty(out_ptr[-1], np.int32)
    out_counts = np.empty(out_ptr[-1], np.int32)
    written = 0
    for graph in rows:
        for entry in range(indptr[graph], indptr[graph + 1]):
            colour = colours[entry]
            if place[colour] < 0:
                place[colour] = n_members
                members[n_members] = colour
                n_members += 1
            out_rows[written] = place[colour]
            out_counts[written] = counts[entry]
            written += 1
    return out_ptr, out_rows, out_counts, n_members


@kernel
def _take_round(
    sig_ptr: Int64,
    sig_items: Ints,
    stride: int,
    coded: bool,
    members: Int32,
    place_below: Int32,
    members_below: Int32,
) -> tuple[Int64, Int32, int]:
    """Slice the signatures of the members; the colours in them become members of the layer below."""
    n, n_below = len(members), 0
    out_ptr = np.zeros(n + 1, np.int64)
    for row in range(n):
        length = sig_ptr[members[row] + 1] - sig_ptr[members[row]]
        out_ptr[row + 1] = out_ptr[row] + (2 * length - 1 if coded else length)
    out = np.empty(out_ptr[-1], np.int32)
    for row in range(n):
        start = sig_ptr[members[row]]
        length = sig_ptr[members[row] + 1] - start
        for offset in range(length):
            colour = sig_items[start + offset]
            if coded and offset:
                colour %= stride
            if place_below[colour] < 0:
                place_below[colour] = n_below
                members_below[n_below] = colour
                n_below += 1
            out[out_ptr[row] + offset] = place_below[colour]
    if coded:  # the number of rows below is known only now
        for row in range(n):
            start = sig_ptr[members[row]]
            length = sig_ptr[members[row] + 1] - start
            for offset in range(1, length):
                out[out_ptr[row] + length + offset - 1] = n_below + sig_items[start + offset] // stride
    return out_ptr, out, n_below
