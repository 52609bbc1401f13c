"""PPGN as readout of a rooted subgraph: matrices over pairs of its nodes, multiplied; 3-WL inside it."""

from __future__ import annotations

from collections.abc import Iterator

import torch


class PPGNReadout(torch.nn.Module):
    """A provably powerful graph network (Maron et al., 2019) on each rooted subgraph.

    A pair of nodes has the number of messages between them, that of each kind, and on the diagonal the node's
    features. The readout of depth k is the sums over the diagonal and off it after k blocks.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden
        Number of features of a pair.
    layers
        Number of blocks.
    n_codes
        Number of kinds of messages; 0 if all are of the same kind.
    """

    sees_pairs = True

    def __init__(self, n_features: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        self.n_codes = n_codes
        self.hidden = hidden
        widths = [1 + n_codes + n_features] + [hidden] * (layers - 1)
        self.blocks = torch.nn.ModuleList(PairBlock(width, hidden) for width in widths)

    def pooled_by_depth(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None,
        size: int,
        depth: int,
    ) -> Iterator[torch.Tensor]:
        """Yield the readouts of depths 1 to ``depth``, each of shape (n_subgraphs, 2 * hidden)."""
        n_nodes = torch.bincount(batch, minlength=size)
        place = torch.arange(len(x), device=x.device) - (n_nodes.cumsum(0) - n_nodes)[batch]
        alike = [(n_nodes == count).nonzero()[:, 0] for count in n_nodes.unique()]  # type: ignore[no-untyped-call]
        pairs = [self._pairs(x, edge_index, batch, codes, place, subgraphs) for subgraphs in alike]
        back = torch.cat([*alike, n_nodes.new_empty(0)]).argsort()
        for block in self.blocks[:depth]:
            pairs = [block(part) for part in pairs]
            sums = [_sums(part) for part in pairs]
            yield torch.cat([*sums, x.new_zeros(0, 2 * self.hidden)])[back]

    def _pairs(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None,
        place: torch.Tensor,
        subgraphs: torch.Tensor,
    ) -> torch.Tensor:
        """Return subgraphs of one size as a tensor, shape (n_columns, n_subgraphs, n, n)."""
        number = batch.new_full((int(batch[-1]) + 1 if len(batch) else 0,), -1)
        number[subgraphs] = torch.arange(len(subgraphs), device=x.device)
        nodes = (number[batch] >= 0).nonzero()[:, 0]
        sent = (number[batch[edge_index[0]]] >= 0).nonzero()[:, 0]
        sender, receiver = edge_index[:, sent]
        size = len(nodes) // max(1, len(subgraphs))
        pairs = x.new_zeros(1 + self.n_codes + x.shape[1], len(subgraphs), size, size)
        at = (number[batch[sender]], place[receiver], place[sender])
        one = x.new_ones(len(sent))
        pairs[0].index_put_(at, one, accumulate=True)
        if codes is not None and self.n_codes:
            known = codes[sent] >= 0
            kind = 1 + codes[sent].clamp(min=0)
            pairs.index_put_((kind, *at), one * known, accumulate=True)
        pairs[1 + self.n_codes :, number[batch[nodes]], place[nodes], place[nodes]] = x[nodes].T
        return pairs


def _sums(pairs: torch.Tensor) -> torch.Tensor:
    diagonal = pairs.diagonal(dim1=2, dim2=3).sum(dim=-1)
    return torch.cat([diagonal, pairs.sum(dim=(2, 3)) - diagonal]).T


class PairBlock(torch.nn.Module):
    r"""One block: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`, products of matrices feature by feature.

    Parameters
    ----------
    n_columns, hidden
        Number of features of a pair before and after.
    """

    def __init__(self, n_columns: int, hidden: int) -> None:
        super().__init__()
        self.left = _pair_perceptron(n_columns, hidden)
        self.right = _pair_perceptron(n_columns, hidden)
        self.join = _PairLinear(n_columns + hidden, hidden)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        """Map (n_columns, n_graphs, n, n) to (hidden, n_graphs, n, n)."""
        product = self.left(pairs) @ self.right(pairs)
        # The layer on both concatenated; concatenating them would take a quarter more time.
        of_pairs, of_product = self.join.weight.split_with_sizes([len(pairs), len(product)], dim=1)
        joined = torch.addmm(self.join.bias[:, None], of_pairs, pairs.flatten(1))
        joined = torch.addmm(joined, of_product, product.flatten(1)).relu_()
        return joined.view_as(product)


def _pair_perceptron(n_columns: int, hidden: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        _PairLinear(n_columns, hidden),
        torch.nn.ReLU(inplace=True),
        _PairLinear(hidden, hidden),
        torch.nn.ReLU(inplace=True),
    )


class _PairLinear(torch.nn.Linear):
    """A linear layer on the features of each pair; features are the first axis, as matrix products need."""

    def reset_parameters(self) -> None:
        """Start with biases of zero: others would drown the adjacency, a single column of zeros and ones."""
        torch.nn.init.xavier_uniform_(self.weight)
        torch.nn.init.zeros_(self.bias)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        """Map (n_columns, n_graphs, n, n) to (hidden, n_graphs, n, n)."""
        rows = torch.addmm(self.bias[:, None], self.weight, pairs.flatten(1))
        return rows.view(self.out_features, *pairs.shape[1:])
