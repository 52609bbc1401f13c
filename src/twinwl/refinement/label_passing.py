"""One round of label passing over a range of nodes: gather what they hear, look the signatures up.

Both steps go block by block, so that keys never leave the first cache. Nodes of the usual degrees take one
straight path without a branch: four items, those that are missing being zero, through a sorting network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.refinement.lookup import look_up
from twinwl.refinement.signatures import UNSEEN, USUAL_DEGREE, key_of

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, Ints, UInt64

__all__ = ["pass_labels", "translate"]

_WORD = np.uint64(64)
_BLOCK = 256
_INSERTION_SORT_UP_TO = 32


@kernel
def pass_labels(  # noqa: PLR0917  (kernels take arrays, and keywords cost them time)
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    codes: Int32,
    colours: Int32,
    stride: int,
    bits: int,
    padded: int,
    packed_bits: int,
    hash_mask: np.uint64,
    insert: bool,
    slots: UInt64,
    colour_keys: UInt64,
    sig_ptr: Int64,
    sig_items: Ints,
    n_colours: int,
    out: Int32,
) -> int:
    """Write the colours of nodes ``first..last`` after one more round; return the number of colours.

    Parameters
    ----------
    indptr, indices, codes
        Messages; ``codes`` is empty where all are alike.
    colours : array of int32, shape (n_nodes,)
        Colours of the round before; -1 where unseen.
    stride
        Number of colours of the round before: an item is ``code * stride + colour``.
    bits, padded, packed_bits, hash_mask
        How keys are made, see `twinwl.refinement.signatures.key_of`.
    insert, slots, colour_keys, sig_ptr, sig_items, n_colours
        The table, see `twinwl.refinement.lookup.look_up`.
    out : array of int32, shape (n_nodes,)
    """
    most_heard = 0
    for begin in range(first, last, _BLOCK):
        most_heard = max(most_heard, indptr[min(begin + _BLOCK, last)] - indptr[begin])
    keys = np.empty((_BLOCK, 2), np.uint64)
    heard = np.zeros(most_heard + USUAL_DEGREE, np.int64)
    from_ptr = np.zeros(_BLOCK + 1, np.int64)
    from_items = np.empty(most_heard + _BLOCK, np.int64)
    # Where a padded key would not fit every node takes the general path.
    straight = USUAL_DEGREE if padded == USUAL_DEGREE else -1
    for begin in range(first, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        _hear(indptr[begin], indptr[end], indices, codes, colours, stride, heard)
        most = 0
        if straight >= 0:
            most = _usual_keys(begin, end, indptr, colours, heard, bits, keys)
        if most > straight:
            _other_keys(
                begin,
                end,
                straight,
                indptr,
                colours,
                heard,
                bits,
                padded,
                packed_bits,
                hash_mask,
                from_ptr,
                from_items,
                keys,
            )
        n_colours = look_up(
            end - begin,
            keys,
            from_ptr,
            from_items,
            bits,
            hash_mask,
            insert,
            slots,
            colour_keys,
            sig_ptr,
            sig_items,
            n_colours,
            begin,
            out,
        )
    return n_colours


@kernel
def _hear(
    start: int, stop: int, indices: Int32, codes: Int32, colours: Int32, stride: int, heard: Int64
) -> None:
    """Write the item of each message plus one: 0 is what was never seen."""
    if len(codes) == 0:
        for arc in range(start, stop):
            heard[arc - start] = np.int64(colours[indices[arc]]) + 1
        return
    for arc in range(start, stop):
        colour, code = np.int64(colours[indices[arc]]), np.int64(codes[arc])
        heard[arc - start] = 0 if colour < 0 or code < 0 else code * stride + colour + 1


@kernel
def _usual_keys(
    begin: int, end: int, indptr: Int64, colours: Int32, heard: Int64, bits: int, keys: UInt64
) -> int:
    """Write the keys of nodes that hear at most four items; return how many any node hears.

    Keys of nodes that hear more come out wrong.
    """
    most = 0
    shift = np.uint64(bits)
    back = _WORD - shift
    for node in range(begin, end):
        start = indptr[node] - indptr[begin]
        degree = indptr[node + 1] - indptr[node]
        most = max(most, degree)
        # Reading four items, whoever they belong to, and dropping some takes no branch.
        a, b, c, d = heard[start], heard[start + 1], heard[start + 2], heard[start + 3]
        a = a if degree > 0 else 0
        b = b if degree > 1 else 0
        c = c if degree > 2 else 0  # noqa: PLR2004
        d = d if degree > 3 else 0  # noqa: PLR2004
        n_seen = np.int64(a > 0) + np.int64(b > 0) + np.int64(c > 0) + np.int64(d > 0)
        a, b = min(a, b), max(a, b)
        c, d = min(c, d), max(c, d)
        a, c = min(a, c), max(a, c)
        b, d = min(b, d), max(b, d)
        b, c = min(b, c), max(b, c)
        low = np.uint64(np.int64(colours[node]) + 1)
        high = low >> back
        low = (low << shift) | np.uint64(a)
        high, low = (high << shift) | (low >> back), (low << shift) | np.uint64(b)
        high, low = (high << shift) | (low >> back), (low << shift) | np.uint64(c)
        high, low = (high << shift) | (low >> back), (low << shift) | np.uint64(d)
        seen = (colours[node] >= 0) & (n_seen == degree)
        keys[node - begin, 0] = high if seen else UNSEEN
        keys[node - begin, 1] = low
    return most


@kernel
def _other_keys(  # noqa: PLR0917
    begin: int,
    end: int,
    above: int,
    indptr: Int64,
    colours: Int32,
    heard: Int64,
    bits: int,
    padded: int,
    packed_bits: int,
    hash_mask: np.uint64,
    sig_ptr: Int64,
    signatures: Int64,
    keys: UInt64,
) -> None:
    """Write signatures and keys of the nodes that hear more than ``above`` items."""
    for node in range(begin, end):
        place = node - begin
        start, stop = indptr[node] - indptr[begin], indptr[node + 1] - indptr[begin]
        sig_ptr[place + 1] = sig_ptr[place]
        if stop - start <= above:
            continue
        own = sig_ptr[place]
        sig_ptr[place + 1] = own + 1 + stop - start
        signatures[own] = colours[node]
        keys[place, 0] = UNSEEN
        if _sort(heard, start, stop, signatures, own + 1) and colours[node] >= 0:
            keys[place, 0], keys[place, 1] = key_of(
                signatures, own, sig_ptr[place + 1], bits, padded, packed_bits, hash_mask
            )


@kernel
def _sort(heard: Int64, start: int, stop: int, items: Int64, begin: int) -> bool:
    """Write the sorted items from place ``begin`` on; return whether all of them were seen before.

    Shellsort, which is insertion sort for few items: NumPy's sort takes longer to compile than all the rest.
    """
    n = stop - start
    for place in range(n):
        items[begin + place] = heard[start + place] - 1
    gap = 1 if n <= _INSERTION_SORT_UP_TO else n * 5 // 11
    while gap > 0:
        for place in range(begin + gap, begin + n):
            item = items[place]
            hole = place
            while hole >= begin + gap and items[hole - gap] > item:
                items[hole] = items[hole - gap]
                hole -= gap
            items[hole] = item
        gap = 1 if gap == 2 else gap * 5 // 11  # noqa: PLR2004
    return n == 0 or items[begin] >= 0


@kernel
def translate(first: int, last: int, became: Int32, colours: Int32) -> None:
    """Replace the colours of nodes ``first..last`` by what they became; -1 stays."""
    for node in range(first, last):
        if colours[node] >= 0:
            colours[node] = became[colours[node]]
