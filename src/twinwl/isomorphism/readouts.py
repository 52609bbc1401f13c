"""Readouts: functions from a rooted subgraph to a value that is comparable across graphs.

Readouts that count: rooted size, edges, degrees.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from twinwl.arguments import MARKED_WL, Constraint, checked, one_of
from twinwl.arrays import Int32, Int64, UInt64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.canonical import canonical, orbits
from twinwl.isomorphism.grouping import Groups
from twinwl.isomorphism.inner_colours import rooted_fwl2, rooted_wl, wl
from twinwl.isomorphism.marked_wl import marked_wl
from twinwl.isomorphism.rooted import (
    Neighbourhoods,
    RootedBlock,
    RootedSubgraph,
    check_cost,
    n_marks_of,
    steps_of,
)
from twinwl.isomorphism.values import (
    UnstableValueError,
    Values,
    absorbed,
    joined,
    replaced,
    row_keys,
    stable_keys,
    taken,
)
from twinwl.refinement.content_keys import KeyedMessages


def size(block: RootedBlock) -> Int64:
    """Return the number of nodes: the readout of STwin."""
    return block.sizes.astype(np.int64)[:, None]


def edges(block: RootedBlock) -> Int64 | UInt64:
    """Return the number of nodes and of edges; with edge labels, of edges of each label, as a key."""
    graphs, messages = block.graphs, block.messages
    if graphs.edge_labels is not None:
        return _edge_keys(graphs.graph_ptr, messages)
    n_arcs = np.diff(graphs.indptr[graphs.graph_ptr])
    n_edges = n_arcs if graphs.directed else n_arcs // 2
    return np.column_stack([block.sizes.astype(np.int64), n_edges])


def degrees(block: RootedBlock) -> UInt64:
    """Return the key of the multiset of labels and degrees.

    Degrees are counted apart by edge label, and by direction where directed.
    """
    graphs, messages = block.graphs, block.messages
    return _degree_keys(graphs.graph_ptr, messages, block.label_keys)


@kernel
def _edge_keys(subgraph_ptr: Int64, messages: KeyedMessages) -> UInt64:
    out = np.empty((len(subgraph_ptr) - 1, 2), np.uint64)
    for index in range(len(out)):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        a, b = _sum_of_codes(first, last, messages)
        out[index, 0], out[index, 1] = absorbed(a, b, np.uint64(last - first), np.uint64(0))
    return out


@kernel
def _degree_keys(subgraph_ptr: Int64, messages: KeyedMessages, label_keys: UInt64) -> UInt64:
    out = np.empty((len(subgraph_ptr) - 1, 2), np.uint64)
    for index in range(len(out)):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        total_a, total_b = np.uint64(0), np.uint64(0)
        for node in range(first, last):
            a, b = _sum_of_codes(node, node + 1, messages)
            a, b = absorbed(a, b, label_keys[node, 0], label_keys[node, 1])
            total_a += a
            total_b += b
        out[index, 0], out[index, 1] = absorbed(total_a, total_b, np.uint64(last - first), np.uint64(0))
    return out


@kernel
def _sum_of_codes(first: int, last: int, messages: KeyedMessages) -> tuple[np.uint64, np.uint64]:
    """Return the sum of the keys of what nodes ``first..last`` hear: a multiset in two words."""
    indptr, _, codes, code_keys = messages
    a, b = np.uint64(0), np.uint64(0)
    for message in range(indptr[first], indptr[last]):
        code = codes[message] if len(codes) else 0
        a += code_keys[code, 0]
        b += code_keys[code, 1]
    return a, b


ReadoutFunction: TypeAlias = Callable[[RootedSubgraph], Hashable]
ReadoutChoice: TypeAlias = "str | ReadoutFunction | Sequence[str | ReadoutFunction]"

# Weakest first: each value decides the values of all readouts before it, with one exception. Several marks
# and pairs of nodes see different things: "marked-wl-2" and "marked-wl-3" do not decide "rooted-fwl2".
READOUTS: dict[str, Callable[[RootedBlock], Values]] = {
    "size": size,
    "edges": edges,
    "degrees": degrees,
    "wl": wl,
    "rooted-wl": rooted_wl,
    "marked-wl-1": partial(marked_wl, n_marks=1),
    "rooted-fwl2": rooted_fwl2,
    "marked-wl-2": partial(marked_wl, n_marks=2),
    "marked-wl-3": partial(marked_wl, n_marks=3),
    "canonical": canonical,
}
# Reading these out takes no longer than finding out which rooted subgraphs are equal.
_CHEAP = (size, edges, degrees, wl, rooted_wl)
_REMEMBERING = (rooted_wl, rooted_fwl2, canonical)
# After so many steps it pays to look for automorphisms, in graphs where that takes a fraction of a second:
# igraph needs 0.2 s for twelve strongly regular graphs of 16 nodes side by side, hours for thirty.
_STEPS_WORTH_ORBITS = 200_000
_MOST_NODES = 200


def _function(value: object) -> object:
    if not callable(value):
        raise TypeError
    return value


_FUNCTION = Constraint("a function of a rooted subgraph", _function)


class ReadoutError(TwinWLError):
    """A readout function failed on a rooted subgraph, or gave a value that cannot be used.

    Attributes
    ----------
    graph : int
        Index of the graph.
    root : int
        The node of that graph the subgraph is rooted at.
    """

    graph: int

    def __init__(self, message: str, graph: int = 0, root: int = 0) -> None:
        super().__init__(message, graph)
        self.root = root

    def __str__(self) -> str:
        return f"graph {self.graph}, root {self.root}: {self.message}"


@dataclass(frozen=True)
class Readout:
    """One readout, ready to be run on blocks of rooted subgraphs."""

    name: str
    on_block: Callable[[RootedBlock], Values]

    is_known: bool = True
    """Whether it is one of `READOUTS` or its like, and no function of a user's."""

    @property
    def remembers(self) -> bool:
        """Whether the value of a rooted subgraph decides those of the smaller ones with the same root.

        With the root marked, refined colours know their distance from it, so they are fine enough for each
        smaller subgraph as well.
        """
        return self.on_block in _REMEMBERING

    @property
    def is_cheap(self) -> bool:
        """Whether it reads out every rooted subgraph, however often it has read an equal one."""
        return self.on_block in _CHEAP


def resolve(choice: ReadoutChoice) -> tuple[Readout, ...]:
    """Turn what a user may ask for into readouts: a name, a function, or a list of these.

    >>> [readout.name for readout in resolve(["size", "rooted-wl"])]
    ['size', 'rooted-wl']
    """
    parts = choice if isinstance(choice, (list, tuple)) else [choice]
    if not parts:
        raise TwinWLError(f"readout: got {shown(choice)}, expected at least one readout")
    return tuple(map(_readout, parts))


def _readout(choice: object) -> Readout:
    known: str | ReadoutFunction = checked("readout", choice, one_of(*READOUTS), MARKED_WL, _FUNCTION)
    if isinstance(known, str):
        return Readout(known, READOUTS.get(known) or partial(marked_wl, n_marks=n_marks_of(known)))
    given = getattr(known, "__name__", None)
    name = given if isinstance(given, str) else type(known).__name__
    # A partial function, which pickle takes where it takes the function itself.
    return Readout(name, partial(_on_each, known, name), is_known=False)


class RoundReader:
    """Reads out the rooted subgraphs of all nodes, round after round.

    A rooted subgraph that did not grow is the one of the round before, so only those that grew are read out.
    Readouts that are not cheap look at one of each group of equal rooted subgraphs, and functions at two,
    because what they return must not depend on how nodes are numbered.

    Parameters
    ----------
    batch
        The graphs.
    readouts
        What to compute.
    """

    def __init__(self, batch: GraphBatch, readouts: tuple[Readout, ...]) -> None:
        self._source = Neighbourhoods(batch)
        self._readouts = readouts
        self._only_sizes = all(readout.on_block is size for readout in readouts)
        self._round = -1
        self._sizes = np.zeros(batch.n_nodes, np.int32)
        self._held: tuple[Values, ...] = ()
        # Nodes that an automorphism maps to each other have isomorphic rooted subgraphs in every round.
        self._orbit = np.arange(batch.n_nodes)
        self._steps = np.zeros(len(batch))
        self._groups, self._group_values = Groups(), [joined([]) for _ in readouts]

    def read(
        self, size_of_node: Int32, h: int | None = None, nodes: Int64 | None = None
    ) -> tuple[Values, ...]:
        """Return the values of each readout in round h, by default the next one.

        Parameters
        ----------
        size_of_node : array of int32, shape (n_nodes,)
            Rooted sizes of that round.
        h
            Any round, whether it comes before or after the last one.
        nodes : array of int64, optional
            All nodes of some colours: the values of others are not up to date. By default all.
        """
        if self._only_sizes:  # they are already here
            return (size_of_node.astype(np.int64)[:, None],) * len(self._readouts)
        self._round = self._round + 1 if h is None else h
        grown = np.flatnonzero(size_of_node != self._sizes)
        if nodes is not None:
            grown = np.intersect1d(grown, nodes, assume_unique=True)
        if not self._held or len(grown):
            check_cost([readout.name for readout in self._readouts if readout.is_known], size_of_node[grown])
            chosen, which = self._representatives(grown, size_of_node)
            parts = [
                self._read_block(block)
                for block in self._source.blocks(chosen, self._round, size_of_node[chosen])
            ]
            fresh = [
                taken(joined([part[place] for part in parts]), which) for place in range(len(self._readouts))
            ]
            if self._held:
                fresh = [replaced(old, grown, new) for old, new in zip(self._held, fresh, strict=True)]
            self._held = tuple(fresh)
        self._sizes = self._sizes.copy()
        self._sizes[grown] = size_of_node[grown]
        return self._held

    def _representatives(self, nodes: Int64, size_of_node: Int32) -> tuple[Int64, Int64]:
        """Return a node of each orbit among some nodes, and for each of these which one stands for it."""
        if not all(readout.is_known for readout in self._readouts):
            return nodes, np.arange(len(nodes))  # a function has to prove itself
        batch = self._source.batch
        steps = np.zeros(batch.n_nodes)
        steps[nodes] = steps_of([readout.name for readout in self._readouts], size_of_node[nodes])
        before = self._steps
        self._steps = before + np.diff(np.concatenate([[0], np.cumsum(steps)])[batch.graph_ptr])
        due = (before <= _STEPS_WORTH_ORBITS) & (self._steps > _STEPS_WORTH_ORBITS)
        due &= batch.nodes_per_graph <= _MOST_NODES
        if due.any():
            self._orbit = np.minimum(self._orbit, orbits(batch, np.flatnonzero(due)))
        return np.unique(self._orbit[nodes], return_inverse=True)

    def _read_block(self, block: RootedBlock) -> list[Values]:
        """Return the values of each readout, those that are not cheap from one of each group of equals."""
        if all(readout.is_cheap for readout in self._readouts):
            return [readout.on_block(block) for readout in self._readouts]
        n_known = len(self._groups)
        groups = self._groups.of_block(block)
        first = np.unique(groups, return_index=True)[1]
        first = first[groups[first] >= n_known]  # in the order of the groups
        chosen = block.at(first)
        out: list[Values] = []
        for place, readout in enumerate(self._readouts):
            if readout.is_cheap:
                out.append(readout.on_block(block))
                continue
            fresh = readout.on_block(chosen)
            if not readout.is_known:
                _check_copies(readout, block, groups, first, fresh)
            self._group_values[place] = joined([self._group_values[place], fresh] if n_known else [fresh])
            out.append(taken(self._group_values[place], groups))
        if self._groups.full:
            self._groups = Groups()
        return out

    def read_keys(self, size_of_node: Int32) -> UInt64:
        """Do the same, and return one key of all values of a node, shape (n_nodes, 2)."""
        return joint_keys([_keys_of_values(values, self._source.batch) for values in self.read(size_of_node)])


def joint_keys(parts: list[UInt64]) -> UInt64:
    """Return one key for what several readouts say, each of shape (n, 2)."""
    return parts[0] if len(parts) == 1 else row_keys(np.hstack(parts))


def _check_copies(readout: Readout, block: RootedBlock, groups: Int64, first: Int64, values: Values) -> None:
    """Refuse a function that returns another value for a second copy of the same rooted subgraph."""
    order = np.argsort(groups, kind="stable")
    following = np.searchsorted(groups[order], groups[first]) + 1
    following[following == len(order)] = 0  # that is a copy of another one, or the same
    copies = order[following]
    held = np.flatnonzero((groups[copies] == groups[first]) & (copies != first))
    batch = block.source.batch
    again = readout.on_block(block.at(copies[held]))
    for index, value, other in zip(held.tolist(), taken(values, held), again, strict=True):
        if value != other:
            graph, root = _whereabouts(batch, int(block.roots[first[index]]))
            raise ReadoutError(
                f"the readout {readout.name!r} returned {shown(other)}, and {shown(value)} for its copy at "
                f"graph {graph}, root {root}: they differ only in the numbering of their nodes, on which a "
                "readout must not depend",
                *_whereabouts(batch, int(block.roots[copies[index]])),
            )


def _keys_of_values(values: Values, batch: GraphBatch) -> UInt64:
    """Return keys of values, shape (n_nodes, 2), or say at which root a value has no stable form."""
    try:
        return stable_keys(values)
    except UnstableValueError as error:
        graph, root = _whereabouts(batch, error.place)
        raise ReadoutError(f"a readout's value cannot be hashed: {error}", graph, root) from error


def _on_each(function: ReadoutFunction, name: str, block: RootedBlock) -> list[Hashable]:
    """Call a user's function on each subgraph; whatever goes wrong is told with its root."""
    values: list[Hashable] = []
    for node, subgraph in zip(block.roots.tolist(), block.subgraphs(), strict=True):
        try:
            value = function(subgraph)
        except Exception as error:
            place = _whereabouts(block.source.batch, node)
            message = f"the readout {name!r} raised {type(error).__name__}: {error}"
            raise ReadoutError(message, *place) from error
        complaint = _complaint(value)
        if complaint:
            place = _whereabouts(block.source.batch, node)
            raise ReadoutError(f"the readout {name!r} returned {shown(value)}, {complaint}", *place)
        values.append(value)
    return values


def _complaint(value: object) -> str:
    """Say why a value cannot be counted, if it cannot."""
    try:
        hash(value)
        equal = bool(value == value)  # noqa: PLR0124  (so NaN is told from all else)
    except Exception:  # noqa: BLE001  (a user's object may raise anything)
        return "which is not hashable; return a number, a string or a tuple of these"
    return "" if equal else "which does not even equal itself; return something else for it"


def _whereabouts(batch: GraphBatch, node: int) -> tuple[int, int]:
    """Return the graph that holds a node of the batch, and the node's number there."""
    graph = int(np.searchsorted(batch.graph_ptr, node, side="right")) - 1
    return graph, int(node - batch.graph_ptr[graph])
