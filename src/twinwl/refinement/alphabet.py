"""The alphabet: the mapping from signatures to colours of each round, shared by all graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Int32, Int64, Ints
from twinwl.refinement.round_kernels import (
    PACKED_BITS,
    USUAL_DEGREE,
    KeyFormat,
    Messages,
    Signatures,
    Table,
    enter_all,
    look_up,
    pair_keys,
    pass_labels,
)

if TYPE_CHECKING:
    from twinwl.graphs.labels import Label

_Scalar = TypeVar("_Scalar", bound=np.generic)

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

    def signature(self, colour: int) -> tuple[int, list[tuple[int, int]]]:
        """Return a colour's signature: its previous colour, and sorted pairs (message code, colour)."""
        own, *items = self.sig_items[self.sig_ptr[colour] : self.sig_ptr[colour + 1]].tolist()
        return own, [divmod(item, self.stride) for item in items]

    def restrided(self, stride: int, n_codes: int) -> Round:
        """Return the same signatures for a previous round with more colours."""
        if stride == self.stride and n_codes == self.n_codes:
            return self
        codes, colours = np.divmod(self.sig_items.astype(np.int64), self.stride)
        owns = self.sig_ptr[:-1]
        codes[owns], colours[owns] = 0, self.sig_items[owns]
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
    packed_bits, hash_mask
        Narrowed by tests only, to force the hashed path and its collisions.
    """

    def __init__(
        self,
        stride: int,
        n_codes: int,
        known: Round | None = None,
        *,
        packed_bits: int = PACKED_BITS,
        hash_mask: int = FULL_HASH,
    ) -> None:
        self.n_codes = n_codes
        n_colours = 0 if known is None else known.n_colours
        sig_ptr, sig_items = np.zeros(1, np.int64), np.empty(0, item_dtype(stride, n_codes))
        if known is not None:
            same = known.restrided(stride, n_codes)
            # Kernels are compiled for writable arrays; those of a memory-mapped model are read-only.
            sig_ptr = np.require(same.sig_ptr, requirements="W")
            sig_items = np.require(same.sig_items, requirements="W")
        self._table = Table(
            self._key_format(stride, packed_bits, np.uint64(hash_mask)),
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

    @property
    def item_dtype(self) -> np.dtype[np.signedinteger]:
        """Type of the items."""
        return self._table.known.sig_items.dtype

    def apart(self) -> RoundTable:
        """Return an empty table with the same keys, for another thread."""
        key_format = self._table.key_format
        return RoundTable(
            self.stride, self.n_codes, packed_bits=key_format.packed_bits, hash_mask=int(key_format.hash_mask)
        )

    def start_over(self, stride: int) -> None:
        """Remove all signatures and prepare keys for the next round; the memory is reused."""
        packed_bits, hash_mask = self._table.key_format[3:]
        known = self._table.known
        items = known.sig_items.astype(item_dtype(stride, self.n_codes), copy=False)
        self._table = self._table._replace(
            key_format=self._key_format(stride, packed_bits, hash_mask), known=known._replace(sig_items=items)
        )
        known.sig_ptr[0] = self._table.n_colours[0] = 0
        self._entered = False

    def make_room(self, n_signatures: int, n_items: int) -> None:
        """Grow every array for the worst case, in which all signatures are new."""
        n_colours, known = self.n_colours + n_signatures, self._table.known
        n_stored = int(known.sig_ptr[self.n_colours]) + n_signatures + n_items
        grown = Signatures(
            _grown(known.keys, n_colours),
            _grown(known.sig_ptr, n_colours + 1),
            _grown(known.sig_items, n_stored + 1),
        )
        self._table = self._table._replace(known=grown)
        if _table_length(n_colours) > len(self._table.slots):
            self._table = self._table._replace(slots=np.empty(_table_length(n_colours), np.uint64))
            self._entered = False

    def pass_labels(
        self, messages: Messages, before: Int32, first: int, last: int, after: Int32, *, insert: bool
    ) -> None:
        """Colour nodes ``first..last``; unknown signatures become colours or, frozen, -1.

        There must be room for the new colours.
        """
        pass_labels(first, last, messages, before, self._ready(), insert, after)

    def pair(self, own: Int32, heard: Int32, out: Int32, *, insert: bool) -> None:
        """Colour signatures with one item each; colour and item must fit into a packed key."""
        keys = np.empty((len(own), 2), np.uint64)
        pair_keys(own, heard, self._table.key_format, keys)
        if insert:
            self.make_room(len(keys), len(keys))
        none = np.empty(0, np.int64)
        look_up(len(keys), Signatures(keys, none, none), self._ready(), insert, 0, out)

    def absorb(self, other: RoundTable) -> Int32:
        """Append the colours of another table that are new; return the new number of each."""
        known, n_colours = other._table.known, other.n_colours
        self.make_room(n_colours, int(known.sig_ptr[n_colours]) - n_colours)
        became = np.empty(n_colours, np.int32)
        insert = True
        look_up(n_colours, known, self._ready(), insert, 0, became)
        return became

    def finished(self) -> Round:
        """Return all signatures so far, trimmed to their size."""
        known = self._table.known
        sig_ptr = known.sig_ptr[: self.n_colours + 1].copy()
        return Round(sig_ptr, known.sig_items[: sig_ptr[-1]].copy(), self.stride, self.n_codes)

    def _key_format(self, stride: int, packed_bits: int, hash_mask: np.uint64) -> KeyFormat:
        bits = max(1, (stride * self.n_codes).bit_length())
        padded = min(USUAL_DEGREE, packed_bits // bits - 1)
        return KeyFormat(stride, bits, padded, packed_bits, hash_mask)

    def _ready(self) -> Table:
        """Return the table with all colours entered."""
        if not self._entered:
            self._table.slots.fill(0)
            if self.n_colours:
                enter_all(self._table)
            self._entered = True
        return self._table


def _table_length(n_colours: int) -> int:
    """Return a power of two that keeps the table at most half full."""
    return 1 << max(4, (2 * n_colours).bit_length())


def _grown(array: NDArray[_Scalar], length: int) -> NDArray[_Scalar]:
    if length <= len(array):
        return array
    # A quarter extra, so that growing block by block stays linear; untouched pages cost no memory.
    grown = np.empty((length + length // 4, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
