"""Two graphs in each round: colours, rooted sizes, and where their vectors differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32
    from twinwl.graphs.batch import GraphBatch

_MOST_ROUNDS = 12


class ColourRow(NamedTuple):
    """One colour of one round, in both graphs."""

    colour: int
    slot: int
    """Number of its paint; unlike the number of the colour, a class of nodes keeps it from round to round."""
    counts: tuple[int, int]
    """Number of nodes: the entry of 1-WL's vectors."""
    sums: tuple[int, int]
    """Sum of their rooted sizes: the entry of STwin's vectors, equation (3)."""
    sizes: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    """(rooted size, number of nodes), compared by the Twin-WL test."""

    @property
    def differs(self) -> bool:
        """Whether the two graphs differ in this colour."""
        return self.sizes[0] != self.sizes[1]


@dataclass(frozen=True)
class Round:
    """One round of both graphs.

    Attributes
    ----------
    colours, slots, sizes : arrays of int, shape (n_nodes of both graphs,)
        One entry per node.
    rows : list of ColourRow
        In the order of the slots.
    marked : array of bool, shape (n_nodes of both graphs,)
        Nodes whose (colour, rooted size) is not equally frequent in the two graphs.
    by_readout : bool
        Whether only another readout than the size shows a difference; ``marked`` are then its witnesses.
    """

    colours: Int32
    slots: Int32
    sizes: Int32
    rows: list[ColourRow]
    marked: Bool
    by_readout: bool = False

    @property
    def difference(self) -> str:
        """What differs: ``"labels"`` (colour counts), ``"twin"`` (sizes), ``"readout"``, or ``""``."""
        if any(row.counts[0] != row.counts[1] for row in self.rows):
            return "labels"
        if any(row.differs for row in self.rows):
            return "twin"
        return "readout" if self.by_readout else ""

    def with_witness(self, nodes: list[int]) -> Round:
        """Return the round with the witnesses of another readout marked, if sizes show no difference."""
        if self.difference:
            return self
        marked = np.zeros(len(self.marked), dtype=bool)
        marked[nodes] = True
        return replace(self, marked=marked, by_readout=True)


def rounds_of_pair(pair: GraphBatch, n_iter: int) -> list[Round]:
    """Refine two graphs together and return their vectors in each round.

    Parameters
    ----------
    pair
        A batch of two.
    n_iter
        Last round.

    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> [row.sums for row in rounds_of_pair(worked_example(), 2)[2].rows]
    [(20, 16), (12, 12)]
    """
    colours = refine(pair, n_iter, edge_labels=pair.edge_labels is not None).colours
    sizes = rooted_sizes(pair, n_iter)
    slots = slots_of_colours(colours)
    first_of_second = int(pair.graph_ptr[1])
    return [
        _round(colour_of_node, slot_of_node, size_of_node, first_of_second)
        for colour_of_node, slot_of_node, size_of_node in zip(colours, slots, sizes, strict=True)
    ]


def first_wl_difference(pair: GraphBatch) -> int | None:
    """Return the first round in which colours alone tell two graphs apart, or None if they never do.

    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> first_wl_difference(worked_example()) is None
    True
    """
    colours = refine(pair, None, edge_labels=pair.edge_labels is not None).colours
    first_of_second = int(pair.graph_ptr[1])
    for h, colour_of_node in enumerate(colours):
        if sorted(colour_of_node[:first_of_second].tolist()) != sorted(
            colour_of_node[first_of_second:].tolist()
        ):
            return h
    return None


def rounds_to_show(pair: GraphBatch, iteration: int | None, n_iter: int | None = None) -> int:
    """Return the last round to show.

    It is a little after the first round that differs, or the round after which nothing changes.

    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> rounds_to_show(worked_example(), iteration=2)
    3
    """
    if n_iter is not None:
        return max(min(n_iter, 4 * _MOST_ROUNDS), iteration or 0)
    most = max(iteration or 0, _MOST_ROUNDS) if iteration is None else iteration + 2
    sizes = rooted_sizes(pair, most)
    stable = refine(pair, None, edge_labels=pair.edge_labels is not None).n_iter
    grown = np.flatnonzero((sizes[1:] != sizes[:-1]).any(axis=1))
    settled = max(stable, int(grown[-1]) + 1 if len(grown) else 0)
    return max(min(settled, most), iteration or 0)


def slots_of_colours(colours: Int32) -> Int32:
    """Give each colour a paint; when a round splits it, its largest part keeps the paint.

    Colours are renumbered in every round. If nodes were painted by number, all of them would change in every
    round, and the splits could not be seen.

    >>> slots_of_colours(np.array([[0, 0, 0], [0, 1, 1]], dtype=np.int32))
    array([[0, 0, 0],
           [1, 0, 0]], dtype=int32)
    """
    slots = np.zeros_like(colours)
    slots[0] = colours[0]
    for h in range(1, len(colours)):
        pairs, counts = np.unique(np.stack([slots[h - 1], colours[h]]), axis=1, return_counts=True)
        heirs: set[int] = set()
        slot_of_colour: dict[int, int] = {}
        for index in sorted(range(len(counts)), key=lambda i: (-counts[i], pairs[1, i])):
            parent, colour = int(pairs[0, index]), int(pairs[1, index])
            if parent not in heirs:
                heirs.add(parent)
                slot_of_colour[colour] = parent
        free = (slot for slot in range(len(counts)) if slot not in heirs)
        for colour in range(int(colours[h].max(initial=-1)) + 1):
            if colour not in slot_of_colour:
                slot_of_colour[colour] = next(free)
        slots[h] = [slot_of_colour[colour] for colour in colours[h].tolist()]
    return slots


def _round(colours: Int32, slots: Int32, sizes: Int32, first_of_second: int) -> Round:
    parts = (slice(0, first_of_second), slice(first_of_second, None))
    counters = [Counter(zip(colours[part].tolist(), sizes[part].tolist(), strict=True)) for part in parts]
    slot_of_colour = dict(zip(colours.tolist(), slots.tolist(), strict=True))
    sizes_of: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {
        colour: ([], []) for colour in slot_of_colour
    }
    for side, counter in enumerate(counters):
        for (colour, size), count in sorted(counter.items()):
            sizes_of[colour][side].append((size, count))
    rows = [
        ColourRow(
            colour,
            slot,
            (_total(sizes_of[colour][0]), _total(sizes_of[colour][1])),
            (_weighted(sizes_of[colour][0]), _weighted(sizes_of[colour][1])),
            sizes_of[colour],
        )
        for colour, slot in sorted(slot_of_colour.items(), key=lambda item: item[1])
    ]
    uneven = {pair for pair in counters[0] | counters[1] if counters[0][pair] != counters[1][pair]}
    marked = np.array(
        [pair in uneven for pair in zip(colours.tolist(), sizes.tolist(), strict=True)], dtype=bool
    )
    return Round(colours, slots, sizes, rows, marked)


def _total(sizes: list[tuple[int, int]]) -> int:
    return sum(count for _, count in sizes)


def _weighted(sizes: list[tuple[int, int]]) -> int:
    return sum(size * count for size, count in sizes)
