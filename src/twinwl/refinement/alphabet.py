"""The alphabet: which signature is which colour, round by round, shared by all graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from twinwl.refinement.signatures import PACKED_BITS, absorb, grow_slots, tabulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64, Ints, UInt64
    from twinwl.graphs.labels import Label

__all__ = ["Alphabet", "Round", "RoundTable"]

_Scalar = TypeVar("_Scalar", bound=np.generic)

FULL_HASH = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Round:
    """The signatures of one round, in colour order.

    Attributes
    ----------
    sig_ptr : array of int64, shape (n_colours + 1,)
        Where each colour's signature lies in ``sig_items``.
    sig_items : array of int32 or int64
        For each colour its own colour in the round before, then the sorted items it hears; an item is
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
        """Return a colour's signature: own colour before, and sorted pairs (message code, colour)."""
        own, *items = self.sig_items[self.sig_ptr[colour] : self.sig_ptr[colour + 1]].tolist()
        return own, [divmod(item, self.stride) for item in items]

    def restrided(self, stride: int, n_codes: int) -> Round:
        """Return the same signatures written for a round before with more colours."""
        if stride == self.stride and n_codes == self.n_codes:
            return self
        codes, colours = np.divmod(self.sig_items.astype(np.int64), self.stride)
        owns = self.sig_ptr[:-1]
        codes[owns], colours[owns] = 0, self.sig_items[owns]
        items = (codes * stride + colours).astype(item_dtype(stride, n_codes))
        return Round(self.sig_ptr, items, stride, n_codes)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """All that is needed to colour new graphs as the first ones were coloured.

    Attributes
    ----------
    labels : tuple of labels
        Colours of round 0: colour c stands for ``labels[c]``.
    edge_labels : tuple of labels, or None
        Vocabulary of edge labels where they take part.
    initial : str
        ``"label"`` or ``"degree"``: what round 0 looks at.
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
        self.stride = stride
        self.n_codes = n_codes
        self.bits = max(1, (stride * n_codes).bit_length())
        self.packed_bits = packed_bits
        self.hash_mask = np.uint64(hash_mask)
        self.n_colours = 0 if known is None else known.n_colours
        if known is None:
            self._sig_ptr = np.zeros(1, np.int64)
            self._sig_items: Ints = np.empty(0, item_dtype(stride, n_codes))
        else:
            same = known.restrided(stride, n_codes)
            # Kernels are compiled for writable arrays, which those of a memory-mapped model are not.
            self._sig_ptr = np.require(same.sig_ptr, requirements="W")
            self._sig_items = np.require(same.sig_items, requirements="W")
        self._colour_keys = np.empty((self.n_colours, 2), np.uint64)
        self._slots = np.zeros(_table_length(self.n_colours), np.uint64)
        if self.n_colours:
            tabulate(
                self._sig_ptr,
                self._sig_items,
                self.bits,
                self.packed_bits,
                self.hash_mask,
                self._slots,
                self._colour_keys,
            )

    @property
    def item_dtype(self) -> np.dtype[np.signedinteger]:
        """Type of the items."""
        return self._sig_items.dtype

    def absorb(
        self,
        keys: UInt64,
        own: Int32,
        item_ptr: Int64,
        items: Ints,
        out: Int32,
        *,
        insert: bool,
    ) -> None:
        """Colour a block of signatures into ``out``; unknown ones become colours or, frozen, -1."""
        if insert:
            self._make_room(len(keys), len(keys) + int(item_ptr[-1] - item_ptr[0]))
        self.n_colours = absorb(
            keys,
            own,
            item_ptr,
            items,
            self.hash_mask,
            insert,
            self._slots,
            self._colour_keys,
            self._sig_ptr,
            self._sig_items,
            self.n_colours,
            out,
        )

    def finished(self) -> Round:
        """Return the signatures gathered so far, trimmed to their size."""
        sig_ptr = self._sig_ptr[: self.n_colours + 1].copy()
        return Round(sig_ptr, self._sig_items[: sig_ptr[-1]].copy(), self.stride, self.n_codes)

    def _make_room(self, n_signatures: int, n_items: int) -> None:
        """Grow every array for the worst case, in which all signatures are new."""
        n_colours = self.n_colours + n_signatures
        self._sig_items = _grown(self._sig_items, int(self._sig_ptr[self.n_colours]) + n_items)
        self._sig_ptr = _grown(self._sig_ptr, n_colours + 1)
        self._colour_keys = _grown(self._colour_keys, n_colours)
        if _table_length(n_colours) > len(self._slots):
            self._slots = np.zeros(_table_length(n_colours), np.uint64)
            grow_slots(self._slots, self._colour_keys, self.n_colours, self.hash_mask)


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
