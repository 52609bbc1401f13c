"""The networks inside the rooted subgraphs: GIN, GCN, GAT, PPGN, deep sets, and how a user's own is called.

In this order: the input of a readout (`SubgraphBatch`) and how it is called (`read_out`), the readouts that
are bounded by 1-WL (`BoundedReadout`), and those of any power. Bounded ones run on rows, once per colour; the
others run once per distinct rooted subgraph.
"""

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from twinwl.arguments import Constraint, one_of, pointer
from twinwl.arrays import Fields
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.neural.rows import RowBatch, aggregate_and_pool, as_tensor, pool, row_of_entry
from twinwl.neural.training import seeded

_HEADS = 4


class SubgraphBatch(NamedTuple):
    """The disjoint union of rooted subgraphs. A readout gets the fields that its parameters name.

    Attributes
    ----------
    x : tensor, shape (n_nodes, n_features)
        One-hot label, standardised features, one-hot mark of each node.
    edge_index : tensor of int64, shape (2, n_messages)
        Sender and receiver of each message; an edge passes one in each direction, an arc too.
    batch : tensor of int64, shape (n_nodes,)
        Subgraph of each node, ascending.
    codes : tensor of int64, shape (n_messages,), or None
        Kind of each message, or None if there is only one kind: the code of the edge's label; in directed
        graphs twice that, plus 1 if the message runs along the arc. -1 for a label of no training graph.
    root : tensor of int64, shape (n_subgraphs,)
        The root of each subgraph, as a row of ``x``.
    distance : tensor of int64, shape (n_nodes,)
        Steps from the root.
    size : int
        Number of subgraphs.
    """

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    codes: Tensor | None
    root: Tensor
    distance: Tensor
    size: int


def read_out(readout: nn.Module, subgraphs: SubgraphBatch) -> Tensor:
    """Return the readout of each subgraph, shape (n_subgraphs, width).

    The readout's ``forward`` gets those of the fields of `SubgraphBatch` that its parameters name, and for a
    parameter ``data`` all of them as a PyG ``Batch``, with ``codes`` as ``edge_attr``.

    Raises
    ------
    TwinWLError
        If it does not return one row of finite numbers per subgraph.

    Examples
    --------
    >>> class Size(torch.nn.Module):
    ...     def forward(self, batch, size):
    ...         return torch.bincount(batch, minlength=size)[:, None].float()
    >>> zeros = torch.zeros(3, dtype=int)
    >>> edge_index = torch.tensor([[0, 1], [1, 0]])
    >>> pair_and_node = SubgraphBatch(
    ...     torch.ones(3, 1), edge_index, torch.tensor([0, 0, 1]), None, torch.tensor([0, 2]), zeros, 2
    ... )
    >>> read_out(Size(), pair_and_node).tolist()
    [[2.0], [1.0]]
    """
    name = type(readout).__name__
    # "data" stands for a PyG batch, which is built below only if it is asked for.
    known: Fields = {**subgraphs._asdict(), "data": subgraphs}
    arguments = named_arguments(f"the readout {name}", readout.forward, known)
    if "data" in arguments:
        arguments["data"] = _as_pyg(subgraphs)
    rows = checked_rows(readout(**arguments), name, subgraphs.size, "rooted subgraph")
    return rows.to(subgraphs.x.dtype)


def checked_rows(rows: object, name: str, n_rows: int, unit: str) -> Tensor:
    """Return what a network returned, which may be the user's, if it is one row of numbers per ``unit``.

    The rows go to kernels, which would read past the end of the array if there were fewer.
    """
    expected = f"expected a tensor of floats of shape ({n_rows}, width), one row per {unit}"
    if not isinstance(rows, Tensor):
        raise TwinWLError(f"the readout {name} returned {shown(rows)}, {expected}")
    if rows.ndim != 2 or len(rows) != n_rows or not rows.shape[1] or not rows.is_floating_point():  # noqa: PLR2004
        kind = str(rows.dtype).removeprefix("torch.")
        raise TwinWLError(
            f"the readout {name} returned a tensor of {kind} of shape {tuple(rows.shape)}, {expected}"
        )
    if not rows.is_meta and not bool(rows.isfinite().all()):
        row = int((~rows.detach().isfinite()).any(dim=1).nonzero()[0])
        raise TwinWLError(
            f"the readout {name} returned NaN or infinity, first for {unit} {row} of "
            f"{n_rows}; lower learning_rate, or look for divisions by zero and huge values"
        )
    return rows


def named_arguments(what: str, function: Callable[..., object], known: Fields) -> Fields:
    """Return the arguments that a user's function names as its parameters.

    >>> named_arguments("f", lambda hidden, depth=2: None, {"hidden": 8, "layers": 3})
    {'hidden': 8}
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:  # of some built-in types
        raise TwinWLError(f"{what}: its parameters cannot be found out ({error})") from error
    arguments: Fields = {}
    for parameter in parameters:
        if parameter.name in known and parameter.kind is not parameter.POSITIONAL_ONLY:
            arguments[parameter.name] = known[parameter.name]
        elif parameter.default is parameter.empty and parameter.kind not in {
            parameter.VAR_KEYWORD,  # of every module without an __init__ of its own
            parameter.VAR_POSITIONAL,
        }:
            raise TwinWLError(f"{what} asks for {parameter.name!r}; its parameters can be {', '.join(known)}")
    return arguments


def _as_pyg(subgraphs: SubgraphBatch) -> Any:  # noqa: ANN401  (a class of PyG)
    fields = subgraphs._asdict()
    size, edge_attr = fields.pop("size"), fields.pop("codes")
    counts = torch.bincount(subgraphs.batch, minlength=size)
    ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    graphs = import_extra("torch_geometric.data", "baselines").Batch(edge_attr=edge_attr, ptr=ptr, **fields)
    graphs._num_graphs = size  # noqa: SLF001  (as Batch.from_data_list does)
    return graphs


# ---------------------------------------------------------------------- bounded by 1-WL


class BoundedReadout(nn.Module):
    """Base of the networks of message passing that declare themselves bounded by 1-WL.

    A subclass implements `step`, which computes the next state of a row from its own previous state and the
    *multiset* of those that send it messages. The states of one colour are then equal, so that a step is
    computed once per colour (the quotient) instead of once per node of each rooted subgraph. The readout of
    depth k is the state after ``steps_before + k`` steps, summed over the nodes of the rooted subgraph; in
    layer k of NTwin-GNN it is read at depth k.

    Attributes
    ----------
    steps_before : int
        Number of first steps that are not read.

    Examples
    --------
    >>> class Mean(BoundedReadout):
    ...     def __init__(self, n_features, hidden, layers):
    ...         super().__init__()
    ...         widths = [n_features] + [hidden] * layers
    ...         self.linear = torch.nn.ModuleList(map(torch.nn.Linear, widths[:-1], widths[1:]))
    ...     def step(self, number, x, own, sender, receiver, codes):
    ...         total = x[own].index_add(0, receiver, x[sender])
    ...         count = torch.bincount(receiver, minlength=len(own))[:, None] + 1
    ...         return self.linear[number](total / count).relu()
    >>> from twinwl import GraphBatch, NTwinClassifier
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 10)
    >>> model = NTwinClassifier(readout=Mean, layers=2, hidden=8, max_epochs=5, verbose=False)
    >>> model.fit(graphs, ["path", "triangle"] * 10).predict(graphs[:2]).shape
    (2,)
    """

    steps_before = 0

    def step(
        self, number: int, x: Tensor, own: Tensor, sender: Tensor, receiver: Tensor, codes: Tensor | None
    ) -> Tensor:
        """Return the next state of each row, shape (n_rows, width).

        Parameters
        ----------
        number : int
            Number of the step, from 0.
        x : tensor, shape (n_before, width_before)
            The previous states; in step 0 the features of the nodes.
        own : tensor of int64, shape (n_rows,)
            The previous state of each row, as a row of ``x``.
        sender, receiver : tensors of int64, shape (n_messages,)
            Sender, as a row of ``x``, and receiver, as a row of the result, of each message.
        codes : tensor of int64, shape (n_messages,), or None
            Kind of each message, as in `SubgraphBatch`.
        """
        raise NotImplementedError("a BoundedReadout needs a method step")

    def read(self, state: Tensor) -> Tensor:
        """Return the columns of a state that are summed; by default all of them."""
        return state

    def pooled_by_depth(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, codes: Tensor | None, size: int, depth: int
    ) -> Iterator[Tensor]:
        """Yield the readouts of depths 1 to ``depth``, each of shape (n_subgraphs, width)."""
        own = torch.arange(len(x), device=x.device)
        for number in range(self.steps_before + depth):
            x = self._checked_step(number, x, own, *edge_index, codes)
            if number >= self.steps_before:
                states = self.read(x)
                yield states.new_zeros(size, states.shape[1]).index_add(0, batch, states)

    def pooled_rows(self, graphs: RowBatch, n_features: int, n_marks: int) -> list[Tensor]:
        """Return ``R_1, …, R_K`` for rows, each of shape (n_graphs, width).

        ``n_features`` counts one-hot labels and continuous features.
        """
        x = _features_of(graphs, n_features, n_marks, next(self.parameters(), torch.empty(0)))
        sums: list[Tensor] = []
        for number, rows in enumerate(graphs.layers):
            codes = as_tensor(rows.codes, x.device) if len(rows.codes) else None
            own, sender = (as_tensor(each, x.device) for each in (rows.own, rows.senders))
            x = self._checked_step(number, x, own, sender, row_of_entry(rows.ptr, x.device), codes)
            if number >= self.steps_before:
                sums.append(_scale(pool(self.read(x), *rows.pool), graphs))
        return sums

    def _checked_step(self, number: int, x: Tensor, own: Tensor, *messages: Any) -> Tensor:  # noqa: ANN401
        rows = self.step(number, x, own, *messages)
        return checked_rows(rows, type(self).__name__, len(own), "state")


def _features_of(graphs: RowBatch, n_features: int, n_marks: int, like: Tensor) -> Tensor:
    """Return the features of the rows of layer 0: one-hot label, continuous features, one-hot mark."""
    features = as_tensor(graphs.features, like.device).to(like.dtype)
    parts = [_one_hot(graphs.label, n_features - features.shape[1], like), features]
    if n_marks > 1:
        parts.append(_one_hot(graphs.mark, n_marks, like))
    return torch.cat(parts, dim=1)


def _one_hot(numbers: np.ndarray, width: int, like: Tensor) -> Tensor:
    """Return one-hot rows; a number of -1 is a row of zeros."""
    return (as_tensor(numbers, like.device)[:, None] == torch.arange(width, device=like.device)).to(
        like.dtype
    )


def _scale(sums: Tensor, graphs: RowBatch) -> Tensor:
    return (
        sums if graphs.scale is None else sums * as_tensor(graphs.scale, sums.device).to(sums.dtype)[:, None]
    )


class GINLayer(nn.Module):
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
        self.first = nn.Linear(n_inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.edge = nn.Embedding(n_codes, n_inputs) if n_codes else None


class GIN(BoundedReadout):
    """A graph isomorphism network with epsilon 0: ``MLP^(1), …, MLP^(K)``, shared by all depths.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden, layers, n_codes
        As for `GATReadout`.
    """

    def __init__(self, n_features: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        widths = [n_features] + [hidden] * (layers - 1)
        self.layers = nn.ModuleList(GINLayer(width, hidden, n_codes) for width in widths)

    @property
    def steps(self) -> list[GINLayer]:
        """The layers, with their type."""
        return list(self.layers)  # type: ignore[arg-type]

    def step(
        self, number: int, x: Tensor, own: Tensor, sender: Tensor, receiver: Tensor, codes: Tensor | None
    ) -> Tensor:
        """Return the next states, as in the equation."""
        layer, messages = self.steps[number], x[sender]
        if layer.edge is not None and codes is not None:
            messages = messages + layer.edge(codes.clamp(min=0)) * (codes >= 0)[:, None]
        state: Tensor = layer.second(layer.first(x[own].index_add(0, receiver, messages)).relu())
        return state

    def pooled_rows(self, graphs: RowBatch, n_features: int, n_marks: int) -> list[Tensor]:
        """Return ``R_1, …, R_K`` for rows, each of shape (n_graphs, hidden)."""
        first = self.steps[0].first.weight
        projected = functional.linear(_features_of(graphs, n_features, n_marks, first), first)
        sums: list[Tensor] = []
        for number, (layer, rows) in enumerate(zip(self.steps, graphs.layers), start=1):
            # The sum is linear, so the weights are applied first, to the layer below, which has fewer rows.
            of_code = None
            if layer.edge is not None and len(rows.codes):
                of_code = functional.linear(layer.edge.weight, layer.first.weight)
            units, total = aggregate_and_pool(projected, layer.first.bias, rows, of_code)
            # The MLP ends with a linear layer, so pooling can come first: there are fewer graphs than rows.
            n_pairs = as_tensor(np.diff(pointer(rows.pool.counts)[rows.pool.ptr]), total.device)
            bias = n_pairs.to(total.dtype)[:, None] * layer.second.bias
            sums.append(_scale(functional.linear(total, layer.second.weight) + bias, graphs))
            if number < len(self.steps):
                # Two linear maps in a row are one: a product of two small matrices saves one of all rows.
                weight = self.steps[number].first.weight
                projected = functional.linear(units, weight @ layer.second.weight, weight @ layer.second.bias)
        return sums


class GCNReadout(BoundedReadout):
    r"""A GCN (Kipf and Welling, 2017).

    A layer is :math:`\mathrm{ReLU}(\tilde D^{-1/2} \tilde A \tilde D^{-1/2} H W + b)`. Degrees are those
    inside the rooted subgraph. A first step, which is not read, appends them to the states: a node's colour
    has to be one round ahead to know the degrees of its neighbours.

    Parameters
    ----------
    n_features, hidden, layers, n_codes
        As for `GATReadout`.
    """

    steps_before = 1

    def __init__(self, n_features: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        self.linear, self.edge = _stack(n_features, hidden, layers, n_codes)

    def step(
        self, number: int, x: Tensor, own: Tensor, sender: Tensor, receiver: Tensor, codes: Tensor | None
    ) -> Tensor:
        """Return the next states, with the degree (self-loop included) as last column."""
        if number == 0:
            degree = x.new_ones(len(own)).index_add(0, receiver, x.new_ones(len(receiver)))
            return torch.cat([x[own], degree[:, None]], dim=1)
        layer, sqrt_degree = self.linear[number - 1], x[:, -1:].sqrt()
        projected = functional.linear(x[:, :-1], layer.weight)  # type: ignore[arg-type]
        messages = projected[sender] + _code_terms(self.edge, number - 1, layer, codes, projected)
        total = (projected / sqrt_degree)[own].index_add(0, receiver, messages / sqrt_degree[sender])
        states = (total / sqrt_degree[own] + layer.bias).relu()  # type: ignore[operator]
        return torch.cat([states, x[own, -1:]], dim=1)

    def read(self, state: Tensor) -> Tensor:
        """Leave out the degree."""
        return state[:, :-1]


class GATReadout(BoundedReadout):
    """A graph attention network (Veličković et al., 2018), with self-loops and ELU.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden
        Width of the states; four heads share it, if it is a multiple of four, else there is one.
    layers
        Number of layers.
    n_codes
        Number of kinds of messages; each has an embedding that is added to the neighbour.
    """

    def __init__(self, n_features: int, hidden: int, layers: int, n_codes: int = 0) -> None:
        super().__init__()
        self.linear, self.edge = _stack(n_features, hidden, layers, n_codes)
        self.heads = 1 if hidden % _HEADS else _HEADS
        shape = (layers, 2, self.heads, hidden // self.heads)
        self.attention = nn.Parameter(torch.empty(shape))
        nn.init.xavier_uniform_(self.attention)

    def step(
        self, number: int, x: Tensor, own: Tensor, sender: Tensor, receiver: Tensor, codes: Tensor | None
    ) -> Tensor:
        """Return the weighted means of each row and its messages."""
        layer = self.linear[number]
        projected = functional.linear(x, layer.weight)  # type: ignore[arg-type]
        messages = projected[sender] + _code_terms(self.edge, number, layer, codes, projected)
        messages = torch.cat([projected[own], messages]).view(-1, *self.attention.shape[2:])
        receiver = torch.cat([torch.arange(len(own), device=own.device), receiver])
        of_sender, of_receiver = self.attention[number]
        receiver_score = (messages[: len(own)] * of_receiver).sum(dim=2)
        scores = functional.leaky_relu((messages * of_sender).sum(dim=2) + receiver_score[receiver], 0.2)
        index = receiver[:, None].expand_as(scores)
        # Subtracting the highest score leaves the shares unchanged and keeps exp finite.
        highest = scores.new_zeros(len(own), self.heads).scatter_reduce(
            0, index, scores.detach(), "amax", include_self=False
        )
        weights = (scores - highest[receiver]).exp()
        shares = weights / weights.new_zeros(len(own), self.heads).index_add(0, receiver, weights)[receiver]
        weighted = (shares[:, :, None] * messages).flatten(1)
        total = weighted.new_zeros(len(own), weighted.shape[1]).index_add(0, receiver, weighted)
        return functional.elu(total + layer.bias)  # type: ignore[operator]


def _stack(
    n_features: int, hidden: int, layers: int, n_codes: int
) -> tuple[nn.ModuleList, nn.ModuleList | None]:
    widths = [n_features] + [hidden] * (layers - 1)
    linear = nn.ModuleList(nn.Linear(width, hidden) for width in widths)
    edge = nn.ModuleList(nn.Embedding(n_codes, width) for width in widths) if n_codes else None
    return linear, edge


def _code_terms(
    edge: nn.ModuleList | None, number: int, layer: nn.Module, codes: Tensor | None, like: Tensor
) -> Tensor:
    """Return what a message's kind adds to it after the layer's weight; nothing if it is unknown."""
    if edge is None or codes is None:
        return like.new_zeros(())
    table = functional.linear(edge[number].weight, layer.weight)  # type: ignore[arg-type]
    return table[codes.clamp(min=0)] * (codes >= 0)[:, None]


# ---------------------------------------------------------------------- of any power


class DeepSetsReadout(nn.Module):
    """Deep sets (Zaheer et al., 2017): a network of the sum, over the nodes, of a network of each node.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden
        Width of all layers and of the readout.
    """

    def __init__(self, n_features: int, hidden: int) -> None:
        super().__init__()
        self.of_node = _perceptron(nn.Linear, n_features, hidden)
        self.of_sum = _perceptron(nn.Linear, hidden, hidden)

    def forward(self, x: Tensor, batch: Tensor, size: int) -> Tensor:
        """Return one row per subgraph, shape (size, hidden)."""
        states = self.of_node(x)
        rows: Tensor = self.of_sum(states.new_zeros(size, states.shape[1]).index_add(0, batch, states))
        return rows


def _perceptron(linear: type[nn.Linear], n_inputs: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(linear(n_inputs, hidden), nn.ReLU(inplace=True), linear(hidden, hidden))


class PPGNReadout(nn.Module):
    """A provably powerful graph network (Maron et al., 2019) on each rooted subgraph: 3-WL inside it.

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
        self.blocks = nn.ModuleList(PairBlock(width, hidden) for width in widths)

    def pooled_by_depth(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, codes: Tensor | None, size: int, depth: int
    ) -> Iterator[Tensor]:
        """Yield the readouts of depths 1 to ``depth``, each of shape (n_subgraphs, 2 * hidden)."""
        n_nodes = torch.bincount(batch, minlength=size)
        place = torch.arange(len(x), device=x.device) - (n_nodes.cumsum(0) - n_nodes)[batch]
        # Subgraphs of one size are one tensor, so that nothing is padded.
        of_each_size = [(n_nodes == count).nonzero()[:, 0] for count in n_nodes.unique()]  # type: ignore[no-untyped-call]
        pairs = [self._pairs(x, edge_index, batch, codes, place, subgraphs) for subgraphs in of_each_size]
        # Brings the sums, which come grouped by size, back into order.
        back = torch.cat([*of_each_size, n_nodes.new_empty(0)]).argsort()
        for block in self.blocks[:depth]:
            pairs = [block(part) for part in pairs]
            sums = [_pair_sums(part) for part in pairs]
            yield torch.cat([*sums, x.new_zeros(0, 2 * self.hidden)])[back]

    def _pairs(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor,
        codes: Tensor | None,
        place: Tensor,
        subgraphs: Tensor,
    ) -> Tensor:
        """Return subgraphs of one size as a tensor, shape (n_columns, n_subgraphs, n, n)."""
        place_of_subgraph = batch.new_full((int(batch[-1]) + 1 if len(batch) else 0,), -1)
        place_of_subgraph[subgraphs] = torch.arange(len(subgraphs), device=x.device)
        nodes = (place_of_subgraph[batch] >= 0).nonzero()[:, 0]
        sent = (place_of_subgraph[batch[edge_index[0]]] >= 0).nonzero()[:, 0]
        sender, receiver = edge_index[:, sent]
        size = len(nodes) // max(1, len(subgraphs))
        pairs = x.new_zeros(1 + self.n_codes + x.shape[1], len(subgraphs), size, size)
        at = (place_of_subgraph[batch[sender]], place[receiver], place[sender])
        one = x.new_ones(len(sent))
        pairs[0].index_put_(at, one, accumulate=True)
        if codes is not None and self.n_codes:
            known = codes[sent] >= 0
            kind = 1 + codes[sent].clamp(min=0)
            pairs.index_put_((kind, *at), one * known, accumulate=True)
        pairs[1 + self.n_codes :, place_of_subgraph[batch[nodes]], place[nodes], place[nodes]] = x[nodes].T
        return pairs


def _pair_sums(pairs: Tensor) -> Tensor:
    diagonal = pairs.diagonal(dim1=2, dim2=3).sum(dim=-1)
    return torch.cat([diagonal, pairs.sum(dim=(2, 3)) - diagonal]).T


class PairBlock(nn.Module):
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

    def forward(self, pairs: Tensor) -> Tensor:
        """Map (n_columns, n_graphs, n, n) to (hidden, n_graphs, n, n)."""
        product = self.left(pairs) @ self.right(pairs)
        # The layer on both concatenated; concatenating them would take a quarter more time.
        of_pairs, of_product = self.join.weight.split_with_sizes([len(pairs), len(product)], dim=1)
        both = torch.addmm(self.join.bias[:, None], of_pairs, pairs.flatten(1))
        return torch.addmm(both, of_product, product.flatten(1)).relu_().view_as(product)


def _pair_perceptron(n_columns: int, hidden: int) -> nn.Sequential:
    return _perceptron(_PairLinear, n_columns, hidden).append(nn.ReLU(inplace=True))


class _PairLinear(nn.Linear):
    """A linear layer on the features of each pair; features are the first axis, as matrix products need."""

    def reset_parameters(self) -> None:
        """Start with biases of zero: others would drown the adjacency, a single column of zeros and ones."""
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, pairs: Tensor) -> Tensor:
        """Map (n_columns, n_graphs, n, n) to (hidden, n_graphs, n, n)."""
        rows = torch.addmm(self.bias[:, None], self.weight, pairs.flatten(1))
        return rows.view(self.out_features, *pairs.shape[1:])


class AtDepths(nn.Module):
    """Wrap a network that can be read at several depths as a readout of some of them; weights are shared.

    Parameters
    ----------
    network
        Has a method ``pooled_by_depth``.
    depths
        The depths to read, from 1; what is read is concatenated.
    """

    def __init__(self, network: nn.Module, depths: tuple[int, ...]) -> None:
        super().__init__()
        self.network = network
        self.depths = depths

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, codes: Tensor | None, size: int
    ) -> Tensor:
        """Return one row per subgraph."""
        rows = self.network.pooled_by_depth(x, edge_index, batch, codes, size, max(self.depths))  # type: ignore[operator]
        return torch.cat([part for depth, part in enumerate(rows, start=1) if depth in self.depths], dim=1)


# ---------------------------------------------------------------------- the choice of a network

NetworkReadout: TypeAlias = "str | nn.Module | Callable[..., nn.Module]"

_BUILT_IN: dict[str, type[nn.Module]] = {
    "gin": GIN,
    "gcn": GCNReadout,
    "gat": GATReadout,
    "ppgn": PPGNReadout,
    "deepsets": DeepSetsReadout,
}
READOUTS = tuple(_BUILT_IN)


def _network(value: object) -> object:
    if not callable(value):
        raise TypeError
    return value


READOUT = (
    one_of(*READOUTS),
    Constraint("a torch.nn.Module, or a class or function that makes one", _network),
)


def build_readout(readout: NetworkReadout, arguments: Fields) -> nn.Module:
    """Return the network that a name, a module, a class or a function stands for.

    Parameters
    ----------
    readout
        One of `READOUTS`, a module, of which a copy is returned, or what makes one.
    arguments
        What a class or function gets if its parameters name it: ``n_features``, ``hidden``, ``layers``,
        ``hops`` and ``n_codes``.
    """
    if isinstance(readout, nn.Module):
        return copy.deepcopy(readout)
    make = _BUILT_IN[readout] if isinstance(readout, str) else readout
    what = f"the readout {getattr(make, '__qualname__', type(make).__name__)}"
    made = make(**named_arguments(what, make, arguments))
    if not isinstance(made, nn.Module):
        raise TwinWLError(f"{what} made {shown(made)}, expected a torch.nn.Module")
    return made


def kind_of(readout: NetworkReadout, arguments: Fields) -> Any:  # noqa: ANN401
    """Return the class of a network.

    It tells whether the network is bounded by 1-WL and whether it needs memory for pairs.
    """
    make = _BUILT_IN[readout] if isinstance(readout, str) else readout
    if isinstance(make, type):
        return make
    with seeded(0):  # leave torch's own generator alone
        return type(build_readout(make, arguments))


def checked_width(readout: nn.Module, n_features: int, n_codes: int) -> int:
    """Return the width of a readout, found out with two copies of a small rooted subgraph.

    Raises
    ------
    TwinWLError
        If the copies, which differ in the order of their nodes and messages, get different rows: isomorphic
        graphs would get different predictions. One that draws random numbers is not refused.
    """
    like = next((value for value in readout.parameters() if value.is_floating_point()), torch.empty(0))
    # A path of four nodes, rooted at its second one, and a copy with another order of nodes.
    x = torch.rand(4, n_features, generator=torch.Generator().manual_seed(0)).to(like)
    place = torch.tensor([2, 0, 3, 1])  # of each node in the copy
    order, arcs = place.argsort(), torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    codes = torch.arange(6) // 2 % max(1, n_codes)
    distance = torch.tensor([1, 0, 1, 2])
    copies = SubgraphBatch(
        torch.cat([x, x[order]]),
        torch.cat([arcs, 4 + place[arcs].flip(1)], dim=1),
        torch.tensor([0] * 4 + [1] * 4),
        torch.cat([codes, codes.flip(0)]) if n_codes else None,
        torch.tensor([1, 4]),  # node 1, and its copy 4 + place[1]
        torch.cat([distance, distance[order]]),
        2,
    )
    was_training = readout.training
    with torch.no_grad():
        rows = read_out(readout.eval(), copies)
        # Sums in another order differ by rounding.
        tolerance = torch.finfo(rows.dtype).eps ** 0.5 * float(rows.abs().max())
        same = torch.allclose(rows[0], rows[1], rtol=0.0, atol=tolerance)
        if not same and torch.equal(rows, read_out(readout, copies)):
            one, other = rows.tolist()
            raise TwinWLError(
                f"the readout {type(readout).__name__} returned {shown(one)} and {shown(other)} for two "
                "copies of a rooted subgraph that differ only in the order of their nodes, on which a "
                "readout must not depend; combine nodes by a sum, mean or maximum over batch"
            )
    readout.train(was_training)
    return rows.shape[1]
