"""Expressive power: how many pairs of a suite a readout, kernel, network or function tells apart.

Published figures on BREC, with their sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from twinwl.arguments import FLAG, NAME, PATH, SEED, checked, integer, items, one_of
from twinwl.datasets.suites import PairSuite, load_suite
from twinwl.errors import TwinWLError, shown
from twinwl.evaluation.probes import TAKES, probe_of
from twinwl.terminal import ProgressBar, aligned

_WANG = "Wang and Zhang, An Empirical Study of Realized GNN Expressiveness, ICML 2024, table 2"
_FENG = (
    "Feng et al., Extending the Design Space of Graph Neural Networks by Rethinking Folklore "
    "Weisfeiler-Lehman, NeurIPS 2023, abstract (71.8 %)"
)
_ALL = 400


class Published(NamedTuple):
    """Pairs of BREC told apart, by category of the paper; None where the source has only the total."""

    method: str
    basic: int | None
    regular: int | None
    extension: int | None
    cfi: int | None
    total: int
    source: str


PUBLISHED = (
    Published("3-WL", 60, 50, 100, 60, 270, _WANG),
    Published("SPD-WL", 16, 14, 41, 12, 83, _WANG),
    Published("NGNN", 59, 48, 59, 0, 166, _WANG),
    Published("SUN", 60, 50, 100, 13, 223, _WANG),
    Published("KP-GNN", 60, 106, 98, 11, 275, _WANG),
    Published("I²-GNN", 60, 100, 100, 21, 281, _WANG),
    Published("PPGN", 60, 50, 100, 23, 233, _WANG),
    Published("δ-k-LGNN", 60, 50, 100, 6, 216, _WANG),
    Published("GSN", 60, 99, 95, 0, 254, _WANG),
    Published("Graphormer", 16, 12, 41, 10, 79, _WANG),
    Published("N²-GNN", None, None, None, None, 287, _FENG),
)


def published_for(power: Power) -> tuple[Published, ...]:
    """Return the published figures, if a result is about all pairs of BREC.

    >>> published_for(Power("csl", {"41 nodes": 45}, 16, (), []))
    ()
    """
    return PUBLISHED if power.suite == "brec" and power.n_pairs == _ALL else ()


_MOST_COPIES = 10_000


class PairScore(NamedTuple):
    """One pair, scored by one method.

    Attributes
    ----------
    scored : str
        Name of what was scored.
    category, pair, title
        The pair: its category, its number in the suite, what it is called.
    outcome : str
        ``"separated"``; ``"same"``: no difference; ``"unclear"``: a difference that may be rounding;
        ``"unsound"``: the value of a graph changes when its nodes are relabelled; or ``"failed"``.
    difference : float or None
        Distance of the two values (0 or 1 for values that are not vectors); for a readout, by how many nodes
        the counts of the witness differ.
    noise : float or None
        Largest distance between the value of a graph and that of a relabelled copy.
    round : int or None
        For a readout, the first round with a difference.
    seconds : float
        Processor time of the two graphs, without the copies.
    error : str
        Why it failed, if it did.
    """

    scored: str
    category: str
    pair: int
    title: str
    outcome: str
    difference: float | None
    noise: float | None
    round: int | None
    seconds: float
    error: str


class CategoryScore(NamedTuple):
    """The pairs of a category, counted by outcome, and the processor time in seconds."""

    pairs: int
    separated: int
    unsound: int
    failed: int
    seconds: float
    unclear: int


@dataclass(frozen=True, eq=False)
class Power:
    """What `power` found.

    Attributes
    ----------
    suite : str
    categories : dict of str to int
        Number of pairs of each category.
    copies : int
        Relabelled copies of each graph.
    names : tuple of str
        What was scored.
    scores : list of PairScore
        One per pair and method.
    """

    suite: str
    categories: dict[str, int]
    copies: int
    names: tuple[str, ...]
    scores: list[PairScore]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of the suite."""
        return sum(self.categories.values())

    @property
    def separated(self) -> dict[str, int]:
        """How many pairs each method told apart."""
        return {name: self.score(name).separated for name in self.names}

    def score(self, name: str, category: str | None = None) -> CategoryScore:
        """Count the outcomes of a method, of all pairs or those of one category."""
        name = checked("name", name, one_of(*self.names))
        category = checked("category", category, one_of(*self.categories), None)
        chosen = [each for each in self.scores if each.scored == name and category in {None, each.category}]
        count = {
            outcome: sum(each.outcome == outcome for each in chosen)
            for outcome in ("separated", "unclear", "unsound", "failed")
        }
        return CategoryScore(len(chosen), **count, seconds=sum(each.seconds for each in chosen))

    def to_records(self) -> list[dict[str, object]]:
        """Return one dictionary per pair and method."""
        return [score._asdict() for score in self.scores]

    def to_frame(self) -> object:
        """Return one row per pair and method as a pandas DataFrame."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self.to_records(), columns=list(PairScore._fields))

    def to_json(self) -> str:
        """Return everything as JSON: the counts of each method, its pairs, and published figures."""
        methods = {
            name: {
                **self.score(name)._asdict(),
                "categories": {part: self.score(name, part)._asdict() for part in self.categories},
            }
            for name in self.names
        }
        return json.dumps(
            {
                "suite": self.suite,
                "pairs": self.n_pairs,
                "categories": self.categories,
                "copies": self.copies,
                "methods": methods,
                "scores": self.to_records(),
                "published": [row._asdict() for row in published_for(self)],
            }
        )

    def save_page(self, path: str | Path) -> None:
        """Write a self-contained HTML page: power against cost, category by category.

        Parameters
        ----------
        path
            The file to write.
        """
        from twinwl.report.page import write_page  # noqa: PLC0415  (on demand)
        from twinwl.report.power_page import power_page  # noqa: PLC0415

        write_page(checked("path", path, PATH), power_page(self))

    def table(self) -> list[list[str]]:
        """Return the counts as rows of text: a header, one row per category, one column per method."""
        every = [self.score(name) for name in self.names]
        rows = [
            [part, f"{size:,}", *(f"{self.score(name, part).separated:,}" for name in self.names)]
            for part, size in self.categories.items()
        ]
        if len(rows) > 1:
            rows.append(["all", f"{self.n_pairs:,}", *(f"{score.separated:,}" for score in every)])
        return [
            [f"{self.suite}: told apart", "of", *self.names],
            *rows,
            ["unclear", "", *(f"{score.unclear:,}" for score in every)],
            ["unsound", "", *(f"{score.unsound:,}" for score in every)],
            ["failed", "", *(f"{score.failed:,}" for score in every)],
            ["processor seconds", "", *(f"{score.seconds:.2f}" for score in every)],
        ]

    def __repr__(self) -> str:
        told = ", ".join(f"{name}: {number:,}" for name, number in self.separated.items())
        return f"Power({self.suite!r}, {self.n_pairs:,} pairs; {told})"

    def __str__(self) -> str:
        return aligned(self.table())

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import result_html  # noqa: PLC0415  (on demand)

        return result_html(table=self.table())


def power(
    f: object,
    suite: object = "brec",
    *,
    categories: Sequence[str] | None = None,
    copies: int = 16,
    takes: str | None = None,
    on_error: str = "raise",
    random_state: int = 0,
    data_dir: str | Path | None = None,
    edge_labels: bool = True,
) -> Power:
    """Count the pairs of a suite of hard pairs that something tells apart.

    Parameters
    ----------
    f
        What to score, as it is, without any training:

        - a readout of the Twin-WL test (a name, or a list of names and functions of rooted subgraphs, as in
          `twinwl.compare`);
        - a function of one graph that returns a number, a vector (array, tensor, sparse matrix) or something
          hashable. Methods of fitted models are such functions: ``model.transform``, ``model.predict_proba``;
        - a kernel: a function of two graphs, or `TwinKernel`;
        - a transformer such as `STwinVectorizer`: a clone is fitted to the two graphs of each pair;
        - a torch module in evaluation mode, called with a PyG ``Batch`` of one graph (or with its ``x``,
          ``edge_index`` and ``batch``, if ``forward`` names these). ``x`` has one column per label, or a
          column of ones. A copy in double precision is called where that works, else the module itself;
        - an import path ``"module:name"`` of one of these;
        - a dictionary from names to any of these.
    suite
        ``"brec"``, ``"atlas"``, ``"regular"``, ``"csl"``, ``"strongly-regular"``, ``"cfi"``, ``"exp"`` or
        ``"twins"``; a zip or folder with BREC's files; a file of graphs of which 2p and 2p + 1 are a pair; or
        a list of pairs of graphs.
    categories
        Only these categories of the suite.
    copies
        Relabelled copies of each graph, which must have its value.
    takes
        What functions and modules receive: ``"batch"`` (a `GraphBatch` of one graph, the default of
        functions), ``"networkx"`` or ``"pyg"`` (the default of modules). The others do not need it.
    on_error
        Whether a function that raises, or returns something that cannot be compared, is an error
        (``"raise"``) or counts as failed for that pair (``"count"``).
    random_state
        Seed of the node orders of the copies.
    data_dir
        Folder with BREC and EXP; None uses ``TWINWL_DATA``.
    edge_labels
        Whether the graphs keep their edge labels, if the suite has any.

    Returns
    -------
    Power

    Notes
    -----
    A pair is *separated* only if the distance of its two values exceeds ten times the largest distance
    between a graph and its relabelled copies, and the unit of rounding of its type sixteen times. If a copy
    differs by more than rounding explains (the square root of that unit, relative to the length of the
    vector), the pair is *unsound* and does not count, whatever the difference. A difference above a fifth of
    what is needed is *unclear*: more precision may turn it into a clear one. Values that are not vectors are
    compared for equality.

    Examples
    --------
    >>> import networkx as nx
    >>> hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> found = power({"edges": nx.number_of_edges, "triangles": nx.triangles}, [(hexagon, triangles)],
    ...               takes="networkx", on_error="count")
    >>> found.separated, found.score("triangles").failed
    ({'edges': 0, 'triangles': 0}, 1)
    >>> power("size", "cfi", categories=["cycles"], copies=2)
    Power('cfi', 6 pairs; size: 6)
    """
    copies = checked("copies", copies, integer(0, _MOST_COPIES))
    takes = checked("takes", takes, one_of(*TAKES), None)
    on_error = checked("on_error", on_error, one_of("raise", "count"))
    seed = checked("random_state", random_state, SEED)
    pairs = load_suite(suite, data_dir)
    if not checked("edge_labels", edge_labels, FLAG):
        pairs = replace(pairs, graphs=pairs.graphs.without_edge_labels())
    if categories is not None:
        chosen = (
            [categories]
            if isinstance(categories, str)
            else items("categories", categories, "a list of names")
        )
        pairs = pairs.only([checked("categories", name, one_of(*pairs.sizes)) for name in chosen])
    asked = _named(f)
    scores: list[PairScore] = []
    with ProgressBar(f"pairs of {pairs.name}", len(asked) * len(pairs)) as bar:
        for name, scored in asked.items():
            try:
                warm_up, probe = (
                    probe_of(scored, pairs.graphs, number, seed, takes) for number in (0, copies)
                )
            except TwinWLError as error:
                raise TwinWLError(f"{name}: {error}") from error
            _pair_of(warm_up.pair, pairs, 0, name, "count")  # compiles kernels and loads modules, untimed
            for number in range(len(pairs)):
                bar.note(name)
                scores.append(_pair_of(probe.pair, pairs, number, name, on_error))
                bar.advance()
    return Power(pairs.name, pairs.sizes, copies, tuple(asked), scores)


def _pair_of(
    judged: Callable[[int, int], Any], suite: PairSuite, number: int, name: str, on_error: str
) -> PairScore:
    """Judge one pair; whatever a user's function raises is an error that names the pair, or counts."""
    g, h = suite.pairs[number].tolist()
    place = (name, suite.categories[number], number, suite.titles[number])
    try:
        found = judged(g, h)
    except Exception as error:
        what = str(error) if isinstance(error, TwinWLError) else f"raised {type(error).__name__}: {error}"
        if on_error == "count":
            return PairScore(*place, "failed", None, None, None, 0.0, what)
        title = "" if suite.titles[number] == f"pair {number}" else f" ({suite.titles[number]})"
        raise TwinWLError(
            f"{suite.name}, pair {number}{title}: {name} {what}; on_error='count' counts it as failed"
        ) from error
    outcome = "separated" if found.separated else "unclear" if found.unclear else "same"
    outcome = outcome if found.sound else "unsound"
    return PairScore(*place, outcome, found.difference, found.noise, found.round, found.seconds, "")


def _named(f: object) -> dict[str, object]:
    """Return what is to be scored by name."""
    if isinstance(f, str):
        f = checked("f", f, NAME)
    if isinstance(f, dict):
        named = {name if isinstance(name, str) else shown(name): scored for name, scored in f.items()}
        if not named:
            raise TwinWLError("f: got an empty dictionary, expected something to score")
        return named
    if isinstance(f, (list, tuple)):
        return {" + ".join(_name_of(part) for part in f) or shown(f): f}
    return {_name_of(f): f}


def _name_of(f: object) -> str:
    if isinstance(f, str):
        return f
    name = getattr(f, "__name__", None)
    return name if isinstance(name, str) else type(f).__name__
