"""Why two graphs are told apart, or not: as text for the terminal, and as a page in one HTML file.

`rounds_of_pair` refines two graphs together and returns, for each round, their colours, their rooted sizes
and where their vectors differ. `verdict_of` and `caption` say in words what that shows; `compare_page` draws
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.arrays import Bool, Fields, Int32
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.labels import Label
from twinwl.isomorphism.deduplication import wl_groups
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes
from twinwl.report.drawing import FILLS, Drawing, on_one_canvas, paint
from twinwl.report.page import enumerated, facts_of, rendered
from twinwl.terminal import counted

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.isomorphism.comparison import Comparison, Witness

_MOST_ROUNDS = 12


class ColourRow(NamedTuple):
    """One colour of one round, in both graphs."""

    colour: int
    slot: int
    """Number of its paint; unlike the number of the colour, a class of nodes keeps it from round to round."""
    sizes: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    """(rooted size, number of nodes), compared by the Twin-WL test."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of nodes: the entry of 1-WL's vectors."""
        return tuple(sum(count for _, count in sizes) for sizes in self.sizes)

    @property
    def sums(self) -> tuple[int, ...]:
        """Sum of their rooted sizes: the entry of STwin's vectors, equation (3)."""
        return tuple(sum(size * count for size, count in sizes) for sizes in self.sizes)

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


def rounds_of_pair(pair: GraphBatch, n_iter: int) -> list[Round]:
    """Refine two graphs together and return their vectors in each round.

    Parameters
    ----------
    pair
        A batch of two.
    n_iter
        Last round.

    >>> from twinwl.datasets.generators import worked_example
    >>> [row.sums for row in rounds_of_pair(worked_example(), 2)[2].rows]
    [(20, 16), (12, 12)]
    """
    colours = refine(pair, n_iter, edge_labels=True).colours
    arrays = zip(colours, slots_of_colours(colours), rooted_sizes(pair, n_iter))
    return [_round_state(*of_node, int(pair.graph_ptr[1])) for of_node in arrays]


def first_wl_difference(pair: GraphBatch) -> int | None:
    """Return the first round in which colours alone tell two graphs apart, or None if they never do.

    >>> from twinwl.datasets.generators import worked_example
    >>> first_wl_difference(worked_example()) is None
    True
    """
    rounds = range(refine(pair, None, edge_labels=True).n_iter + 1)
    return next((h for h in rounds if np.ptp(wl_groups(pair, h))), None)


def rounds_to_show(pair: GraphBatch, iteration: int | None, n_iter: int | None = None) -> int:
    """Return the last round to show.

    It is a little after the first round that differs, or the round after which nothing changes.

    >>> from twinwl.datasets.generators import worked_example
    >>> rounds_to_show(worked_example(), iteration=2)
    3
    """
    if n_iter is not None:
        return max(min(n_iter, 4 * _MOST_ROUNDS), iteration or 0)
    most = _MOST_ROUNDS if iteration is None else iteration + 2
    sizes = rooted_sizes(pair, most)
    stable = refine(pair, None, edge_labels=True).n_iter
    growing = np.flatnonzero((sizes[1:] != sizes[:-1]).any(axis=1)) + 1
    return max(min(max([stable, *growing.tolist()]), most), iteration or 0)


def slots_of_colours(colours: Int32) -> Int32:
    """Give each colour a paint; when a round splits it, its largest part keeps the paint.

    Colours are renumbered in every round. If nodes were painted by number, all of them would change in every
    round, and the splits could not be seen.

    >>> slots_of_colours(np.array([[0, 0, 0], [0, 1, 1]], dtype=np.int32))
    array([[0, 0, 0],
           [1, 0, 0]], dtype=int32)
    """
    slots = colours.copy()
    for h in range(1, len(colours)):
        parts = Counter(zip(slots[h - 1].tolist(), colours[h].tolist()))
        heirs: dict[int, int] = {}  # the colour of the largest part of each slot
        for slot, colour in sorted(parts, key=lambda part: (-parts[part], part[1])):
            heirs.setdefault(slot, colour)
        slot_of_colour = {colour: slot for slot, colour in heirs.items()}
        free = (slot for slot in range(len(parts)) if slot not in heirs)
        others = np.setdiff1d(colours[h], list(slot_of_colour))
        slot_of_colour |= zip(others.tolist(), free)
        slots[h] = [slot_of_colour[colour] for colour in colours[h].tolist()]
    return slots


def _round_state(colours: Int32, slots: Int32, sizes: Int32, first_of_second: int) -> Round:
    pairs = list(zip(colours.tolist(), sizes.tolist()))
    counters = Counter(pairs[:first_of_second]), Counter(pairs[first_of_second:])
    by_slot = sorted(set(zip(slots.tolist(), colours.tolist())))
    rows = {colour: ColourRow(colour, slot, ([], [])) for slot, colour in by_slot}
    for side, counter in enumerate(counters):
        for (colour, size), count in sorted(counter.items()):
            rows[colour].sizes[side].append((size, count))
    marked = np.array([counters[0][pair] != counters[1][pair] for pair in pairs], dtype=bool)
    return Round(colours, slots, sizes, list(rows.values()), marked)


_MOST_LISTED = 4


def verdict_of(pair: GraphBatch, comparison: Comparison) -> list[str]:
    """Describe the result of the test on a batch of two: a headline, and a few sentences that explain it.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl.datasets.generators import worked_example
    >>> pair = worked_example()
    >>> verdict_of(pair, compare(pair[0], pair[1]))[0]
    'Different: Twin-WL tells them apart in round 2'
    """
    if comparison.witness is None:
        return _not_told_apart(comparison)
    if comparison.by == "labels":
        return _told_apart_by_labels(pair, comparison.witness)
    return _told_apart_by_twin(pair, comparison, comparison.witness)


def caption(h: int, state: Round, comparison: Comparison) -> tuple[str, str]:
    """Describe a round: a short heading, and a sentence.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl.datasets.generators import worked_example
    >>> pair = worked_example()
    >>> caption(1, rounds_of_pair(pair, 1)[1], compare(pair[0], pair[1]))[0]
    'No difference yet.'
    """
    if state.difference == "labels":
        if h == 0:
            return "Labels differ.", "No round was needed."
        return "Colours differ.", "1-WL tells the graphs apart too."
    if state.difference == "twin":
        why = "Each colour is equally frequent in both graphs, so 1-WL cannot tell them apart."
        return "Rooted sizes differ.", why
    if state.difference == "readout":
        why = "Colours and rooted sizes are equally frequent; the rooted subgraphs are not the same."
        return f"The {_readouts(comparison)} differs.", why
    early = comparison.iteration is not None and h < comparison.iteration
    word = "No difference yet." if early else "No difference."
    return word, "Each pair of colour and rooted size is equally frequent in both graphs."


def _not_told_apart(comparison: Comparison) -> list[str]:
    if comparison.proves_isomorphism:
        proof = "The readout canonical is exact, so this is a proof."
        return ["The same: the two graphs are isomorphic", proof]
    if comparison.exact and comparison.complete:
        honest = "The graphs have node features, which were not compared: they may differ in them."
        return ["Isomorphic when node features are ignored", honest]
    headline = "Not told apart"
    reason = f"Twin-WL with the {_readouts(comparison)} ran until nothing changed, and found no difference."
    if not comparison.complete:
        headline = f"Not told apart up to round {comparison.iterations_run}"
        reason = "More rounds, or a stronger readout, may tell the graphs apart."
    honest = "This does not prove that they are isomorphic."
    if comparison.features_ignored:
        honest += " Their node features were not compared."
    elif not comparison.directed:
        honest += " The readout canonical, without a limit of rounds, is exact and decides whether they are."
    return [headline, reason, honest]


def _told_apart_by_labels(pair: GraphBatch, witness: Witness) -> list[str]:
    first, second = (counted(number, "node") for number in pair.nodes_per_graph.tolist())
    if first != second:
        return ["Different: they differ in size", f"A has {first} and B has {second}."]
    times = f"{_times(witness.counts[0])} in A and {_times(witness.counts[1])} in B"
    if witness.iteration == 0:
        return ["Different: their labels already differ", f"The label {witness.label!r} occurs {times}."]
    headline = f"Different: 1-WL tells them apart in round {witness.iteration}"
    return [headline, f"In that round the colour {witness.colour} occurs {times}."]


def _told_apart_by_twin(pair: GraphBatch, comparison: Comparison, witness: Witness) -> list[str]:
    state = rounds_of_pair(pair, witness.iteration)[witness.iteration]
    row = next((row for row in state.rows if row.differs), None)
    if row is not None:
        reason = (
            f"In that round the {counted(row.counts[0], 'node')} of colour {row.colour} each reach "
            f"{_reach(row, 0, ' nodes in A')}, but {_reach(row, 1, ' in B')}."
        )
    else:
        theirs = f"{witness.counts[1]:,}" if witness.counts[1] else "none"
        reason = (
            f"In that round {counted(witness.counts[0], 'node')} of A and {theirs} of B have the colour "
            f"{witness.colour} with one value of the readout; rooted sizes alone do not differ."
        )
    later = first_wl_difference(pair)
    beyond = "1-WL alone never tells them apart: in every round each colour is equally frequent in both."
    if later is not None:
        beyond = f"1-WL alone tells them apart only in round {later}."
    named = "" if comparison.readout == ("size",) else f" with the {_readouts(comparison)}"
    return [f"Different: Twin-WL{named} tells them apart in round {witness.iteration}", reason, beyond]


def _readouts(comparison: Comparison) -> str:
    names = comparison.readout
    return f"readout {names[0]}" if len(names) == 1 else f"readouts {enumerated(names)}"


def _reach(row: ColourRow, side: int, where: str) -> str:
    """Describe how many nodes those of a colour reach: 5 in A, or 5 or 6 in A (2 and 4 of them)."""
    sizes = row.sizes[side]
    if len(sizes) == 1:
        return f"{sizes[0][0]}{where}"
    if len(sizes) > _MOST_LISTED:
        return f"{sizes[0][0]} to {sizes[-1][0]}{where}"
    reached = enumerated([str(size) for size, _ in sizes], "or")
    return f"{reached}{where} ({enumerated([str(count) for _, count in sizes])} of them)"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


LARGEST_DRAWN = 400
_MOST_ROWS = 400
_ROWS_AT_A_GLANCE = 10
_LONGEST_LABEL = 120
_BONDS = {"single": "\u2013", "double": "=", "triple": "≡", "aromatic": ":"}


def compare_page(first: Dataset, second: Dataset, comparison: Comparison, n_iter: int | None = None) -> str:
    """Return the page of two graphs as HTML.

    Parameters
    ----------
    first, second
        One graph each, with its name.
    comparison
        The result of `twinwl.compare`.
    n_iter
        Last round to show; None shows as many as are needed.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl import load_dataset
    >>> hexagon, triangles = load_dataset("graph6:EhEG"), load_dataset("graph6:EwCW")
    >>> page = compare_page(hexagon, triangles, compare(hexagon.graphs, triangles.graphs))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    pair = concatenate([part.graphs.without_features() for part in (first, second)])
    rounds = _rounds(pair, comparison, n_iter)
    drawn = int(pair.nodes_per_graph.max()) <= LARGEST_DRAWN
    drawings: Sequence[Drawing | None] = (None, None)
    if drawn:
        formulas = [part.smiles[0] if part.smiles else None for part in (first, second)]
        drawings = on_one_canvas([first.graphs, second.graphs], formulas)
    return rendered(
        "compare.html.jinja",
        ("compare.css",),
        "compare.js",
        verdict=verdict_of(pair, comparison),
        distinguished=comparison.distinguished,
        sides=[
            {"name": part.names[0], "facts": facts_of(part.graphs), "drawing": drawing}
            for part, drawing in zip((first, second), drawings)
        ],
        drawn=drawn,
        most=LARGEST_DRAWN,
        data={
            "start": len(rounds) - 1 if comparison.iteration is None else comparison.iteration,
            "directed": pair.directed,
            "paints": [list(paint(slot)) for slot in range(len(FILLS) ** 2)],
            "labels": [shown_label(label) for label in pair.node_vocabulary],
            "edge_labels": [
                _BONDS.get(shown_label(label), shown_label(label)) for label in pair.edge_vocabulary
            ],
            "graphs": [_graph(pair, side, rounds) for side in (0, 1)] if drawn else [],
            "rounds": [
                _round(pair, state, caption(h, state, comparison), drawn=drawn)
                for h, state in enumerate(rounds)
            ],
        },
    )


def _rounds(pair: GraphBatch, comparison: Comparison, n_iter: int | None) -> list[Round]:
    rounds = rounds_of_pair(pair, rounds_to_show(pair, comparison.iteration, n_iter))
    witness = comparison.witness
    if witness is not None and not rounds[witness.iteration].difference:  # only another readout differs
        nodes = [*witness.nodes[0], *(int(pair.graph_ptr[1]) + node for node in witness.nodes[1])]
        marked = np.isin(np.arange(pair.n_nodes), nodes)
        rounds[witness.iteration] = replace(rounds[witness.iteration], marked=marked, by_readout=True)
    return rounds


def shown_label(label: Label) -> str:
    """Format a label for display.

    >>> shown_label("C"), shown_label(None), shown_label((1, "a"))
    ('C', '–', "(1, 'a')")
    """
    if label is None:
        return "\u2013"
    text = label if isinstance(label, str) else repr(label)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _graph(pair: GraphBatch, side: int, rounds: list[Round]) -> Fields:
    first, end = pair.graph_ptr[side : side + 2].tolist()
    arrays = {
        name: [getattr(state, name)[first:end].tolist() for state in rounds]
        for name in ("colours", "slots", "sizes", "marked")
    }
    graph = pair[side]
    return {
        "arcs": [ends.tolist() for ends in graph.arcs()],
        "arc_labels": None if graph.edge_labels is None else graph.edge_labels.tolist(),
        "labels": graph.node_labels.tolist() if graph.has_node_labels else None,
        **arrays,
    }


def _round(pair: GraphBatch, state: Round, text: tuple[str, str], *, drawn: bool) -> Fields:
    node_of_colour = dict(zip(*np.unique(state.colours, return_index=True)))
    rows = state.rows
    if len(rows) > _ROWS_AT_A_GLANCE:
        rows = sorted(rows, key=lambda row: not row.differs)[:_MOST_ROWS]
    return {
        "difference": state.difference,
        "caption": list(text),
        "left_out": len(state.rows) - len(rows),
        "rows": [_row(pair, row, node_of_colour[row.colour], drawn=drawn) for row in rows],
    }


def _row(pair: GraphBatch, row: ColourRow, node: int, *, drawn: bool) -> Fields:
    side = int(node >= pair.graph_ptr[1])
    return {
        "colour": row.colour,
        "slot": row.slot,
        "n": row.counts,
        "t": row.sums,
        "z": row.sizes,
        "differs": row.differs,
        "label": int(pair.node_labels[node]) if pair.has_node_labels else None,
        "example": [side, int(node - pair.graph_ptr[side])] if drawn else None,
    }
