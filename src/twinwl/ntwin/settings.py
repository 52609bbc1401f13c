"""The settings of an NTwin-GNN: the hops of each layer, and the mark of the root."""

from __future__ import annotations

from typing import Literal, TypeAlias

from twinwl.arguments import DEPTH, MAX_ITEMS, ROUNDS, checked, integer, number, one_of

__all__ = ["HOPS", "ROOTS", "ROOT_MARK", "Hops", "RootMark", "hops_of_layers", "n_marks"]

Hops: TypeAlias = "int | tuple[int, ...] | Literal['growing']"
RootMark: TypeAlias = "Literal['none', 'root', 'distance']"

ROOT_MARK = one_of("none", "root", "distance")
HOPS = (ROUNDS, one_of("growing"))
ROOTS = (integer(1, MAX_ITEMS), number(0, 1, above=True), None)


def hops_of_layers(hops: Hops, layers: int) -> tuple[int, ...]:
    """Return the radius of the rooted subgraphs of each layer.

    ``"growing"`` is section 4.2 of the paper, k hops in layer k; a number is the same radius in every layer,
    as in section 5.3, which searches hops and layers separately. A tuple has one radius per layer.

    >>> hops_of_layers("growing", 3), hops_of_layers(2, 3)
    ((1, 2, 3), (2, 2, 2))
    """
    layers = checked("layers", layers, DEPTH)
    if isinstance(hops, tuple) and len(hops) == layers:
        return tuple(int(checked("hops", radius, ROUNDS)) for radius in hops)
    radius = checked("hops", hops, *HOPS)
    return tuple(range(1, layers + 1)) if isinstance(radius, str) else (radius,) * layers


def n_marks(root_mark: str, hops: tuple[int, ...]) -> int:
    """Return the number of different marks of a node of a rooted subgraph.

    >>> n_marks("none", (1, 2)), n_marks("root", (1, 2)), n_marks("distance", (1, 2))
    (1, 2, 3)
    """
    root_mark = checked("root_mark", root_mark, ROOT_MARK)
    return {"none": 1, "root": 2, "distance": max(hops) + 1}[root_mark]
