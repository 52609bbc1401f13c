"""The result of a comparison: the verdict and its witness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Hashable

    from twinwl.graphs.labels import Label

_NODES_SHOWN = 8


@dataclass(frozen=True)
class Witness:
    """A colour, and if needed a value of the readout, that is not equally frequent in the two graphs.

    Attributes
    ----------
    iteration : int
        The round h.
    colour : int
        Number of the colour ``l_h``, among those of both graphs in that round.
    label : label
        The label of the nodes that carry the colour.
    value : hashable or None
        Readout of their rooted subgraphs: counts as numbers, larger values as 32 hexadecimal digits, several
        readouts as a tuple. None if the colours alone differ.
    counts : (int, int)
        Number of such nodes in the first and in the second graph.
    nodes : (tuple of int, tuple of int)
        These nodes, numbered within their graph.
    """

    iteration: int
    colour: int
    label: Label
    value: Hashable | None
    counts: tuple[int, int]
    nodes: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Comparison:
    """The outcome of the Twin-WL test on two graphs.

    Attributes
    ----------
    by : "labels", "twin" or None
        What differs in the first round with a difference: the colours of 1-WL, or only colours together with
        identities. (1-WL alone may still tell the graphs apart in a later round.)
    witness : Witness or None
    readout : tuple of str
        Names of the readouts.
    iterations_run : int
        The last round that was compared.
    complete : bool
        Whether more rounds cannot change the verdict; False only if ``n_iter`` ended the test early.
    directed : bool
        Whether the graphs are directed.
    features_ignored : bool
        Whether a graph has node features that were ignored.

    Examples
    --------
    >>> import networkx as nx
    >>> import twinwl as tw
    >>> print(tw.compare(nx.path_graph(3), nx.star_graph(2)))
    Not told apart by the readout 'size' in any round (0 to 2): the graphs may be isomorphic.
    """

    by: Literal["labels", "twin"] | None
    witness: Witness | None
    readout: tuple[str, ...]
    iterations_run: int
    complete: bool = True
    directed: bool = False
    features_ignored: bool = False

    @property
    def distinguished(self) -> bool:
        """Whether the graphs were told apart; then they are not isomorphic."""
        return self.witness is not None

    @property
    def iteration(self) -> int | None:
        """The first round in which they differ, or None."""
        return None if self.witness is None else self.witness.iteration

    @property
    def exact(self) -> bool:
        """Whether the readout is exact: on undirected graphs ``"canonical"`` sees whole components."""
        return "canonical" in self.readout and not self.directed

    @property
    def proves_isomorphism(self) -> bool:
        """Whether the test proves that the graphs are isomorphic: an exact readout found no difference.

        Always False if node features were ignored.
        """
        return self.exact and self.complete and not self.distinguished and not self.features_ignored

    def __str__(self) -> str:
        if self.witness is None:
            return self._agreement()
        means = "by colours alone, as 1-WL does"
        if self.by == "twin":
            means = f"by identities ({self._readouts()}); the colours alone agree there"
        return f"Different: told apart in round {self.iteration} {means}.\n{self._evidence(self.witness)}"

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import comparison_html  # noqa: PLC0415  (on demand)

        return comparison_html(self)

    def _agreement(self) -> str:
        if not self.complete:
            return (
                f"Not told apart up to round {self.iterations_run} by the {self._readouts()}; "
                "more rounds might differ."
            )
        meaning = "the graphs are isomorphic" if self.exact else "the graphs may be isomorphic"
        if self.features_ignored:
            meaning += " when node features are ignored"
        return (
            f"Not told apart by the {self._readouts()} in any round (0 to {self.iterations_run}): {meaning}."
        )

    def _readouts(self) -> str:
        names = ", ".join(repr(name) for name in self.readout)
        return f"readout {names}" if len(self.readout) == 1 else f"readouts {names}"

    def _evidence(self, witness: Witness) -> str:
        what = f"Colour {witness.colour}"
        if witness.iteration == 0 and witness.label is not None:
            what = f"Label {witness.label!r}"
        if self.by == "twin":
            what += f" with {', '.join(self.readout)} {witness.value}"
        first, second = map(_carriers, witness.counts, witness.nodes)
        return f"{what}: in the first graph {first}, in the second {second}."


def _carriers(number: int, nodes: tuple[int, ...]) -> str:
    """Say how many nodes carry a witness, and which."""
    if not number:
        return "none"
    shown = ", ".join(map(str, nodes[:_NODES_SHOWN])) + (", …" if number > _NODES_SHOWN else "")
    return f"{number} node{'s' if number > 1 else ''} ({shown})"
