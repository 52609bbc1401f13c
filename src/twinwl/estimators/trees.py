"""The rooted tree of a colour: the neighbourhood, up to h steps, of the nodes with that colour."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from twinwl.errors import TwinWLError, import_extra

if TYPE_CHECKING:
    import networkx as nx

    from twinwl.graphs.labels import Label
    from twinwl.isomorphism.rooted import RootedSubgraph
    from twinwl.refinement.alphabet import Alphabet

_MOST_LINES = 60
_MOST_NODES = 10_000


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
        arrow = {"": "", "to": "→ ", "from": "← "}[self.direction]
        edge = "" if self.edge_label is None else f"[{shown(self.edge_label)}] "
        times = "" if self.count == 1 else f"{self.count} × "
        return f"{times}{arrow}{edge}{shown(self.tree.label)}"


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
        The rooted size that a column of ``"joint"`` features asks for as well.
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
        lines = [f"{shown(self.label)}{size}", *_drawn(self)]
        if len(lines) > _MOST_LINES:
            lines[-1] = f"… ({self.n_nodes:,} nodes in all)"
        if self.readout is not None:
            lines += _listed(self.readout, self.example)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import tree_html  # noqa: PLC0415  (matplotlib, on demand)

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
            own, heard = alphabet.rounds[level - 1].signature(above)
            needed[level - 1] |= {own, *(below for _, below in heard)}
    trees = {below: RootedTree(alphabet.labels[below], 0) for below in needed[0]}
    for level in range(1, h + 1):
        trees = {above: _one_step_deeper(alphabet, level, above, trees) for above in needed[level]}
    return trees[colour]


def shown(label: Label) -> str:
    """Return a label as text for people: unlabelled nodes are dots.

    >>> shown(None), shown("C"), shown(6)
    ('•', 'C', '6')
    """
    if label is None:
        return "•"
    return label if isinstance(label, str) else repr(label)


def _one_step_deeper(alphabet: Alphabet, level: int, colour: int, trees: dict[int, RootedTree]) -> RootedTree:
    own, heard = alphabet.rounds[level - 1].signature(colour)
    branches = [
        Branch(count, trees[below], *_kind_of_message(alphabet, code))
        for (code, below), count in Counter(heard).items()
    ]
    return RootedTree(trees[own].label, level, tuple(branches))


def _kind_of_message(alphabet: Alphabet, code: int) -> tuple[Label, str]:
    """Undo the numbering of `twinwl.refinement.colours.messages_of`."""
    direction = ""
    if alphabet.directed:
        code, backward = divmod(code, 2)
        direction = "from" if backward else "to"
    return None if alphabet.edge_labels is None else alphabet.edge_labels[code], direction


def _drawn(tree: RootedTree) -> list[str]:
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


def _listed(readout: str, example: RootedSubgraph | None) -> list[str]:
    """Spell out a rooted subgraph: one line per node, with its neighbours."""
    if example is None:
        return [f"and {readout}, in rooted subgraphs of more than 64 nodes"]
    edge_labels = example.edge_labels or (None,) * len(example.edges)
    neighbours: dict[int, list[str]] = {node: [] for node in example.nodes}
    for (u, v), label in zip(example.edges, edge_labels, strict=True):
        mark = "" if label is None else f" [{shown(label)}]"
        neighbours[u].append(f"{v}{mark}")
        if not example.directed:
            neighbours[v].append(f"{u}{mark}")
    lines = [f"and {readout}, as in this rooted subgraph:"]
    arrow = "→" if example.directed else "–"
    for node, label in zip(example.nodes, example.labels, strict=True):
        others = f" {arrow} {', '.join(neighbours[node])}" if neighbours[node] else ""
        root = " (root)" if node == example.root else ""
        lines.append(f"  {node}: {shown(label)}{root}{others}")
    return lines
