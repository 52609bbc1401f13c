"""Regular graphs that 1-WL cannot tell apart: those of degree 4 with ten nodes, strongly regular families."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.generators.permuted_copies import permuted_copies
from twinwl.errors import TwinWLError, nearest
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.canonical import certificates

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from twinwl.arrays import Bool, Int64

# The two Latin squares of order 5 that no exchange of rows, columns and symbols turns into each other.
_LATIN_SQUARES = (
    ("01234", "12340", "23401", "34012", "40123"),
    ("01234", "10342", "24013", "32401", "43120"),
)
_STEINER_BASE = ((0, 1, 4), (0, 2, 7))  # shifted modulo 13: every two points lie in one block
# Four blocks on six points that can be exchanged for four others covering the same pairs.
_PASCH_OUT = ((0, 1, 4), (0, 2, 7), (1, 7, 9), (2, 4, 9))
_PASCH_IN = ((1, 4, 9), (2, 7, 9), (0, 1, 7), (0, 2, 4))
# Edges of K8 to switch T(8) by: a perfect matching, an octagon, a triangle and a pentagon.
_CHANG = (
    ((0, 1), (2, 3), (4, 5), (6, 7)),
    ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (0, 7)),
    ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (5, 6), (6, 7), (3, 7)),
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
    edge_lists = [edges for name in names for edges in strongly_regular_family(name)]
    return permuted_copies(edge_lists, n_copies, random_state)


def strongly_regular_family(family: str) -> list[Int64]:
    """Return the edges, shape (n_edges, 2), of each strongly regular graph with the given parameters.

    >>> len(strongly_regular_family("25-12-5-6"))
    15
    """
    if family not in FAMILIES:
        raise TwinWLError(f"no strongly regular family {family!r}: {nearest(family, FAMILIES)}")
    return [np.argwhere(np.triu(matrix)) for matrix in FAMILIES[family]()]


def _sixteen() -> list[Bool]:
    cells = list(product(range(4), repeat=2))
    steps = {(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)}
    rook = _related(cells, lambda a, b: a[0] == b[0] or a[1] == b[1])
    shrikhande = _related(cells, lambda a, b: ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in steps)
    return [rook, shrikhande]


def _twenty_five() -> list[Bool]:
    """Isolate each point of each two-graph in turn: what remains is strongly regular."""
    two_graphs = [np.pad(_latin_square_graph(square), (0, 1)) for square in _LATIN_SQUARES]
    blocks = [tuple(sorted((p + s) % 13 for p in base)) for base in _STEINER_BASE for s in range(13)]
    traded = [block for block in blocks if block not in _PASCH_OUT] + list(_PASCH_IN)
    two_graphs += [_related(system, lambda a, b: not set(a) & set(b)) for system in (blocks, traded)]
    found = []
    for matrix in two_graphs:
        for point in range(len(matrix)):
            isolated = _switched(matrix, matrix[point])
            found.append(np.delete(np.delete(isolated, point, axis=0), point, axis=1))
    return _up_to_isomorphism(found)


def _twenty_eight() -> list[Bool]:
    pairs = list(combinations(range(8), 2))
    triangular = _related(pairs, lambda a, b: len({*a, *b}) == 3)  # noqa: PLR2004  (they share one end)
    switched = [_switched(triangular, np.array([pair in chosen for pair in pairs])) for chosen in _CHANG]
    return [triangular, *switched]


FAMILIES: dict[str, Callable[[], list[Bool]]] = {
    "16-6-2-2": _sixteen,
    "25-12-5-6": _twenty_five,
    "28-12-6-4": _twenty_eight,
}


def _related(
    points: Sequence[Collection[int]], adjacent: Callable[[Sequence[int], Sequence[int]], bool]
) -> Bool:
    """Return the adjacency matrix of points under a symmetric relation."""
    matrix = np.array([[adjacent(a, b) for a in points] for b in points])  # type: ignore[arg-type]
    np.fill_diagonal(matrix, val=False)
    return matrix


def _latin_square_graph(square: Iterable[str]) -> Bool:
    """Join cells in one row, in one column, or with one symbol."""
    cells = [(r, c, int(symbol)) for r, row in enumerate(square) for c, symbol in enumerate(row)]
    return _related(cells, lambda a, b: any(x == y for x, y in zip(a, b, strict=True)))


def _switched(matrix: Bool, chosen: Bool) -> Bool:
    """Exchange edges and non-edges between the chosen nodes and the others (Seidel switching)."""
    return matrix ^ chosen[:, None] ^ chosen[None, :]


def _up_to_isomorphism(matrices: list[Bool]) -> list[Bool]:
    batch = GraphBatch.from_edges([np.argwhere(np.triu(matrix)) for matrix in matrices])
    of_form = dict(zip(certificates(batch, range(len(batch))), matrices, strict=True))
    return list(of_form.values())


def regular_graphs() -> GraphBatch:
    """Return the 59 connected 4-regular graphs with ten nodes, no two of them isomorphic.

    >>> regular_graphs()
    GraphBatch(59 graphs, 590 nodes, 1,180 edges)
    """
    return GraphBatch.from_graph6(_GRAPHS.split())
