"""Compare, hash and group graphs; the table of readouts, which needs no compiled code until one is used."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Readout:
    """What turns a rooted subgraph into a value that is comparable across graphs.

    Attributes
    ----------
    name : str
    function : function, or "module.function" of this package
        From a block of rooted subgraphs to one value each. Modules with kernels are slow to load, so a
        readout of the table is found when it is first used.
    meaning : str
        Its value, in a few words for help and documentation.
    is_cheap : bool
        Whether reading out all rooted subgraphs takes no longer than finding out which of them are equal.
    remembers : bool
        Whether the value of a rooted subgraph decides those of the smaller ones with the same root. With the
        root marked it does: refined colours know their distance from it.
    n_marks : int
        Number of further nodes to mark.
    on_ladder : bool
        Whether its value decides those of all readouts before it in the table that are on the ladder too.
    is_known : bool
        Whether it is one of `READOUTS` or its like, and no function of a user's.
    """

    name: str
    function: str | Callable[..., Any]
    meaning: str = ""
    is_cheap: bool = False
    remembers: bool = False
    n_marks: int = 0
    on_ladder: bool = True
    is_known: bool = True

    def on_block(self, block: Any) -> Any:  # noqa: ANN401  (RootedBlock and Values, of modules with kernels)
        """Return the values of a block of rooted subgraphs."""
        function = self.function
        if isinstance(function, str):
            module, name = function.split(".")
            function = getattr(import_module(f"{__name__}.{module}"), name)
        return function(block, self.n_marks) if self.n_marks else function(block)


Readouts: TypeAlias = tuple[Readout, ...]


def marked(n_marks: int) -> Readout:
    """Return the readout ``marked-wl-K`` for K marks."""
    meaning = (
        f"the same with the root and {n_marks} more node{'s' * (n_marks > 1)} marked, one after the other"
    )
    return Readout(f"marked-wl-{n_marks}", "inner_colours.marked_wl", meaning, n_marks=n_marks)


# Weakest first. Two stand beside the ladder: 1-WL, even with the root marked, cannot count "triangles", and
# "marked-wl-2" and "marked-wl-3" do not decide "rooted-fwl2".
_TABLE = (
    Readout("size", "readouts.size", "number of nodes", is_cheap=True),
    Readout("edges", "readouts.edges", "numbers of nodes and of edges, of each edge label", is_cheap=True),
    Readout("triangles", "readouts.triangles", "numbers of nodes and of triangles",
            is_cheap=True, on_ladder=False),
    Readout("degrees", "readouts.degrees", "the multiset of labels and degrees", is_cheap=True),
    Readout("wl", "inner_colours.wl", "the stable colours of 1-WL inside it", is_cheap=True),
    Readout(
        "rooted-wl", "inner_colours.rooted_wl", "the same, the root marked", is_cheap=True, remembers=True
    ),
    marked(1),
    Readout(
        "rooted-fwl2", "inner_colours.rooted_fwl2", "the same with folklore 2-WL; cubic",
        remembers=True, on_ladder=False,
    ),
    marked(2),
    marked(3),
    Readout("canonical", "readouts.canonical", "its isomorphism class: exact", remembers=True),
)  # fmt: skip
READOUTS = {readout.name: readout for readout in _TABLE}
"""The readouts by name. More marks are possible, up to ``marked-wl-9``."""
