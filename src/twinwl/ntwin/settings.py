"""What an NTwin-GNN may look at: how many hops each layer sees, and what marks the root."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from twinwl.errors import TwinWLError, nearest

__all__ = ["ROOT_MARKS", "Hops", "RootMark", "check_layers", "check_root_mark", "hops_of_layers", "n_marks"]

Hops: TypeAlias = "int | Literal['growing']"
RootMark: TypeAlias = "Literal['none', 'root', 'distance']"

ROOT_MARKS = ("none", "root", "distance")


def check_layers(layers: int) -> None:
    """Refuse anything that is no positive whole number.

    >>> check_layers(3)
    """
    if isinstance(layers, bool) or not isinstance(layers, int | np.integer) or layers < 1:
        raise TwinWLError(f"layers is {layers!r}; it must be a whole number, 1 or more")


def check_root_mark(root_mark: str) -> None:
    """Refuse a mark that does not exist.

    >>> check_root_mark("distance")
    """
    if root_mark not in ROOT_MARKS:
        raise TwinWLError(f"root_mark is {root_mark!r}: {nearest(str(root_mark), ROOT_MARKS)}")


def hops_of_layers(hops: Hops, layers: int) -> tuple[int, ...]:
    """Return the radius of the rooted subgraphs of each layer.

    ``"growing"`` is section 4.2 of the paper, k hops in layer k; a number is the same radius in every layer,
    as in section 5.3, which searches hops and layers apart.

    >>> hops_of_layers("growing", 3), hops_of_layers(2, 3)
    ((1, 2, 3), (2, 2, 2))
    """
    check_layers(layers)
    if isinstance(hops, str):
        if hops != "growing":
            raise TwinWLError(f"hops is {hops!r}; it must be 'growing' or a whole number, 0 or more")
        return tuple(range(1, layers + 1))
    if isinstance(hops, bool) or not isinstance(hops, int | np.integer) or hops < 0:
        raise TwinWLError(f"hops is {hops!r}; it must be 'growing' or a whole number, 0 or more")
    return (int(hops),) * layers


def n_marks(root_mark: str, hops: tuple[int, ...]) -> int:
    """Return how many different marks a node of a rooted subgraph can carry.

    >>> n_marks("none", (1, 2)), n_marks("root", (1, 2)), n_marks("distance", (1, 2))
    (1, 2, 3)
    """
    check_root_mark(root_mark)
    return {"none": 1, "root": 2, "distance": max(hops) + 1}[root_mark]
