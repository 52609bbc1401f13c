"""STwin features: equations (2) and (3) as one sparse matrix, one row per graph.

The choice of columns: those that occur in enough graphs, up to a maximum number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from twinwl.arguments import FLAG, FRACTION, MAX_ITEMS, ROUNDS, checked, integer, one_of
from twinwl.arrays import Float64, Int32, Int64, Ints
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism import Readout
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.base import Constraints, warn_unseen_labels
from twinwl.models.explanation import RootedTree, tree_of_colour
from twinwl.models.readout_columns import (
    READOUT,
    Examples,
    ValueTable,
    numbered_values,
    readouts_of,
    visible_to_readouts,
)
from twinwl.refinement.alphabet import Alphabet, Round, RoundTable
from twinwl.refinement.colours import INITIALS, refine
from twinwl.refinement.histograms import colour_histograms
from twinwl.refinement.identities import rooted_sizes

COLUMN_PARAMETERS: Constraints = {
    "min_df": (integer(1, MAX_ITEMS), FRACTION),
    "max_features": (integer(1, MAX_ITEMS), None),
}


def choose_columns(
    matrix: sparse.csr_matrix, min_df: int | float = 1, max_features: int | None = None
) -> Int64 | None:
    """Return the columns to keep, sorted; None if all are kept.

    Parameters
    ----------
    matrix : shape (n_graphs, n_columns)
        Every column occurs in at least one graph.
    min_df
        Smallest number of graphs in which a column must occur; a float is a share of the graphs.
    max_features
        Largest number of columns to keep: the most frequent ones, the first of equally frequent ones.

    >>> choose_columns(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), min_df=2)
    array([1])
    """
    fewest = fewest_graphs(min_df, matrix.shape[0])
    n_columns = matrix.shape[1]
    if fewest <= 1 and (max_features is None or max_features >= n_columns):
        return None
    graphs_with_column = np.bincount(matrix.indices, minlength=n_columns)
    kept = np.flatnonzero(graphs_with_column >= fewest)
    if n_columns and not len(kept):
        raise TwinWLError(
            f"min_df: got {min_df!r}, but no column occurs in {fewest} of {matrix.shape[0]} graphs; lower it"
        )
    return most_frequent(graphs_with_column, kept, max_features)


def most_frequent(graphs_with_column: Int64, kept: Int64, max_features: int | None) -> Int64:
    """Return at most ``max_features`` of the columns ``kept``, sorted: the first of equally frequent ones.

    >>> most_frequent(np.array([3, 5, 3]), np.arange(3), 2)
    array([0, 1])
    """
    if max_features is None or len(kept) <= max_features:
        return kept
    by_frequency = np.argsort(-graphs_with_column[kept], kind="stable")
    return np.sort(kept[by_frequency[:max_features]])


def keep_columns(matrix: sparse.csr_matrix, columns: Int64 | None) -> sparse.csr_matrix:
    """Return the matrix with only these columns (rising), or itself where ``columns`` is None.

    >>> keep_columns(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([1])).toarray()
    array([[2.],
           [3.]])
    """
    if columns is None:
        return matrix
    place = np.full(matrix.shape[1], -1, np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    data, indices, indptr = _kept(matrix.data, matrix.indices, matrix.indptr, place)
    smaller = sparse.csr_matrix((data, indices, indptr), shape=(matrix.shape[0], len(columns)), copy=False)
    smaller.has_canonical_format = True
    return smaller


def fewest_graphs(min_df: int | float, n_graphs: int) -> int:
    """Return the number of graphs in which a column must occur."""
    if isinstance(min_df, float | np.floating):
        # Corrected for rounding: 0.1 of 30 graphs is 3, not 4.
        return max(1, int(np.ceil(float(min_df) * n_graphs - 1e-9)))
    return int(min_df)


@kernel
def _kept(data: Float64, indices: Ints, indptr: Ints, place: Int32) -> tuple[Float64, Int32, Ints]:
    """Copy the entries of the columns that are kept."""
    new_indptr = np.zeros_like(indptr)
    for row in range(len(indptr) - 1):
        n_kept = 0
        for entry in range(indptr[row], indptr[row + 1]):
            n_kept += place[indices[entry]] >= 0
        new_indptr[row + 1] = new_indptr[row] + n_kept
    new_data = np.empty(new_indptr[-1], data.dtype)
    new_indices = np.empty(new_indptr[-1], np.int32)
    end = 0
    for entry in range(len(indices)):
        column = place[indices[entry]]
        if column >= 0:
            new_data[end] = data[entry]
            new_indices[end] = column
            end += 1
    return new_data, new_indices, new_indptr


KINDS = ("count", "size", "joint")

# A pair is entered as a signature that hears one item, its value. With this stride every colour and every
# value is a digit of 31 bits, so the packed key *is* the pair, whatever values come later.
STRIDE = (1 << 31) - 2

FEATURE_PARAMETERS: Constraints = {
    "n_iter": (ROUNDS, None),
    "features": (one_of(*KINDS),),
    "edge_labels": (FLAG, None),
    "initial": (one_of(*INITIALS),),
    "ignore_features": (FLAG,),
    "readout": (one_of("size"), READOUT),
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
        What takes the place of the rooted size in pairs, where anything does.
    values : ValueTable or None
        With readouts, pairs consist of a colour and the number of a value in this table.
    examples : Examples or None
        With readouts, a rooted subgraph for each column.
    """

    kind: str
    alphabet: Alphabet
    twins: tuple[Round, ...] | None = None
    readouts: tuple[Readout, ...] = ()
    values: ValueTable | None = None
    examples: Examples | None = None

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

    def locate(self, column: int) -> tuple[int, int, int | None]:
        """Return a column's round, colour and, for ``"joint"``, rooted size or number of a value."""
        for h, width in enumerate(self.columns_per_round):
            if column < width:
                if self.twins is None:
                    return h, column, None
                colour, value = self.twins[h].sig_items[2 * column : 2 * column + 2].tolist()
                return h, colour, value
            column -= width
        raise TwinWLError(f"there is no such column; they are 0..{self.n_columns - 1}")

    def first_rounds(self, n_iter: int) -> FeatureSpace:
        """Return the space of the first rounds alone: the columns before those of round ``n_iter + 1``."""
        alphabet = replace(self.alphabet, rounds=self.alphabet.rounds[:n_iter])
        twins = None if self.twins is None else self.twins[: n_iter + 1]
        first = replace(self, alphabet=alphabet, twins=twins)
        return (
            first if self.examples is None else replace(first, examples=self.examples.first(first.n_columns))
        )

    def names(self) -> list[str]:
        """Return a name for each column.

        ``h2:c17``; for ``"joint"`` ``h2:c17:s5`` or, with a readout, ``h2:c17:rooted-wl=09a5b3f3c6d0e8a1``:
        the beginning of the value's content key, which is the same on every machine.
        """
        if self.twins is None:
            return [f"h{h}:c{colour}" for h, n in enumerate(self.columns_per_round) for colour in range(n)]
        return [
            f"h{h}:c{colour}:{self._value_name(value)}"
            for h, part in enumerate(self.twins)
            for colour, value in part.sig_items.reshape(-1, 2).tolist()
        ]

    def explained(self, column: int) -> tuple[str, RootedTree]:
        """Return a column's name, and the tree of its colour with what else it asks for."""
        h, colour, value = self.locate(column)
        tree = tree_of_colour(self.alphabet, h, colour)
        if value is None:
            return f"h{h}:c{colour}", tree
        if self.values is None:
            tree = replace(tree, size=value)
        else:
            example = None if self.examples is None else self.examples.at(column)
            tree = replace(tree, readout=self._value_name(value), example=example)
        return f"h{h}:c{colour}:{self._value_name(value)}", tree

    def _value_name(self, value: int) -> str:
        if self.values is None:
            return f"s{value}"
        return f"{'+'.join(readout.name for readout in self.readouts)}={self.values.name(value)}"


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
    n_threads: int | None = None,
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
    n_threads
        Threads for the parts that can use them. The result does not depend on it.

    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> stwin_features(path, 1, "size").matrix.toarray()
    array([[3., 4., 3.]])
    >>> stwin_features(path, 1, "joint").space.names()
    ['h0:c0:s1', 'h1:c0:s2', 'h1:c1:s3']
    """
    kind = checked("features", kind if space is None else space.kind, one_of(*KINDS))
    if space is not None:
        readouts = space.readouts
    else:
        readouts = () if type(readout) is str and readout == "size" else readouts_of(readout, kind)
    colouring = refine(
        batch,
        n_iter,
        edge_labels=edge_labels,
        initial=initial,
        alphabet=None if space is None else space.alphabet,
        extend=extend,
        n_threads=n_threads,
    )
    columns, twins, values, examples = colouring.colours, None, None, None
    if kind == "joint":
        sizes = second = rooted_sizes(batch, colouring.n_iter, n_threads)
        known, insert = None if space is None else space.twins, space is None or extend
        if readouts:
            seen = visible_to_readouts(batch, colouring.alphabet)
            table = None if space is None else space.values
            second, values = numbered_values(seen, readouts, sizes, table, insert=insert)
        columns, twins = pair_with_values(columns, second, known, insert=insert)
        if space is not None:
            examples = space.examples
        elif readouts:
            examples = Examples.of(seen, columns, sizes, [part.n_colours for part in twins])
    grown = space
    if grown is None or extend:
        grown = FeatureSpace(kind, colouring.alphabet, twins, readouts, values, examples)
    data, indices, indptr = colour_histograms(
        batch, columns, grown.columns_per_round, weigh_by_size=kind == "size", n_threads=n_threads
    )
    return Encoding(_csr(data, indices, indptr, (len(batch), grown.n_columns)), grown, columns)


def encode_in_full(batch: GraphBatch, space: FeatureSpace) -> tuple[Encoding, sparse.csr_matrix]:
    """Encode graphs for kernels once, leaving nothing out: similarity with oneself counts every node.

    Returns
    -------
    known : Encoding
        In the given space.
    full : csr_matrix
        The same features and temporary columns for all that the space lacks.
    """
    grown = stwin_features(batch, space=space, extend=True)
    widths, grown_widths = space.columns_per_round, grown.space.columns_per_round
    if widths == grown_widths:
        return grown._replace(space=space), grown.matrix
    # What is new in a round stands behind what was known.
    first = np.concatenate([[0], np.cumsum(grown_widths)[:-1]])
    columns = np.concatenate([np.arange(width) + start for start, width in zip(first, widths, strict=True)])
    matrix = keep_columns(grown.matrix, columns)
    warn_unseen_labels((np.diff(matrix.indptr) == 0) & (batch.nodes_per_graph > 0))
    seen = grown.column_of_node < np.array(widths)[:, None]
    return Encoding(matrix, space, np.where(seen, grown.column_of_node, -1).astype(np.int32)), grown.matrix


def _csr(data: Float64, indices: Ints, indptr: Int64, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Wrap arrays that are right by construction, without SciPy's checks and copies."""
    # One index type throughout: SciPy would otherwise copy the larger array to match.
    fits = max(shape[1], int(indptr[-1])) <= np.iinfo(np.int32).max
    kind = np.int32 if fits else np.int64
    matrix = sparse.csr_matrix(shape)
    matrix.data = data
    matrix.indices = indices.astype(kind, copy=False)
    matrix.indptr = indptr.astype(kind, copy=False)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


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
    for h, (colour, value) in enumerate(zip(colours, values, strict=True)):
        table = RoundTable(STRIDE, 1, None if known is None else known[h])
        table.pair(np.where(value < 0, np.int32(-1), colour), value, out[h], insert=insert)
        pairs = table.finished() if known is None or insert else known[h]
        if known is None:
            pairs, rank = _in_order(pairs)
            out[h] = rank[out[h]]
        rounds.append(pairs)
    return out, tuple(rounds)


def _in_order(pairs: Round) -> tuple[Round, Int32]:
    """Sort a round's pairs by colour, then value; also return the new number of each."""
    colour, value = pairs.sig_items.reshape(-1, 2).T
    order = np.lexsort((value, colour))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    items = pairs.sig_items.reshape(-1, 2)[order].reshape(-1)
    return Round(pairs.sig_ptr, items, pairs.stride, pairs.n_codes), rank
