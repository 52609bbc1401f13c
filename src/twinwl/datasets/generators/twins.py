r"""TWINS: pairs of molecule-like graphs that 1-WL cannot tell apart, with opposite classes.

One graph of a pair has the core of decalin, two fused hexagons; the other has that of bicyclopentyl, two
pentagons joined by an edge. 1-WL gives both cores the same three colour classes::

      6---2---0---4---8          6---2       4---8        bridges 0, 1
      |       |       |          |    \     /    |        alphas  2, 3, 4, 5
      |       |       |          |     0---1     |        betas   6, 7, 8, 9
      |       |       |          |    /     \    |
      7---3---1---5---9          7---3       5---9

The same random tree is attached to *every* node of one of these classes; on a single node it would let 1-WL
tell the pair apart. So a method bounded by 1-WL scores exactly 50 % if pairs are kept together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from twinwl.arrays import Int64

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
    if not 1 <= n_pairs <= _MOST_PAIRS:
        raise TwinWLError(f"n_pairs: got {n_pairs}, expected an integer from 1 to {_MOST_PAIRS:,}")
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
