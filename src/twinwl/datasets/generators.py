"""Generated data sets and suites of graph pairs that are hard to tell apart.

The first half makes graphs, each part with its construction above it: CSL, strongly regular and 4-regular
graphs, CFI, TWINS, and the worked example of the paper. In the data sets of CSL and of strongly regular
graphs the classes are isomorphism classes: shuffled copies of a few graphs.

The second half makes suites of pairs (`load_suite`), which are known by name, come from a file, or are your
own:

====================  ====================================================================================
``brec``              400 pairs in seven categories (Wang and Zhang, 2024), from its authors' files
``atlas``             all pairs of graphs with up to seven nodes that 1-WL cannot tell apart
``regular``           all pairs of connected 4-regular graphs with ten nodes
``csl``               the circular skip links with 41 nodes
``strongly-regular``  the families 16-6-2-2, 25-12-5-6 and 28-12-6-4, pairs within each
``cfi``               the CFI graphs of cycles, grids, cubic and dense base graphs
``exp``               the 600 pairs of EXP (Abboud et al., 2021), from its files
``twins``             50 pairs of TWINS: molecule-like graphs with labels
====================  ====================================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import networkx as nx
import numpy as np

from twinwl.arguments import PATH, checked, integer, items, one_of
from twinwl.arrays import AnyPath, Bool, Int64, Names
from twinwl.datasets.catalogue import data_folders, is_known
from twinwl.datasets.formats import ArchiveMembers, ReadOptions
from twinwl.datasets.source import load_dataset, read_source
from twinwl.errors import TwinWLError, nearest, prefix_errors, shown
from twinwl.files.model_files import read_array
from twinwl.graphs.atom_labels import LADDER
from twinwl.graphs.batch import GraphBatch, concatenate, renumbered
from twinwl.graphs.building import as_batch
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.deduplication import wl_groups


def shuffled_copies(graphs: GraphBatch, n_copies: int, random_state: int) -> tuple[GraphBatch, Int64]:
    """Return copies of each graph, the nodes of each copy in another order, and the class of each copy.

    Parameters
    ----------
    graphs
        One graph per class.
    n_copies
        Copies of each graph.
    random_state
        Seed of the node orders.

    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    >>> copies, y = shuffled_copies(graphs, 2, random_state=0)
    >>> copies, y.tolist()
    (GraphBatch(4 graphs, 10 nodes, 6 edges), [0, 0, 1, 1])
    """
    y = np.repeat(np.arange(len(graphs)), checked("n_copies", n_copies, integer(1)))
    return renumbered(graphs[y], np.random.default_rng(random_state)), y


# ---------------------------------------------------------------------- CSL: circular skip links
# Regular graphs that 1-WL cannot tell apart (Murphy et al., "Relational Pooling for Graph Representations",
# 2019).

N_NODES = 41
SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)


def csl(n_copies: int = 15, random_state: int = 0) -> tuple[GraphBatch, Int64]:
    """Return copies of ten circular skip links of 41 nodes, and the class of each copy.

    All graphs are 4-regular, so 1-WL gives every node the same colour and scores 10 %.

    Parameters
    ----------
    n_copies
        Copies of each graph, the nodes of each in another order; the published set has 15.
    random_state
        Seed of the node orders.

    >>> graphs, y = csl()
    >>> graphs, len(set(y.tolist()))
    (GraphBatch(150 graphs, 6,150 nodes, 12,300 edges), 10)
    """
    return shuffled_copies(_circular_skip_links(), n_copies, random_state)


def _circular_skip_links() -> GraphBatch:
    return GraphBatch.from_edges([circular_skip_links(N_NODES, skip) for skip in SKIPS])


def circular_skip_links(n_nodes: int, skip: int) -> Int64:
    """Return the edges of a cycle with links between nodes that are ``skip`` apart, shape (2 n_nodes, 2).

    >>> circular_skip_links(5, 2)[5:].tolist()
    [[0, 2], [1, 3], [2, 4], [3, 0], [4, 1]]
    """
    nodes = np.arange(n_nodes, dtype=np.int64)
    return np.concatenate([np.column_stack([nodes, (nodes + step) % n_nodes]) for step in (1, skip)])


# ---------------------------------------------------------------------- regular and strongly regular graphs

# The two Latin squares of order 5 that no exchange of rows, columns and symbols turns into each other.
_LATIN_SQUARES = (
    ("01234", "12340", "23401", "34012", "40123"),
    ("01234", "10342", "24013", "32401", "43120"),
)
_STEINER_BASE = ((0, 1, 4), (0, 2, 7))  # shifted modulo 13: every two points lie in one block
# Four blocks on six points that can be exchanged for four others covering the same pairs.
_PASCH_OUT = ((0, 1, 4), (0, 2, 7), (1, 7, 9), (2, 4, 9))
_PASCH_IN = ((1, 4, 9), (2, 7, 9), (0, 1, 7), (0, 2, 4))
# Graphs on the points of K8 whose edges T(8) is switched by.
_CHANG = (
    nx.disjoint_union_all([nx.path_graph(2)] * 4),
    nx.cycle_graph(8),
    nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(5)),
)

# graph6, as nauty's ``geng -c -d4 -D4 10`` lists them.
_GRAPHS = r"""
    I?BvUqw]? I?betpw\? I?bejpwm? I?bc~`w]? I?ba~`wm? I?`rnRWm? I?rFf_{N? I?rDtps\? I?rDrqs\? I?qff`[N?
    I?qbupsl? I?qczro\? I?qa|ro\? I?qazrol? I?ovUqs\? I?ou\ro\? I?otZrS{? I?qvAtwl? I?qteXq]? I?qreYw[_
    I?qrdXqu? I?rL`xq{? I?qjbrQl? I?qjczo[_ I?qjayq{? I?o~Eew\? ICQffP[N? ICQfeo{Z? ICQfeW{]? ICQfdX[]?
    ICRbfQ[M_ ICRb`yiu? ICR`vGyu? ICR`uiwY_ ICR`tjWY_ ICR`riiu? ICR`szoY_ ICR`pzau? ICRVDXwM_ ICQvDT[]?
    ICQvCtk]? ICQuRiwY_ ICQrThiu? ICpdf_]Z? ICpdepkL_ ICpddpUZ? ICpdeXqN? ICpdcxqZ? ICpbdq[X_ ICpbfG{e_
    ICpbegyj? ICpdUg{[_ ICpbQysk_ ICXedW{s_ ICXedfKN? ICdedpkX_ ICdedhkY_ ICdbMLwm? ICdbJNWm?
"""


def strongly_regular(
    family: str | None = None, n_copies: int = 10, random_state: int = 0
) -> tuple[GraphBatch, Int64]:
    """Return copies of the graphs of one family, or of all, and the class of each copy.

    Parameters
    ----------
    family
        The parameters, such as ``"16-6-2-2"``; None means all families.
    n_copies
        Copies of each graph, the nodes of each in another order.
    random_state
        Seed of the node orders.

    >>> graphs, y = strongly_regular("16-6-2-2", n_copies=3)
    >>> graphs, y.tolist()
    (GraphBatch(6 graphs, 96 nodes, 288 edges), [0, 0, 0, 1, 1, 1])
    """
    names = list(FAMILIES) if family is None else [family]
    graphs = concatenate([strongly_regular_family(name) for name in names])
    return shuffled_copies(graphs, n_copies, random_state)


def strongly_regular_family(family: str) -> GraphBatch:
    """Return all strongly regular graphs with the given parameters.

    >>> len(strongly_regular_family("25-12-5-6"))
    15
    """
    return _batch_of_matrices(FAMILIES[checked("family", family, one_of(*FAMILIES))]())


def _batch_of_matrices(matrices: list[Bool]) -> GraphBatch:
    return GraphBatch.from_edges([np.argwhere(np.triu(matrix)) for matrix in matrices])


def _sixteen() -> list[Bool]:
    cells = list(product(range(4), repeat=2))
    steps = {(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)}
    rook = _relation_graph(cells, lambda a, b: a[0] == b[0] or a[1] == b[1])
    shrikhande = _relation_graph(cells, lambda a, b: ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in steps)
    return [rook, shrikhande]


def _twenty_five() -> list[Bool]:
    """Isolate each point of each two-graph in turn: what remains is strongly regular."""
    two_graphs = [np.pad(_latin_square_graph(square), (0, 1)) for square in _LATIN_SQUARES]
    blocks = [tuple(sorted((p + s) % 13 for p in base)) for base in _STEINER_BASE for s in range(13)]
    traded = [block for block in blocks if block not in _PASCH_OUT] + list(_PASCH_IN)
    two_graphs += [_relation_graph(system, lambda a, b: not set(a) & set(b)) for system in (blocks, traded)]
    remaining = []
    for matrix in two_graphs:
        for point in range(len(matrix)):
            isolated = _switch(matrix, matrix[point])
            remaining.append(np.delete(np.delete(isolated, point, axis=0), point, axis=1))
    return _up_to_isomorphism(remaining)


def _twenty_eight() -> list[Bool]:
    pairs = list(combinations(range(8), 2))
    triangular = _relation_graph(pairs, lambda a, b: len({*a, *b}) == 3)  # noqa: PLR2004  (they share one end)
    switched = [_switch(triangular, np.array([graph.has_edge(*pair) for pair in pairs])) for graph in _CHANG]
    return [triangular, *switched]


FAMILIES: dict[str, Callable[[], list[Bool]]] = {
    "16-6-2-2": _sixteen,
    "25-12-5-6": _twenty_five,
    "28-12-6-4": _twenty_eight,
}


def _relation_graph(
    points: Sequence[Collection[int]], adjacent: Callable[[Sequence[int], Sequence[int]], bool]
) -> Bool:
    """Return the adjacency matrix of points under a symmetric relation."""
    matrix = np.array([[adjacent(a, b) for a in points] for b in points])  # type: ignore[arg-type]
    np.fill_diagonal(matrix, val=False)
    return matrix


def _latin_square_graph(square: Iterable[str]) -> Bool:
    """Join cells in one row, in one column, or with one symbol."""
    cells = [(r, c, int(symbol)) for r, row in enumerate(square) for c, symbol in enumerate(row)]
    return _relation_graph(cells, lambda a, b: any(x == y for x, y in zip(a, b)))


def _switch(matrix: Bool, chosen: Bool) -> Bool:
    """Exchange edges and non-edges between the chosen nodes and the others (Seidel switching)."""
    return matrix ^ chosen[:, None] ^ chosen[None, :]


def _up_to_isomorphism(matrices: list[Bool]) -> list[Bool]:
    forms = certificates(_batch_of_matrices(matrices), range(len(matrices)))
    return list(dict(zip(forms, matrices)).values())


def regular_graphs() -> GraphBatch:
    """Return the 59 connected 4-regular graphs with ten nodes, no two of them isomorphic.

    >>> regular_graphs()
    GraphBatch(59 graphs, 590 nodes, 1,180 edges)
    """
    return GraphBatch.from_graph6(_GRAPHS.split())


# ---------------------------------------------------------------------- CFI graphs
# Pairs of graphs over a base graph that low dimensions of Weisfeiler-Lehman cannot tell apart: the
# construction of Cai, Fürer and Immerman, "An optimal lower bound on the number of variables for graph
# identification" (1992), in its small form without extra nodes for the edges. Each node v of the base graph
# becomes one node (v, S) for each set S of an even number of its neighbours. For an edge between u and v,
# (u, S) and (v, T) are adjacent if v is in S and u in T, or neither; in the other graph of the pair one edge
# is *twisted*: there they are adjacent if exactly one of both is so.
#
# Two twists cancel, so it does not matter which edge is twisted, but one does not: the graphs are not
# isomorphic. k-WL tells them apart only where k is at least the treewidth of the base graph. The pair over a
# triangle is two triangles and a hexagon, the pair over K4 the 4×4 rook's graph and the Shrikhande graph.

_LEAST_DEGREE = 2

# By family; within a family from low to high treewidth or size.
CFI_BASES = {
    "cycles": {f"C{n}": nx.cycle_graph(n) for n in range(3, 9)},
    "grids": {f"{a}×{b} grid": nx.grid_2d_graph(a, b) for a, b in [(2, 3), (3, 3), (3, 4)]},
    "cubic": {
        "K4": nx.complete_graph(4),
        "prism": nx.circular_ladder_graph(3),
        "K3,3": nx.complete_bipartite_graph(3, 3),
        "cube": nx.cubical_graph(),
        "Petersen": nx.petersen_graph(),
        "Heawood": nx.heawood_graph(),
    },
    "dense": {
        "octahedron": nx.octahedral_graph(),
        "K5": nx.complete_graph(5),
        "K4,4": nx.complete_bipartite_graph(4, 4),
        "K6": nx.complete_graph(6),
    },
}


def cfi_pair(base: nx.Graph) -> GraphBatch:
    """Return the two CFI graphs of a base graph: without a twist, and with one.

    Parameters
    ----------
    base
        A connected undirected networkx graph in which every node has at least two neighbours. A node of
        degree d becomes 2^(d - 1) nodes.

    >>> import networkx as nx
    >>> cfi_pair(nx.complete_graph(4))
    GraphBatch(2 graphs, 32 nodes, 96 edges)
    """
    if not isinstance(base, nx.Graph) or base.is_directed() or base.is_multigraph():
        raise TwinWLError(f"base: got {shown(base)}, expected an undirected networkx graph")
    base = nx.convert_node_labels_to_integers(base)
    if min(dict(base.degree).values(), default=0) < _LEAST_DEGREE or not nx.is_connected(base):
        raise TwinWLError(
            "the base graph is not connected, or has a node with fewer than two neighbours; use its 2-core"
        )
    return GraphBatch.from_edges([_edges(base, twisted=False), _edges(base, twisted=True)])


def _edges(base: nx.Graph, *, twisted: bool) -> list[tuple[int, int]]:
    """Return the edges of one of the two graphs."""
    number = itertools.count()
    copies = {
        node: [
            (next(number), chosen)
            for size in range(0, base.degree[node] + 1, 2)
            for chosen in combinations(base[node], size)
        ]
        for node in base
    }
    return [
        (one, other)
        for place, (u, v) in enumerate(base.edges)
        for one, left in copies[u]
        for other, right in copies[v]
        if ((v in left) == (u in right)) != (twisted and place == 0)
    ]


def cfi(n_copies: int = 10, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64]:
    """Return shuffled copies of all pairs over `CFI_BASES`, whether each is twisted, and its pair.

    Parameters
    ----------
    n_copies
        Copies of each pair; the first graphs of a copy and its twisted partner are one group.
    random_state
        Seed of the node orders.

    >>> graphs, y, groups = cfi(n_copies=1)
    >>> len(graphs), y[:4].tolist(), groups[:4].tolist()
    (38, [0, 1, 0, 1], [0, 0, 1, 1])
    """
    checked("n_copies", n_copies, integer(1))
    pairs = _cfi_suite().graphs
    copies = np.repeat(np.arange(len(pairs)).reshape(-1, 2), n_copies, axis=0).ravel()
    graphs = renumbered(pairs[copies], np.random.default_rng(random_state))
    return graphs, copies % 2, np.arange(len(copies)) // 2


# ---------------------------------------------------------------------- TWINS
# Pairs of molecule-like graphs that 1-WL cannot tell apart, with opposite classes. One graph of a pair has
# the core of decalin, two fused hexagons; the other has that of bicyclopentyl, two pentagons joined by an
# edge. 1-WL gives both cores the same three colour classes:
#
#       6---2---0---4---8          6---2       4---8        bridges 0, 1
#       |       |       |          |    \     /    |        alphas  2, 3, 4, 5
#       |       |       |          |     0---1     |        betas   6, 7, 8, 9
#       |       |       |          |    /     \    |
#       7---3---1---5---9          7---3       5---9
#
# The same random tree is attached to *every* node of one of these classes; on a single node it would let 1-WL
# tell the pair apart. So a method bounded by 1-WL scores exactly 50 % if pairs are kept together.

_ARMS = [(2, 6), (6, 7), (7, 3), (4, 8), (8, 9), (9, 5), (0, 1), (0, 2), (1, 5)]
_DECALIN = [*_ARMS, (1, 3), (0, 4)]
_BICYCLOPENTYL = [*_ARMS, (0, 3), (1, 4)]
_CLASSES = {"bridge": (0, 1), "alpha": (2, 3, 4, 5), "beta": (6, 7, 8, 9)}
_BONDS_IN_CORE = {"bridge": 3, "alpha": 2, "beta": 2}

_VALENCE = {"C": 4, "N": 3, "O": 2, "F": 1, "Cl": 1}
_ELEMENTS = list(_VALENCE)
_HOW_OFTEN = [0.6, 0.14, 0.14, 0.06, 0.06]
# Rooted sizes differ first in round three, when a core node reaches nodes three steps away. The first three
# atoms of each tree are plain carbons, so that these neighbourhoods occur in other pairs too and can be
# learnt. If they were random, the graphs of a pair could still be told apart, but test graphs would have only
# unseen colours.
_STEM = 3
_MOST_IN_CROWN = 6
_MOST_PAIRS = 1_000_000  # some gigabytes


class _Kind(NamedTuple):
    """A kind of core: the class of nodes with trees, and the element of each class."""

    bearer: str
    elements: dict[str, str]


class _Tree(NamedTuple):
    """A rooted tree attached to a core node; the parent of atom 0 is that node, written as -1."""

    parents: list[int]
    elements: list[str]


def twins(n_pairs: int = 300, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64]:
    """Return pairs of graphs, their classes and their pair numbers.

    Parameters
    ----------
    n_pairs
        Number of pairs; no two pairs are alike.
    random_state
        The same state gives the same graphs, node for node.

    Returns
    -------
    graphs : GraphBatch
        ``2 * n_pairs`` graphs of 18 nodes and more, labelled by element; graphs 2i and 2i + 1 are pair i.
    y : array of int64, shape (2 * n_pairs,)
        1 for a decalin core, 0 for a bicyclopentyl core.
    groups : array of int64, shape (2 * n_pairs,)
        The pair of each graph, to be kept together in folds.

    >>> graphs, y, groups = twins(n_pairs=2)
    >>> len(graphs), sorted(y.tolist()), groups.tolist()
    (4, [0, 0, 1, 1], [0, 0, 1, 1])
    """
    checked("n_pairs", n_pairs, integer(1, _MOST_PAIRS))
    rng = np.random.default_rng(random_state)
    kinds = _kinds()
    edge_lists: list[Int64] = []
    labels: list[list[str]] = []
    y: list[int] = []
    seen: set[str] = set()
    for pair in rng.permutation(n_pairs).tolist():  # so that all kinds come equally often
        kind = kinds[pair % len(kinds)]
        tree = _fresh_tree(kind, seen, rng)
        decalin_first = bool(rng.integers(2))
        for is_decalin in (decalin_first, not decalin_first):
            edges, elements = _molecule(_DECALIN if is_decalin else _BICYCLOPENTYL, kind, tree)
            order = rng.permutation(len(elements))
            edge_lists.append(order[np.array(edges)])
            labels.append([elements[node] for node in np.argsort(order)])
            y.append(int(is_decalin))
    graphs = GraphBatch.from_edges(edge_lists, node_labels=labels)
    return graphs, np.array(y, dtype=np.int64), np.repeat(np.arange(n_pairs), 2)


def _kinds() -> list[_Kind]:
    """List the kinds of cores that valence allows: all carbon, or one class of another element."""
    kinds = []
    for bearer in _CLASSES:
        for other in (None, *_CLASSES):
            for element in ("C",) if other is None else ("N", "O"):
                elements = {name: element if name == other else "C" for name in _CLASSES}
                bonds = {name: n + (name == bearer) for name, n in _BONDS_IN_CORE.items()}
                if all(bonds[name] <= _VALENCE[elements[name]] for name in _CLASSES):
                    kinds.append(_Kind(bearer, elements))
    return kinds


def _fresh_tree(kind: _Kind, seen: set[str], rng: np.random.Generator) -> _Tree:
    """Draw trees until one is new for this kind of core; after many attempts they become larger."""
    tries = 0
    while True:
        tree = _random_tree(int(rng.integers(1, _MOST_IN_CROWN + 1)) + tries // 20, rng)
        form = f"{kind} {_canonical(tree)}"
        if form not in seen:
            seen.add(form)
            return tree
        tries += 1


def _random_tree(n_crown: int, rng: np.random.Generator) -> _Tree:
    """Grow a crown of random atoms on a stem of carbons."""
    tree = _Tree(list(range(-1, _STEM - 1)), ["C"] * _STEM)
    free = {_STEM - 1: _VALENCE["C"] - 1}  # bonds left of each atom that may bear more
    for _ in range(n_crown):
        if not free:  # every branch has ended in a halogen
            break
        parent = int(rng.choice(list(free)))
        element = str(rng.choice(_ELEMENTS, p=_HOW_OFTEN))
        free[parent] -= 1
        free[len(tree.parents)] = _VALENCE[element] - 1
        tree.parents.append(parent)
        tree.elements.append(element)
        free = {atom: bonds for atom, bonds in free.items() if bonds}
    return tree


def _canonical(tree: _Tree, atom: int = 0) -> str:
    """Return a string that is equal for two rooted trees if and only if they are isomorphic."""
    children = sorted(_canonical(tree, child) for child, parent in enumerate(tree.parents) if parent == atom)
    return f"({tree.elements[atom]}{''.join(children)})"


def _molecule(
    core: list[tuple[int, int]], kind: _Kind, tree: _Tree
) -> tuple[list[tuple[int, int]], list[str]]:
    """Attach the tree to every node of the class with trees."""
    edges = list(core)
    elements = [""] * 10
    for name, nodes in _CLASSES.items():
        for node in nodes:
            elements[node] = kind.elements[name]
    for node in _CLASSES[kind.bearer]:
        first = len(elements)
        edges += [
            (node if parent < 0 else first + parent, first + atom) for atom, parent in enumerate(tree.parents)
        ]
        elements += tree.elements
    return edges, elements


# ---------------------------------------------------------------------- the worked example of the paper

# Figure 2 counts nodes from 1. G1 is a ladder of three rungs, G2 two triangles joined by an edge.
_EDGES_FROM_1 = (
    ((1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6)),
    ((1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)),
)
# The initial label: 1 for the four nodes of degree 2, 2 for the two nodes of degree 3.
_LABELS = (1, 1, 2, 2, 1, 1)


def worked_example() -> GraphBatch:
    """Return the paper's G1 and G2 as a batch, each node labelled by its degree as in the paper.

    Returns
    -------
    GraphBatch
        Two graphs of six nodes; node ``v`` of the paper is node ``v - 1`` here.

    >>> worked_example()
    GraphBatch(2 graphs, 12 nodes, 14 edges, 2 node labels)
    """
    return GraphBatch.from_edges(
        [[(u - 1, v - 1) for u, v in edges] for edges in _EDGES_FROM_1],
        node_labels=[_LABELS] * len(_EDGES_FROM_1),
    )


# ---------------------------------------------------------------------- BREC, from its authors' own files
# 400 pairs of graphs that 1-WL cannot tell apart (Wang and Zhang, "An Empirical Study of Realized GNN
# Expressiveness", ICML 2024). Its arrays hold graph6 strings. They are read without pickle, so a file can
# contain nothing but strings.


class BrecPart(NamedTuple):
    """A category of BREC: its file, its number of pairs, and the category of the paper it belongs to."""

    file: str
    n_pairs: int
    published_as: str


# In the order of the authors' numbering of pairs.
BREC_PARTS = {
    "basic": BrecPart("basic.npy", 60, "basic"),
    "regular": BrecPart("regular.npy", 50, "all regular"),
    "strongly regular": BrecPart("str.npy", 50, "all regular"),
    "extension": BrecPart("extension.npy", 100, "extension"),
    "CFI": BrecPart("cfi.npy", 100, "CFI"),
    "4-vertex condition": BrecPart("4vtx.npy", 20, "all regular"),
    "distance regular": BrecPart("dr.npy", 20, "all regular"),
}
_REMEDY = (
    "it has the files " + ", ".join(part.file for part in BREC_PARTS.values()) + " (in its authors' "
    "repository, GraphPKU/BREC, in customize/Data/raw)"
)


def find_brec(data_dir: AnyPath | None = None) -> Path:
    """Return the zip or folder with BREC in the data folders."""
    folders = data_folders(data_dir)
    for folder in folders:
        for path in (folder / "BREC.zip", folder / "BREC", folder / "brec", folder):
            if holds_brec(path):
                return path
    searched = " and ".join(repr(str(folder)) for folder in folders)
    raise TwinWLError(
        f"BREC is not in {searched}: expected BREC.zip or a folder BREC; {_REMEDY}. Or name the zip or "
        "folder in place of 'brec', or set TWINWL_DATA"
    )


def holds_brec(path: Path) -> bool:
    """Return whether a path is BREC: a zip or folder with the first of its files at any depth.

    >>> from pathlib import Path
    >>> holds_brec(Path("no such folder"))
    False
    """
    if path.suffix != ".zip" or not path.is_file():
        return any(path.rglob("basic.npy"))
    with ArchiveMembers(path) as members:
        return any(name.endswith("basic.npy") for name in members.names)


def brec_pairs(path: Path) -> GraphBatch:
    """Return all 800 graphs; graphs 2p and 2p + 1 are pair p.

    Parameters
    ----------
    path
        A zip or folder with the files, at any depth.
    """
    if path.is_dir():
        path = next((file.parent for file in sorted(path.rglob("basic.npy"))), path)
    strings: list[str | bytes] = []
    with ArchiveMembers(path) as members:
        place = {PurePosixPath(name).name: name for name in members.names}
        for part in BREC_PARTS.values():
            if part.file not in place:
                raise TwinWLError(f"{path}: there is no {part.file} in it, so it is not BREC; {_REMEDY}")
            array = read_array(members.read(place[part.file]), f"{path}: {part.file}")
            if array.dtype.kind not in "SU" or array.size != 2 * part.n_pairs:
                raise TwinWLError(
                    f"{path}: {part.file}: got {array.size:,} values of {array.dtype}, expected "
                    f"{2 * part.n_pairs} graph6 strings; get the file again"
                )
            strings += array.ravel().tolist()
    with prefix_errors(path):
        return GraphBatch.from_graph6(strings)


# ---------------------------------------------------------------------- suites of pairs


@dataclass(frozen=True, eq=False)
class PairSuite:
    """Pairs of graphs that are not isomorphic.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    pairs : array of int64, shape (n_pairs, 2)
        The two graphs of each pair; one graph may be in several pairs.
    categories : tuple of str
        The category of each pair.
    titles : tuple of str
        What each pair is called.
    """

    name: str
    graphs: GraphBatch
    pairs: Int64
    categories: Names
    titles: Names

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"PairSuite({self.name!r}, {len(self):,} pairs of {len(self.graphs):,} graphs)"

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each category, in their order."""
        return {name: self.categories.count(name) for name in dict.fromkeys(self.categories)}

    def only(self, categories: Sequence[str]) -> PairSuite:
        """Return the pairs of some categories.

        >>> len(load_suite("cfi").only(["cycles"]))
        6
        """
        chosen = [pair for pair, name in enumerate(self.categories) if name in categories]
        names, titles = (tuple(part[pair] for pair in chosen) for part in (self.categories, self.titles))
        return replace(self, pairs=self.pairs[chosen], categories=names, titles=titles)


def load_suite(suite: object, data_dir: AnyPath | None = None) -> PairSuite:
    """Return a suite of pairs.

    Parameters
    ----------
    suite
        A name of `SUITES`; the path of a zip or folder with BREC's files; anything else that
        `twinwl.load_dataset` reads, in which graphs 2p and 2p + 1 are a pair, or two of one group; a list of
        pairs of graphs; or a `PairSuite`.
    data_dir
        Where BREC and EXP are; None uses ``TWINWL_DATA``.

    >>> load_suite("atlas")
    PairSuite('atlas', 26 pairs of 52 graphs)
    >>> load_suite([([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)])])
    PairSuite('pairs', 1 pairs of 2 graphs)
    """
    if isinstance(suite, PairSuite):
        return suite
    if isinstance(suite, str) and suite.lower() in SUITES:
        return SUITES[suite.lower()](None if data_dir is None else Path(data_dir))
    if isinstance(suite, str | Path):
        return _from_source(suite, data_dir)
    graphs = []
    for place, pair in enumerate(items("suite", suite, "a name, a path, or a list of pairs of graphs")):
        with prefix_errors(f"pair {place}"):
            graphs.append(as_batch(pair))
        if len(graphs[-1]) != 2:  # noqa: PLR2004
            raise TwinWLError(f"pair {place}: got {len(graphs[-1])} graphs, expected two")
    return _different(_in_order("pairs", concatenate(graphs)))


def _from_source(source: AnyPath, data_dir: AnyPath | None) -> PairSuite:
    path = checked("suite", source, PATH).expanduser()
    if not path.exists() and not is_known(str(source).partition(":")[0]):
        raise TwinWLError(
            f"no suite {shown(str(source))}: {nearest(str(source), SUITES)}; or give a file of pairs"
        )
    if holds_brec(path):
        return _brec_suite(path)
    # Of molecules, elements and bonds: readouts are to see structure, not what labels say about it.
    reading = ReadOptions(data_dir=data_dir, usual_atoms=LADDER[0])
    data = read_source(str(source), reading)
    paired = data.y is None if data.groups is None else (np.bincount(data.groups) == 2).all()  # noqa: PLR2004
    if not paired:
        raise TwinWLError(
            f"{data.name}: expected groups of two graphs, or no targets and graphs 2p and 2p + 1 as pair p"
        )
    order = slice(None) if data.groups is None else np.argsort(data.groups, kind="stable")
    return _different(_in_order(data.name, data.graphs[order]))


def _different(suite: PairSuite) -> PairSuite:
    """Refuse pairs of a user that are isomorphic."""
    forms = certificates(suite.graphs, range(len(suite.graphs)))
    for pair, (g, h) in enumerate(suite.pairs.tolist()):
        if forms[g] == forms[h]:
            raise TwinWLError(
                f"{suite.name}: the graphs of pair {pair} are isomorphic, so nothing can tell them apart; "
                "leave the pair out"
            )
    return suite


def _in_order(
    name: str, graphs: GraphBatch, categories: Sequence[str] = (), titles: Sequence[str] = ()
) -> PairSuite:
    """Make graphs 2p and 2p + 1 pair p."""
    if len(graphs) % 2 or not len(graphs):
        raise TwinWLError(
            f"{name}: got {len(graphs):,} graphs, expected an even number: graphs 2p and 2p + 1 are a pair"
        )
    pairs = np.arange(len(graphs), dtype=np.int64).reshape(-1, 2)
    titles = titles or [f"pair {pair}" for pair in range(len(pairs))]
    return PairSuite(name, graphs, pairs, tuple(categories or [name] * len(pairs)), tuple(titles))


def _among(name: str, graphs: GraphBatch, category: Sequence[str], titles: Sequence[str]) -> PairSuite:
    """Make a pair of every two graphs of a category, in the order of its first graph."""
    members: dict[str, list[int]] = {}
    for graph, group in enumerate(category):
        members.setdefault(group, []).append(graph)
    pairs = [pair for group in members.values() for pair in combinations(group, 2)]
    used = np.unique(pairs)
    return PairSuite(
        name,
        graphs[used],
        np.searchsorted(used, pairs).astype(np.int64),
        tuple(category[g] for g, _ in pairs),
        tuple(f"{titles[g]} and {titles[h]}" for g, h in pairs),
    )


def _brec_suite(path: Path) -> PairSuite:
    titled = {f"{name} {pair}": name for name, part in BREC_PARTS.items() for pair in range(part.n_pairs)}
    return _in_order("brec", brec_pairs(path), list(titled.values()), list(titled))


def _atlas_suite() -> PairSuite:
    graphs = GraphBatch.from_networkx(nx.graph_atlas_g()[1:])
    titles = [f"graph {number}" for number in range(1, len(graphs) + 1)]
    suite = _among("atlas", graphs, list(map(str, wl_groups(graphs))), titles)
    sizes = suite.graphs.nodes_per_graph[suite.pairs[:, 0]]
    return replace(suite, categories=tuple(f"{size} nodes" for size in sizes.tolist()))


def _families_suite(name: str, families: Mapping[str, GraphBatch], titles: Sequence[str] = ()) -> PairSuite:
    """Make a pair of every two graphs of a family."""
    categories = [family for family, graphs in families.items() for _ in graphs]
    titles = titles or [f"graph {number}" for graphs in families.values() for number in range(len(graphs))]
    return _among(name, concatenate(list(families.values())), categories, titles)


def _cfi_suite() -> PairSuite:
    bases = {name: (family, base) for family, named in CFI_BASES.items() for name, base in named.items()}
    graphs = concatenate([cfi_pair(base) for _, base in bases.values()])
    return _in_order("cfi", graphs, [family for family, _ in bases.values()], list(bases))


def _exp_suite(data_dir: Path | None) -> PairSuite:
    data = load_dataset("EXP", data_dir)
    return _in_order("exp", data.graphs[np.argsort(data.groups, kind="stable")])  # type: ignore[arg-type]


SUITES: dict[str, Callable[[Path | None], PairSuite]] = {
    "brec": lambda data_dir: _brec_suite(find_brec(data_dir)),
    "atlas": lambda _: _atlas_suite(),
    "regular": lambda _: _families_suite("regular", {"4-regular, 10 nodes": regular_graphs()}),
    "csl": lambda _: _families_suite(
        "csl", {f"{N_NODES} nodes": _circular_skip_links()}, [f"skip {skip}" for skip in SKIPS]
    ),
    "strongly-regular": lambda _: _families_suite(
        "strongly-regular", {family: strongly_regular_family(family) for family in FAMILIES}
    ),
    "cfi": lambda _: _cfi_suite(),
    "exp": _exp_suite,
    "twins": lambda _: _in_order("twins", twins(50)[0]),
}
