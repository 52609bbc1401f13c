"""The kernels of one round of label passing: gather the items that nodes receive, make keys, look them up.

A signature is a node's own colour and the sorted multiset of items it receives. Its key has 128 bits. If the
digits of a signature fit into 126 of them they are packed, and the packed key *is* the signature: it can be
read back. If they do not fit, the key is a hash, and whenever it is found in the table the signatures are
compared too. An open-addressing table maps keys to colours. So two nodes have the same colour only if their
signatures are equal: this is as fast as hashing, but collisions cannot cause errors.

Nodes are processed in blocks, so that keys stay in the L1 cache. Nodes of degree four or less take a path
without branches: four items, padded with zeros, through a sorting network.

`pass_labels` is the round; `look_up` is the search in the table. `twinwl.refinement.colours` owns the memory.
At the start are `stir` and `blend`, which mix 64-bit words. They are here because keys of rounds need `stir`
too. Content keys and hashes of graphs are made of both, so **any change to these two breaks every stored
hash.**
"""

from typing import NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64, Ints, UInt64
from twinwl.compilation import kernel

# All arithmetic is on unsigned words, so all constants are unsigned too: numba turns the sum of an unsigned
# and a signed number into floating point. The constants only have to mix well, but they are part of the
# definition of content keys and hashes. _STIR is the multiplier of a well-known 64-bit mixer (degski's);
# _TURN rotates left by 29, and _TURN_BACK is 64 - 29.
_STIR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_TURN = np.uint64(29)
_TURN_BACK = np.uint64(35)


@kernel
def stir(word: np.uint64) -> np.uint64:
    """Mix the bits of a word; a bijection."""
    word ^= word >> _HALF
    word *= _STIR
    word ^= word >> _HALF
    word *= _STIR
    return word ^ (word >> _HALF)


@kernel
def blend(a: np.uint64, b: np.uint64, salt: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Mix two words so that each bit of either reaches both; a bijection of 128 bits for each salt."""
    a = stir(a ^ salt)
    b = stir(b + a)
    a += (b << _TURN) | (b >> _TURN_BACK)
    a = stir(a)
    b ^= stir(a + salt)
    return a, b


_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_WORD = np.uint64(64)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio

# The two top bits of a key's first word are its kind: packed (00), hashed (10) or unseen (11).
_HASHED = np.uint64(0b10 << 62)
UNSEEN = np.uint64(0b11 << 62)
_WITHOUT_KIND = np.uint64((1 << 62) - 1)
PACKED_BITS = 126

# Signatures of up to this degree are padded to it, so that atoms of all valences take the same steps.
USUAL_DEGREE = 4

# Nodes are processed in blocks. If the table is larger than the cache, a first pass over the block touches
# every line that the second will need, so that cache misses overlap.
_BLOCK = 256
_SLOTS_IN_CACHE = 1 << 19
_INSERTION_SORT_UP_TO = 32


class Messages(NamedTuple):
    """Senders and receivers of the messages in a round of label passing.

    Attributes
    ----------
    indptr : array of int64, shape (n_nodes + 1,)
        Node v receives the messages ``indptr[v]..indptr[v + 1]``.
    indices : array of int32, shape (n_messages,)
        Sender of each message.
    codes : array of int32, shape (n_messages,)
        Kind of each message: the edge label, and in directed graphs whether the neighbour is at the head or
        the tail of the arc. -1 marks an edge label that is not in a frozen alphabet. Empty if there is only
        one kind.
    n_codes : int
        Number of kinds.
    """

    indptr: Int64
    indices: Int32
    codes: Int32
    n_codes: int


class KeyFormat(NamedTuple):
    """How the keys of a round are made.

    Attributes
    ----------
    stride : int
        Number of colours of the previous round: an item is ``code * stride + colour``.
    bits : int
        Width of a digit, enough for an item plus one.
    padded : int
        Keys of signatures with fewer items are padded to this many. `USUAL_DEGREE` if that many items and the
        own colour fit into 126 bits (digits of up to 25 bits); else -1: nothing is padded, and every node
        takes the general path.
    hash_mask : uint64
        The bits of hashes that are used; narrowed by tests only, to force collisions.
    """

    stride: int
    bits: int
    padded: int
    hash_mask: np.uint64


class Signatures(NamedTuple):
    """Keys and signatures, either of the colours of a table or of the nodes of a block.

    Attributes
    ----------
    keys : array of uint64, shape (n, 2)
    sig_ptr : array of int64, shape (n + 1,)
        Range of each signature in ``sig_items``.
    sig_items : array of int32 or int64
        For each signature the own colour, then the sorted items. In a table all signatures are there; in a
        block only those of nodes that took the general path, and the others are empty: their keys are packed.
    """

    keys: UInt64
    sig_ptr: Int64
    sig_items: Ints


class Table(NamedTuple):
    """The colours of a round. There must be room for all that may be added.

    Attributes
    ----------
    key_format : KeyFormat
    slots : array of uint64, shape (a power of two,)
        The hash table. The upper half of a slot has the upper half of a key's hash, which rules out most
        other keys without reading them; the lower half has the colour plus one. 0 is an empty slot.
    known : Signatures
        Key and signature of each colour.
    n_colours : array of int64, shape (1,)
        Number of colours; it grows.
    """

    key_format: KeyFormat
    slots: UInt64
    known: Signatures
    n_colours: Int64


@kernel
def pass_labels(
    first: int, last: int, messages: Messages, before: Int32, table: Table, insert: bool, after: Int32
) -> None:
    """Write the colours of nodes ``first..last`` after one more round.

    Parameters
    ----------
    messages
        Senders and receivers.
    before, after : arrays of int32, shape (n_nodes,)
        Colours of the previous round (-1 if unseen) and of this one.
    table, insert
        See `look_up`.
    """
    indptr = messages.indptr
    most_items = 0
    for begin in range(first, last, _BLOCK):
        most_items = max(most_items, indptr[min(begin + _BLOCK, last)] - indptr[begin])
    # The items of all nodes of a block; longer because `_usual_keys` always reads four of them.
    received = np.zeros(most_items + USUAL_DEGREE, np.int64)
    here = Signatures(
        np.empty((_BLOCK, 2), np.uint64),
        np.zeros(_BLOCK + 1, np.int64),
        np.empty(most_items + _BLOCK, np.int64),
    )
    n_padded = table.key_format.padded
    for begin in range(first, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        _receive(indptr[begin], indptr[end], messages, before, table.key_format.stride, received)
        # Without padding (n_padded = -1) ``most`` stays 0, so every node takes the general path.
        most = 0
        if n_padded >= 0:
            most = _usual_keys(begin, end, indptr, before, received, table.key_format.bits, here.keys)
        if most > n_padded:
            _general_keys(begin, end, n_padded, indptr, before, received, table.key_format, here)
        look_up(end - begin, here, table, insert, begin, after)


@kernel
def look_up(  # noqa: C901, PLR0912, PLR0915  (one pass, few calls)
    n: int, queries: Signatures, table: Table, insert: bool, first: int, out: Int32
) -> None:
    """Give each of ``n`` keys its colour, new ones in order of first occurrence.

    Parameters
    ----------
    n, queries
        Number of keys to look up, and their signatures.
    table
        The colours so far.
    insert
        Whether unknown signatures become colours; otherwise they get -1.
    first, out
        Colours go to ``out`` from place ``first`` on.
    """
    keys, query_ptr, query_items = queries.keys, queries.sig_ptr, queries.sig_items
    colour_keys, sig_ptr, sig_items = table.known.keys, table.known.sig_ptr, table.known.sig_items
    slots, bits, hash_mask = table.slots, table.key_format.bits, table.key_format.hash_mask
    n_colours = table.n_colours[0]
    n_stored = n_colours
    slot_mask = np.uint64(len(slots) - 1)
    # Packed signatures of new colours are not written at once: colours n_stored..n_colours still lack theirs.
    hashes = np.empty(_BLOCK, np.uint64)
    touched = _ZERO
    for begin in range(0, n, _BLOCK):
        length = min(_BLOCK, n - begin)
        for place in range(length):
            hashes[place] = _slot_hash(keys[begin + place, 0], keys[begin + place, 1], hash_mask)
        if len(slots) > _SLOTS_IN_CACHE:
            touched ^= _touch(hashes, length, slots, colour_keys)
        for place in range(length):
            node = begin + place
            high, low = keys[node, 0], keys[node, 1]
            if high == UNSEEN:
                out[first + node] = -1
                continue
            tag = hashes[place] >> _HALF
            slot = hashes[place] & slot_mask
            while True:
                entry = slots[slot]
                if entry == _ZERO:
                    out[first + node] = -1
                    if insert:
                        slots[slot] = (tag << _HALF) | np.uint64(n_colours + 1)
                        colour_keys[n_colours, 0], colour_keys[n_colours, 1] = high, low
                        out[first + node] = n_colours
                        n_colours += 1
                        if high >= _HASHED:
                            # The packed signatures of earlier colours must come before this one.
                            _unpack(n_stored, n_colours - 1, table.known, bits)
                            end = sig_ptr[n_colours - 1]
                            for item in range(query_ptr[node], query_ptr[node + 1]):
                                sig_items[end] = query_items[item]
                                end += 1
                            sig_ptr[n_colours] = end
                            n_stored = n_colours
                    break
                if entry >> _HALF == tag:
                    colour = np.int64(entry & _LOW_HALF) - 1
                    same = colour_keys[colour, 0] == high and colour_keys[colour, 1] == low
                    if same and high >= _HASHED:
                        shift = sig_ptr[colour] - query_ptr[node]
                        same = query_ptr[node + 1] + shift == sig_ptr[colour + 1]
                        item = query_ptr[node]
                        while same and item < query_ptr[node + 1]:
                            same = query_items[item] == sig_items[item + shift]
                            item += 1
                    if same:
                        out[first + node] = colour
                        break
                slot = (slot + _ONE) & slot_mask
    _unpack(n_stored, n_colours, table.known, bits)
    # The branch is never taken; it keeps the compiler from removing the loops that only touch memory.
    table.n_colours[0] = -1 if n < 0 and touched == _ONE else n_colours


@kernel
def enter_all(table: Table) -> None:
    """Make the keys of all colours, which are distinct, and insert them into an empty table."""
    keys, sig_ptr, sig_items = table.known.keys, table.known.sig_ptr, table.known.sig_items
    slots = table.slots
    slot_mask = np.uint64(len(slots) - 1)
    for colour in range(table.n_colours[0]):
        high, low = _key_of(sig_items, sig_ptr[colour], sig_ptr[colour + 1], table.key_format)
        keys[colour, 0], keys[colour, 1] = high, low
        key_hash = _slot_hash(high, low, table.key_format.hash_mask)
        slot = key_hash & slot_mask
        while slots[slot] != _ZERO:
            slot = (slot + _ONE) & slot_mask
        slots[slot] = ((key_hash >> _HALF) << _HALF) | np.uint64(colour + 1)


@kernel
def _receive(start: int, stop: int, messages: Messages, colours: Int32, stride: int, received: Int64) -> None:
    """Write from place 0 on, for each message ``start..stop``, its item plus one, or 0 if it is unseen."""
    indices, codes = messages.indices, messages.codes
    if len(codes) == 0:
        for message in range(start, stop):
            received[message - start] = np.int64(colours[indices[message]]) + 1
        return
    for message in range(start, stop):
        colour, code = np.int64(colours[indices[message]]), np.int64(codes[message])
        received[message - start] = 0 if colour < 0 or code < 0 else code * stride + colour + 1


@kernel
def _usual_keys(
    begin: int, end: int, indptr: Int64, colours: Int32, received: Int64, bits: int, keys: UInt64
) -> int:
    """Write the keys of nodes that receive at most four items; return the largest number of items.

    The keys are those of `_key_of` with padding: five digits, each shifted in from the right. Nodes with more
    items get wrong keys, which `_general_keys` overwrites.
    """
    most = 0
    shift = np.uint64(bits)
    back = _WORD - shift
    for node in range(begin, end):
        start = indptr[node] - indptr[begin]
        degree = indptr[node + 1] - indptr[node]
        most = max(most, degree)
        # Always reading four items and masking those of other nodes avoids a branch.
        a, b, c, d = received[start], received[start + 1], received[start + 2], received[start + 3]
        a = a if degree > 0 else 0
        b = b if degree > 1 else 0
        c = c if degree > 2 else 0  # noqa: PLR2004
        d = d if degree > 3 else 0  # noqa: PLR2004
        # Zeros are padding or unseen items; a node is unseen if it has any of the latter.
        n_seen = np.int64(a > 0) + np.int64(b > 0) + np.int64(c > 0) + np.int64(d > 0)
        # A sorting network; the padding comes first.
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
def _general_keys(
    begin: int,
    end: int,
    above: int,
    indptr: Int64,
    colours: Int32,
    received: Int64,
    key_format: KeyFormat,
    here: Signatures,
) -> None:
    """Write signatures and keys of the nodes that receive more than ``above`` items: the general path.

    The signatures of the other nodes are left empty.
    """
    keys, sig_ptr, sig_items = here.keys, here.sig_ptr, here.sig_items
    for node in range(begin, end):
        place = node - begin
        start, stop = indptr[node] - indptr[begin], indptr[node + 1] - indptr[begin]
        sig_ptr[place + 1] = sig_ptr[place]
        if stop - start <= above:
            continue
        own = sig_ptr[place]
        sig_ptr[place + 1] = own + 1 + stop - start
        sig_items[own] = colours[node]
        keys[place, 0] = UNSEEN
        if _sort(received, start, stop, sig_items, own + 1) and colours[node] >= 0:
            keys[place, 0], keys[place, 1] = _key_of(sig_items, own, sig_ptr[place + 1], key_format)


@kernel
def _sort(received: Int64, start: int, stop: int, items: Int64, begin: int) -> bool:
    """Write the sorted items from place ``begin`` on; return whether all of them were seen before.

    Shellsort, which is insertion sort for few items: NumPy's sort takes longer to compile than all of this.
    Gaps shrink by 5/11 (Gonnet and Baeza-Yates); from 2 that would give 0, so 1 is set.
    """
    n = stop - start
    for place in range(n):
        items[begin + place] = received[start + place] - 1
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
def _key_of(signature: Ints, start: int, stop: int, key_format: KeyFormat) -> tuple[np.uint64, np.uint64]:
    """Return the two words of a signature's key.

    The first digit of a packed key is the own colour, then come zeros as padding, then the sorted items.
    Digits are stored plus one, so that none of them is zero. A node of colour 7 that receives 2 and 5::

        kind (2 bits, 00) | … | 8 | 0 | 0 | 3 | 6      each digit has ``bits`` bits; the last one is lowest
    """
    degree = stop - start - 1
    high = _ZERO
    low = np.uint64(signature[start]) + _ONE
    if (degree + 1) * key_format.bits <= PACKED_BITS:
        shift = np.uint64(key_format.bits)
        for _ in range(key_format.padded - degree):
            high = (high << shift) | (low >> (_WORD - shift))
            low <<= shift
        for place in range(start + 1, stop):
            high = (high << shift) | (low >> (_WORD - shift))
            low = (low << shift) | (np.uint64(signature[place]) + _ONE)
        return high, low
    # Too long to pack: two different hashes of the digits, one per word.
    high = low * _SPREAD
    for place in range(start + 1, stop):
        digit = np.uint64(signature[place]) + _ONE
        low = stir(low ^ digit)
        high = (high ^ digit) * _STIR + _SPREAD
    hash_mask = key_format.hash_mask
    return ((stir(high) & hash_mask) & _WITHOUT_KIND) | _HASHED, low & hash_mask


@kernel
def _unpack(first: int, last: int, known: Signatures, bits: int) -> None:
    """Write the signatures of colours ``first..last``, all packed, after those of the earlier colours.

    Digits are read from the right, so they come in reverse order. The place after the last signature must
    exist, because padding may be written there.
    """
    keys, sig_ptr, sig_items = known.keys, known.sig_ptr, known.sig_items
    digits = np.empty(PACKED_BITS, np.int64)
    shift = np.uint64(bits)
    mask = (_ONE << shift) - _ONE
    for colour in range(first, last):
        high, low = keys[colour, 0], keys[colour, 1]
        n_digits = 0
        while high | low != _ZERO:
            digits[n_digits] = np.int64(low & mask)
            low = (low >> shift) | (high << (_WORD - shift))
            high >>= shift
            n_digits += 1
        end = sig_ptr[colour]
        for place in range(n_digits - 1, -1, -1):
            # Padding is overwritten by the next digit, which avoids an unpredictable branch.
            sig_items[end] = digits[place] - 1
            end += np.int64(digits[place] != 0)
        sig_ptr[colour + 1] = end


@kernel
def _slot_hash(high: np.uint64, low: np.uint64, hash_mask: np.uint64) -> np.uint64:
    """Return the hash of a key: its lower bits are the first slot to try, its upper half is the tag."""
    return stir((high * _SPREAD) ^ low) & hash_mask


@kernel
def _touch(hashes: UInt64, length: int, slots: UInt64, colour_keys: UInt64) -> np.uint64:
    """Read the first slot and key of each hash; the result only keeps the reads from being optimised away."""
    slot_mask = np.uint64(len(slots) - 1)
    touched = _ZERO
    for place in range(length):
        touched ^= slots[hashes[place] & slot_mask]
    for place in range(length):
        entry = slots[hashes[place] & slot_mask] & _LOW_HALF
        if entry:
            touched ^= colour_keys[entry - _ONE, 0]
    return touched
