"""Twin colours: one dense number for each (colour, rooted size) of a round, equation (2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.refinement.alphabet import Round, RoundTable

if TYPE_CHECKING:
    from twinwl.arrays import Int32

__all__ = ["STRIDE", "pair_with_sizes"]

# A pair is entered as a signature that hears one item, its size. With this stride every colour and every
# size is a digit of 31 bits, so the packed key *is* the pair, whatever sizes come later.
STRIDE = (1 << 31) - 2


def pair_with_sizes(
    colours: Int32, sizes: Int32, known: tuple[Round, ...] | None, *, insert: bool
) -> tuple[Int32, tuple[Round, ...]]:
    """Give each (colour, rooted size) pair of a round a number.

    Parameters
    ----------
    colours, sizes : arrays of int32, shape (n_iter + 1, n_nodes)
        Colour (-1 where unseen) and rooted size of each node.
    known
        Pairs of each round to look up in; None starts from nothing and numbers them by colour, then size.
    insert
        Number pairs that are not known behind those that are; otherwise they get -1.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes), and the pairs of each round

    >>> colours, sizes = np.array([[1, 0, 0]], np.int32), np.array([[2, 3, 1]], np.int32)
    >>> pair_with_sizes(colours, sizes, None, insert=True)[0]
    array([[2, 1, 0]], dtype=int32)
    """
    out = np.empty(colours.shape, np.int32)
    rounds = []
    for h, (colour, size) in enumerate(zip(colours, sizes, strict=True)):
        table = RoundTable(STRIDE, 1, None if known is None else known[h])
        table.pair(colour, size, out[h], insert=insert)
        pairs = table.finished() if known is None or insert else known[h]
        if known is None:
            pairs, rank = _in_order(pairs)
            out[h] = rank[out[h]]
        rounds.append(pairs)
    return out, tuple(rounds)


def _in_order(pairs: Round) -> tuple[Round, Int32]:
    """Sort a round's pairs by colour, then size; also return the new number of each."""
    colour, size = pairs.sig_items.reshape(-1, 2).T
    order = np.lexsort((size, colour))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    items = pairs.sig_items.reshape(-1, 2)[order].reshape(-1)
    return Round(pairs.sig_ptr, items, pairs.stride, pairs.n_codes), rank
