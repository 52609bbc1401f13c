"""The Twin-WL test of two graphs (`compare`), and its result: the verdict with a witness."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, Literal

import numpy as np

from twinwl.arguments import ROUNDS, checked
from twinwl.arrays import Int32, Int64, Values
from twinwl.errors import TwinWLError
from twinwl.graphs.atom_labels import warn_of_level
from twinwl.graphs.batch import GraphBatch, concatenate, labels_only
from twinwl.graphs.building import one_graph
from twinwl.graphs.labels import Label
from twinwl.isomorphism import READOUTS, Readouts
from twinwl.isomorphism.canonical import are_isomorphic, certificates
from twinwl.isomorphism.readouts import ReadoutChoice, RoundReader, class_numbers, readable, resolve
from twinwl.refinement.colours import colour_rounds
from twinwl.refinement.identities import rooted_sizes

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

    # A result found without running rounds (`_result_without_rounds`) lacks the fields in `_OF_ROUNDS`. They
    # are computed when one of them is first read.
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (fields of several types)
        if name not in _OF_ROUNDS or "_pending" not in vars(self):
            raise AttributeError(name)
        found = vars(_run(*vars(self)["_pending"]))
        vars(self).update({field: found[field] for field in _OF_ROUNDS})
        return found[name]

    @property
    def distinguished(self) -> bool:
        """Whether the graphs were told apart; then they are not isomorphic."""
        told_apart: bool | None = vars(self).get("_told_apart")
        return self.witness is not None if told_apart is None else told_apart

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
        from twinwl.report.page import result_html  # noqa: PLC0415  (on demand)

        verdict, _, evidence = str(self).partition("\n")
        return result_html(verdict, text=evidence)

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
        first, second = map(_describe_nodes, witness.counts, witness.nodes)
        return f"{what}: in the first graph {first}, in the second {second}."


def _describe_nodes(number: int, nodes: tuple[int, ...]) -> str:
    """Say how many nodes carry a witness, and which."""
    if not number:
        return "none"
    shown = ", ".join(map(str, nodes[:_NODES_SHOWN])) + (", …" if number > _NODES_SHOWN else "")
    return f"{number} node{'s' if number > 1 else ''} ({shown})"


# What only rounds can show, of the fields of a `Comparison`.
_OF_ROUNDS = ("by", "witness", "iterations_run")
_FIRST_ROUNDS = 3


def compare(
    g: object,
    h: object,
    readout: ReadoutChoice = "size",
    n_iter: int | None = None,
    *,
    ignore_features: bool = False,
) -> Comparison:
    """Run the Twin-WL test on two graphs.

    In each round the multisets of (colour, readout of the rooted subgraph) of both graphs are compared. A
    difference proves that the graphs are not isomorphic; no difference does not prove that they are, except
    with the readout ``"canonical"`` on undirected graphs. Labels of nodes and edges are compared if the
    graphs have any.

    Parameters
    ----------
    g, h
        Two graphs: batches of one, or single graphs of any kind that `twinwl.as_batch` takes in a list.
    readout
        A name from `twinwl.isomorphism.READOUTS`, from ``"size"``, the weakest, to ``"canonical"``, which is
        exact; a function of a `RootedSubgraph` that returns something hashable; or a list of these.
    n_iter
        Maximum number of rounds. None continues until the colours of both graphs together are stable and no
        rooted subgraph grows any more, after which no round can differ. For two graphs of n nodes, m edges
        and diameter d without a difference, this takes at least O(nm) time and O(nd) memory: give a number
        for very large graphs.
    ignore_features
        Whether to ignore continuous node features; otherwise graphs with features are an error. To compare
        features, turn them into labels with `GraphBatch.discretise`.

    Returns
    -------
    Comparison
        ``.distinguished``, ``.iteration``, ``.by``, ``.witness``, and a readable ``str()``.

    See Also
    --------
    graph_hash : A key that is equal for isomorphic graphs.
    deduplicate : Exact groups of many graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> result = compare(hexagon, triangles)
    >>> result.distinguished, result.iteration, result.by
    (True, 2, 'twin')
    >>> print(result)
    Different: told apart in round 2 by identities (readout 'size'); the colours alone agree there.
    Colour 0 with size 5: in the first graph 6 nodes (0, 1, 2, 3, 4, 5), in the second none.
    """
    readouts = resolve(readout)
    n_iter = checked("n_iter", n_iter, ROUNDS, None)
    graphs = [one_graph(g, "the first graph"), one_graph(h, "the second graph")]
    warn_of_level(graphs[0].atoms or graphs[1].atoms)
    first, second = (
        labels_only(graph, ignore_features=ignore_features, name=f"the {which} graph")
        for graph, which in zip(graphs, ("first", "second"))
    )
    pair = _join_pair(first, second)
    known = {
        "directed": pair.directed,
        "features_ignored": any(graph.has_node_features for graph in graphs),
    }
    # Whole graphs are compared first, which often decides without any round. Not for a user's
    # function: if its values differ between isomorphic graphs, that is an error, which shows only when it is
    # called.
    if n_iter is None and all(part.is_known for part in readouts):
        isomorphic = are_isomorphic(pair)
        if isomorphic is None and not all(part.is_cheap for part in readouts):
            form, other = certificates(pair, range(2))
            # Equal forms prove isomorphism. Different ones are a difference that only an exact readout is
            # certain to show.
            if form == other:
                isomorphic = True
            elif not pair.directed and any(part.name == "canonical" for part in readouts):
                isomorphic = False
        if isomorphic is not None:
            return _result_without_rounds(pair, readouts, isomorphic=isomorphic, **known)
        return _run(pair, readouts, None, same_colours=True, **known)
    return _run(pair, readouts, n_iter, **known)


def _result_without_rounds(
    pair: GraphBatch, readouts: Readouts, *, isomorphic: bool, **known: bool
) -> Comparison:
    """Return a result before any round has run; `Comparison.__getattr__` runs them on demand.

    In isomorphic graphs all readouts agree in all rounds, so any of them shows how many rounds there are.
    """
    found = object.__new__(Comparison)
    names = tuple(readout.name for readout in readouts)
    pending = (pair, (READOUTS["size"],) if isomorphic else readouts, None)
    vars(found).update(known, readout=names, complete=True, _told_apart=not isomorphic, _pending=pending)
    return found


def _join_pair(g: GraphBatch, h: GraphBatch) -> GraphBatch:
    """Join two graphs into one batch with one vocabulary, or raise an error if they cannot be compared."""
    if g.directed != h.directed:
        kinds = ("undirected", "directed")
        raise TwinWLError(
            f"the first graph is {kinds[g.directed]} and the second {kinds[h.directed]}; "
            "build both with the same directed=…"
        )
    for what, first, second, both_have_some in (
        ("node labels", g.has_node_labels, h.has_node_labels, g.n_nodes and h.n_nodes),
        ("edge labels", g.edge_labels is not None, h.edge_labels is not None, g.n_edges and h.n_edges),
    ):
        if both_have_some and first != second:
            names = ("first", "second") if first else ("second", "first")
            raise TwinWLError(
                f"the {names[0]} graph has {what} and the {names[1]} has none; give both labels, or neither"
            )
    return concatenate([g, h])


def _run(
    pair: GraphBatch, readouts: Readouts, n_iter: int | None, *, same_colours: bool = False, **known: bool
) -> Comparison:
    """Run rounds until one differs or no later round can; ``same_colours`` if 1-WL finds no difference.

    With readouts that remember, two graphs that agree in a round agree in all rounds before it. Then readouts
    are computed in rounds 0, 1, 2, 4, 8, … only, and a difference is traced back by halving.
    """
    reader, size_rows = RoundReader(pair, readouts), _size_rows(pair, n_iter)
    remember = all(readout.remembers for readout in readouts)
    rows: list[tuple[Int32, Int32]] = []  # colours and sizes of each round in which the colours agree
    agreed, by_labels, by_twin, complete = -1, None, None, False  # ``agreed``: the last round known to agree
    for h, colours in enumerate(islice(colour_rounds(pair), None if n_iter is None else n_iter + 1)):
        by_labels = None if same_colours else _difference(pair, h, colours, ())
        if by_labels:
            break
        rows.append((colours, next(size_rows)))
        # A round that changes neither colours nor identities is followed by rounds just like it.
        if h and all(map(np.array_equal, rows[-1], rows[-2])):
            rows.pop()
            complete = True
            break
        if not remember or h >= 2 * agreed:
            by_twin = _difference_of_readouts(pair, h, rows[h], reader)
            if by_twin:
                break
            agreed = h
    last = len(rows) - 1
    if by_twin is None and agreed < last:
        by_twin = _difference_of_readouts(pair, last, rows[last], reader)
    while by_twin and by_twin.iteration - agreed > 1:
        h = (agreed + by_twin.iteration) // 2
        earlier = _difference_of_readouts(pair, h, rows[h], reader)
        by_twin, agreed = (earlier, agreed) if earlier else (by_twin, h)
    # A difference by identities comes first: the colours still agreed in those rounds.
    witness = by_twin or by_labels
    return Comparison(
        by="twin" if by_twin else "labels" if by_labels else None,
        witness=witness,
        readout=tuple(readout.name for readout in readouts),
        iterations_run=witness.iteration if witness else last,
        complete=complete or witness is not None,
        **known,
    )


def _difference_of_readouts(
    pair: GraphBatch, h: int, row: tuple[Int32, Int32], reader: RoundReader
) -> Witness | None:
    colours, sizes = row
    if h > 1 and reader.is_costly:
        # If two graphs differ, it is mostly where rooted subgraphs are largest: first read only the nodes of
        # the rarest such colour.
        largest = np.flatnonzero(sizes == sizes.max())
        rarest = np.argmin(np.bincount(colours)[colours[largest]])
        nodes = np.flatnonzero(colours == colours[largest[rarest]])
        found = _difference(pair, h, colours, reader.read(sizes, h, nodes), nodes)
        if found:
            return found
    return _difference(pair, h, colours, reader.read(sizes, h))


def _difference(
    pair: GraphBatch, h: int, colours: Int32, values: tuple[Values, ...], nodes: Int64 | None = None
) -> Witness | None:
    """Return a witness where the multisets of (colour, values) of the two graphs differ, among some nodes."""
    boundary, numbers = int(pair.graph_ptr[1]), colours
    if nodes is not None:
        boundary, numbers = int(np.searchsorted(nodes, boundary)), colours[nodes]
        values = tuple(part[nodes] for part in values)
    for part in values:
        classes = class_numbers(part)
        numbers = numbers.astype(np.int64) * (int(classes.max(initial=0)) + 1) + classes
        if len(values) > 1:  # so that no product of many readouts overflows
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    if len(numbers) == 2 * boundary:
        sides = numbers.reshape(2, boundary).copy()
        sides.sort()
        # As bytes, because for small graphs `array_equal` takes longer than everything else here.
        if sides[0].tobytes() == sides[1].tobytes():
            return None
    nodes = np.arange(pair.n_nodes) if nodes is None else nodes
    inverse = np.unique(numbers, return_inverse=True)[1]
    first, second = (
        np.bincount(part, minlength=len(numbers)) for part in (inverse[:boundary], inverse[boundary:])
    )
    carrier = int(np.flatnonzero((first != second)[inverse])[0])
    witnesses = nodes[inverse == inverse[carrier]]
    shown = tuple(readable(part, carrier) for part in values)
    return Witness(
        iteration=h,
        colour=int(colours[witnesses[0]]),
        label=pair.node_vocabulary[pair.node_labels[witnesses[0]]],
        value=(shown if len(shown) > 1 else shown[0]) if shown else None,
        counts=(int(first[inverse[carrier]]), int(second[inverse[carrier]])),
        nodes=(
            tuple(witnesses[witnesses < pair.graph_ptr[1]].tolist()),
            tuple((witnesses[witnesses >= pair.graph_ptr[1]] - pair.graph_ptr[1]).tolist()),
        ),
    )


def _size_rows(pair: GraphBatch, n_iter: int | None) -> Iterator[Int32]:
    """Yield the rooted sizes of round 0, 1, … to ``n_iter``, or without end.

    Rounds are computed a few at a time, because most pairs of graphs differ early.
    """
    yield np.ones(pair.n_nodes, np.int32)
    done, reach = 1, _FIRST_ROUNDS
    while True:
        rows = rooted_sizes(pair, reach if n_iter is None else min(reach, max(1, n_iter)))
        yield from rows[done:]
        if np.array_equal(rows[-1], rows[-2]):
            yield from repeat(rows[-1])
        done, reach = len(rows), 4 * reach
