"""The verdict on two graphs as text, for the terminal and the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from twinwl.report.compare.rounds import ColourRow, Round, first_wl_difference, rounds_of_pair
from twinwl.report.wording import counted, enumerated

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.verdict import Comparison, Witness

_MOST_LISTED = 4


@dataclass(frozen=True)
class Verdict:
    """A headline, and a few sentences that explain it."""

    distinguished: bool
    headline: str
    sentences: list[str]


def verdict_of(pair: GraphBatch, comparison: Comparison) -> Verdict:
    """Describe the result of the test.

    Parameters
    ----------
    pair
        The two graphs, a batch of two.
    comparison
        The result of the test.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> pair = worked_example()
    >>> verdict = verdict_of(pair, compare(pair[0], pair[1]))
    >>> print(verdict.headline)
    Different: Twin-WL tells them apart in round 2
    >>> print(verdict.sentences[0])
    In that round the 4 nodes of colour 0 each reach 5 nodes in A, but 4 in B.
    """
    if comparison.witness is None:
        return _not_told_apart(comparison)
    if comparison.by == "labels":
        return _told_apart_by_labels(pair, comparison.witness)
    return _told_apart_by_twin(pair, comparison, comparison.witness)


def caption(h: int, found: Round, comparison: Comparison) -> tuple[str, str]:
    """Describe a round: a short heading, and a sentence.

    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> pair = worked_example()
    >>> caption(1, rounds_of_pair(pair, 1)[1], compare(pair[0], pair[1]))[0]
    'No difference yet.'
    """
    if found.difference == "labels":
        return (
            ("Labels differ.", "No round was needed.")
            if h == 0
            else ("Colours differ.", "1-WL tells the graphs apart too.")
        )
    if found.difference == "twin":
        return (
            "Rooted sizes differ.",
            "Each colour is equally frequent in both graphs, so 1-WL cannot tell them apart.",
        )
    if found.difference == "readout":
        return (
            f"The {_readouts(comparison)} differs.",
            "Colours and rooted sizes are equally frequent; the rooted subgraphs are not the same.",
        )
    early = comparison.iteration is not None and h < comparison.iteration
    word = "No difference yet." if early else "No difference."
    return word, "Each pair of colour and rooted size is equally frequent in both graphs."


def _not_told_apart(comparison: Comparison) -> Verdict:
    if comparison.proves_isomorphism:
        return Verdict(
            distinguished=False,
            headline="The same: the two graphs are isomorphic",
            sentences=["The readout canonical is exact, so this is a proof."],
        )
    if comparison.exact and comparison.complete:
        return Verdict(
            distinguished=False,
            headline="Isomorphic when node features are ignored",
            sentences=["The graphs have node features, which were not compared: they may differ in them."],
        )
    headline = "Not told apart"
    reason = f"Twin-WL with the {_readouts(comparison)} ran until nothing changed, and found no difference."
    if not comparison.complete:
        rounds = comparison.iterations_run
        headline = f"Not told apart up to round {rounds}"
        reason = "More rounds, or a stronger readout, may tell the graphs apart."
    honest = "This does not prove that they are isomorphic."
    if comparison.features_ignored:
        honest += " Their node features were not compared."
    elif not comparison.directed:
        honest += " The readout canonical, without a limit of rounds, is exact and decides whether they are."
    return Verdict(distinguished=False, headline=headline, sentences=[reason, honest])


def _told_apart_by_labels(pair: GraphBatch, witness: Witness) -> Verdict:
    counts = pair.nodes_per_graph.tolist()
    if counts[0] != counts[1]:
        return Verdict(
            distinguished=True,
            headline="Different: they differ in size",
            sentences=[f"A has {counted(counts[0], 'node')} and B has {counted(counts[1], 'node')}."],
        )
    times = f"{_times(witness.counts[0])} in A and {_times(witness.counts[1])} in B"
    if witness.iteration == 0:
        return Verdict(
            distinguished=True,
            headline="Different: their labels already differ",
            sentences=[f"The label {witness.label!r} occurs {times}."],
        )
    return Verdict(
        distinguished=True,
        headline=f"Different: 1-WL tells them apart in round {witness.iteration}",
        sentences=[f"In that round the colour {witness.colour} occurs {times}."],
    )


def _told_apart_by_twin(pair: GraphBatch, comparison: Comparison, witness: Witness) -> Verdict:
    found = rounds_of_pair(pair, witness.iteration)[witness.iteration]
    row = next((row for row in found.rows if row.differs), None)
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
    beyond = (
        "1-WL alone never tells them apart: in every round each colour is equally frequent in both."
        if later is None
        else f"1-WL alone tells them apart only in round {later}."
    )
    named = "" if comparison.readout == ("size",) else f" with the {_readouts(comparison)}"
    return Verdict(
        distinguished=True,
        headline=f"Different: Twin-WL{named} tells them apart in round {witness.iteration}",
        sentences=[reason, beyond],
    )


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
