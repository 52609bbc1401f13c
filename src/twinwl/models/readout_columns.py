"""Columns of (colour, readout): values of readouts as numbers, and an example of what each column counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twinwl.arguments import Constraint
from twinwl.arrays import Int32, Int64, UInt64
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.isomorphism import READOUTS, Readout
from twinwl.isomorphism.readouts import SIZE, ReadoutChoice, RoundReader, joint_keys, resolve, value_keys
from twinwl.isomorphism.rooted import Neighbourhoods, RootedBlock, RootedSubgraph, check_cost
from twinwl.refinement.alphabet import Alphabet
from twinwl.refinement.content_keys import hexadecimal
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

LARGEST_EXAMPLE = 64  # nodes: what is larger cannot be read in a picture
_DIGITS_SHOWN = 16


def _accept(choice: ReadoutChoice) -> ReadoutChoice:
    resolve(choice)
    return choice


# Besides "size", the default, which needs none of this.
READOUT = Constraint(
    f"{', '.join(map(repr, list(READOUTS)[1:]))}, a function of a rooted subgraph, or a list of these",
    _accept,
    tuple(READOUTS),
)


def readouts_of(choice: ReadoutChoice, kind: str) -> tuple[Readout, ...]:
    """Return the readouts that features of a kind count nodes by; none for the rooted size, which is there.

    >>> readouts_of("size", "count"), [readout.name for readout in readouts_of(["edges", "wl"], "joint")]
    ((), ['edges', 'wl'])

    Raises
    ------
    TwinWLError
        If the kind has no use for them.
    """
    readouts = resolve(choice)
    if all(readout == SIZE for readout in readouts):
        return ()
    if kind != "joint":
        raise TwinWLError(
            f"readout: got {', '.join(repr(readout.name) for readout in readouts)} with features={kind!r}, "
            "expected features='joint': only these count nodes by (colour, readout)"
        )
    return readouts


def visible_to_readouts(batch: GraphBatch, alphabet: Alphabet) -> GraphBatch:
    """Return the graphs with the labels that also colours are made of, and no others."""
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

        Keys that are not known get -1 or, where they are inserted, the next numbers in the order given.

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
        One value is made of what all of them say.
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
    for row, (keys, place_of_node) in zip(out, rounds, strict=True):
        row[:] = numbers[place[first : first + len(keys)]][place_of_node]
        first += len(keys)
    return out, table


@dataclass(frozen=True, eq=False)
class Examples:
    """For each column the first rooted subgraph that it counted; nothing where that is too large to be drawn.

    Attributes
    ----------
    graphs : GraphBatch
        One graph per column, without nodes where there is no example.
    root : array of int32, shape (n_columns,)
        The root's number in its graph.
    """

    graphs: GraphBatch
    root: Int32

    @classmethod
    def of(cls, batch: GraphBatch, columns: Int32, sizes: Int32, widths: list[int]) -> Examples:
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
        for h, (column, size, width) in enumerate(zip(columns, sizes, widths, strict=True)):
            node = np.empty(width, np.int64)
            node[column[::-1]] = np.arange(len(column) - 1, -1, -1)
            small = size[node] <= LARGEST_EXAMPLE
            cut = rooted_subgraphs(batch, h, node[small])
            held = np.zeros(width, np.int64)
            held[small] = np.diff(cut.subgraph_ptr)
            root = np.full(width, -1, np.int32)
            root[small] = cut.root - cut.subgraph_ptr[:-1]
            ptr = np.concatenate([[0], np.cumsum(held)])
            graphs.append(cut._replace(subgraph_ptr=ptr).as_batch(batch))
            roots.append(root)
        return cls(concatenate(graphs), np.concatenate(roots))

    def at(self, column: int) -> RootedSubgraph | None:
        """Return the example of a column, its nodes numbered from 0."""
        graph, root = self.graphs[column], int(self.root[column])
        if root < 0:
            return None
        size = np.array([graph.n_nodes], np.int32)
        (block,) = Neighbourhoods(graph).blocks(np.array([root]), graph.n_nodes, size)
        return next(block.subgraphs())

    def keys(self, columns: Int64, readouts: tuple[Readout, ...]) -> UInt64:
        """Read some examples out, and return the key of each one's value, shape (n, 2)."""
        graphs = self.graphs[columns]
        roots = graphs.graph_ptr[:-1] + self.root[columns]
        sizes = graphs.nodes_per_graph.astype(np.int32)
        block = RootedBlock(Neighbourhoods(graphs), roots, LARGEST_EXAMPLE, sizes)
        return joint_keys([value_keys(readout.on_block(block), graphs) for readout in readouts])

    def first(self, n_columns: int) -> Examples:
        """Return the examples of the first columns."""
        return Examples(self.graphs[:n_columns], self.root[:n_columns])


def _distinct(keys: UInt64) -> tuple[UInt64, Int64]:
    """Return the different keys in order, and the place of each key among these."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place
