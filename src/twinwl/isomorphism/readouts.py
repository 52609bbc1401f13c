"""Readouts of rooted subgraphs, round after round, and the values they give.

The table of readouts is `twinwl.isomorphism.READOUTS`. This module has the readouts that count, and
`RoundReader`, which calls each other readout once per group of isomorphic rooted subgraphs.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from twinwl.arguments import MARKED_WL, Constraint, checked, one_of
from twinwl.arrays import Int32, Int64, UInt64, Values
from twinwl.compilation import kernel
from twinwl.errors import LabelError, TwinWLError, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import label_token, normalise_label
from twinwl.isomorphism import READOUTS, Readout, Readouts, marked
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.rooted import Groups, RootedBlock, RootedSource, RootedSubgraph, check_cost
from twinwl.refinement.content_keys import absorb_rows, digest_keys, hexadecimal, row_keys

ReadoutFunction: TypeAlias = Callable[[RootedSubgraph], Hashable]
ReadoutChoice: TypeAlias = "str | ReadoutFunction | Sequence[str | ReadoutFunction]"


def size(block: RootedBlock) -> Int64:
    """Return the number of nodes: the readout of STwin."""
    return block.sizes.astype(np.int64)[:, None]


def edges(block: RootedBlock) -> Int64 | UInt64:
    """Return the number of nodes and of edges; with edge labels, of edges of each label, as a key."""
    graphs, messages = block.graphs, block.messages
    if graphs.edge_labels is not None:
        sums = _sums(messages.code_keys[messages.codes], messages.indptr[graphs.graph_ptr])
        return absorb_rows(sums, _size_words(block))
    n_arcs = np.diff(graphs.indptr[graphs.graph_ptr])
    n_edges = n_arcs if graphs.directed else n_arcs // 2
    return np.column_stack([block.sizes.astype(np.int64), n_edges])


def triangles(block: RootedBlock) -> Int64:
    """Return the numbers of nodes and of triangles.

    In directed graphs the second is the number of paths u → v → w for which there is an arc u → w too.
    """
    graphs = block.graphs
    closed = _count_closed_paths(graphs.graph_ptr, graphs.indptr, graphs.indices)
    return np.column_stack([block.sizes.astype(np.int64), closed if graphs.directed else closed // 6])


@kernel
def _count_closed_paths(graph_ptr: Int64, indptr: Int64, indices: Int32) -> Int64:
    """Count in each graph the paths u, v, w with an arc u → w too: six for each undirected triangle."""
    counts = np.zeros(len(graph_ptr) - 1, np.int64)
    neighbour_of = np.full(len(indptr) - 1, -1)  # the last node that each node is a neighbour of
    for graph in range(len(counts)):
        for u in range(graph_ptr[graph], graph_ptr[graph + 1]):
            neighbours = indices[indptr[u] : indptr[u + 1]]
            neighbour_of[neighbours] = u
            for v in neighbours:
                for w in indices[indptr[v] : indptr[v + 1]]:
                    counts[graph] += neighbour_of[w] == u
    return counts


def degrees(block: RootedBlock) -> UInt64:
    """Return the key of the multiset of labels and degrees.

    Degrees are counted separately for each edge label and, in directed graphs, for each direction.
    """
    ptr, _, messages, label_keys = block.as_subgraphs()
    if len(messages.codes):
        received = _sums(messages.code_keys[messages.codes], messages.indptr)
    else:
        received = np.diff(messages.indptr).astype(np.uint64)[:, None] * messages.code_keys[0]
    nodes = absorb_rows(received, label_keys)
    return absorb_rows(_sums(nodes, ptr), _size_words(block))


def _sums(keys: UInt64, ptr: Int64) -> UInt64:
    """Return the sum of each run of keys: a multiset in two words. Both sum and difference wrap around."""
    totals = np.zeros((2, len(keys) + 1), np.uint64)
    np.cumsum(keys.T, axis=1, out=totals[:, 1:])
    return np.diff(totals[:, ptr]).T


def _size_words(block: RootedBlock) -> UInt64:
    """Return (size, 0), two words to be absorbed; they need not be mixed."""
    return np.column_stack([block.sizes, np.zeros(len(block), np.int32)]).astype(np.uint64)


def canonical(block: RootedBlock) -> Values:
    """Return the certificate of each rooted subgraph: the exact readout."""
    return _objects(certificates(block.graphs, range(len(block)), block.cut.root))


def _accept_callable(value: object) -> object:
    if not callable(value):
        raise TypeError
    return value


_FUNCTION = Constraint("a function of a rooted subgraph", _accept_callable)


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


def resolve(choice: ReadoutChoice) -> Readouts:
    """Return the readouts that a user names: by a name, a function, or a list of these.

    >>> [readout.name for readout in resolve(["size", "rooted-wl"])]
    ['size', 'rooted-wl']
    """
    parts = choice if isinstance(choice, list | tuple) else [choice]
    if not parts:
        raise TwinWLError(f"readout: got {shown(choice)}, expected at least one readout")
    return tuple(map(_readout, parts))


def _readout(choice: object) -> Readout:
    known: str | ReadoutFunction = checked("readout", choice, one_of(*READOUTS), MARKED_WL, _FUNCTION)
    if isinstance(known, str):
        return READOUTS.get(known) or marked(int(known[-1]))
    name = getattr(known, "__name__", type(known).__name__)
    # A partial object, not a closure: it can be pickled whenever the function can.
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

    def __init__(self, batch: GraphBatch, readouts: Readouts) -> None:
        self._source = RootedSource(batch)
        self._readouts = readouts
        self._only_sizes = only_sizes(readouts)
        self.is_costly = any(readout.is_known and not readout.is_cheap for readout in readouts)
        self._round = -1
        self._sizes = np.zeros(batch.n_nodes, np.int32)
        self._values: tuple[Values, ...] = ()
        self._groups = Groups()
        self._group_values: list[Values] = []

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
            The nodes whose values are needed: all nodes of some colours. Other values are not updated. The
            first call must be for all nodes (None), because it creates the arrays.

        Returns
        -------
        tuple of arrays
            By node: rows of counts, keys of two words, or objects.
        """
        if self._only_sizes:  # the values are the sizes that were passed
            return (size_of_node.astype(np.int64)[:, None],) * len(self._readouts)
        self._round = self._round + 1 if h is None else h
        # Rooted subgraphs of one root are nested, so equal sizes mean equal subgraphs.
        changed = np.flatnonzero(size_of_node != self._sizes)
        if nodes is not None:
            changed = np.intersect1d(changed, nodes, assume_unique=True)
        sizes = size_of_node[changed]
        check_cost([readout.name for readout in self._readouts], sizes)
        blocks = [self._read_block(block) for block in self._source.blocks(changed, self._round, sizes)]
        fresh = tuple(map(np.concatenate, zip(*blocks)))  # () if there is nothing to read
        if not self._values:
            self._values = fresh or (np.empty((0, 1), np.int64),) * len(self._readouts)
        elif fresh:
            # Copies, because the arrays that earlier calls returned must not change.
            self._values = tuple(old.copy() for old in self._values)
            for old, new in zip(self._values, fresh):
                old[changed] = new
        self._sizes[changed] = sizes
        return self._values

    def _read_block(self, block: RootedBlock) -> list[Values]:
        """Return the values of each readout, those that are not cheap from one of each group of equals."""
        if all(readout.is_cheap for readout in self._readouts):
            return [readout.on_block(block) for readout in self._readouts]
        n_known = len(self._groups)
        groups = self._groups.of_block(block)
        # Groups are numbered by first occurrence in all blocks: from ``n_known`` on they are new in this one.
        distinct, first = np.unique(groups, return_index=True)
        first = first[distinct >= n_known]  # one subgraph of each new group, in the order of their numbers
        fresh: list[Values] = []
        for readout in self._readouts:
            fresh.append(readout.on_block(block.at(first)))
            if not readout.is_known:
                _check_copies(readout, block, groups - n_known, first, fresh[-1])
        if n_known:
            fresh = [np.concatenate(pair) for pair in zip(self._group_values, fresh)]
        self._group_values = fresh
        return [values[groups] for values in fresh]

    def read_keys(self, size_of_node: Int32) -> UInt64:
        """Read the next round; return for each node one key of all its values, shape (n_nodes, 2)."""
        return joint_keys(self.read(size_of_node), self._source.batch)


def only_sizes(readouts: Readouts) -> bool:
    """Return whether the readouts are nothing but rooted sizes, which need no subgraphs."""
    return all(readout.name == "size" and readout.is_known for readout in readouts)


def joint_keys(values: Iterable[Values], batch: GraphBatch) -> UInt64:
    """Return one key of the values of several readouts, shape (n, 2); see `value_keys`."""
    parts = [value_keys(own, batch) for own in values]
    return parts[0] if len(parts) == 1 else row_keys(np.hstack(parts))


def class_numbers(values: Values) -> Int64:
    """Give each value a number, shape (n,), such that equal values have equal numbers."""
    if values.dtype == object:
        numbers: dict[Hashable, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()], np.int64)
    if values.shape[1] == 1:
        return values[:, 0].astype(np.int64)
    return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def value_keys(values: Values, batch: GraphBatch) -> UInt64:
    """Return keys of the values of nodes, shape (n, 2), that are the same in every process.

    Raises
    ------
    ReadoutError
        If a value has no form that is the same in every process; it names the graph and the root.
    """
    if values.dtype == np.uint64:
        return values.astype(np.uint64, copy=False)
    if values.dtype != object:
        return row_keys(values.astype(np.int64, copy=False))
    rows: dict[int, int] = {}
    tokens: list[bytes] = []
    for place, value in enumerate(values.tolist()):
        if id(value) in rows:  # equal rooted subgraphs share one object
            continue
        rows[id(value)] = len(tokens)
        try:
            tokens.append(label_token(normalise_label(value)))
        except LabelError as error:
            message = f"a readout's value cannot be hashed: {error}"
            raise ReadoutError(message, *_graph_and_root(batch, place)) from error
    return digest_keys(tokens)[np.array([rows[id(value)] for value in values.tolist()], np.int64)]


def readable(values: Values, node: int) -> Hashable:
    """Return one node's value for display: counts as numbers, keys in hexadecimal."""
    if values.dtype == object:
        value: Hashable = values.tolist()[node]
        return hexadecimal(digest_keys([value])[0]) if isinstance(value, bytes) else value
    if values.dtype == np.uint64:
        return hexadecimal(values[node])
    row = tuple(values[node].tolist())
    return row if len(row) > 1 else row[0]


def _objects(values: Sequence[Hashable]) -> Values:
    """Return an array of objects; tuples stay tuples."""
    return np.fromiter(values, object, len(values))


def _check_copies(readout: Readout, block: RootedBlock, groups: Int64, first: Int64, values: Values) -> None:
    """Refuse a function that returns another value for a second copy of the same rooted subgraph.

    Parameters
    ----------
    readout, block
        The function, and the rooted subgraphs that were read.
    groups : array of int64, shape (n_roots,)
        Group of each of them: 0, 1, … for groups that are new in this block, negative for the others.
    first : array of int64, shape (n_new_groups,)
        Place of the subgraph of each new group that was read out.
    values
        What the function returned for it.
    """
    others = np.setdiff1d(np.arange(len(groups)), first)
    numbers, place = np.unique(groups[others], return_index=True)
    new = numbers >= 0  # groups of earlier blocks were checked then
    copies, originals = others[place[new]], numbers[new]
    batch = block.source.batch
    again = readout.on_block(block.at(copies))
    for copy, original, value, other in zip(copies, originals, values[originals], again):
        if value != other:
            graph, root = _graph_and_root(batch, int(block.roots[first[original]]))
            raise ReadoutError(
                f"the readout {readout.name!r} returned {shown(other)}, and {shown(value)} for its copy at "
                f"graph {graph}, root {root}: they differ only in the numbering of their nodes, on which a "
                "readout must not depend",
                *_graph_and_root(batch, int(block.roots[copy])),
            )


def _on_each(function: ReadoutFunction, name: str, block: RootedBlock) -> Values:
    """Call a user's function on each subgraph; an error names its root."""
    values: list[Hashable] = []
    for node, subgraph in zip(block.roots.tolist(), block.subgraphs()):
        try:
            value = function(subgraph)
        except Exception as error:
            place = _graph_and_root(block.source.batch, node)
            message = f"the readout {name!r} raised {type(error).__name__}: {error}"
            raise ReadoutError(message, *place) from error
        complaint = _why_not_countable(value)
        if complaint:
            place = _graph_and_root(block.source.batch, node)
            raise ReadoutError(f"the readout {name!r} returned {shown(value)}, {complaint}", *place)
        values.append(value)
    return _objects(values)


def _why_not_countable(value: object) -> str:
    """Say why a value cannot be counted, if it cannot."""
    try:
        hash(value)
        equal = bool(value == value)  # noqa: PLR0124  (only NaN differs from itself)
    except Exception:  # noqa: BLE001  (a user's object may raise anything)
        return "which is not hashable; return a number, a string or a tuple of these"
    return "" if equal else "which does not equal itself (NaN, for example); return another value"


def _graph_and_root(batch: GraphBatch, node: int) -> tuple[int, int]:
    """Return the graph that holds a node of the batch, and the node's number there."""
    graph = int(np.searchsorted(batch.graph_ptr, node, side="right")) - 1
    return graph, int(node - batch.graph_ptr[graph])
