"""Explanation: each node's share of a decision, and the columns that matter most.

The rooted tree of a colour: the neighbourhood, up to h steps, of the nodes with that colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS, PATH, checked, integer
from twinwl.arrays import Float64, Floats
from twinwl.errors import TwinWLError, import_extra

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from scipy.sparse import csr_matrix

    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label
    from twinwl.isomorphism.rooted import RootedSubgraph
    from twinwl.models.features import Encoding, ViewEncodings
    from twinwl.refinement.colours import Alphabet

_NODES_LISTED = 10


@dataclass(frozen=True, eq=False)
class ColumnShare:
    """A column's share of a decision.

    Attributes
    ----------
    name : str
        As the vectorizer names it, ``h2:c17``.
    share : float
        What it adds to the decision; a positive share is for the first of `Explanation.sides`.
    value : float
        The graph's value in this column.
    tree : RootedTree
        The neighbourhood of the nodes counted here.
    nodes : tuple of int
        The nodes of the graph that are counted.
    """

    name: str
    share: float
    value: float
    tree: RootedTree
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of a prediction for one graph.

    Attributes
    ----------
    graph : GraphBatch
        The graph, a batch of one.
    prediction, against : class labels
        The predicted class, and the class it is compared with. For a regressor, the number and None.
    decision : float
        The decision value that the shares explain; for a regressor, the number.
    intercept : float
        The part of the decision that depends on no node; also the shares of patterns that are absent.
    node_shares : array of float64, shape (n_nodes,)
        What each node adds to the decision as the root of the trees that are counted: a column's share is
        split among the nodes of its colour, by their rooted sizes where the features are sums of those.
    columns : tuple of ColumnShare
        The columns with the largest absolute shares.
    method : str
        How the shares were computed, as text.
    target : str or None
        Name of the number that a regressor predicts, if it is known.
    positive : class label or None
        The class that positive shares are for, as set by `towards`; None is the predicted one.
    view_shares : dict from str to float
        What each view adds to the decision, and likewise pairs and extra features; empty where there is one
        view and nothing else.
    model
        The model or vectorizer that knows which colours occurred in training, to mark others; or None.
    """

    graph: GraphBatch
    prediction: object
    against: object
    decision: float
    intercept: float
    node_shares: Float64
    columns: tuple[ColumnShare, ...]
    method: str
    target: str | None = None
    positive: object = None
    view_shares: Mapping[str, float] = field(default_factory=dict)
    model: Any = field(default=None, repr=False)

    @property
    def predicted(self) -> str:
        """The prediction as text."""
        return f"{self.prediction:.4g}" if self.against is None else str(self.prediction)

    @property
    def verdict(self) -> str:
        """The prediction as text: ``"active rather than inactive"``, or a number."""
        return self.predicted + ("" if self.against is None else f" rather than {self.against}")

    @property
    def subject(self) -> str:
        """What the number is called, for headlines: ``"logS: "``; empty for classes, or without a name."""
        return f"{self.target}: " if self.target is not None and self.against is None else ""

    @property
    def sides(self) -> tuple[str, str]:
        """The meaning of positive and of negative shares, as text."""
        if self.against is None:
            name = self.target or "number"
            return f"a higher {name}", f"a lower {name}"
        sides = str(self.prediction), str(self.against)
        return sides if self.positive in {None, self.prediction} else sides[::-1]

    def towards(self, positive: object) -> Explanation:
        """Return the same explanation, with positive shares for a class that is one of the two compared."""
        if self.against is None or positive not in {self.prediction, self.against}:
            return self
        sign = 1 if str(positive) == self.sides[0] else -1
        return replace(
            self,
            decision=sign * self.decision,
            intercept=sign * self.intercept,
            node_shares=sign * self.node_shares,
            columns=tuple(replace(column, share=sign * column.share) for column in self.columns),
            view_shares={name: sign * share for name, share in self.view_shares.items()},
            positive=positive,
        )

    def __str__(self) -> str:
        labels = self.graph.labels_of_nodes()
        order = np.argsort(-np.abs(self.node_shares), kind="stable")[:_NODES_LISTED].tolist()
        decision = f"decision {self.decision:+.3f}, intercept {self.intercept:+.3f}"
        bonds = self.graph.edge_vocabulary
        noun = "atom" if bonds and set(_BOND_SIGNS).issuperset(bonds) else "node"
        lines = [
            f"{self.verdict}: {decision} ({self.method})",
            *(["views:"] if self.view_shares else []),
            *(f"  {share:+.3f}  {name}" for name, share in self.view_shares.items()),
            f"{noun}s:",
            *(
                f"  {self.node_shares[node]:+.3f}  {noun} {node} ({label_text(labels[node])})"
                for node in order
            ),
            "columns:",
        ]
        for column in self.columns:
            lines.append(f"  {column.share:+.3f}  {column.name} = {column.value:g}")
            lines += [f"          {line}" for line in str(column.tree).splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from twinwl.report.page import explanation_html  # noqa: PLC0415  (matplotlib, on demand)

        return explanation_html(self)

    def draw(self, target: str | Path | Axes, molecule: object = None) -> None:
        """Draw the graph with its nodes shaded: red is for the first of ``sides``, blue for the second.

        Parameters
        ----------
        target
            A file to write (.png, .svg or .pdf), or matplotlib axes to draw on.
        molecule
            SMILES or RDKit molecule to draw as a structural formula, atoms in the order of the nodes.
        """
        from twinwl.report.picture import draw_explanation  # noqa: PLC0415  (matplotlib, on demand)

        draw_explanation(self, target, molecule, model=self.model)

    def plot(self, axes: Axes | None = None, molecule: object = None) -> Axes:
        """Draw the graph with its nodes shaded, on matplotlib axes if given, and return these.

        Parameters
        ----------
        axes
            Matplotlib axes; None makes new ones.
        molecule
            SMILES or RDKit molecule to draw as a structural formula, atoms in the order of the nodes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if axes is None:
            axes = import_extra("matplotlib.figure", None).Figure().subplots()
        self.draw(axes, molecule)
        return axes

    def save_page(self, path: str | Path, molecule: str | None = None) -> None:
        """Write a self-contained HTML page: the decision, the shaded graph, and its patterns.

        Parameters
        ----------
        path
            The file to write.
        molecule
            SMILES to draw as a structural formula, atoms in the order of the nodes.
        """
        from twinwl.report.page import explanation_page, write_page  # noqa: PLC0415  (on demand)

        write_page(checked("path", path, PATH), explanation_page(self, molecule))


class Decision(NamedTuple):
    """The decision of a model about one graph.

    ``prediction`` is compared with ``against``, None where it is a number; the decision is a sum of outputs,
    or of similarities, times ``weights``, plus ``intercept``.
    """

    prediction: object
    against: object
    weights: Any
    intercept: float


def best_two(outputs: Floats) -> tuple[int, int, Float64]:
    """Return the most likely class, the next, and the weight of each output in the decision between them.

    >>> best_two(np.array([0.5, 2.0, 1.0])), best_two(np.array([-0.3]))
    ((1, 2, array([ 0.,  1., -1.])), (0, 1, array([-1.])))
    """
    if len(outputs) == 1:  # two classes share one output, which is positive for the second
        positive = int(outputs[0] > 0)
        return positive, 1 - positive, np.array([2.0 * positive - 1])
    first, second = np.argsort(-outputs, kind="stable")[:2].tolist()
    weights = np.zeros(len(outputs))
    weights[first], weights[second] = 1.0, -1.0
    return first, second, weights


def explanation_of(
    graph: GraphBatch,
    encoding: Encoding | ViewEncodings,
    contributions: Float64,
    decision: Decision,
    method: str,
    n_columns: int = 10,
    row: csr_matrix | None = None,
) -> Explanation:
    """Build an explanation from the contribution of each column to the decision.

    Parameters
    ----------
    graph
        A batch of one.
    encoding
        Its features.
    contributions : array of float64, shape (n_columns,)
        Contribution of each column to the decision.
    decision
        What is explained.
    method
        How, as text.
    n_columns
        Number of columns to list.
    row
        The columns to choose from, with their values; None takes those of the graph.
    """
    n_columns = checked("n_columns", n_columns, integer(0, MAX_ITEMS))
    row = encoding.matrix[0] if row is None else row
    by_weight = np.argsort(-np.abs(contributions[row.indices]), kind="stable")
    by_weight = by_weight[contributions[row.indices[by_weight]] != 0][:n_columns]
    return Explanation(
        graph=graph,
        prediction=plain(decision.prediction),
        against=plain(decision.against),
        decision=float(contributions[row.indices].sum() + decision.intercept),
        intercept=float(decision.intercept),
        node_shares=encoding.node_shares(graph, contributions),
        columns=tuple(
            _column_share(graph, encoding, int(row.indices[entry]), contributions, float(row.data[entry]))
            for entry in by_weight
        ),
        method=method,
    )


def _column_share(
    graph: GraphBatch, encoding: Encoding | ViewEncodings, column: int, contributions: Float64, value: float
) -> ColumnShare:
    name, tree, nodes = encoding.explained(graph, column)
    return ColumnShare(name, float(contributions[column]), value, tree, tuple(nodes.tolist()))


def plain(label: object) -> object:
    """Return a class of an array as plain Python."""
    return label.item() if isinstance(label, np.generic) else label


_MOST_LINES = 60
_MOST_NODES = 10_000
_MOST_STEPS, _LONGEST_TEXT = 8, 64  # of a tree in one line
_BOND_SIGNS: dict[object, str] = {"single": "", "double": "=", "triple": "#", "aromatic": ":"}  # as in SMILES
_ARROWS = {"": "", "to": "→ ", "from": "← "}


@dataclass(frozen=True, eq=False)
class Branch:
    """A step from the root of a tree to equal subtrees.

    Attributes
    ----------
    count : int
        Number of neighbours of the root with this subtree.
    tree : RootedTree
        The subtree of each of them, one step less deep.
    edge_label : label, or None
        Label of the edge between, where edge labels take part.
    direction : {"", "to", "from"}
        In directed graphs, whether the arc leads to the neighbour or comes from it.
    """

    count: int
    tree: RootedTree
    edge_label: Label = None
    direction: str = ""

    def __str__(self) -> str:
        arrow = _ARROWS[self.direction]
        edge = "" if self.edge_label is None else f"[{label_text(self.edge_label)}] "
        times = "" if self.count == 1 else f"{self.count} × "
        return f"{times}{arrow}{edge}{label_text(self.tree.label)}"


@dataclass(frozen=True, eq=False)
class RootedTree:
    """The unfolding of a graph around a node, to the depth of a round: the information that 1-WL has.

    Neighbours are visited again on the way back, as label passing does, so the tree is not a subgraph: its
    depth-2 leaves include the root itself. Equal subtrees are one object, so even a tree of billions of
    nodes is small in memory; ``str`` merges them too and stops after 60 lines.

    Attributes
    ----------
    label : label
        The root's label; its degree, or its label and whether it lies on a cycle, where round 0 looks at
        these.
    depth : int
        The round.
    branches : tuple of Branch
    size : int or None
        The rooted size of a column of ``"joint"`` features.
    readout : str or None
        With another readout, its name and the beginning of its value's content key.
    example : RootedSubgraph or None
        The first rooted subgraph that such a column counted in training, if it has up to 64 nodes.
    """

    label: Label
    depth: int
    branches: tuple[Branch, ...] = ()
    size: int | None = None
    readout: str | None = None
    example: RootedSubgraph | None = None
    n_nodes: int = field(init=False)

    def __post_init__(self) -> None:
        below = sum(branch.count * branch.tree.n_nodes for branch in self.branches)
        object.__setattr__(self, "n_nodes", 1 + below)

    def __str__(self) -> str:
        size = "" if self.size is None else f"   (rooted size {self.size}, radius {self.depth})"
        lines = [f"{label_text(self.label)}{size}", *_draw(self)]
        if len(lines) > _MOST_LINES:
            lines[-1] = f"… ({self.n_nodes:,} nodes in all)"
        if self.readout is not None:
            lines += _list_example(self.readout, self.example)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from twinwl.report.page import tree_html  # noqa: PLC0415  (matplotlib, on demand)

        return tree_html(self)

    def to_networkx(self) -> nx.DiGraph:
        """Return the tree as a networkx graph, arcs leading away from the root, which is node 0.

        Nodes carry ``label`` and ``depth``, arcs ``label`` and ``direction``.

        Raises
        ------
        TwinWLError
            If the tree has more than 10,000 nodes.
        """
        if self.n_nodes > _MOST_NODES:
            raise TwinWLError(
                f"this tree has {self.n_nodes:,} nodes, more than {_MOST_NODES:,}; explain an earlier round"
            )
        graph = import_extra("networkx", extra=None).DiGraph()
        graph.add_node(0, label=self.label, depth=0)
        waiting = [(0, self)]
        while waiting:
            parent, tree = waiting.pop()
            for branch in tree.branches:
                for _ in range(branch.count):
                    child = len(graph)
                    graph.add_node(child, label=branch.tree.label, depth=graph.nodes[parent]["depth"] + 1)
                    graph.add_edge(parent, child, label=branch.edge_label, direction=branch.direction)
                    waiting.append((child, branch.tree))
        return graph


def tree_of_colour(alphabet: Alphabet, h: int, colour: int) -> RootedTree:
    """Unfold a colour of round h into its rooted tree.

    >>> from twinwl import GraphBatch
    >>> from twinwl.refinement.colours import refine
    >>> water = GraphBatch.from_edges([[(0, 1), (0, 2)]], node_labels=[["O", "H", "H"]])
    >>> print(tree_of_colour(refine(water, 2).alphabet, 2, 0))
    O
    └─ 2 × H
       └─ O
    """
    needed: list[set[int]] = [set() for _ in range(h)] + [{colour}]
    for level in range(h, 0, -1):
        for above in needed[level]:
            own, neighbours = alphabet.rounds[level - 1].signature(above)
            needed[level - 1] |= {own, *(below for _, below in neighbours)}
    trees = {label: RootedTree(alphabet.labels[label], 0) for label in needed[0]}
    for level in range(1, h + 1):
        below = trees
        trees = {}
        for above in needed[level]:
            own, neighbours = alphabet.rounds[level - 1].signature(above)
            branches = [
                Branch(count, below[sender], *_kind_of_message(alphabet, code))
                for (code, sender), count in Counter(neighbours).items()
            ]
            trees[above] = RootedTree(below[own].label, level, tuple(branches))
    return trees[colour]


def pattern_texts(alphabet: Alphabet) -> Callable[[int, int], str]:
    """Return a function from a round and a colour to its rooted tree as one line.

    Steps back to where one came from are left out: every neighbour has one, so the tree that is left still
    determines the colour. What the last step reaches has no branches, and neither has a node without further
    neighbours. Long texts are cut.

    >>> from twinwl import GraphBatch
    >>> from twinwl.refinement.colours import refine
    >>> ethanol = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[list("CCO")])
    >>> text = pattern_texts(refine(ethanol, 2).alphabet)
    >>> [text(2, colour) for colour in range(3)]
    ['C(C(O))', 'C(C,O)', 'O(C(C))']
    """
    signature = cache(lambda level, colour: alphabet.rounds[level - 1].signature(colour))

    def earlier(level: int, colour: int, target: int) -> int:
        for one in range(level, target, -1):
            colour = signature(one, colour)[0]
        return colour

    @cache
    def text(level: int, colour: int, back: tuple[int, int] | None = None, steps: int = _MOST_STEPS) -> str:
        label = label_text(alphabet.labels[earlier(level, colour, 0)])
        if not level:
            return label
        own, heard = signature(level, colour)
        counts = Counter(heard)
        if back is not None:
            counts[back] -= 1
        if not steps:
            return f"{label}(…)"
        branches = []
        for (code, below), count in (+counts).items():
            # Seen from below, this root has its colour of two rounds before, and arcs point the other way.
            root = None if level == 1 else (code ^ alphabet.directed, earlier(level - 1, own, level - 2))
            edge, direction = _kind_of_message(alphabet, code)
            bond = "" if edge is None else _BOND_SIGNS.get(edge, f"{label_text(edge)}~")
            arrow, times = _ARROWS[direction], "" if count == 1 else f"{count}×"
            branches.append(f"{times}{arrow}{bond}{text(level - 1, below, root, steps - 1)}")
        whole = f"{label}({','.join(sorted(branches))})" if branches else label
        return whole if len(whole) <= _LONGEST_TEXT else f"{whole[:_LONGEST_TEXT]}…"

    return text


def label_text(label: Label) -> str:
    """Return a label as text for people: unlabelled nodes are dots.

    >>> label_text(None), label_text("C"), label_text(6)
    ('•', 'C', '6')
    """
    if label is None:
        return "•"
    return label if isinstance(label, str) else repr(label)


def _kind_of_message(alphabet: Alphabet, code: int) -> tuple[Label, str]:
    """Undo the numbering of `twinwl.refinement.colours.messages_of`."""
    direction = ""
    if alphabet.directed:
        code, backward = divmod(code, 2)
        direction = "from" if backward else "to"
    return None if alphabet.edge_labels is None else alphabet.edge_labels[code], direction


def _draw(tree: RootedTree) -> list[str]:
    """Draw the branches, one per line, until there are too many lines."""
    lines: list[str] = []
    waiting = [("", branch, place == 0) for place, branch in enumerate(reversed(tree.branches))]
    while waiting and len(lines) < _MOST_LINES:
        indent, branch, last = waiting.pop()
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{branch}")
        deeper = indent + ("   " if last else "│  ")
        below = reversed(branch.tree.branches)
        waiting += [(deeper, child, place == 0) for place, child in enumerate(below)]
    return lines


def _list_example(readout: str, example: RootedSubgraph | None) -> list[str]:
    """Spell out a rooted subgraph: one line per node, with its neighbours."""
    if example is None:
        return [f"and {readout}, in rooted subgraphs of more than 64 nodes"]
    edge_labels = example.edge_labels or (None,) * len(example.edges)
    neighbours: dict[int, list[str]] = {node: [] for node in example.nodes}
    for (u, v), label in zip(example.edges, edge_labels):
        mark = "" if label is None else f" [{label_text(label)}]"
        neighbours[u].append(f"{v}{mark}")
        if not example.directed:
            neighbours[v].append(f"{u}{mark}")
    lines = [f"and {readout}, as in this rooted subgraph:"]
    arrow = "→" if example.directed else "–"
    for node, label in zip(example.nodes, example.labels):
        others = f" {arrow} {', '.join(neighbours[node])}" if neighbours[node] else ""
        root = " (root)" if node == example.root else ""
        lines.append(f"  {node}: {label_text(label)}{root}{others}")
    return lines
