"""STwin features: equations (2) and (3) as one sparse matrix, one row per graph.

In this order: values of readouts as numbers (`ValueTable`), an example of what each column counts
(`ColumnExamples`), the meaning of all columns (`FeatureSpace`), the matrix itself (`stwin_features`), the
spaces of all views of graphs side by side (`ViewSpaces`), and how alphabets and spaces are stored in model
files.

Graphs of a single view have a single space, to which `ViewSpaces` adds nothing. Pairs, if they are counted,
have a space per view of their own, after all others.

Kernels index arrays without checking bounds, so a file that was tampered with must be rejected here. All
other faults of a file become one error where it is loaded (`twinwl.files.model_files`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from twinwl.arguments import FLAG, ROUNDS, Constraint, checked, one_of, pointer, ranges
from twinwl.arrays import Float64, Int32, Int64, Ints, UInt64
from twinwl.errors import TwinWLError
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.descriptors import Extra
from twinwl.graphs.labels import Label
from twinwl.isomorphism import READOUTS, Readout
from twinwl.isomorphism.readouts import ReadoutChoice, RoundReader, joint_keys, only_sizes, resolve
from twinwl.isomorphism.rooted import RootedBlock, RootedSource, RootedSubgraph, check_cost
from twinwl.models.base import GraphEstimator, warn_unseen_labels
from twinwl.models.explanation import RootedTree, pattern_texts, tree_of_colour
from twinwl.models.pairs import DISTANCES, PairEncoding, PairSpace, pair_features
from twinwl.refinement.colours import INITIALS, Alphabet, Round, RoundTable, refine
from twinwl.refinement.content_keys import hexadecimal
from twinwl.refinement.histograms import colour_histograms
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

LARGEST_EXAMPLE = 64  # nodes; larger subgraphs cannot be read in a drawing
_DIGITS_SHOWN = 16
_LEAST_DEVIATION = 1e-300  # so that the deviation of two numbers that hardly differ is not 0
_MOST_DEVIATIONS = 5.0  # some descriptors of a few molecules are astronomically large


def _accept(choice: ReadoutChoice) -> ReadoutChoice:
    resolve(choice)
    return choice


# The choices besides "size", the default, which needs no readouts.
READOUT = Constraint(
    f"{', '.join(map(repr, list(READOUTS)[1:]))}, a function of a rooted subgraph, or a list of these",
    _accept,
    tuple(READOUTS),
)


def readouts_of(choice: ReadoutChoice, kind: str) -> tuple[Readout, ...]:
    """Return the readouts by which features of a kind count nodes; none for rooted sizes, which need none.

    >>> readouts_of("size", "count"), [readout.name for readout in readouts_of(["edges", "wl"], "joint")]
    ((), ['edges', 'wl'])

    Raises
    ------
    TwinWLError
        If the kind has no use for them.
    """
    if choice == "size":  # the default, decided without the table of readouts
        return ()
    readouts = resolve(choice)
    if only_sizes(readouts):
        return ()
    if kind != "joint":
        raise TwinWLError(
            f"readout: got {', '.join(repr(readout.name) for readout in readouts)} with features={kind!r}, "
            "expected features='joint': only these count nodes by (colour, readout)"
        )
    return readouts


def visible_to_readouts(batch: GraphBatch, alphabet: Alphabet) -> GraphBatch:
    """Return the graphs with only those labels that colours are made of."""
    plain = batch.without_features()
    if alphabet.initial == "degree":
        plain = plain.without_node_labels()
    return plain.without_edge_labels() if alphabet.edge_labels is None else plain


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The values of readouts that columns stand for, each by a key of its content.

    Attributes
    ----------
    keys : array of uint64, shape (n_values, 2)
        Equal on every machine; the place of a key is the number of its value.
    """

    keys: UInt64

    def name(self, number: int) -> str:
        """Return the start of a value's key in hexadecimal."""
        return hexadecimal(self.keys[number])[:_DIGITS_SHOWN]

    def numbers(self, keys: UInt64, *, insert: bool) -> tuple[Int32, ValueTable]:
        """Return the number of each of some different keys, and the table that has them.

        Unknown keys get -1 or, if they are inserted, the next numbers in the order given.

        >>> table = ValueTable(np.array([[5, 1]], np.uint64))
        >>> keys = np.array([[5, 0], [5, 1]], np.uint64)
        >>> table.numbers(keys, insert=False)[0], table.numbers(keys, insert=True)[0]
        (array([-1,  0], dtype=int32), array([1, 0], dtype=int32))
        """
        n_known = len(self.keys)
        distinct, place = _distinct(np.concatenate([self.keys, keys]))
        number_of_place = np.full(len(distinct), -1, np.int32)
        number_of_place[place[:n_known]] = np.arange(n_known, dtype=np.int32)
        numbers = number_of_place[place[n_known:]]
        fresh = np.flatnonzero(numbers < 0)
        if not insert or not len(fresh):
            return numbers, self
        numbers[fresh] = np.arange(n_known, n_known + len(fresh), dtype=np.int32)
        return numbers, ValueTable(np.concatenate([self.keys, keys[fresh]]))


def numbered_values(
    batch: GraphBatch, readouts: tuple[Readout, ...], sizes: Int32, known: ValueTable | None, *, insert: bool
) -> tuple[Int32, ValueTable]:
    """Return the number of the value of each node's rooted subgraph in each round.

    Parameters
    ----------
    batch
        As `visible_to_readouts` leaves it.
    readouts
        The values of all readouts together are one value.
    sizes : array of int32, shape (n_iter + 1, n_nodes)
        Rooted sizes.
    known
        Values that have numbers; None starts from nothing and numbers them by their keys.
    insert
        Number values that are not known behind those that are; otherwise they get -1.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes), and the table of values
    """
    grown = np.diff(sizes, axis=0, prepend=0) != 0
    check_cost([readout.name for readout in readouts if readout.is_known], sizes[grown])
    reader = RoundReader(batch, readouts)
    rounds = [_distinct(reader.read_keys(row)) for row in sizes]
    distinct, place = _distinct(np.concatenate([keys for keys, _ in rounds]))
    table = ValueTable(np.empty((0, 2), np.uint64)) if known is None else known
    numbers, table = table.numbers(distinct, insert=insert)
    out = np.empty(sizes.shape, np.int32)
    first = 0
    for row, (keys, place_of_node) in zip(out, rounds):
        row[:] = numbers[place[first : first + len(keys)]][place_of_node]
        first += len(keys)
    return out, table


@dataclass(frozen=True, eq=False)
class ColumnExamples:
    """For each column the first rooted subgraph that it counted, unless this is too large to be drawn.

    Attributes
    ----------
    graphs : GraphBatch
        One graph per column, without nodes if there is no example.
    root : array of int32, shape (n_columns,)
        The root's number in its graph.
    """

    graphs: GraphBatch
    root: Int32

    @classmethod
    def of(cls, batch: GraphBatch, columns: Int32, sizes: Int32, widths: list[int]) -> ColumnExamples:
        """Cut out the rooted subgraph of the first node of each column.

        Parameters
        ----------
        batch
            As readouts see it.
        columns, sizes : arrays of int32, shape (n_iter + 1, n_nodes)
            The column of each node among those of its round, and its rooted size.
        widths
            Number of columns of each round.
        """
        graphs, roots = [], []
        for h, (column, size, width) in enumerate(zip(columns, sizes, widths)):
            # The first node of each column: assigned backwards, so that the first node is the one that stays.
            node = np.empty(width, np.int64)
            node[column[::-1]] = np.arange(len(column) - 1, -1, -1)
            small = size[node] <= LARGEST_EXAMPLE
            cut = rooted_subgraphs(batch, h, node[small])
            n_held = np.zeros(width, np.int64)
            n_held[small] = np.diff(cut.subgraph_ptr)
            root = np.full(width, -1, np.int32)
            root[small] = cut.root - cut.subgraph_ptr[:-1]
            graphs.append(cut._replace(subgraph_ptr=pointer(n_held)).as_batch(batch))
            roots.append(root)
        return cls(concatenate(graphs), np.concatenate(roots))

    def at(self, column: int) -> RootedSubgraph | None:
        """Return the example of a column, its nodes numbered from 0."""
        graph, root = self.graphs[column], int(self.root[column])
        if root < 0:
            return None
        size = np.array([graph.n_nodes], np.int32)
        (block,) = RootedSource(graph).blocks(np.array([root]), graph.n_nodes, size)
        return next(block.subgraphs())

    def keys(self, columns: Int64, readouts: tuple[Readout, ...]) -> UInt64:
        """Compute the readouts of some examples again; return the key of each value, shape (n, 2)."""
        graphs = self.graphs[columns]
        roots = graphs.graph_ptr[:-1] + self.root[columns]
        sizes = graphs.nodes_per_graph.astype(np.int32)
        block = RootedBlock(RootedSource(graphs), roots, LARGEST_EXAMPLE, sizes)
        return joint_keys([readout.on_block(block) for readout in readouts], graphs)

    def of_columns(self, columns: Int64 | slice) -> ColumnExamples:
        """Return the examples of some columns."""
        return ColumnExamples(self.graphs[columns], self.root[columns])


def _distinct(keys: UInt64) -> tuple[UInt64, Int64]:
    """Return the different keys in order, and the place of each key among these."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


def keep_columns(matrix: sparse.csr_matrix, columns: Int64 | None) -> sparse.csr_matrix:
    """Return the matrix with only these columns (rising), or itself where ``columns`` is None.

    >>> keep_columns(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([1])).toarray()
    array([[2.],
           [3.]])
    """
    return matrix if columns is None else matrix[:, columns]


KINDS = ("count", "size", "joint")

# A pair is entered as a signature with one item, its value. With this stride every colour and every
# value is a digit of 31 bits, so the packed key *is* the pair, whatever values come later.
STRIDE = (1 << 31) - 2


class FeatureEstimator(GraphEstimator):
    """Base of estimators with the parameters of STwin features."""

    _constraints = {
        "n_iter": (ROUNDS, None),
        "features": (one_of(*KINDS),),
        "edge_labels": (FLAG, None),
        "initial": (one_of(*INITIALS),),
        "ignore_features": (FLAG,),
        "readout": (one_of("size"), READOUT),
    }

    n_iter: Any
    features: str
    edge_labels: bool | None
    initial: str
    readout: ReadoutChoice

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `stwin_features` that the parameters stand for."""
        return {
            "n_iter": self.n_iter,
            "kind": self.features,
            "edge_labels": bool(self.edge_labels),
            "initial": self.initial,
            "readout": self.readout,
        }


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The meaning of the columns of a feature matrix, with which new graphs are encoded in the same way.

    Attributes
    ----------
    kind : str
        ``"count"``, ``"size"`` or ``"joint"``.
    alphabet : Alphabet
        The colours of each round.
    twins : tuple of Round, or None
        For ``"joint"``: the (colour, rooted size) pairs of rounds 0, 1, …; a column each.
    readouts : tuple of Readout
        The readouts whose values replace the rooted size in pairs; empty for rooted sizes.
    values : ValueTable or None
        With readouts, pairs consist of a colour and the number of a value in this table.
    examples : ColumnExamples or None
        With readouts, a rooted subgraph for each column.
    """

    kind: str
    alphabet: Alphabet
    twins: tuple[Round, ...] | None = None
    readouts: tuple[Readout, ...] = ()
    values: ValueTable | None = None
    examples: ColumnExamples | None = None

    @property
    def columns_per_round(self) -> list[int]:
        """Number of columns of each round, round 0 first."""
        if self.twins is None:
            return self.alphabet.n_colours
        return [part.n_colours for part in self.twins]

    @property
    def n_columns(self) -> int:
        """Number of columns of all rounds."""
        return sum(self.columns_per_round)

    def locate(self, columns: Int64) -> Iterator[tuple[int, int, int | None]]:
        """Yield each column's round, colour and, for ``"joint"``, rooted size or number of a value."""
        first = pointer(self.columns_per_round)
        h = np.searchsorted(first, columns, side="right") - 1
        if self.twins is None:
            return zip(h.tolist(), (columns - first[h]).tolist(), itertools.repeat(None))
        colours, values = np.concatenate([part.pairs for part in self.twins])[columns].T
        return zip(h.tolist(), colours.tolist(), values.tolist())

    def first_rounds(self, n_iter: int) -> FeatureSpace:
        """Return the space of the first rounds alone: the columns before those of round ``n_iter + 1``."""
        alphabet = replace(self.alphabet, rounds=self.alphabet.rounds[:n_iter])
        twins = None if self.twins is None else self.twins[: n_iter + 1]
        first = replace(self, alphabet=alphabet, twins=twins)
        if self.examples is None:
            return first
        return replace(first, examples=self.examples.of_columns(slice(first.n_columns)))

    def encoded(self, batch: GraphBatch) -> Encoding:
        """Encode graphs; what the space lacks is left out."""
        return stwin_features(batch, space=self)

    def encoded_with_rest(self, batch: GraphBatch) -> tuple[Encoding, Encoding]:
        """Encode graphs in this space, and also with temporary columns for all that the space lacks."""
        extended = stwin_features(batch, space=self, extend=True)
        widths, extended_widths = np.array(self.columns_per_round), extended.space.columns_per_round
        # The new columns of a round come after those that were known.
        matrix = keep_columns(extended.matrix, ranges(pointer(extended_widths)[:-1], widths))
        column = extended.column_of_node
        known = Encoding(matrix, self, np.where(column < widths[:, None], column, np.int32(-1)))
        return known, extended

    def widen(self, matrix: sparse.csr_matrix) -> None:
        """Give a matrix all columns of the space; files of earlier versions do not tell their number."""
        _require(matrix.shape[1] <= self.n_columns, "features")
        matrix.resize(matrix.shape[0], self.n_columns)

    def names(self, columns: Int64) -> list[str]:
        """Return a name for each of some columns.

        ``h2:c17``; for ``"joint"`` ``h2:c17:s5`` or, with a readout, ``h2:c17:rooted-wl=09a5b3f3c6d0e8a1``:
        the beginning of the value's content key, which is the same on every machine.
        """
        return [
            f"h{h}:c{colour}" + ("" if value is None else f":{self._value_name(value)}")
            for h, colour, value in self.locate(columns)
        ]

    def texts(self, columns: Int64) -> list[str]:
        """Return a text for each of some columns, which tells the pattern: ``2: C(C,O)``."""
        text = pattern_texts(self.alphabet)
        return [
            f"{h}: {text(h, colour)}" + ("" if value is None else f" {self._value_name(value, 'size=')}")
            for h, colour, value in self.locate(columns)
        ]

    def explained(self, column: int) -> tuple[str, RootedTree]:
        """Return a column's name, and the tree of its colour with its size or readout."""
        ((h, colour, value),), (name,) = self.locate(np.array([column])), self.names(np.array([column]))
        tree = tree_of_colour(self.alphabet, h, colour)
        if self.examples is not None and value is not None:
            tree = replace(tree, readout=self._value_name(value), example=self.examples.at(column))
        elif value is not None:
            tree = replace(tree, size=value)
        return name, tree

    def _value_name(self, value: int, prefix: str = "s") -> str:
        if self.values is None:
            return f"{prefix}{value}"
        return f"{'+'.join(readout.name for readout in self.readouts)}={self.values.name(value)}"

    def stored(self) -> dict[str, object]:
        """Return what a model file holds; `restored` turns it into the same space."""
        state = {"kind": self.kind, **alphabet_to_state(self.alphabet)}
        for h, pairs in enumerate(self.twins or ()):
            state[f"twins_{h}"] = pairs.sig_items
        for readout in self.readouts:
            if not readout.is_known:
                raise TwinWLError(
                    f"the readout {readout.name!r} is a function, which a model file cannot hold, because "
                    "nothing in a file is ever executed; use a known readout, or fit the model again where "
                    "it is needed"
                )
        if self.readouts:
            names = [readout.name for readout in self.readouts]
            state |= {"readouts": names, "values": self.values, "examples": self.examples}
        return state

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> FeatureSpace:
        """Rebuild a space; refuse what does not fit together, and values that this installation has not."""
        kind, alphabet, twins = state["kind"], alphabet_from_state(state), None
        _require(kind in KINDS, "features")
        if kind == "joint":
            widths = alphabet.n_colours
            twins = tuple(_pairs(_array(state, f"twins_{h}"), width) for h, width in enumerate(widths))
        space = cls(kind, alphabet, twins)
        if "readouts" not in state:
            return space
        values, examples = restore(ValueTable, state["values"]), restore(ColumnExamples, state["examples"])
        space = replace(space, readouts=resolve(state["readouts"]), values=values, examples=examples)
        _check_readouts(space, values, examples)
        return space


class Encoding(NamedTuple):
    """Feature matrix of a batch, what its columns stand for, and what each node was counted under.

    ``column_of_node`` has shape (n_iter + 1, n_nodes): the node's place among its round's columns, -1 where
    the space lacks it.
    """

    matrix: sparse.csr_matrix
    space: FeatureSpace
    column_of_node: Int32

    @property
    def unseen_per_round(self) -> Int64:
        """Number of nodes left out of the matrix, by round."""
        return np.count_nonzero(self.column_of_node < 0, axis=1).astype(np.int64)

    def node_shares(self, graph: GraphBatch, contributions: Float64) -> Float64:
        """Distribute the contribution of each column among the nodes of one graph that it counts.

        A node gets its part of a column: one over the number of nodes, or its rooted size over their sum. So
        the shares sum to the contributions of the graph's columns.

        >>> from twinwl import GraphBatch
        >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
        >>> stwin_features(path, 1, "size").node_shares(path, np.array([3.0, 2.0, 10.0]))
        array([ 2., 11.,  2.])
        """
        places = self.column_of_node
        if self.space.kind == "size":
            parts = rooted_sizes(graph, len(places) - 1).astype(np.float64)
        else:
            parts = np.ones(places.shape)
        shares = np.zeros(graph.n_nodes)
        first = 0
        for place, part, width in zip(places, parts, self.space.columns_per_round):
            seen = np.flatnonzero(place >= 0)
            whole = np.bincount(place[seen], part[seen], minlength=width)
            shares[seen] += contributions[first + place[seen]] * part[seen] / whole[place[seen]]
            first += width
        return shares

    def explained(self, graph: GraphBatch, column: int) -> tuple[str, RootedTree, Int64]:  # noqa: ARG002
        """Return a column's name, its tree, and the nodes of the one graph that it counts."""
        ((h, _, _),) = self.space.locate(np.array([column]))
        place = column - sum(self.space.columns_per_round[:h])
        return *self.space.explained(column), np.flatnonzero(self.column_of_node[h] == place)


def stwin_features(
    batch: GraphBatch,
    n_iter: int | None = 3,
    kind: str = "size",
    *,
    edge_labels: bool = False,
    initial: str = "label",
    readout: ReadoutChoice = "size",
    space: FeatureSpace | None = None,
    extend: bool = False,
) -> Encoding:
    """Encode graphs as sparse rows, columns ordered by round, then colour.

    Parameters
    ----------
    batch
        The graphs.
    n_iter
        Number of rounds; None continues until the partition of the whole batch is stable.
    kind
        ``"count"``: nodes of each colour, plain WL. ``"size"``: the sum of their rooted sizes, equation (3).
        ``"joint"``: nodes of each (colour, readout of the rooted subgraph), equation (2).
    edge_labels, initial
        As for `twinwl.refinement.colours.refine`.
    readout
        For ``"joint"``, as for `twinwl.compare`. It sees the labels that colours are made of.
    space
        Encode in this space, which then decides all of the above; what it lacks is left out.
    extend
        Give what the space lacks columns of its own instead, behind those of its round, in a new space.

    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> stwin_features(path, 1, "size").matrix.toarray()
    array([[3., 4., 3.]])
    >>> stwin_features(path, 1, "joint").space.names(np.arange(3))
    ['h0:c0:s1', 'h1:c0:s2', 'h1:c1:s3']
    """
    kind = checked("features", kind if space is None else space.kind, one_of(*KINDS))
    readouts = readouts_of(readout, kind) if space is None else space.readouts
    colouring = refine(
        batch,
        n_iter,
        edge_labels=edge_labels,
        initial=initial,
        alphabet=None if space is None else space.alphabet,
        extend=extend,
    )
    # What a node is counted under: its colour or, for "joint", the number of a pair of colour and value. The
    # value is its rooted size, or the number of what readouts say.
    columns, twins, values, examples = colouring.colours, None, None, None
    if kind == "joint":
        sizes = value_of_node = rooted_sizes(batch, colouring.n_iter)
        known, insert = None if space is None else space.twins, space is None or extend
        if readouts:
            visible = visible_to_readouts(batch, colouring.alphabet)
            table = None if space is None else space.values
            value_of_node, values = numbered_values(visible, readouts, sizes, table, insert=insert)
        columns, twins = pair_with_values(columns, value_of_node, known, insert=insert)
        if space is not None:
            examples = space.examples
        elif readouts:
            examples = ColumnExamples.of(visible, columns, sizes, [part.n_colours for part in twins])
    extended = space
    if extended is None or extend:
        extended = FeatureSpace(kind, colouring.alphabet, twins, readouts, values, examples)
    data, indices, indptr = colour_histograms(
        batch, columns, extended.columns_per_round, weigh_by_size=kind == "size"
    )
    matrix = sparse.csr_matrix((data, indices, indptr), shape=(len(batch), extended.n_columns))
    return Encoding(matrix, extended, columns)


def pair_with_values(
    colours: Int32, values: Int32, known: tuple[Round, ...] | None, *, insert: bool
) -> tuple[Int32, tuple[Round, ...]]:
    """Give each pair of a colour and a value, such as the rooted size, in a round a number.

    Parameters
    ----------
    colours, values : arrays of int32, shape (n_iter + 1, n_nodes)
        Colour and value of each node; -1 where unseen.
    known
        Pairs of each round to look up in; None starts from nothing and numbers them by colour, then value.
    insert
        Number pairs that are not known behind those that are; otherwise they get -1.

    Returns
    -------
    array of int32, shape (n_iter + 1, n_nodes), and the pairs of each round

    >>> colours, values = np.array([[1, 0, 0]], np.int32), np.array([[2, 3, 1]], np.int32)
    >>> pair_with_values(colours, values, None, insert=True)[0]
    array([[2, 1, 0]], dtype=int32)
    """
    out = np.empty(colours.shape, np.int32)
    rounds = []
    for h, (colour, value) in enumerate(zip(colours, values)):
        table = RoundTable(STRIDE, 1, None if known is None else known[h])
        # A pair is unseen if its own colour is -1, so an unseen value has to make the colour -1.
        table.colour_pairs(np.where(value < 0, np.int32(-1), colour), value, out[h], insert=insert)
        pairs = table.to_round() if known is None or insert else known[h]
        if known is None:
            pairs, rank = _in_order(pairs)
            out[h] = rank[out[h]]
        rounds.append(pairs)
    return out, tuple(rounds)


def _in_order(part: Round) -> tuple[Round, Int32]:
    """Sort a round's pairs by colour, then value; also return the new number of each."""
    colour, value = part.pairs.T
    order = np.lexsort((value, colour))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    items = part.pairs[order].reshape(-1)
    return replace(part, sig_items=items), rank


# ---------------------------------------------------------------------- views side by side

Space: TypeAlias = FeatureSpace | PairSpace


@dataclass(frozen=True, eq=False)
class ExtraScaling:
    """How extra features become numbers of about the same size.

    Attributes
    ----------
    names : tuple of str
        The features that are used: those that vary.
    usual, centre, scale : arrays of float64, shape (n_features,)
        What stands for a missing value (the median), mean and standard deviation of the training graphs.
    """

    names: tuple[str, ...]
    usual: Float64
    centre: Float64
    scale: Float64

    @classmethod
    def fitted(cls, extra: Extra) -> ExtraScaling:
        """Learn from the training graphs.

        >>> scaling = ExtraScaling.fitted(Extra(("a", "b"), np.array([[1.0, 2], [np.nan, 2], [3, 2]])))
        >>> scaling.names, scaling.usual
        (('a',), array([2.]))
        """
        known = ~np.isnan(extra.values).all(axis=0)
        usual = np.zeros(len(extra.names))
        usual[known] = np.nanmedian(extra.values[:, known], axis=0)
        filled = np.where(np.isnan(extra.values), usual, extra.values)
        varies = np.flatnonzero(filled.min(axis=0) < filled.max(axis=0))
        if not len(varies):
            raise TwinWLError("extra features: all are the same for all graphs; leave them out")
        filled = filled[:, varies]
        names = tuple(extra.names[place] for place in varies.tolist())
        return cls(
            names, usual[varies], filled.mean(axis=0), np.maximum(filled.std(axis=0), _LEAST_DEVIATION)
        )

    def apply(self, extra: Extra | None) -> Float64:
        """Return standardised features, at most 5 standard deviations from the mean."""
        if extra is None:
            raise TwinWLError(
                f"the model learnt from {len(self.names)} extra features, such as {self.names[0]!r}, and "
                "these graphs carry none; add them with batch.with_extra(...)"
            )
        values = extra.select(self.names).values
        filled = np.where(np.isnan(values), self.usual, values)
        return np.clip((filled - self.centre) / self.scale, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)


class ViewEncodings(NamedTuple):
    """The features of some graphs in each space."""

    parts: list[Encoding | PairEncoding]
    spaces: ViewSpaces

    @property
    def matrix(self) -> sparse.csr_matrix:
        """The columns of all spaces."""
        matrices = [part.matrix for part in self.parts]
        return matrices[0] if len(matrices) == 1 else sparse.hstack(matrices, format="csr")

    @property
    def colours(self) -> list[Encoding]:
        """The features of the views, without those of pairs."""
        return self.parts[: len(self.spaces.views)]  # type: ignore[return-value]

    def node_shares(self, graph: GraphBatch, contributions: Float64) -> Float64:
        """Distribute the contributions of all columns among the nodes of one graph; see `Encoding`."""
        own = np.split(contributions, self.spaces.first_columns[1:-1])
        shares = [
            part.node_shares(view, share)
            for (_, view), part, share in zip(self.spaces.with_graphs(graph), self.parts, own)
        ]
        return np.sum(shares, axis=0)

    def explained(self, graph: GraphBatch, column: int) -> tuple[str, RootedTree, Int64]:
        """Return a column's name, the tree that it counts, and the nodes of the one graph that it counts."""
        place, own = self.spaces.locate(column)
        view = self.spaces.with_graphs(graph)[place][1]
        name, tree, nodes = self.parts[place].explained(view, own)
        return self.spaces.titled(place, name), tree, nodes


@dataclass(frozen=True, eq=False)
class ViewSpaces:
    """The meaning of the columns of all views.

    Attributes
    ----------
    views : tuple of FeatureSpace
        One per view.
    pairs : tuple of PairSpace
        One per view, if pairs are counted.
    names : tuple of str
        The names of the views; empty if there is one.
    """

    views: tuple[FeatureSpace, ...]
    pairs: tuple[PairSpace, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def learn(cls, batch: GraphBatch, settings: dict[str, Any], pairs: int | None = None) -> ViewEncodings:
        """Encode graphs, each view in a new space.

        Parameters
        ----------
        batch
            The graphs.
        settings
            Arguments of `stwin_features`.
        pairs
            Also count pairs of labels up to this distance.
        """
        views = batch.each_view()
        colours = [stwin_features(view, **settings) for view in views]
        counted = [] if pairs is None else [pair_features(view, pairs, settings["initial"]) for view in views]
        spaces = tuple(part.space for part in colours), tuple(part.space for part in counted)
        return ViewEncodings([*colours, *counted], cls(*spaces, batch.view_names))

    def __iter__(self) -> Iterator[Space]:
        return iter((*self.views, *self.pairs))

    @property
    def first_columns(self) -> Int64:
        """The first column of each space and, behind them, the number of all columns."""
        return pointer([space.n_columns for space in self])

    @property
    def n_columns(self) -> int:
        """Number of columns of all spaces."""
        return int(self.first_columns[-1])

    @property
    def titles(self) -> list[str]:
        """What each space is called; a single one needs no title."""
        names = self.names or ("labels",)
        return [*names, *(f"pairs of {name}" for name in names[: len(self.pairs)])]

    def first_rounds(self, n_iter: int) -> ViewSpaces:
        """Return the spaces of the first rounds alone; pairs have no rounds."""
        return replace(self, views=tuple(view.first_rounds(n_iter) for view in self.views))

    def columns_of(self, smaller: ViewSpaces, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return those columns of a matrix that the spaces of fewer rounds have too."""
        if smaller.n_columns == self.n_columns:
            return matrix
        widths = np.array([space.n_columns for space in smaller])
        return matrix[:, ranges(self.first_columns[:-1], widths)]

    def split(self, matrix: sparse.csr_matrix) -> list[sparse.csr_matrix]:
        """Return the columns of each space."""
        first = self.first_columns.tolist()
        if len(first) == 2:  # noqa: PLR2004
            return [matrix]
        return [matrix[:, low:high] for low, high in itertools.pairwise(first)]

    def widen(self, matrix: sparse.csr_matrix) -> None:
        """Give a matrix of a single view all columns; files of earlier versions do not tell their number."""
        if len(self.titles) == 1:
            self.views[0].widen(matrix)

    def with_graphs(self, batch: GraphBatch) -> list[tuple[Space, GraphBatch]]:
        """Return each space with the graphs as its view shows them."""
        views = batch.each_view()
        # The spaces of pairs follow those of the views, in the same order.
        return list(zip(self, [*views, *views], strict=False))

    def encoded(self, batch: GraphBatch) -> ViewEncodings:
        """Encode other graphs; what the spaces lack is left out."""
        return ViewEncodings([space.encoded(view) for space, view in self.with_graphs(batch)], self)

    def encoded_with_rest(
        self, batch: GraphBatch
    ) -> tuple[ViewEncodings, list[Encoding] | list[PairEncoding]]:
        """Encode graphs for kernels, leaving nothing out: similarity with oneself counts every node.

        Returns
        -------
        known
            In these spaces.
        extended
            Of each space, the same features and temporary columns for all that it lacks.
        """
        known, extended = zip(*(space.encoded_with_rest(view) for space, view in self.with_graphs(batch)))
        encodings = ViewEncodings(list(known), self)
        entries = np.sum([np.diff(view.matrix.indptr) for view in encodings.colours], axis=0)
        warn_unseen_labels((entries == 0) & (batch.nodes_per_graph > 0))
        return encodings, list(extended)

    def titled(self, place: int, name: str) -> str:
        """Return the name of a column of a space, which starts with that of the view where there are more."""
        # The spaces of pairs follow those of the views, in the same order.
        return name if not self.names else f"{(self.names * 2)[place]}:{name}"

    def column_names(self, columns: Int64 | None) -> list[str]:
        """Return a name for each of some columns; None stands for all."""
        return [
            self.titled(place, name)
            for place, space, own in self._by_space(columns)
            for name in space.names(own)
        ]

    def texts(self, columns: Int64 | None) -> list[str]:
        """Return a text for each of some columns, which tells what it counts; None stands for all.

        Columns whose texts are the same, because they were cut or labels print alike, get their names too.
        """
        named_texts = [
            (self.titled(place, text), name)
            for place, space, own in self._by_space(columns)
            for text, name in zip(space.texts(own), space.names(own))
        ]
        n_alike = Counter(text for text, _ in named_texts)
        return [text if n_alike[text] == 1 else f"{text} {name}" for text, name in named_texts]

    def _by_space(self, columns: Int64 | None) -> Iterator[tuple[int, Space, Int64]]:
        """Yield each space and those of some columns, in rising order, that it has."""
        columns = np.arange(self.n_columns) if columns is None else columns
        bounds = np.searchsorted(columns, self.first_columns)
        for place, space in enumerate(self):
            yield place, space, columns[bounds[place] : bounds[place + 1]] - self.first_columns[place]

    def locate(self, column: int) -> tuple[int, int]:
        """Return the place of a column's space, and the column there."""
        first = self.first_columns
        place = int(np.searchsorted(first, column, side="right")) - 1
        return place, column - int(first[place])

    def explained(self, column: int) -> tuple[str, RootedTree]:
        """Return a column's name, and the tree that it counts."""
        place, own = self.locate(column)
        name, tree = list(self)[place].explained(own)
        return self.titled(place, name), tree


_VIEW_STATE: dict[str, Any] = {
    "other_spaces": list[FeatureSpace],
    "pair_spaces": list[PairSpace],
    "view_names": tuple[str, ...],
}


class ViewEstimator(FeatureEstimator):
    """Base of estimators that use all views of graphs; ``fit`` sets ``spaces_``."""

    _uses_views = True
    _constraints = {"pairs": (DISTANCES, None)}
    # See `GraphEstimator`: `_kept` lists what a file holds, and `_keep` sets it. Here it joins the
    # spaces, and passes them with all other parts to `_keep_views` of the subclass.
    _kept = {"space": FeatureSpace} | dict(_VIEW_STATE)
    _keep_views: Callable[..., None]

    spaces_: ViewSpaces
    pairs: int | None

    @property
    def space_(self) -> FeatureSpace:
        """The feature space of the first view."""
        return self.spaces_.views[0]

    @property
    def other_spaces_(self) -> list[FeatureSpace]:
        """Those of all other views."""
        return list(self.spaces_.views[1:])

    @property
    def pair_spaces_(self) -> list[PairSpace]:
        """What the columns of pairs stand for, by view."""
        return list(self.spaces_.pairs)

    def _keep(
        self,
        space: FeatureSpace,
        *parts: Any,  # noqa: ANN401
        other_spaces: Sequence[FeatureSpace] = (),
        pair_spaces: Sequence[PairSpace] = (),
        view_names: tuple[str, ...] = (),
        **named: Any,  # noqa: ANN401
    ) -> None:
        """Set the fitted attributes, as a model file has them."""
        n_views = len(other_spaces) + 1
        # A single view has no name.
        if len(view_names) != n_views * (n_views > 1) or len(pair_spaces) not in {0, n_views}:
            raise TwinWLError("the model's views do not fit together; the file is damaged")
        self.view_names_ = view_names
        self._keep_views(ViewSpaces((space, *other_spaces), tuple(pair_spaces), view_names), *parts, **named)

    def _to_state(self) -> dict[str, object]:
        """Return what ``fit`` has learnt; graphs of a single view leave what earlier versions read too."""
        state = super()._to_state()
        return {name: part for name, part in state.items() if name not in _VIEW_STATE or part}


# ---------------------------------------------------------------------- model files

_EXAMPLES_READ_AGAIN = 64


def _require(sound: object, what: str) -> None:
    if not sound:
        raise TwinWLError(f"the model's {what} do not fit together; the file is damaged")


def alphabet_to_state(alphabet: Alphabet) -> dict[str, object]:
    """Return JSON values and arrays that `alphabet_from_state` turns into the same alphabet."""
    names = ("labels", "edge_labels", "initial", "directed", "n_iter")
    state = {name: getattr(alphabet, name) for name in names}
    for h, part in enumerate(alphabet.rounds, start=1):
        state |= {f"sig_ptr_{h}": part.sig_ptr, f"sig_items_{h}": part.sig_items}
    return state


def alphabet_from_state(state: Mapping[str, Any]) -> Alphabet:
    """Rebuild an alphabet; refuse what does not fit together."""
    labels = restore(tuple[Label, ...], state["labels"], "labels")
    edge_labels = restore(tuple[Label, ...] | None, state["edge_labels"], "edge_labels")
    directed, n_iter = restore(bool, state["directed"]), restore(int, state["n_iter"])
    _require(state["initial"] in INITIALS, "rounds")
    n_codes = max(1, len(edge_labels or ())) * (2 if directed else 1)
    rounds: list[Round] = []
    stride = len(labels)
    for h in range(1, n_iter + 1):
        ptr, items = _array(state, f"sig_ptr_{h}"), _array(state, f"sig_items_{h}")
        ptr_is_valid = len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(items) and (np.diff(ptr) >= 1).all()
        what = f"signatures of round {h}"
        _require(ptr_is_valid and _inside(items, stride * n_codes) and _inside(items[ptr[:-1]], stride), what)
        rounds.append(Round(ptr, items, stride, n_codes))
        stride = rounds[-1].n_colours
    return Alphabet(labels, edge_labels, state["initial"], directed, tuple(rounds))


def check_columns(columns: Int64 | None, n_columns: int) -> None:
    """Refuse column numbers that are not increasing or out of range."""
    _require(columns is None or (np.diff([-1, *columns, n_columns]) > 0).all(), "columns")


def _pairs(items: Ints, n_colours: int) -> Round:
    sound = len(items) % 2 == 0 and _inside(items[::2], n_colours) and _inside(items, STRIDE)
    _require(sound, "pairs of colour and size")
    return Round(np.arange(0, len(items) + 1, 2, dtype=np.int64), items.astype(np.int32), STRIDE)


def _check_readouts(space: FeatureSpace, values: ValueTable, examples: ColumnExamples) -> None:
    """Refuse examples that do not fit the columns, and values that this installation computes differently."""
    numbers = np.concatenate([part.sig_items[1::2] for part in space.twins or ()])
    root, sizes = examples.root, examples.graphs.nodes_per_graph
    _require(
        len(root) == len(sizes) == space.n_columns
        and _inside(numbers, len(values.keys))
        and (sizes <= LARGEST_EXAMPLE).all()
        and np.where(sizes > 0, (root >= 0) & (root < sizes), root == -1).all(),
        "examples",
    )
    # Compute some values again, because canonical forms depend on the version of igraph: those of the last
    # columns, whose subgraphs have the largest radius.
    columns = np.flatnonzero(root >= 0)[-_EXAMPLES_READ_AGAIN:]
    if not np.array_equal(examples.keys(columns, space.readouts), values.keys[numbers[columns]]):
        names = ", ".join(repr(readout.name) for readout in space.readouts)
        raise TwinWLError(
            f"the model's values of {names} are not those of this installation, perhaps because its igraph "
            "is of another version; fit the model again"
        )


def _array(state: Mapping[str, Any], key: str) -> Ints:
    value = restore(Ints, state[key], key)
    _require(value.ndim == 1 and value.dtype in (np.int32, np.int64), key)
    return value


def _inside(numbers: Ints, end: int) -> bool:
    """Tell whether numbers are all at least 0 and below ``end``."""
    return numbers.min(initial=0) >= 0 and numbers.max(initial=-1) < end
