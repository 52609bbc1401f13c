"""Pairs: how many pairs of nodes have given labels and a given distance, on any graphs.

The idea of atom pairs (Carhart, Smith and Venkataraghavan, 1985): nodes that are too far apart for any
neighbourhood of a few rounds are seen together as a pair. Labels are the colours of round 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from twinwl.arguments import Constraint, integer, pointer
from twinwl.arrays import Float64, Int32, Int64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch
from twinwl.models.explanation import Branch, RootedTree, label_text
from twinwl.refinement.colours import Alphabet, refine

# A pair is one number: the distance, then both labels.
_BITS_OF_LABEL = 26
_LABEL = (1 << _BITS_OF_LABEL) - 1
DISTANCES: Constraint = integer(1, 1000)
_GRAPHS_AT_ONCE = 2048  # whose pairs are in memory at the same time


@dataclass(frozen=True, eq=False)
class PairSpace:
    """The meaning of columns that count pairs.

    Attributes
    ----------
    alphabet : Alphabet
        Of no rounds: the labels.
    max_distance : int
        Pairs further apart are not counted.
    keys : array of int64, shape (n_columns,)
        Distance and both labels of each column, packed; rising. In undirected graphs the smaller label comes
        first, in directed ones that of the node from which the other is reached.
    """

    alphabet: Alphabet
    max_distance: int
    keys: Int64

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.keys)

    @property
    def columns_per_round(self) -> list[int]:
        """All columns, as if of one round."""
        return [self.n_columns]

    def encoded(self, batch: GraphBatch) -> PairEncoding:
        """Encode graphs; pairs that the space lacks are left out."""
        return pair_features(batch, space=self)

    def encoded_with_rest(self, batch: GraphBatch) -> tuple[PairEncoding, PairEncoding]:
        """Encode graphs, also with temporary columns for what the space lacks, behind the known ones."""
        extended = pair_features(batch, space=self, extend=True)
        return PairEncoding(extended.matrix[:, : self.n_columns], self), extended

    def names(self, columns: Int64) -> list[str]:
        """Return a name for each of some columns: ``d3:c0:c2``, distance and both labels."""
        return [f"d{distance}:c{first}:c{second}" for distance, first, second in self._pairs(columns)]

    def texts(self, columns: Int64) -> list[str]:
        """Return a text for each of some columns: ``d3: C,O``."""
        labels = self.alphabet.labels
        return [
            f"d{distance}: {label_text(labels[first])},{label_text(labels[second])}"
            for distance, first, second in self._pairs(columns)
        ]

    def _pairs(self, columns: Int64) -> Iterator[tuple[int, int, int]]:
        """Yield the distance and both labels of each of some columns."""
        return zip(*_unpacked(self.keys[columns]))

    def explained(self, column: int) -> tuple[str, RootedTree]:
        """Return a column's name and its pair, as a tree of one branch."""
        ((distance, first, second),) = self._pairs(np.array([column]))
        labels = self.alphabet.labels
        away = f"{distance} step{'s' * (distance > 1)} away"
        tree = RootedTree(labels[first], 1, (Branch(1, RootedTree(labels[second], 0), away),))
        return self.names(np.array([column]))[0], tree

    def pairs_of(self, graph: GraphBatch) -> tuple[Int64, Int32]:
        """Return the column of each pair that has one, and both nodes, shape (n_pairs, 2)."""
        colours = refine(graph, 0, alphabet=self.alphabet).colours[0]
        keys, ends, _ = _pairs(
            graph.indptr, graph.indices, graph.graph_ptr, colours, self.max_distance, graph.directed
        )
        known = np.isin(keys, self.keys)
        return np.searchsorted(self.keys, keys[known]), ends[known]

    def stored(self) -> dict[str, object]:
        """Return what a model file holds."""
        from twinwl.models.features import alphabet_to_state  # noqa: PLC0415  (that module imports this one)

        state = alphabet_to_state(self.alphabet)
        return {**state, "max_distance": self.max_distance, "keys": self.keys}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> PairSpace:
        """Undo `stored`; refuse pairs of labels that are not there."""
        from twinwl.models.features import alphabet_from_state  # noqa: PLC0415  (that module imports this one)

        alphabet, keys = alphabet_from_state(state), restore(Int64, state["keys"], "keys")
        distance, first, second = (np.array(part) for part in _unpacked(keys))
        sound = (np.diff(keys) > 0).all() and (distance > 0).all() and keys.ndim == 1
        if not sound or max(first.max(initial=-1), second.max(initial=-1)) >= len(alphabet.labels):
            raise TwinWLError("the model's pairs of labels do not fit together; the file is damaged")
        return cls(alphabet, restore(int, state["max_distance"]), keys)


class PairEncoding(NamedTuple):
    """Counts of pairs, one row per graph, and what the columns stand for."""

    matrix: sparse.csr_matrix
    space: PairSpace

    def node_shares(self, graph: GraphBatch, contributions: Float64) -> Float64:
        """Give each node of a pair half of the pair's part of its column."""
        columns, ends = self.space.pairs_of(graph)
        n_pairs = np.bincount(columns, minlength=len(contributions))
        shares = np.repeat(contributions[columns] / n_pairs[columns] / 2, 2)
        return np.bincount(ends.ravel(), shares, minlength=graph.n_nodes).astype(np.float64, copy=False)

    def explained(self, graph: GraphBatch, column: int) -> tuple[str, RootedTree, Int64]:
        """Return a column's name, its pair as a tree, and the nodes of the pairs that it counts."""
        columns, ends = self.space.pairs_of(graph)
        return *self.space.explained(column), np.unique(ends[columns == column]).astype(np.int64)


def _unpacked(keys: Int64) -> tuple[list[int], list[int], list[int]]:
    """Return distance, first and second label of each key."""
    labels = keys & ((1 << 2 * _BITS_OF_LABEL) - 1)
    parts = keys >> 2 * _BITS_OF_LABEL, labels >> _BITS_OF_LABEL, keys & _LABEL
    return parts[0].tolist(), parts[1].tolist(), parts[2].tolist()


def pair_features(
    batch: GraphBatch,
    max_distance: int = 10,
    initial: str = "label",
    *,
    space: PairSpace | None = None,
    extend: bool = False,
) -> PairEncoding:
    """Count pairs of nodes by their labels and their distance.

    Parameters
    ----------
    batch
        The graphs.
    max_distance
        Pairs further apart are not counted.
    initial
        What the labels are, as round 0 of `twinwl.refinement.colours.refine`.
    space
        Encode in this space, which then decides about the above; what it lacks is left out.
    extend
        Give what the space lacks columns of its own instead, behind the known ones, in a new space whose keys
        are not sorted.

    >>> from twinwl import GraphBatch
    >>> found = pair_features(GraphBatch.from_edges([[(0, 1), (1, 2)]], [["C", "C", "O"]]))
    >>> found.space.names(np.arange(3)), found.matrix.toarray()
    (['d1:c0:c0', 'd1:c0:c1', 'd2:c0:c1'], array([[1., 1., 1.]]))
    """
    alphabet = None if space is None else space.alphabet
    colouring = refine(batch, 0, initial=initial, alphabet=alphabet, extend=extend)
    if colouring.alphabet.n_colours[0] > _LABEL:
        raise TwinWLError(
            f"{colouring.alphabet.n_colours[0]:,} different labels are too many to count pairs by them; "
            "leave pairs out"
        )
    if space is not None:
        max_distance = space.max_distance
    parts = []
    for low in range(0, len(batch), _GRAPHS_AT_ONCE):
        graph_ptr = batch.graph_ptr[low : low + _GRAPHS_AT_ONCE + 1]
        keys, _, lengths = _pairs(
            batch.indptr, batch.indices, graph_ptr, colouring.colours[0], max_distance, batch.directed
        )
        distinct, place = np.unique(keys, return_inverse=True)
        shape = len(lengths), len(distinct)
        part = sparse.csr_matrix((np.ones(len(keys)), place.reshape(-1), pointer(lengths)), shape)
        part.sum_duplicates()
        parts.append((distinct, part))
    known = np.empty(0, np.int64) if space is None else space.keys
    columns = known
    if space is None or extend:
        fresh = np.unique(np.concatenate([known[:0], *(keys for keys, _ in parts)]))
        columns = np.concatenate([known, np.setdiff1d(fresh, known, assume_unique=True)])
    rising = np.argsort(columns, kind="stable")
    blocks = []
    for distinct, part in parts:
        columns_of_part = np.flatnonzero(np.isin(distinct, columns))
        own = part[:, columns_of_part] if len(columns_of_part) < len(distinct) else part
        place = rising[np.searchsorted(columns, distinct[columns_of_part], sorter=rising)]
        shape = own.shape[0], len(columns)
        blocks.append(sparse.csr_matrix((own.data, place[own.indices], own.indptr), shape))
    matrix = sparse.vstack(blocks, format="csr") if blocks else sparse.csr_matrix((0, len(columns)))
    matrix.sort_indices()
    if space is not None and not extend:
        return PairEncoding(matrix, space)
    return PairEncoding(matrix, PairSpace(colouring.alphabet, max_distance, columns))


@kernel
def _pairs(  # noqa: C901  (one search)
    indptr: Int64, indices: Int32, graph_ptr: Int64, colours: Int32, max_distance: int, directed: bool
) -> tuple[Int64, Int32, Int64]:
    """List the pairs of nodes of some graphs up to a distance, by a breadth-first search from each node.

    Returns
    -------
    keys : array of int64, shape (n_pairs,)
        Distance and labels; pairs with an unseen label are left out.
    ends : array of int32, shape (n_pairs, 2)
    lengths : array of int64, shape (n_graphs,)
        Number of pairs of each graph.
    """
    n_graphs = len(graph_ptr) - 1
    lengths = np.zeros(n_graphs, np.int64)
    keys, ends = np.empty(1024, np.int64), np.empty((1024, 2), np.int32)
    n_pairs, largest = 0, 0
    for graph in range(n_graphs):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    queue, distance = np.empty(largest, np.int64), np.full(largest, -1, np.int64)
    for graph in range(n_graphs):
        first, before = graph_ptr[graph], n_pairs
        for root in range(first, graph_ptr[graph + 1]):
            queue[0], distance[root - first] = root, 0
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                steps = distance[node - first]
                # Undirected pairs are found from both ends and counted from the first.
                if steps and (directed or root < node) and colours[root] >= 0 and colours[node] >= 0:
                    if n_pairs == len(keys):
                        keys = np.concatenate((keys, np.empty_like(keys)))
                        ends = np.concatenate((ends, np.empty_like(ends)))
                    one, other = np.int64(colours[root]), np.int64(colours[node])
                    if not directed and one > other:
                        one, other = other, one
                    keys[n_pairs] = ((steps << _BITS_OF_LABEL | one) << _BITS_OF_LABEL) | other
                    ends[n_pairs] = root, node
                    n_pairs += 1
                if steps < max_distance:
                    for arc in range(indptr[node], indptr[node + 1]):
                        target = indices[arc]
                        if distance[target - first] < 0:
                            distance[target - first] = steps + 1
                            queue[tail] = target
                            tail += 1
            for place in range(tail):
                distance[queue[place] - first] = -1
        lengths[graph] = n_pairs - before
    return keys[:n_pairs], ends[:n_pairs], lengths
