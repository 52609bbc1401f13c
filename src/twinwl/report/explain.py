"""The pages that explain predictions: of one graph, and of all graphs of a data set, each in one HTML file.

`environment_of` writes the neighbourhood of an atom as SMARTS and SMILES, for use in other programs.
`explain_all` explains many graphs and finds the patterns that recur: the columns that contribute most to the
decisions. `nodes_shown` and `columns_shown` turn an explanation into the plain values that the pages and the
picture show; `explain_page` and `gallery_page` fill in the templates.
"""

from __future__ import annotations

import itertools
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS
from twinwl.arrays import Fields
from twinwl.errors import TwinWLError, TwinWLWarning, import_extra
from twinwl.evaluation.predictions import alphabet_of, unseen_shares
from twinwl.graphs.atom_labels import FIRST_ATOMS
from twinwl.graphs.batch import GraphBatch
from twinwl.models.metrics import positive_class
from twinwl.refinement.colours import refine
from twinwl.report.compare import LARGEST_DRAWN, shown_label
from twinwl.report.drawing import SMALLEST, AtomText, Drawing, draw, ends_joined, read_molecule
from twinwl.report.page import facts_of, rendered
from twinwl.terminal import ProgressBar, counted

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.neighbours import Neighbours
    from twinwl.models.explanation import ColumnShare, Explanation

_BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}


class Environment(NamedTuple):
    """An atom and its neighbourhood; the atom is the first one of the SMARTS."""

    smarts: str
    smiles: str


def environment_of(
    molecule: Chem.Mol | str, atom: int, radius: int, atoms: str = "skeleton", *, bonds: bool = False
) -> Environment:
    """Return the neighbourhood of an atom as a model sees it.

    At the level ``"skeleton"``, an atom that matches has the same elements around it, and inside no other
    neighbours: so it has the same colour after ``radius`` rounds. The reverse is not true, because colours
    can be the same where rings differ.

    Parameters
    ----------
    molecule
        The molecule, or its SMILES.
    atom
        Number of the atom.
    radius
        Number of steps.
    atoms
        What the model's atom labels contain: for levels other than ``"skeleton"``, hydrogens and charge are
        part of the SMARTS, then isotopes, and for ``"ecfp"`` whether the atom is in a ring. SMARTS have no
        radicals; stereo is left out. For ``"fcfp"`` the SMARTS has the elements of this molecule.
    bonds
        Whether the model sees bond orders; otherwise any bond matches.

    >>> environment_of("CCO", 2, 1).smarts
    '[#8&D1]~[#6]'
    """
    chem = import_extra("rdkit.Chem", "chem")
    read = read_molecule(molecule)
    # SMARTS are written from the first atom on.
    first = chem.RenumberAtoms(read, [atom, *(n for n in range(read.GetNumAtoms()) if n != atom)])
    steps: dict[int, int] = {}
    find = chem.FindAtomEnvironmentOfRadiusN
    within = list(find(first, radius, 0, useHs=True, enforceSize=False, atomMap=steps)) if radius else []
    steps[0] = 0
    query = chem.RWMol(first)
    for number, step in steps.items():
        query.ReplaceAtom(
            number, chem.AtomFromSmarts(_atom(first.GetAtomWithIdx(number), atoms, inside=step < radius))
        )
    for number in within:
        kind = first.GetBondWithIdx(number).GetBondType().name
        query.ReplaceBond(number, chem.BondFromSmarts(_BONDS.get(kind, "~") if bonds else "~"))
    return Environment(
        chem.MolFragmentToSmarts(query, list(steps), within, isomericSmarts=False),
        chem.MolFragmentToSmiles(first, list(steps), within, isomericSmiles=False),
    )


def _atom(atom: Chem.Atom, atoms: str, *, inside: bool) -> str:
    parts = [f"#{atom.GetAtomicNum()}"]
    if inside or atoms == "ecfp":
        parts.append(f"D{atom.GetDegree()}")
    if atoms not in {"skeleton", "fcfp"}:
        parts += [f"H{atom.GetTotalNumHs(includeNeighbors=True)}", f"{atom.GetFormalCharge():+d}"]
    if atoms in {"isotope", "stereo"} or (atoms == "ecfp" and atom.GetIsotope()):
        parts.append(f"{atom.GetIsotope()}*")
    if atoms == "ecfp":
        parts.append("R" if atom.IsInRing() else "R0")
    return f"[{'&'.join(parts)}]"


class Occurrence(NamedTuple):
    """A pattern in one graph."""

    graph: int
    share: float
    """What it adds to the decision about this graph; positive is for the first of its sides."""
    value: float


class Pattern(NamedTuple):
    """A column with its contributions to all decisions."""

    column: ColumnShare
    """The column in its example."""
    example: int
    """The graph where it contributes most, among those small enough to be drawn."""
    total: float
    """Sum of its absolute shares."""
    side: str
    """What it speaks for, summed over all graphs: a class, or a higher or lower number."""
    mean: float
    """Mean contribution over the graphs that have the pattern; negative for the second of their sides."""
    occurrences: tuple[Occurrence, ...]
    smarts: str | None = None
    """The neighbourhood in its example, if the graphs are molecules."""


class ExplainedGraphs(NamedTuple):
    """The explanation of each graph, without columns, and the patterns that contribute most."""

    explanations: tuple[Explanation, ...]
    patterns: tuple[Pattern, ...]

    def named(self, target: str | None) -> ExplainedGraphs:
        """Name classes that are numbers after the target, for people to read."""
        result = tuple(classes_named(one, target) for one in self.explanations)
        new_name = {
            side: name
            for before, after in zip(self.explanations, result)
            for side, name in zip(before.sides, after.sides)
        }
        return ExplainedGraphs(result, tuple(one._replace(side=new_name[one.side]) for one in self.patterns))

    def table(self, data: Dataset) -> dict[str, list[Any]]:
        """Return one row per graph and pattern that it has, strongest pattern first, by column."""
        rows = [
            {
                "pattern": pattern.column.name,
                "index": int(data.rows[number]),
                "name": data.names[number],
                "prediction": self.explanations[number].prediction,
                "share": float(f"{share:.6g}"),
                "for": self.explanations[number].sides[share <= 0],
                "value": value,
                "tree": str(pattern.column.tree),
                **({} if data.smiles is None else {"smarts": pattern.smarts}),
            }
            for pattern in self.patterns
            for number, share, value in pattern.occurrences
        ]
        if not rows:
            raise TwinWLError("there is no pattern to write: the model counts none, or --top is 0")
        return {name: [row[name] for row in rows] for name in rows[0]}


def explained(model: Any, graph: GraphBatch, n_columns: int) -> Explanation:  # noqa: ANN401
    """Explain one graph; of two classes, positive shares are for the positive one, whichever is predicted."""
    result: Explanation = replace(model.explain(graph, n_columns), target=getattr(model, "target_", None))
    classes = getattr(model, "classes_", np.array([]))
    if len(classes) != 2:  # noqa: PLR2004
        return result
    return result.towards(classes.tolist()[positive_class(classes, getattr(model, "positive_", None))])


def explain_all(model: Any, data: Dataset, n_patterns: int) -> ExplainedGraphs:  # noqa: ANN401
    """Explain every graph, and find the patterns with the largest total of absolute shares.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl.datasets.dataset import Dataset
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]] * 5)
    >>> model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain"] * 5)
    >>> found = explain_all(model, Dataset("tiny", graphs), 2)
    >>> [(pattern.column.name, pattern.side, len(pattern.occurrences)) for pattern in found.patterns]
    [('h1:c0:s3', 'ring', 10), ('h1:c1:s2', 'chain', 5)]
    """
    explanations: list[Explanation] = []
    occurrences: dict[str, list[Occurrence]] = defaultdict(list)
    columns: dict[str, tuple[tuple[bool, float], ColumnShare, int]] = {}
    model.predict(data.graphs)  # warns of unknown labels once, with the number of graphs
    with ProgressBar("explaining", len(data)) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinWLWarning)
        for number in bar.over(range(len(data))):
            result = explained(model, data.graphs[number], MAX_ITEMS)
            for column in result.columns:
                occurrences[column.name].append(Occurrence(number, column.share, column.value))
                rank = (result.graph.n_nodes <= LARGEST_DRAWN, abs(column.share))
                if column.name not in columns or rank > columns[column.name][0]:
                    columns[column.name] = rank, column, number
            explanations.append(replace(result, columns=()))
    totals = {name: sum(abs(one.share) for one in places) for name, places in occurrences.items()}
    patterns = []
    for name in sorted(totals, key=lambda name: (-totals[name], name))[:n_patterns]:
        _, column, example = columns[name]
        smiles = None if data.smiles is None else data.smiles[example]
        one = replace(explanations[example], columns=(column,))
        around = columns_shown(one, None, smiles, model)[0].environment
        side, mean = _side_and_mean(explanations, occurrences[name])
        places = tuple(occurrences[name])
        patterns.append(Pattern(column, example, totals[name], side, mean, places, around and around.smarts))
    return ExplainedGraphs(tuple(explanations), tuple(patterns))


def classes_named(explanation: Explanation, target: str | None) -> Explanation:
    """Name classes that are numbers after the target, ``p_np = 1``; other predictions are not changed."""
    if explanation.against is None:
        return explanation
    labels = ("prediction", "against", "positive")
    return replace(explanation, **{name: _with_target(getattr(explanation, name), target) for name in labels})


def _with_target(label: Any, target: str | None) -> Any:  # noqa: ANN401  (any class)
    return label if target is None or label is None or isinstance(label, str) else f"{target} = {label}"


def _side_and_mean(explanations: list[Explanation], places: list[Occurrence]) -> tuple[str, float]:
    # A share for one class is a share against the class that it was weighed against.
    sums: dict[str, float] = defaultdict(float)
    for place in places:
        wanted, other = explanations[place.graph].sides
        sums[wanted] += place.share
        sums[other] -= place.share
    side = max(sorted(sums), key=lambda name: sums[name])
    second_of_two = {explanations[place.graph].sides[1] for place in places} == {side}
    return side, (-1 if second_of_two else 1) * sums[side] / len(places)


STRONGEST = 0.86  # of the full colour, so that letters on a disc stay readable
_FRAME = (264.0, 188.0)  # smallest frame around the neighbourhood of a column
_AROUND = 30.0
_STYLES = ("compare.css", "explain.css")


class ShownNode(NamedTuple):
    """A node with its share."""

    number: int
    label: str
    share: float
    strength: float
    """Absolute share divided by the largest one, 0 to 1."""
    text: AtomText | None
    unseen: int | None = None
    """First round in which no training graph has its colour; None if all its colours are known."""


class ShownColumn(NamedTuple):
    """A column, and where it occurs in the graph."""

    column: ColumnShare
    strength: float
    """Absolute share divided by the largest one."""
    words: str
    around: list[int]
    """The nodes that the root reaches: the neighbourhood to show."""
    root: int | None
    """Of the nodes that the column counts, the one with the largest share."""
    frame: tuple[float, float, float, float]
    """View of the drawing that shows the neighbourhood: x, y, width, height."""
    environment: Environment | None
    """The neighbourhood as SMARTS and SMILES, if the graph is a molecule."""


def drawing_of(graph: GraphBatch, molecule: Chem.Mol | str | None = None) -> Drawing | None:
    """Lay out one graph, as a molecule if it is one; None if it is too large to be drawn."""
    if graph.n_nodes > LARGEST_DRAWN or not graph.n_nodes:
        return None
    return draw(graph, molecule, SMALLEST)


def nodes_shown(
    explanation: Explanation,
    drawing: Drawing | None,
    model: Any = None,  # noqa: ANN401
) -> list[ShownNode]:
    """Return every node with its share; with the model, nodes with unseen colours are marked."""
    graph, shares = explanation.graph, explanation.node_shares
    largest = float(np.abs(shares).max(initial=0.0)) or 1.0
    texts: Sequence[AtomText | None] = (drawing and drawing.texts) or [None] * graph.n_nodes
    unseen: list[int | None] = [None] * graph.n_nodes
    alphabet = alphabet_of(model)
    if alphabet is not None:
        strange = refine(graph.without_features(), None, alphabet=alphabet).colours < 0
        unseen = [int(column.argmax()) if column.any() else None for column in strange.T]
    return [
        ShownNode(node, shown_label(label), share, abs(share) / largest, texts[node], unseen[node])
        for node, (share, label) in enumerate(zip(shares.tolist(), graph.labels_of_nodes()))
    ]


def columns_shown(
    explanation: Explanation,
    drawing: Drawing | None = None,
    molecule: Chem.Mol | str | None = None,
    model: Any = None,  # noqa: ANN401
) -> list[ShownColumn]:
    """Return the columns with the largest shares, and the nodes that they count.

    With the model and the molecule, each has its environment as well.
    """
    whole, alphabet = ends_joined(explanation.graph), alphabet_of(model)
    largest = max([abs(column.share) for column in explanation.columns], default=0.0) or 1.0
    shown = []
    for column in explanation.columns:
        root = max(column.nodes, key=lambda node: abs(explanation.node_shares[node]), default=None)
        around = [] if root is None else sorted(whole.neighborhood(root, column.tree.depth))
        environment = None
        if root is not None and molecule is not None and alphabet is not None:
            bonds, atoms = alphabet.edge_labels is not None, model.atoms_ or FIRST_ATOMS
            views = getattr(model, "view_names_", ())
            atoms = column.name.partition(":")[0] if views else atoms
            if not column.name.partition(":")[2 * bool(views)].startswith("d"):  # a pair has no environment
                environment = environment_of(molecule, root, column.tree.depth, atoms, bonds=bonds)
        words = _words(column, "node" if molecule is None else "atom")
        strength, frame = abs(column.share) / largest, _frame(drawing, around)
        shown.append(ShownColumn(column, strength, words, around, root, frame, environment))
    return shown


def percent(probability: float) -> str:
    """Format a probability as a percentage, never as 0 % or 100 %.

    >>> percent(0.614), percent(0.9991)
    ('61 %', 'over 99 %')
    """
    if probability >= 0.995:  # noqa: PLR2004  (would be rounded to 100)
        return "over 99 %"
    return "under 1 %" if probability < 0.005 else f"{100 * probability:.0f} %"  # noqa: PLR2004


def headline(explanation: Explanation, probability: float | None) -> str:
    """Return the prediction as a sentence: ``Predicted active (87 %) rather than inactive``."""
    sure = "" if probability is None else f" ({percent(probability)})"
    against = explanation.verdict.removeprefix(explanation.predicted)
    return f"Predicted {explanation.subject}{explanation.predicted}{sure}{against}"


def _words(column: ColumnShare, noun: str) -> str:
    n_nodes, steps = len(column.nodes), column.tree.depth
    many = f"{counted(n_nodes, noun)} like this, each" if n_nodes > 1 else f"One {noun} like this,"
    seen = f"compared up to {counted(steps, 'step')} away" if steps else "compared by its label alone"
    return f"{many} {seen}" if n_nodes else seen[0].upper() + seen[1:]


def _frame(drawing: Drawing | None, nodes: list[int]) -> tuple[float, float, float, float]:
    if drawing is None or not nodes:
        return 0.0, 0.0, *_FRAME
    low, high = drawing.points[nodes].min(axis=0) - _AROUND, drawing.points[nodes].max(axis=0) + _AROUND
    size = np.maximum(high - low, _FRAME)
    return *((low + high - size) / 2).tolist(), *size.tolist()


def explain_page(
    named: Dataset,
    explanation: Explanation,
    model: Any = None,  # noqa: ANN401
    *,
    probability: float | None = None,
    nearest: Neighbours | None = None,
) -> str:
    """Return the page of an explanation as HTML.

    Parameters
    ----------
    named
        One graph with its name, and its SMILES if it is a molecule.
    explanation
        The result of a classifier's ``explain`` for this graph.
    model
        The model; without it the page shows neither unseen colours nor SMARTS.
    probability
        Probability of the predicted class.
    nearest
        The most similar training graph, if it is known.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl import load_dataset
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    >>> model = STwinSVC().fit(GraphBatch.from_edges([triangle, path] * 5), ["ring", "chain"] * 5)
    >>> named = load_dataset("graph6:Bw")
    >>> page = explain_page(named, model.explain(named.graphs), model)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    molecule = named.smiles[0] if named.smiles else None
    tile, about = _tile(named, 0, explanation, model), _about(named, model)
    near = None
    if nearest is not None and (similarity := nearest.matches[0].similarity):
        graph = nearest.graphs.graphs
        plain = replace(explanation, graph=graph, node_shares=np.zeros(graph.n_nodes), columns=())
        near = {**_tile(nearest.graphs, 0, plain), "similarity": similarity}
    return rendered(
        "explain.html.jinja",
        _STYLES,
        "explain.js",
        **tile,
        **about,
        explanation=explanation,
        probability=None if probability is None else percent(probability),
        nearest=near,
        parts=_parts(explanation),
        n_listed=counted(named.graphs.n_nodes, about["node"]),
        columns=columns_shown(explanation, tile["drawing"], molecule, model),
        largest=float(np.abs(explanation.node_shares).max(initial=0.0)),
        most=LARGEST_DRAWN,
    )


def _tile(data: Dataset, number: int, explanation: Explanation, model: Any = None) -> Fields:  # noqa: ANN401
    """Return what a template needs to draw one graph with its shares."""
    molecule = data.smiles[number] if data.smiles else None
    drawing = drawing_of(explanation.graph, molecule)
    return {
        "name": data.names[number],
        "facts": facts_of(explanation.graph, molecule=molecule is not None),
        "drawing": drawing,
        "nodes": (nodes := nodes_shown(explanation, drawing, model)),
        "any_unseen": drawing is not None and any(node.unseen is not None for node in nodes),
    }


def _about(data: Dataset, model: Any) -> Fields:  # noqa: ANN401
    """Return what templates of both pages need to know about all graphs."""
    noun, node, what = ("graph", "node", "Edge labels")
    if data.smiles is not None:
        noun, node, what = ("molecule", "atom", "Bond orders")
    blind = data.graphs.edge_labels is not None and not getattr(model, "edge_labels", True)
    return {
        "noun": noun,
        "node": node,
        "eye": f"{what} are drawn for the eye; this model does not see them." if blind else "",
        "strongest": 100 * STRONGEST,
        "is_molecule": data.smiles is not None,
        "arrows": data.graphs.directed,
    }


def _parts(explanation: Explanation) -> list[Fields]:
    """Return the terms of the decision as bars, each starting where the previous one ends."""
    shares, (wanted, other) = explanation.node_shares, explanation.sides
    steps = {
        "Intercept": explanation.intercept,
        f"Shares for {wanted}": float(shares[shares > 0].sum()),
        f"Shares for {other}": float(shares[shares < 0].sum()),
    }
    ends = list(itertools.accumulate(steps.values(), initial=0.0))
    steps["Decision"] = ends[-1]
    low, scale = min(ends), 100 / ((max(ends) - min(ends)) or 1.0)
    return [
        {
            "title": title,
            "value": value,
            "left": (min(start, start + value) - low) * scale,
            "width": abs(value) * scale,
            "zero": -low * scale,
        }
        for (title, value), start in zip(steps.items(), [*ends[:-1], 0.0])
    ]


def probabilities_of(
    model: Any,  # noqa: ANN401
    graphs: GraphBatch,
    explanations: Sequence[Explanation],
) -> list[float] | None:
    """Return the probability of each predicted class; None if the model is a regressor."""
    classes = [str(name) for name in getattr(model, "classes_", np.array([])).tolist()]
    codes = [classes.index(str(one.prediction)) for one in explanations if classes]
    return model.predict_proba(graphs)[np.arange(len(explanations)), codes].tolist() if classes else None


def gallery_page(
    data: Dataset,
    explained_graphs: ExplainedGraphs,
    model: Any = None,  # noqa: ANN401
    *,
    truth: Sequence[object] | None = None,
    nearest: Neighbours | None = None,
    target: str | None = None,
    most: int = 60,
) -> str:
    """Return the page about all graphs of a data set as HTML: recurring patterns, and a gallery.

    Parameters
    ----------
    data
        The graphs, with names, and SMILES if they are molecules.
    found
        Their explanations.
    model
        As for `explain_page`; without it the page shows no probabilities either.
    truth
        The targets in the data; None in the list where one is missing.
    nearest
        The most similar training graphs, if they are known.
    target
        What classes that are numbers are named after.
    most
        Number of graphs to draw, the first ones of the data set.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl.datasets.dataset import Dataset
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]] * 5)
    >>> model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain"] * 5)
    >>> found = explain_all(model, Dataset("tiny", graphs), 2)
    >>> page = gallery_page(Dataset("tiny", graphs), found, model)
    >>> page.count('class="tile"')
    10
    """
    about = _about(data, model)
    n_graphs = counted(len(data), about["noun"])
    truth = truth or [None] * len(data)
    right = [
        None if label is None or one.against is None else str(label) == one.predicted
        for label, one in zip(truth, explained_graphs.explanations)
    ]
    n_known = len(right) - right.count(None)
    probabilities = probabilities_of(model, data.graphs, explained_graphs.explanations)
    unseen = unseen_shares(model, data.graphs)
    explained_graphs = explained_graphs.named(target)
    tiles = []
    for number, explanation in enumerate(explained_graphs.explanations[:most]):
        notes = [f"row {data.rows[number]}"] if data.smiles else []
        if probabilities is not None:
            notes.append(f"probability {percent(probabilities[number])}")
        if truth[number] is not None:
            known = truth[number] if explanation.against is None else _with_target(truth[number], target)
            notes.append(f"in the data: {known}")
        if unseen is not None:
            notes.append(f"unseen {100 * unseen[:, number].mean():.0f} %")
        if nearest is not None:
            notes.append(nearest.matches[number].sentence)
        answer = {"predicted": explanation.predicted, "right": right[number], "notes": " · ".join(notes)}
        tiles.append({**_tile(data, number, explanation, model), **answer})
    sides = {explanation.sides for explanation in explained_graphs.explanations}
    return rendered(
        "gallery.html.jinja",
        _STYLES,
        **about,
        name=data.name,
        n_graphs=n_graphs,
        numbers=all(one.against is None for one in explained_graphs.explanations),
        predictions=Counter(one.predicted for one in explained_graphs.explanations).most_common(),
        right=f"{right.count(True):,} of {n_known:,} as in the data" if n_known else "",
        left_out=counted(len(data.errors), "row") if data.errors else "",
        one_scale=len(sides) == 1,
        sides=min(sides) if len(sides) == 1 else ("the class that is predicted", "another class"),
        tiles=tiles,
        n_tiles=f"the first {len(tiles):,} of {n_graphs}" if len(tiles) < len(data) else f"all {n_graphs}",
        cards=list(_cards(data, explained_graphs, model, n_graphs)),
        method=explained_graphs.explanations[0].method if explained_graphs.explanations else "",
    )


def _cards(
    data: Dataset,
    explained_graphs: ExplainedGraphs,
    model: Any,  # noqa: ANN401
    n_graphs: str,
) -> Iterator[Fields]:
    for pattern in explained_graphs.patterns:
        example = replace(explained_graphs.explanations[pattern.example], columns=(pattern.column,))
        tile = _tile(data, pattern.example, example)
        molecule = data.smiles[pattern.example] if data.smiles else None
        yield {
            **tile,
            "pattern": pattern,
            "strength": pattern.total / (explained_graphs.patterns[0].total or 1.0),
            "words": f"In {len(pattern.occurrences):,} of {n_graphs}, {pattern.total:#.3g} in total",
            "shown": columns_shown(example, tile["drawing"], molecule, model)[0],
        }
