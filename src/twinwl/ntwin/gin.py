"""A graph isomorphism network with epsilon 0, for the quotient and for graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from twinwl.learning.devices import as_tensor
from twinwl.ntwin.products import hear_and_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.ntwin.slicing import LayerSlice, QuotientSlice

__all__ = ["GIN", "GINLayer", "GINReadout"]


class GINLayer(torch.nn.Module):
    """One step of equation (5): a two-layer MLP of a node's own state plus the sum of its neighbours'.

    Parameters
    ----------
    n_inputs, hidden
        Width of the state before and after.
    n_codes
        Number of kinds of messages; each has an embedding that is added to the neighbour before the sum. With
        0 all messages are of the same kind.
    """

    def __init__(self, n_inputs: int, hidden: int, n_codes: int = 0) -> None:
        super().__init__()
        self.first = torch.nn.Linear(n_inputs, hidden)
        self.second = torch.nn.Linear(hidden, hidden)
        self.edge = torch.nn.Embedding(n_codes, n_inputs) if n_codes else None

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, codes: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the next state of each node, as in the equation.

        Parameters
        ----------
        x : tensor, shape (n_nodes, n_inputs)
        edge_index : tensor of int64, shape (2, n_messages)
            Sender and receiver of each message.
        codes : tensor of int64, shape (n_messages,), optional
            Kind of each message; -1 for one that did not occur in training, which has no embedding.
        """
        said = x[edge_index[0]]
        if self.edge is not None and codes is not None:
            said = said + self.edge(codes.clamp(min=0)) * (codes >= 0)[:, None]
        state: torch.Tensor = self.second(self.first(x.index_add(0, edge_index[1], said)).relu())
        return state

    def rectified(
        self, projected: torch.Tensor, rows: LayerSlice, codes: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the MLP's hidden units for the rows of a quotient's layer that are heard, and their sums.

        Parameters
        ----------
        projected : tensor, shape (n_below, hidden)
            The previous states, already multiplied by the first weight: the sum over neighbours is linear,
            and there are fewer rows before it than after.
        rows
            The layer's rows.
        codes : tensor of int64
            As in `QuotientSlice.codes`.

        Returns
        -------
        units : tensor, shape (n_heard, hidden)
        total : tensor, shape (n_graphs, hidden)
            Units of all rows, pooled by graph.
        """
        if self.edge is not None and len(codes):
            embedded = self.edge(codes.clamp(min=0)) * (codes >= 0)[:, None]
            projected = torch.cat([projected, functional.linear(embedded, self.first.weight)])
        return hear_and_pool(projected, self.first.bias, rows)


class GIN(torch.nn.Module):
    """The layers ``MLP^(1), …, MLP^(K)``, shared by all depths.

    Parameters
    ----------
    n_inputs
        Width of the nodes' features.
    hidden, layers, n_codes
        As for `GINLayer`.
    """

    def __init__(self, n_inputs: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        widths = [n_inputs] + [hidden] * (layers - 1)
        self.layers = torch.nn.ModuleList(GINLayer(width, hidden, n_codes) for width in widths)

    @property
    def steps(self) -> list[GINLayer]:
        """The layers, with their type."""
        return list(self.layers)  # type: ignore[arg-type]

    def pooled_states(self, graphs: QuotientSlice, n_labels: int) -> list[torch.Tensor]:
        """Return ``R_1, …, R_K`` for a mini-batch of the quotient, each of shape (n_graphs, hidden).

        Inputs are ``n_labels`` columns for the labels, one-hot, and the continuous features, and the rest for
        the marks.
        """
        sums: list[torch.Tensor] = []
        for layer, rows, _, total in self._run(graphs, n_labels, graphs.layers):
            # The MLP ends with a linear layer, so pooling can come first: there are fewer graphs than rows.
            pairs = torch.from_numpy(rows.n_pairs()).to(total.dtype).to(total.device)[:, None]
            state = functional.linear(total, layer.second.weight) + pairs * layer.second.bias
            if graphs.scale is not None:
                state = state * as_tensor(graphs.scale, state.device).to(state.dtype)[:, None]
            sums.append(state)
        return sums

    def rectified_rows(
        self, graphs: QuotientSlice, n_labels: int
    ) -> Iterator[tuple[GINLayer, LayerSlice, torch.Tensor]]:
        """Yield each layer with its rows and the hidden units of all, which ``layer.second`` makes states."""
        layers = tuple(rows._replace(n_heard=rows.n_rows) for rows in graphs.layers)
        for layer, rows, units, _ in self._run(graphs, n_labels, layers):
            yield layer, rows, units

    def _run(
        self, graphs: QuotientSlice, n_labels: int, layers: tuple[LayerSlice, ...]
    ) -> Iterator[tuple[GINLayer, LayerSlice, torch.Tensor, torch.Tensor]]:
        """Yield each layer with its rows, the hidden units of those that are heard, and the pooled sums."""
        first = self.steps[0].first.weight
        n_one_hot = n_labels if graphs.features is None else n_labels - graphs.features.shape[1]
        projected = _looked_up(first[:, :n_one_hot], as_tensor(graphs.label, first.device))
        if graphs.features is not None:
            features = as_tensor(graphs.features, first.device).to(first.dtype)
            projected = projected + functional.linear(features, first[:, n_one_hot:n_labels])
        if first.shape[1] > n_labels:
            projected = projected + _looked_up(first[:, n_labels:], as_tensor(graphs.mark, first.device))
        codes = as_tensor(graphs.codes, first.device)
        for number, (layer, rows) in enumerate(zip(self.steps, layers, strict=True), start=1):
            units, total = layer.rectified(projected, rows, codes)
            yield layer, rows, units, total
            if number < len(self.steps):
                # Two linear maps in a row are one: a product of two small matrices saves one of all rows.
                weight, n_below = self.steps[number].first.weight, graphs.layers[number].n_below
                projected = functional.linear(
                    units if len(units) == n_below else units[:n_below],  # a slice's gradient is a copy
                    weight @ layer.second.weight,
                    weight @ layer.second.bias,
                )


class GINReadout(torch.nn.Module):
    """A GIN as readout of a rooted subgraph: states summed over its nodes, at one depth or several.

    Parameters
    ----------
    gin
        The network; its weights are shared, not copied.
    depths
        Numbers of layers after which to read; the states of several are concatenated.
    """

    def __init__(self, gin: GIN, depths: tuple[int, ...]) -> None:
        super().__init__()
        self.gin = gin
        self.depths = depths

    def forward(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None = None,
        size: int | None = None,
    ) -> torch.Tensor:
        """Return one row per subgraph, shape (n_subgraphs, len(depths) * hidden).

        ``size`` is the number of subgraphs, needed only if the last ones are empty.
        """
        n_subgraphs = int(batch[-1]) + 1 if size is None and len(batch) else size or 0
        parts: list[torch.Tensor] = []
        for depth in range(1, max(self.depths) + 1):
            x = self.gin.steps[depth - 1](x, edge_index, codes)
            if depth in self.depths:
                parts.append(x.new_zeros(n_subgraphs, x.shape[1]).index_add(0, batch, x))
        return torch.cat(parts, dim=1)


def _looked_up(weight: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Return the product of one-hot rows and a weight's transpose; a number of -1 is a row of zeros."""
    return functional.embedding(numbers.clamp(min=0), weight.t()) * (numbers >= 0)[:, None]
