"""The network inside the rooted subgraphs: its names, and how a user's own is made and described.

Readouts whose power is that of 1-WL, which therefore run on the colour quotient: GCN, GAT, your own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from twinwl.arguments import Constraint, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.neural.devices import as_tensor
from twinwl.neural.distinct_subgraphs import SubgraphBatch, guarded_rows, named_arguments, read_out
from twinwl.neural.ppgn import PPGNReadout
from twinwl.neural.rows import pool

if TYPE_CHECKING:
    from twinwl.neural.slicing import LayerSlice, QuotientSlice

_HEADS = 4


class _Heard(NamedTuple):
    """The messages of a step, as `BoundedReadout.step` takes them."""

    own: torch.Tensor
    sender: torch.Tensor
    receiver: torch.Tensor
    codes: torch.Tensor | None


class BoundedReadout(torch.nn.Module):
    """Base of the networks of message passing that declare themselves bounded by 1-WL.

    A subclass implements `step`, which computes the next state of a row from its own previous state and the
    *multiset* of those it hears. The states of one colour are then equal, so that a step is computed once per
    colour (the quotient) instead of once per node of each rooted subgraph. The readout of depth k is the
    state after ``steps_before + k`` steps, summed over the nodes of the rooted subgraph; in layer k of
    NTwin-GNN it is read at depth k.

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
        self,
        number: int,
        x: torch.Tensor,
        own: torch.Tensor,
        sender: torch.Tensor,
        receiver: torch.Tensor,
        codes: torch.Tensor | None,
    ) -> torch.Tensor:
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

    def read(self, state: torch.Tensor) -> torch.Tensor:
        """Return the columns of a state that are summed; by default all of them."""
        return state

    def pooled_by_depth(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None,
        size: int,
        depth: int,
    ) -> Iterator[torch.Tensor]:
        """Yield the readouts of depths 1 to ``depth``, each of shape (n_subgraphs, width)."""
        heard = _Heard(torch.arange(len(x), device=x.device), edge_index[0], edge_index[1], codes)
        for number in range(self.steps_before + depth):
            x = self._guarded_step(number, x, heard)
            if number >= self.steps_before:
                states = self._guarded_read(x)
                yield states.new_zeros(size, states.shape[1]).index_add(0, batch, states)

    def pooled_states(self, graphs: QuotientSlice, n_labels: int, n_marks: int) -> list[torch.Tensor]:
        """Return ``R_1, …, R_K`` for a mini-batch of the quotient, each of shape (n_graphs, width).

        ``n_labels`` counts one-hot labels and continuous features.
        """
        like = next(self.parameters(), torch.empty(0))
        if graphs.features is None:
            x = _one_hot(graphs.label, n_labels, like)
        else:
            features = as_tensor(graphs.features, like.device).to(like.dtype)
            x = torch.cat([_one_hot(graphs.label, n_labels - features.shape[1], like), features], dim=1)
        if n_marks > 1:
            x = torch.cat([x, _one_hot(graphs.mark, n_marks, like)], dim=1)
        sums: list[torch.Tensor] = []
        for number, rows in enumerate(graphs.layers):
            x = self._guarded_step(number, x, _heard(rows, np.asarray(graphs.codes), x.device))
            if number >= self.steps_before:
                total = pool(self._guarded_read(x), rows.pool_ptr, rows.pooled, rows.counts)
                if graphs.scale is not None:
                    total = total * as_tensor(graphs.scale, total.device).to(total.dtype)[:, None]
                sums.append(total)
        return sums

    def _guarded_step(self, number: int, x: torch.Tensor, heard: _Heard) -> torch.Tensor:
        return guarded_rows(
            type(self).__name__,
            lambda: self.step(number, x, *heard),
            {"x": x, **heard._asdict()},
            len(heard.own),
            "state",
            x.device,
        )

    def _guarded_read(self, state: torch.Tensor) -> torch.Tensor:
        name = type(self).__name__
        return guarded_rows(
            name, lambda: self.read(state), {"state": state}, len(state), "state", state.device
        )


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
        self,
        number: int,
        x: torch.Tensor,
        own: torch.Tensor,
        sender: torch.Tensor,
        receiver: torch.Tensor,
        codes: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return the next states, with the degree (self-loop included) as last column."""
        if number == 0:
            degree = x.new_ones(len(own)).index_add(0, receiver, x.new_ones(len(receiver)))
            return torch.cat([x[own], degree[:, None]], dim=1)
        layer, root = self.linear[number - 1], x[:, -1:].sqrt()
        said = functional.linear(x[:, :-1], layer.weight)  # type: ignore[arg-type]
        heard = (said[sender] + _coded(self.edge, number - 1, layer, codes, said)) / root[sender]
        total = (said / root)[own].index_add(0, receiver, heard)
        states = (total / root[own] + layer.bias).relu()  # type: ignore[operator]
        return torch.cat([states, x[own, -1:]], dim=1)

    def read(self, state: torch.Tensor) -> torch.Tensor:
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
        self.attention = torch.nn.Parameter(torch.empty(shape))
        torch.nn.init.xavier_uniform_(self.attention)

    def step(
        self,
        number: int,
        x: torch.Tensor,
        own: torch.Tensor,
        sender: torch.Tensor,
        receiver: torch.Tensor,
        codes: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return the weighted means of what each row hears, itself included."""
        layer = self.linear[number]
        said = functional.linear(x, layer.weight)  # type: ignore[arg-type]
        heard = said[sender] + _coded(self.edge, number, layer, codes, said)
        heard = torch.cat([said[own], heard]).view(-1, self.heads, said.shape[1] // self.heads)
        receiver = torch.cat([torch.arange(len(own), device=own.device), receiver])
        of_sender, of_receiver = self.attention[number]
        mine = (heard[: len(own)] * of_receiver).sum(dim=2)
        scores = functional.leaky_relu((heard * of_sender).sum(dim=2) + mine[receiver], 0.2)
        index = receiver[:, None].expand_as(scores)
        highest = scores.new_zeros(len(own), self.heads).scatter_reduce(
            0, index, scores.detach(), "amax", include_self=False
        )
        weights = (scores - highest[receiver]).exp()
        shares = weights / weights.new_zeros(len(own), self.heads).index_add(0, receiver, weights)[receiver]
        weighted = (shares[:, :, None] * heard).flatten(1)
        total = weighted.new_zeros(len(own), weighted.shape[1]).index_add(0, receiver, weighted)
        return functional.elu(total + layer.bias)  # type: ignore[operator]


def _stack(
    n_features: int, hidden: int, layers: int, n_codes: int
) -> tuple[torch.nn.ModuleList, torch.nn.ModuleList | None]:
    widths = [n_features] + [hidden] * (layers - 1)
    linear = torch.nn.ModuleList(torch.nn.Linear(width, hidden) for width in widths)
    edge = torch.nn.ModuleList(torch.nn.Embedding(n_codes, width) for width in widths) if n_codes else None
    return linear, edge


def _coded(
    edge: torch.nn.ModuleList | None,
    number: int,
    layer: torch.nn.Module,
    codes: torch.Tensor | None,
    like: torch.Tensor,
) -> torch.Tensor:
    """Return what a message's kind adds to it after the layer's weight; nothing if it is unknown."""
    if edge is None or codes is None:
        return like.new_zeros(())
    table = functional.linear(edge[number].weight, layer.weight)  # type: ignore[arg-type]
    return table[codes.clamp(min=0)] * (codes >= 0)[:, None]


def _one_hot(numbers: np.ndarray, width: int, like: torch.Tensor) -> torch.Tensor:
    """Return one-hot rows; a number of -1 is a row of zeros."""
    places = torch.as_tensor(numbers).to(like.device)
    if not width:
        return like.new_zeros(len(places), 0)
    known = (places >= 0).to(like.dtype)
    return like.new_zeros(len(places), width).scatter(1, places.clamp(min=0)[:, None], known[:, None])


def _heard(rows: LayerSlice, codes: np.ndarray, device: torch.device) -> _Heard:
    """Return the messages of a layer of the quotient."""
    start, heard = np.asarray(rows.hear_ptr), np.asarray(rows.heard).astype(np.int64)
    n_heard = np.diff(start) - 1
    if len(codes):
        n_heard //= 2  # each message has two entries: the row, and later the code
    receiver = np.repeat(np.arange(len(n_heard)), n_heard)
    before = np.concatenate([[0], np.cumsum(n_heard)])[:-1]
    place = np.arange(len(receiver)) - before[receiver] + start[:-1][receiver] + 1
    kinds = codes[heard[place + n_heard[receiver]] - rows.n_below] if len(codes) else None
    return _Heard(
        torch.from_numpy(heard[start[:-1]]).to(device),
        torch.from_numpy(heard[place]).to(device),
        torch.from_numpy(receiver).to(device),
        None if kinds is None else torch.from_numpy(kinds).to(device),
    )


NetworkReadout: TypeAlias = "str | torch.nn.Module | Callable[..., torch.nn.Module]"


class DeepSetsReadout(torch.nn.Module):
    """Deep sets (Zaheer et al., 2017): a network of the sum, over the nodes, of a network of each node.

    It does not see edges, so that rooted subgraphs with the same nodes are computed once.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden
        Width of all layers and of the readout.
    """

    sees_edges = False

    def __init__(self, n_features: int, hidden: int) -> None:
        super().__init__()
        self.of_node = _perceptron(n_features, hidden)
        self.of_sum = _perceptron(hidden, hidden)

    def forward(self, x: torch.Tensor, batch: torch.Tensor, size: int) -> torch.Tensor:
        """Return one row per subgraph, shape (size, hidden)."""
        states = self.of_node(x)
        rows: torch.Tensor = self.of_sum(states.new_zeros(size, states.shape[1]).index_add(0, batch, states))
        return rows


def _perceptron(n_inputs: int, hidden: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden)
    )


_BUILT_IN: dict[str, type[torch.nn.Module]] = {
    "gcn": GCNReadout,
    "gat": GATReadout,
    "ppgn": PPGNReadout,
    "deepsets": DeepSetsReadout,
}
READOUTS = ("gin", *_BUILT_IN)


def _network(value: object) -> object:
    if not isinstance(value, torch.nn.Module) and not callable(value):
        raise TypeError
    return value


READOUT = (
    one_of(*READOUTS),
    Constraint("a torch.nn.Module, or a class or function that makes one", _network),
)


class AtDepths(torch.nn.Module):
    """A network that can be read at several depths, as readout at some of them; weights are shared.

    Parameters
    ----------
    network
        Has a method ``pooled_by_depth``.
    depths
        The depths to read, from 1; what is read is concatenated.
    """

    def __init__(self, network: torch.nn.Module, depths: tuple[int, ...]) -> None:
        super().__init__()
        self.network = network
        self.depths = depths

    def forward(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None,
        size: int,
    ) -> torch.Tensor:
        """Return one row per subgraph."""
        rows = self.network.pooled_by_depth(x, edge_index, batch, codes, size, max(self.depths))  # type: ignore[operator]
        return torch.cat([part for depth, part in enumerate(rows, start=1) if depth in self.depths], dim=1)


def build_readout(readout: NetworkReadout, arguments: dict[str, Any]) -> torch.nn.Module:
    """Return the network that a name, a module, a class or a function stands for.

    Parameters
    ----------
    readout
        One of `READOUTS` but ``"gin"``, a module, of which a copy is returned, or what makes one.
    arguments
        What a class or function gets if its parameters name it: ``n_features``, ``hidden``, ``layers``,
        ``hops`` and ``n_codes``.
    """
    if isinstance(readout, str):
        kind = _BUILT_IN[readout]
        return kind(**named_arguments(readout, kind, arguments))
    if isinstance(readout, torch.nn.Module):
        try:
            return copy.deepcopy(readout)
        except Exception as error:  # whatever a foreign module raises
            raise TwinWLError(f"readout: the module cannot be copied ({error})") from error
    what = f"the readout {_name(readout)}"
    given = named_arguments(what, readout, arguments)
    try:
        made = readout(**given)
    except TwinWLError:
        raise
    except Exception as error:  # whatever a foreign function raises
        raise TwinWLError(
            f"{what} failed when it was called with {', '.join(given) or 'nothing'} "
            f"({type(error).__name__}: {error})"
        ) from error
    if not isinstance(made, torch.nn.Module):
        raise TwinWLError(f"{what} made {shown(made)}, expected a torch.nn.Module")
    return made


def sees_edges(readout: torch.nn.Module) -> bool:
    """Whether a readout looks at edges; one that does not may say so: ``sees_edges = False``."""
    return getattr(readout, "sees_edges", True) is not False


def sees_pairs(readout: torch.nn.Module) -> bool:
    """Whether a readout has a state for each pair of nodes; it may say so: ``sees_pairs = True``."""
    return getattr(readout, "sees_pairs", False) is True


def width_of(readout: torch.nn.Module, n_features: int, n_codes: int) -> int:
    """Return the width of a readout, found out with two copies of a small rooted subgraph.

    Raises
    ------
    TwinWLError
        If the copies, which differ in the order of their nodes and messages, get different rows: isomorphic
        graphs would get different predictions. One that draws random numbers is not refused.
    """
    probe = _two_copies(readout, n_features, n_codes)
    was_training = readout.training
    with torch.no_grad():
        rows = read_out(readout.eval(), probe)
        # Sums in another order differ by rounding.
        close = {"rtol": 0.0, "atol": torch.finfo(rows.dtype).eps ** 0.5 * float(rows.abs().max())}
        if not torch.allclose(rows[0], rows[1], **close) and torch.equal(rows, read_out(readout, probe)):
            name, worst = type(readout).__name__, int((rows[0] - rows[1]).abs().argmax())
            one, other = rows[:, worst].tolist()
            raise TwinWLError(
                f"the readout {name} returned {one:.6g} and {other:.6g} in column {worst} for two copies of "
                "a rooted subgraph that differ only in the order of their nodes, on which a readout must not "
                "depend; combine nodes by a sum, mean or maximum over batch"
            )
    readout.train(was_training)
    return rows.shape[1]


def _two_copies(readout: torch.nn.Module, n_features: int, n_codes: int) -> SubgraphBatch:
    """Return a path of four nodes, rooted at its second one, and a copy with another order of nodes."""
    like = next((value for value in readout.parameters() if value.is_floating_point()), torch.empty(0))
    x = torch.rand(4, n_features, generator=torch.Generator().manual_seed(0)).to(like)
    place = torch.tensor([2, 0, 3, 1])  # of each node in the copy
    order, arcs = place.argsort(), torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    codes = torch.tensor([0, 0, 1, 1, 2, 2]) % max(1, n_codes)
    distance = torch.tensor([1, 0, 1, 2])
    return SubgraphBatch(
        torch.cat([x, x[order]]),
        torch.cat([arcs, 4 + place[arcs].flip(1)], dim=1).to(like.device),
        torch.tensor([0] * 4 + [1] * 4, device=like.device),
        torch.cat([codes, codes.flip(0)]).to(like.device) if n_codes else None,
        torch.tensor([1, 4], device=like.device),
        torch.cat([distance, distance[order]]).to(like.device),
        2,
    )


def _name(readout: object) -> str:
    try:
        return str(readout.__qualname__)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  (a foreign object may raise anything)
        return type(readout).__name__
