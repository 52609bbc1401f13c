"""The neighbourhood of an atom as SMARTS and SMILES, for use in other programs.

Patterns that recur: the columns that contribute most to a model's decisions about many graphs.

The content of the page and the picture of an explanation, as plain values.

The page that explains a model's prediction for a graph: one self-contained HTML file.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS
from twinwl.errors import import_extra
from twinwl.graphs.batch import GraphBatch
from twinwl.refinement.alphabet import Alphabet
from twinwl.refinement.colours import refine
from twinwl.report.compare import LARGEST_DRAWN, shown_label
from twinwl.report.graph_drawing import Drawing, draw, on_one_canvas
from twinwl.report.molecule_drawing import AtomText, atom_texts, read_molecule
from twinwl.report.page import counted, facts_of, rendered, templates

if TYPE_CHECKING:
    import jinja2
    from rdkit import Chem

    from twinwl.datasets.dataset import Dataset
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
        radicals; stereo is left out.
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
    within = []
    if radius:
        within = list(
            chem.FindAtomEnvironmentOfRadiusN(first, radius, 0, useHs=True, enforceSize=False, atomMap=steps)
        )
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
    if atoms != "skeleton":
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


class ExplainedGraphs(NamedTuple):
    """The explanation of each graph, without columns, and the patterns that contribute most."""

    explanations: tuple[Explanation, ...]
    patterns: tuple[Pattern, ...]


def explained(model: Any, graph: GraphBatch, n_columns: int) -> Explanation:  # noqa: ANN401
    """Explain one graph; of two classes, positive shares are for the second one, whichever is predicted."""
    found: Explanation = model.explain(graph, n_columns)
    classes = getattr(model, "classes_", np.array([])).tolist()
    return found.towards(classes[1]) if len(classes) == 2 else found  # noqa: PLR2004


def explain_all(
    explain: Callable[[GraphBatch, int], Explanation], graphs: GraphBatch, n_patterns: int
) -> ExplainedGraphs:
    """Explain every graph, and find the patterns with the largest total of absolute shares.

    Parameters
    ----------
    explain
        The method of a fitted model, or `explained` of one.
    graphs
    n_patterns
        Number of patterns to return.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]] * 5)
    >>> model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["ring", "chain"] * 5)
    >>> found = explain_all(model.explain, graphs, 2)
    >>> [(pattern.column.name, pattern.side, len(pattern.occurrences)) for pattern in found.patterns]
    [('h1:c0:s3', 'ring', 10), ('h1:c1:s2', 'chain', 5)]
    """
    explanations: list[Explanation] = []
    occurrences: dict[str, list[Occurrence]] = defaultdict(list)
    columns: dict[str, tuple[tuple[bool, float], ColumnShare, int]] = {}
    for number in range(len(graphs)):
        found = explain(graphs[number], MAX_ITEMS)
        for column in found.columns:
            occurrences[column.name].append(Occurrence(number, column.share, column.value))
            rank = (found.graph.n_nodes <= LARGEST_DRAWN, abs(column.share))
            if column.name not in columns or rank > columns[column.name][0]:
                columns[column.name] = rank, column, number
        explanations.append(replace(found, columns=()))
    totals = {name: sum(abs(one.share) for one in places) for name, places in occurrences.items()}
    strongest = sorted(totals, key=lambda name: (-totals[name], name))[:n_patterns]
    patterns = [
        Pattern(
            *columns[name][1:],
            totals[name],
            *_side_and_mean(explanations, occurrences[name]),
            tuple(occurrences[name]),
        )
        for name in strongest
    ]
    return ExplainedGraphs(tuple(explanations), tuple(patterns))


def side_of(explanation: Explanation, share: float) -> str:
    """Return what a share speaks for: a class, or a higher or lower number."""
    return explanation.sides[0 if share > 0 else 1]


def classes_named(explanation: Explanation, target: str | None) -> Explanation:
    """Name classes that are numbers after the target, ``p_np = 1``; other predictions stay as they are."""
    if target is None or explanation.against is None or isinstance(explanation.prediction, str):
        return explanation

    def name(label: object) -> str | None:
        return None if label is None else f"{target} = {label}"

    return replace(
        explanation,
        prediction=name(explanation.prediction),
        against=name(explanation.against),
        positive=name(explanation.positive),
    )


def _side_and_mean(explanations: list[Explanation], places: list[Occurrence]) -> tuple[str, float]:
    sides = {explanations[place.graph].sides for place in places}
    if len(sides) == 1:
        mean = sum(place.share for place in places) / len(places)
        return sides.pop()[mean <= 0], mean
    # Of several classes, a share for one is a share against the class that it was weighed against.
    sums: dict[str, float] = defaultdict(float)
    for place in places:
        wanted, other = explanations[place.graph].sides
        sums[wanted] += place.share
        sums[other] -= place.share
    side = max(sorted(sums), key=lambda name: sums[name])
    return side, sums[side] / len(places)


STRONGEST = 0.86  # of the full colour, so that letters on a disc stay readable
_FRAME = (264.0, 188.0)  # smallest frame around the neighbourhood of a column
_AROUND = 30.0


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
    """A column with its share, and where it occurs in the graph."""

    name: str
    share: float
    strength: float
    words: str
    tree: str
    nodes: list[int]
    """The nodes it counts."""
    around: list[int]
    """The nodes that the first of them reaches: the neighbourhood to show."""
    root: int | None
    frame: tuple[float, float, float, float]
    """View of the drawing that shows the neighbourhood: x, y, width, height."""
    environment: Environment | None
    """The neighbourhood as SMARTS and SMILES, if the graph is a molecule."""


def drawing_of(graph: GraphBatch, molecule: Chem.Mol | str | None = None) -> Drawing | None:
    """Lay out one graph, as a molecule if it is one; None if it is too large to be drawn."""
    if graph.n_nodes > LARGEST_DRAWN or not graph.n_nodes:
        return None
    return on_one_canvas([draw(graph, molecule)])[0]


def nodes_shown(
    explanation: Explanation,
    drawing: Drawing | None,
    molecule: Chem.Mol | str | None = None,
    alphabet: Alphabet | None = None,
) -> list[ShownNode]:
    """Return every node with its share, in the order of the graph.

    Parameters
    ----------
    explanation
        The model's explanation for the graph.
    drawing
        The graph laid out, or None.
    molecule
        The molecule that the graph is, if it is one.
    alphabet
        Alphabet of the model, to find the nodes with unseen colours.
    """
    graph, shares = explanation.graph, explanation.node_shares
    largest = float(np.abs(shares).max(initial=0.0)) or 1.0
    texts: list[AtomText] | list[None] = [None] * graph.n_nodes
    if drawing is not None and molecule is not None:
        texts = atom_texts(molecule, graph, drawing.points)
    labels = [shown_label(label) for label in graph.labels_of_nodes()]
    unseen = _first_unseen(graph, alphabet)
    return [
        ShownNode(node, labels[node], share, abs(share) / largest, texts[node], unseen[node])
        for node, share in enumerate(shares.tolist())
    ]


def columns_shown(
    graph: GraphBatch,
    explanation: Explanation,
    alphabet: Alphabet | None,
    drawing: Drawing | None = None,
    molecule: Chem.Mol | str | None = None,
    atoms: str = "skeleton",
) -> list[ShownColumn]:
    """Return the columns with the largest shares, and the nodes that they count.

    Parameters
    ----------
    graph
        A batch of one.
    explanation
        The model's explanation for it.
    alphabet
        Alphabet of the model; without it there are no environments.
    drawing
        The graph laid out, or None.
    molecule
        The molecule that the graph is, if it is one.
    atoms
        What the model's atom labels contain, as in `GraphBatch.from_smiles`.
    """
    plain = graph.without_features()
    largest = max([abs(column.share) for column in explanation.columns], default=0.0) or 1.0
    shown = []
    for column in explanation.columns:
        nodes = list(column.nodes)
        root = max(nodes, key=lambda node: abs(explanation.node_shares[node]), default=None)
        around = [] if root is None else _reached(plain, root, column.tree.depth)
        environment = None
        if root is not None and molecule is not None and alphabet is not None:
            bonds = alphabet.edge_labels is not None
            environment = environment_of(molecule, root, column.tree.depth, atoms, bonds=bonds)
        shown.append(
            ShownColumn(
                column.name,
                column.share,
                abs(column.share) / largest,
                _words(column, len(nodes), "node" if molecule is None else "atom"),
                str(column.tree),
                nodes,
                around,
                root,
                _frame(drawing, around),
                environment,
            )
        )
    return shown


def signed(number: float) -> str:
    """Format a share with its sign; the minus is as wide as the plus.

    >>> signed(0.25), signed(-1.0), signed(0.0001)
    ('+0.250', '−1.000', '0.000')
    """
    text = f"{number:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")


def percent(probability: float) -> str:
    """Format a probability as a percentage, never as 0 % or 100 %.

    >>> percent(0.614), percent(0.9991)
    ('61 %', 'over 99 %')
    """
    if probability >= 0.995:  # noqa: PLR2004  (would be rounded to 100)
        return "over 99 %"
    return "under 1 %" if probability < 0.005 else f"{100 * probability:.0f} %"  # noqa: PLR2004


def _first_unseen(graph: GraphBatch, alphabet: Alphabet | None) -> list[int | None]:
    if alphabet is None:
        return [None] * graph.n_nodes
    unseen = refine(graph.without_features(), None, alphabet=alphabet).colours < 0
    rounds = np.where(unseen.any(axis=0), unseen.argmax(axis=0), -1).tolist()
    return [None if h < 0 else h for h in rounds]


def _words(column: ColumnShare, n_nodes: int, noun: str) -> str:
    steps = column.tree.depth
    many = f"{counted(n_nodes, noun)} like this, each" if n_nodes > 1 else f"One {noun} like this,"
    seen = f"compared up to {counted(steps, 'step')} away" if steps else "compared by its label alone"
    return f"{many} {seen}" if n_nodes else seen[0].upper() + seen[1:]


def _reached(graph: GraphBatch, root: int, steps: int) -> list[int]:
    """Return the nodes within some steps of a node; arcs are followed in both directions."""
    sources, targets = graph.arcs()
    reached = np.zeros(graph.n_nodes, bool)
    reached[root] = True
    for _ in range(steps):
        further = reached.copy()
        further[targets[reached[sources]]] = True
        further[sources[reached[targets]]] = True
        reached = further
    return np.flatnonzero(reached).tolist()


def _frame(drawing: Drawing | None, nodes: list[int]) -> tuple[float, float, float, float]:
    if drawing is None or not nodes:
        return 0.0, 0.0, *_FRAME
    low, high = drawing.points[nodes].min(axis=0) - _AROUND, drawing.points[nodes].max(axis=0) + _AROUND
    centre, size = (low + high) / 2, np.maximum(high - low, _FRAME)
    x, y = (centre - size / 2).tolist()
    return x, y, float(size[0]), float(size[1])


STYLES = ("compare.css", "explain.css")


def explain_page(
    named: Dataset,
    explanation: Explanation,
    *,
    alphabet: Alphabet | None = None,
    probability: float | None = None,
    atoms: str = "skeleton",
    edge_labels: bool = True,
    nearest: tuple[Dataset, float] | None = None,
) -> str:
    """Return the page of an explanation as HTML.

    Parameters
    ----------
    named
        One graph with its name, and its SMILES if it is a molecule.
    explanation
        The result of a classifier's ``explain`` for this graph.
    alphabet
        Alphabet of the model, to find the nodes that a column counts; without it they are not shown.
    probability
        Probability of the predicted class.
    atoms
        What the model's atom labels contain, as in `GraphBatch.from_smiles`.
    edge_labels
        Whether the model sees edge labels; if not, the page says that they are drawn for the eye only.
    nearest
        The most similar training graph, and its similarity, if it is known.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl import load_dataset
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    >>> model = STwinSVC().fit(GraphBatch.from_edges([triangle, path] * 5), ["ring", "chain"] * 5)
    >>> named = load_dataset("graph6:Bw")
    >>> page = explain_page(named, model.explain(named.graphs), alphabet=model.space_.alphabet)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    molecule = named.smiles[0] if named.smiles else None
    drawing = drawing_of(named.graphs, molecule)
    nodes = nodes_shown(explanation, drawing, molecule, alphabet)
    columns = columns_shown(named.graphs, explanation, alphabet, drawing, molecule, atoms)
    noun = "node" if molecule is None else "atom"
    return rendered(
        explain_template("explain.html.jinja"),
        STYLES,
        "explain.js",
        name=named.names[0],
        facts=facts_of(named.graphs, molecule=molecule is not None),
        noun=noun,
        eye=drawn_for_the_eye(named.graphs, molecule=molecule is not None, edge_labels=edge_labels),
        any_unseen=any(node.unseen is not None for node in nodes),
        arrows=named.graphs.directed,
        is_molecule=bool(named.smiles),
        explanation=explanation,
        wanted=explanation.sides[0],
        other=explanation.sides[1],
        probability=None if probability is None else percent(probability),
        nearest=None if nearest is None else _tile(explanation, *nearest),
        parts=_parts(explanation),
        drawing=drawing,
        nodes=nodes,
        listed=_by_weight(nodes),
        n_listed=counted(len(nodes), noun),
        columns=columns,
        largest=max([abs(node.share) for node in nodes], default=0.0),
        strongest=100 * STRONGEST,
        notice=f"A graph of more than {LARGEST_DRAWN} nodes is not drawn. The shares below are complete.",
    )


def _tile(explanation: Explanation, near: Dataset, similarity: float) -> dict[str, object]:
    """Return a training graph as it is drawn, without shares."""
    molecule = near.smiles[0] if near.smiles else None
    drawing = drawing_of(near.graphs, molecule)
    bare = replace(explanation, graph=near.graphs, node_shares=np.zeros(near.graphs.n_nodes), columns=())
    return {
        "name": near.names[0],
        "facts": facts_of(near.graphs, molecule=molecule is not None),
        "similarity": similarity,
        "drawing": drawing,
        "nodes": nodes_shown(bare, drawing, molecule),
    }


def drawn_for_the_eye(graphs: GraphBatch, *, molecule: bool, edge_labels: bool) -> str:
    """Return a sentence if edge labels are drawn that the model does not see, otherwise nothing."""
    if edge_labels or graphs.edge_labels is None:
        return ""
    what = "Bond orders" if molecule else "Edge labels"
    return f"{what} are drawn for the eye; this model does not see them."


def explain_template(name: str) -> jinja2.Template:
    """Return a template of a page about explanations, with the filter that writes shares."""
    environment = templates()
    environment.filters["signed"] = signed
    return environment.get_template(name)


def _parts(explanation: Explanation) -> list[dict[str, object]]:
    """Return the terms of the decision as bars, each starting where the previous one ends."""
    shares = explanation.node_shares
    steps = [
        ("Intercept", explanation.intercept),
        (f"Shares for {explanation.sides[0]}", float(shares[shares > 0].sum())),
        (f"Shares for {explanation.sides[1]}", float(shares[shares < 0].sum())),
    ]
    starts = [0.0]
    for _, step in steps:
        starts.append(starts[-1] + step)
    spans = [*itertools.pairwise(starts), (0.0, starts[-1])]
    low, high = min(0.0, *starts), max(0.0, *starts)
    scale = 100 / ((high - low) or 1.0)
    titled = [*steps, ("Decision", starts[-1])]
    return [
        {
            "title": title,
            "value": value,
            "left": (min(span) - low) * scale,
            "width": (max(span) - min(span)) * scale,
            "zero": -low * scale,
        }
        for (title, value), span in zip(titled, spans, strict=True)
    ]


def _by_weight(nodes: list[ShownNode]) -> list[ShownNode]:
    return sorted(nodes, key=lambda node: -abs(node.share))
