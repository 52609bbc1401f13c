"""Products of matrices over pairs of nodes, one row per colour of pairs, with their gradient.

A dense product computes an entry for each pair. Here each distinct entry is computed once, as a sum over the
nodes in a compiled loop; on other devices than the processor, torch multiplies dense matrices.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from twinwl.compilation.kernel import kernel
from twinwl.learning.devices import as_tensor, single

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.baselines.batching.pair_examples import Paths

__all__ = ["path_sums"]


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

    >>> from twinwl.baselines.batching.pair_examples import Paths
    >>> paths = Paths(np.array([0, 1, 1, 0], np.uint32), np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    >>> entries = torch.tensor([[3.0], [5.0]])
    >>> path_sums(entries, entries, paths).tolist()
    [[34.0], [30.0]]
    """
    if left.device.type != "cpu":
        return dense_path_sums(left, right, paths)
    result: torch.Tensor = _PathSums.apply(single(left), single(right), paths)  # type: ignore[no-untyped-call]
    return result


def dense_path_sums(left: torch.Tensor, right: torch.Tensor, paths: Paths) -> torch.Tensor:
    """Return the same as `path_sums` with torch's own operations, for any device."""
    left, right = single(left), single(right)
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
