"""Generated data sets by name, with their options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.arrays import Int64
from twinwl.errors import TwinWLError, nearest

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

_FAMILIES = {"16-6-2-2": 2, "25-12-5-6": 15, "28-12-6-4": 4}  # graphs with these parameters


class Generated(NamedTuple):
    """A generated data set: its description, its generator, and its size without options."""

    about: str
    make: Callable[..., tuple[GraphBatch, Int64, Int64 | None]]
    n_graphs: int
    n_classes: int


def generate(name: str, options: Mapping[str, int]) -> tuple[GraphBatch, Int64, Int64 | None]:
    """Generate a data set by name; return graphs, classes and groups.

    >>> generate("TWINS", {"n_pairs": 2})[1].tolist()
    [1, 0, 0, 1]
    """
    check_generator_options(name, options)
    return GENERATED[name].make(**options)


def check_generator_options(name: str, options: Mapping[str, int]) -> None:
    """Refuse options that a generator does not have.

    >>> check_generator_options("TWINS", {"n_pairs": 2})
    """
    known = inspect.signature(GENERATED[name].make).parameters
    for option, value in options.items():
        if option not in known:
            raise TwinWLError(f"{name} has no option {option!r}: {nearest(option, known)}")
        if isinstance(value, bool) or not isinstance(value, int):
            raise TwinWLError(f"{name}: {option}: got {value!r}, expected an integer")


def _twins(n_pairs: int = 300, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64 | None]:
    from twinwl.datasets.generators import twins  # noqa: PLC0415  (the list of names must not build graphs)

    return twins(n_pairs, random_state)


def _csl(n_copies: int = 15, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64 | None]:
    from twinwl.datasets.generators import csl  # noqa: PLC0415

    return (*csl(n_copies, random_state), None)


def _cfi(n_copies: int = 10, random_state: int = 0) -> tuple[GraphBatch, Int64, Int64 | None]:
    from twinwl.datasets.generators import cfi  # noqa: PLC0415

    return cfi(n_copies, random_state)


def _regular(
    family: str | None, *, n_copies: int = 10, random_state: int = 0
) -> tuple[GraphBatch, Int64, Int64 | None]:
    from twinwl.datasets.generators import strongly_regular  # noqa: PLC0415

    return (*strongly_regular(family, n_copies, random_state), None)


def _family(family: str | None) -> Callable[..., Any]:
    return partial(_regular, family)


GENERATED: dict[str, Generated] = {
    "TWINS": Generated("pairs of molecule-like graphs that 1-WL cannot tell apart", _twins, 600, 2),
    "CSL": Generated("circular skip links: which of ten regular graphs", _csl, 150, 10),
    "SRG": Generated("strongly regular graphs of three families: which one", _family(None), 210, 21),
    "CFI": Generated("CFI graphs of 19 base graphs: twisted or not", _cfi, 380, 2),
} | {
    f"SRG-{family}": Generated("strongly regular graphs of one family: which one", _family(family), 10 * n, n)
    for family, n in _FAMILIES.items()
}
