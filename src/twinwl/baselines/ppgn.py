"""PPGN: matrices over pairs of nodes, multiplied; one row per colour of pairs.

Graphs as levels of colours of pairs of nodes: a network on pairs computes each colour once.

Products of matrices over pairs of nodes, one row per colour of pairs, with their gradient.

A dense product computes an entry for each pair. Here each distinct entry is computed once, as a sum over the
nodes in a compiled loop; on other devices than the processor, torch multiplies dense matrices.
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import linear

from twinwl.arguments import MEMORY
from twinwl.arrays import Int32, Int64, UInt64, pointer
from twinwl.baselines.batching import LevelInput, PartedExamples, check_dense
from twinwl.baselines.gnn import GNNClassifier, ReadoutHead, TrainingOptions
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.inner_colours import hear_pairs, pair_sides
from twinwl.memory import check_fits
from twinwl.models.base import Constraints
from twinwl.neural.devices import as_tensor
from twinwl.neural.ppgn import PairBlock
from twinwl.neural.rows import BatchLevels, ColourLevels, distinct_rows, gather, pool
from twinwl.refinement.threads import balanced_ranges, run_ranges

_PAIRS_PER_PART = 1 << 20
# Numbers before the first round: no arc, an arc, then the nodes with themselves.
_ARC, _NODES = 1, 2
# A pair's colour in a level, and where colours are found in a mini-batch; keys and hash table of one round.
_BYTES_PER_LEVEL, _BYTES_PER_ROUND = 12, 48


class PairExamples(PartedExamples[LevelInput]):
    """A batch of graphs to learn from, as ordered pairs of their nodes.

    In a layer a pair (i, j) hears, for each node k, the pairs (i, k) and (k, j) together. So its state after
    h layers depends only on its colour after h rounds of folklore 2-WL, and level h has one row per such
    colour. Pairs of a node with itself have colours of their own, because they are read out separately.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node. That of a pair is whether there is an arc, and the columns of a
        node at the pair of the node with itself, else zeros.
    rounds
        Number of levels after the first.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    >>> part = PairExamples(batch, np.ones((5, 1), np.float32), rounds=1).part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).row_of_item.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [0, 1, 1, 0])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32], rounds: int) -> None:
        sizes = batch.nodes_per_graph.astype(np.int64)
        super().__init__(sizes**2, _PAIRS_PER_PART)
        codes, first = distinct_rows(columns)
        table = np.zeros((_NODES + len(first), 1 + columns.shape[1]), np.float32)
        table[_ARC, 0] = 1
        table[_NODES:, 1:] = columns[first]
        self.table = torch.from_numpy(table)
        pair_ptr = pointer(sizes**2)
        self.levels = ColourLevels()
        last = self.levels.add(pair_ptr, _first_colours(batch, sizes, pair_ptr, codes))
        for _ in range(rounds):
            refined = _refined(pair_ptr, sizes, self.levels.colours(last))
            last = self.levels.add(pair_ptr, own=(last, None), refined=refined)

    def part(self, rows: Int64) -> LevelInput:
        """Return these graphs as rows."""
        levels = self.levels.take(rows)
        return LevelInput(self.table[torch.from_numpy(levels.marks(0))], levels)


class Paths(NamedTuple):
    """For each row of a level, the paths i → k → j of the pair (i, j) that it comes from, over the nodes k.

    Attributes
    ----------
    row_of_pair : array of uint32, shape (n_pairs,)
        Rows of the mini-batch's pairs in the level before; a graph's pairs are a matrix, row by row.
    left, right : arrays of int64, shape (n_rows,)
        The pairs (i, 0) and (0, j).
    n_nodes : array of int64, shape (n_rows,)
        Number of nodes of the graph. It is the distance from (k, j) to (k + 1, j); (i, k + 1) follows (i, k).
    """

    row_of_pair: NDArray[np.uint32]
    left: Int64
    right: Int64
    n_nodes: Int64


def paths_of(levels: BatchLevels, number: int) -> Paths:
    """Return the paths of a level's rows.

    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)]])
    >>> levels = PairExamples(batch, np.ones((2, 1), np.float32), rounds=1).part(np.array([0])).levels
    >>> [array.tolist() for array in paths_of(levels, 1)]
    [[0, 1, 1, 0], [0, 0], [0, 1], [2, 2]]
    """
    level = levels.level(number)
    ends = _ends(levels.item_ptr(number), level.row_of_item, len(level.counts))
    return Paths(levels.level(number - 1).row_of_item.astype(np.uint32), *ends)


def diagonal_rows(levels: BatchLevels, number: int) -> NDArray[np.bool_]:
    """Return which rows of a level are pairs of a node with itself, shape (n_rows,)."""
    return levels.whole.colours(0)[levels.level(number).item_of_row] >= _NODES


def check_pairs(batch: GraphBatch, rounds: int, name: str, max_memory: int | None) -> None:
    """Refuse graphs with too many pairs in all to give them colours."""
    n_pairs = int((batch.nodes_per_graph.astype(np.int64) ** 2).sum())
    check_fits(
        n_pairs * (_BYTES_PER_LEVEL * (rounds + 1) + _BYTES_PER_ROUND),
        max_memory,
        f"{name} on {len(batch):,} graphs with {n_pairs:,} pairs of nodes",
        "leave out the largest graphs, use fewer graphs, or raise max_memory",
    )


def _first_colours(batch: GraphBatch, sizes: Int64, pair_ptr: Int64, codes: Int32) -> Int32:
    """Return numbers of pairs that differ in their input, or in whether they are one node."""
    place = np.arange(batch.n_nodes) - np.repeat(batch.graph_ptr[:-1], sizes)
    matrix_row = np.repeat(pair_ptr[:-1], sizes) + place * np.repeat(sizes, sizes)
    source, target = batch.arcs()
    first = np.zeros(int(pair_ptr[-1]), np.int32)
    first[matrix_row[source] + place[target]] = _ARC
    first[matrix_row + place] = _NODES + codes
    return first


def _refined(pair_ptr: Int64, sizes: Int64, colours: Int32) -> Int32:
    """Return the colours of pairs after one more round of folklore 2-WL, by keys of 128 bits."""
    keys = np.empty((len(colours), 2), np.uint64)
    run_ranges(
        lambda low, high: _write_keys(low, high, pair_ptr, sizes, colours, keys),
        balanced_ranges(pointer(sizes**3), None),
    )
    numbers: Int32 = _numbered(keys)
    return numbers


@kernel
def _write_keys(low: int, high: int, pair_ptr: Int64, sizes: Int64, colours: Int32, keys: UInt64) -> None:
    for graph in range(low, high):
        n, first, last = sizes[graph], pair_ptr[graph], pair_ptr[graph + 1]
        a = colours[first:last].astype(np.uint64).reshape(n, n)
        b = np.zeros_like(a)
        new_a, new_b = np.empty_like(a), np.empty_like(b)
        hear_pairs(0, n, a, b, pair_sides(a, b), new_a, new_b)
        keys[first:last, 0] = new_a.ravel()
        keys[first:last, 1] = new_b.ravel()


@kernel
def _numbered(keys: UInt64) -> Int32:
    """Give keys numbers by first occurrence."""
    length = 16
    while length < 2 * len(keys):
        length *= 2
    mask = np.uint64(length - 1)
    number_in_slot = np.full(length, -1, np.int32)
    first = np.empty(len(keys), np.int32)
    numbers = np.empty(len(keys), np.int32)
    n_numbers = 0
    for item in range(len(keys)):
        slot = keys[item, 0] & mask
        while True:
            number = number_in_slot[slot]
            if number < 0:
                number = n_numbers
                number_in_slot[slot] = number
                first[number] = item
                n_numbers += 1
                break
            other = first[number]
            if keys[other, 0] == keys[item, 0] and keys[other, 1] == keys[item, 1]:
                break
            slot = (slot + np.uint64(1)) & mask
        numbers[item] = number
    return numbers


@kernel
def _ends(pair_ptr: Int64, row_of_pair: Int64, n_rows: int) -> tuple[Int64, Int64, Int64]:
    """Return where the paths of each row begin and end; rows are numbered by their first pair."""
    left, right = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    n_nodes = np.empty(n_rows, np.int64)
    row = 0
    for graph in range(len(pair_ptr) - 1):
        first, last = pair_ptr[graph], pair_ptr[graph + 1]
        n = round(sqrt(last - first))
        for pair in range(first, last):
            if row < n_rows and row_of_pair[pair] == row:
                left[row] = pair - (pair - first) % n
                right[row] = first + (pair - first) % n
                n_nodes[row] = n
                row += 1
    return left, right, n_nodes


def path_sums(left: torch.Tensor, right: torch.Tensor, paths: Paths) -> torch.Tensor:
    """Return the sum over k of ``left`` at (i, k) times ``right`` at (k, j), for the pair (i, j) of each row.

    Parameters
    ----------
    left, right : tensors, shape (n_rows of the level before, width)
    paths
        Says which rows these are.

    Examples
    --------
    The entries (0, 0) and (0, 1) of a matrix of two different entries, squared:


    >>> paths = Paths(np.array([0, 1, 1, 0], np.uint32), np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    >>> entries = torch.tensor([[3.0], [5.0]])
    >>> path_sums(entries, entries, paths).tolist()
    [[34.0], [30.0]]
    """
    if left.device.type != "cpu":
        return dense_path_sums(left, right, paths)
    result: torch.Tensor = _PathSums.apply(left, right, paths)  # type: ignore[no-untyped-call]
    return result


def dense_path_sums(left: torch.Tensor, right: torch.Tensor, paths: Paths) -> torch.Tensor:
    """Return the same as `path_sums` with torch's own operations, for any device."""
    column = (paths.right - paths.left) % paths.n_nodes
    start = paths.right - column
    # Rows of one graph stand together.
    bounds = [*np.unique(start, return_index=True)[1].tolist(), len(start)]
    sums = [left.new_zeros(0, left.shape[1])]
    for low, high in pairwise(bounds):
        n, first = int(paths.n_nodes[low]), int(start[low])
        matrix = as_tensor(paths.row_of_pair[first : first + n * n].astype(np.int64), left.device).view(n, n)
        product = left[matrix].permute(2, 0, 1) @ right[matrix].permute(2, 0, 1)
        entries = paths.left[low:high] - first + column[low:high]
        sums.append(product.flatten(1)[:, as_tensor(entries, left.device)].T)
    return torch.cat(sums)


class _PathSums(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  (torch's context takes any attribute)
        left: torch.Tensor,
        right: torch.Tensor,
        paths: Paths,
    ) -> torch.Tensor:
        ctx.rows = left.detach().contiguous().numpy(), right.detach().contiguous().numpy()
        ctx.paths = paths
        return torch.from_numpy(_path_sums(*ctx.rows, *paths))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:  # noqa: ANN401
        of_left, of_right = _gradients(grad.contiguous().numpy(), *ctx.rows, *ctx.paths)
        return torch.from_numpy(of_left), torch.from_numpy(of_right), None


@kernel(fastmath={"contract"})
def _path_sums(
    left_rows: NDArray[np.floating],
    right_rows: NDArray[np.floating],
    row_of_pair: NDArray[np.uint32],
    left: Int64,
    right: Int64,
    n_nodes: Int64,
) -> NDArray[np.floating]:
    width = left_rows.shape[1]
    out = np.zeros((len(left), width), left_rows.dtype)
    for row in range(len(left)):
        total = out[row]
        one, other, n = left[row], right[row], n_nodes[row]
        # Four nodes in one pass, so that the sum is read and written less often.
        for _ in range(n // 4):
            a, b = left_rows[row_of_pair[one]], right_rows[row_of_pair[other]]
            c, d = left_rows[row_of_pair[one + 1]], right_rows[row_of_pair[other + n]]
            e, f = left_rows[row_of_pair[one + 2]], right_rows[row_of_pair[other + 2 * n]]
            g, h = left_rows[row_of_pair[one + 3]], right_rows[row_of_pair[other + 3 * n]]
            for unit in range(width):
                total[unit] += a[unit] * b[unit] + c[unit] * d[unit] + e[unit] * f[unit] + g[unit] * h[unit]
            one += 4
            other += 4 * n
        for _ in range(n % 4):
            a, b = left_rows[row_of_pair[one]], right_rows[row_of_pair[other]]
            for unit in range(width):
                total[unit] += a[unit] * b[unit]
            one += 1
            other += n
    return out


@kernel(fastmath={"contract"})
def _gradients(
    grad: NDArray[np.floating],
    left_rows: NDArray[np.floating],
    right_rows: NDArray[np.floating],
    row_of_pair: NDArray[np.uint32],
    left: Int64,
    right: Int64,
    n_nodes: Int64,
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    width = grad.shape[1]
    of_left = np.zeros(left_rows.shape, grad.dtype)
    of_right = np.zeros(right_rows.shape, grad.dtype)
    for row in range(len(left)):
        total = grad[row]
        one, other, n = left[row], right[row], n_nodes[row]
        for _ in range(n):
            first, second = row_of_pair[one], row_of_pair[other]
            a, b = left_rows[first], right_rows[second]
            of_a, of_b = of_left[first], of_right[second]
            for unit in range(width):
                of_a[unit] += total[unit] * b[unit]
                of_b[unit] += total[unit] * a[unit]
            one += 1
            other += n
    return of_left, of_right


# In one block, where no two pairs are alike: input, two perceptrons of two layers, product, skip, output; and
# their gradients.
_MATRICES_OF_BLOCK = 16


class PPGNClassifier(GNNClassifier):
    r"""Classify graphs with a provably powerful graph network (Maron et al., 2019), of 3-WL power.

    A graph is a tensor over pairs of nodes: the adjacency, and the node's columns on the diagonal. A block
    applies two perceptrons to the features of each pair, multiplies their results as matrices, feature by
    feature, and joins that with the input by a third perceptron: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`.
    The readout is the sums over the diagonal and off it, after every block. Pairs that have the same colour
    by folklore 2-WL have the same features, which are computed once.

    Parameters
    ----------
    max_memory : int or None
        Limit for the tensors, in bytes; None allows half of the machine's memory.
    layers : int, default=3
        Number of blocks.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

    Notes
    -----
    Sums over all pairs of nodes are large, and so are the steps of training: if the loss does not fall, take
    ``learning_rate=3e-4``, as the method ``"ppgn"`` of `twinwl.evaluate` does.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = PPGNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "max_memory": MEMORY,
    }

    def __init__(
        self,
        max_memory: int | None = None,
        *,
        layers: int = 3,
        hidden: int = 32,
        **training: Unpack[TrainingOptions],
    ) -> None:
        super().__init__(layers=layers, hidden=hidden, **training)
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        n_matrices = _MATRICES_OF_BLOCK * self.layers * self.hidden
        check_dense(batch, self.batch_size, n_matrices, "PPGN", self.max_memory)
        check_pairs(batch, self.layers, "PPGN", self.max_memory)
        return PairExamples(batch, columns, self.layers)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return PPGNNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


class PPGNNetwork(torch.nn.Module):
    """Blocks of multiplied perceptrons, sums on and off the diagonal, a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        widths = [n_columns + 1] + [hidden] * (layers - 1)
        self.blocks = torch.nn.ModuleList(PairBlock(width, hidden) for width in widths)
        self.head = ReadoutHead(2 * layers * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        sums = []
        for number, block in enumerate(self.blocks, 1):
            own, paths = levels.level(number).own, paths_of(levels, number)
            x = _next_rows(block, x, own, paths)  # type: ignore[arg-type]
            ptr, rows, counts = levels.pooled(number)
            diagonal = diagonal_rows(levels, number)[rows]
            sums += [pool(x, ptr, rows, counts * diagonal), pool(x, ptr, rows, counts * ~diagonal)]
        logits: torch.Tensor = self.head(torch.cat(sums, dim=1))
        return logits


def _next_rows(block: PairBlock, x: torch.Tensor, own: Int64, paths: Paths) -> torch.Tensor:
    """Return the rows of a level after a block, from those of the level before, shape (n_rows, hidden)."""
    product = path_sums(_perceptron(block.left, x), _perceptron(block.right, x), paths)
    of_pairs, of_product = block.join.weight.split_with_sizes([x.shape[1], product.shape[1]], dim=1)
    kept = gather(linear(x, of_pairs, block.join.bias), own)
    return torch.addmm(kept, product, of_product.T).relu_()


def _perceptron(layers: torch.nn.Sequential, x: torch.Tensor) -> torch.Tensor:
    """Apply a perceptron of pairs to rows, shape (n_rows, hidden)."""
    for layer in layers:
        x = linear(x, layer.weight, layer.bias) if isinstance(layer, torch.nn.Linear) else layer(x)
    return x
