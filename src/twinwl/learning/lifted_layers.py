"""Message passing layers of PyG on tensors with one row per colour (`lifted_tensors`).

A layer computes the next level: each row hears the rows of its neighbours' colours, once per arc.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch

from twinwl.errors import TwinWLError
from twinwl.graphs.selection import pointer
from twinwl.learning.lifted_tensors import ColourRows, EdgeRows
from twinwl.learning.pooling import expanded, pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twinwl.arrays import Float64, Int64
    from twinwl.learning.lifted_tensors import NodeRows

__all__ = ["LiftedArcs", "with_lifted_layers"]


class LiftedArcs:
    """Takes the place of ``edge_index``; layers in `with_lifted_layers` know what to do with it.

    Parameters
    ----------
    nodes
        The nodes of the mini-batch.
    kind_of_arc : array of int64, shape (n_messages,)
        Layers may pass different messages, such as those with self-loops; each layer takes its kind.
    kind_of_layer : function
        Returns the kind of a layer, from it and the edge weights that it was given.
    weight_of_arc : array of float64, shape (n_messages,), or None
        Factor of each message, where layers are not given any.
    edge_of_arc : array of int64, shape (n_messages,)
        Row of each message in the table of edge attributes.
    """

    def __init__(
        self,
        nodes: NodeRows,
        kind_of_arc: Int64 | None = None,
        kind_of_layer: Callable[[object, object], int] = lambda _layer, _weight: 0,
        weight_of_arc: Float64 | None = None,
        edge_of_arc: Int64 | None = None,
    ) -> None:
        self.nodes = nodes
        self.kind_of_layer = kind_of_layer
        self.weight_of_arc = weight_of_arc
        self.edge_of_arc = edge_of_arc
        self._kind_of_arc = kind_of_arc
        self._taken: dict[tuple[int, int], tuple[Int64, Int64, Int64]] = {}

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TwinWLError(f"the model looks into edge_index (.{name}), which lifted does not support")

    def __getitem__(self, item: object) -> NoReturn:
        raise TwinWLError("the model looks into edge_index, which lifted does not support")

    def messages(self, level: int, kind: int) -> tuple[Int64, Int64, Int64]:
        """Return the messages that the rows of a level receive, in CSR form: pointer, senders, numbers."""
        if (level, kind) not in self._taken:
            found = self.nodes.levels.level(level)
            ptr, senders, arcs = found.ptr, found.senders, self.nodes.levels.arcs(level)
            if self._kind_of_arc is not None:
                mine = self._kind_of_arc[arcs] == kind
                row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))[mine]
                ptr, senders, arcs = (
                    pointer(np.bincount(row, minlength=len(ptr) - 1)),
                    senders[mine],
                    arcs[mine],
                )
            self._taken[level, kind] = ptr, senders, arcs
        return self._taken[level, kind]


@contextmanager
def with_lifted_layers(module: torch.nn.Module) -> Iterator[None]:
    """Let the message passing layers of PyG inside a module understand `LiftedArcs` within the block."""
    layers = [layer for layer in module.modules() if callable(getattr(layer, "propagate", None))]
    before = [vars(layer).get("propagate") for layer in layers]
    try:
        for layer in layers:
            vars(layer)["propagate"] = partial(_propagated, layer, layer.propagate)  # type: ignore[arg-type]
        yield
    finally:
        for layer, own in zip(layers, before, strict=True):
            if own is None:
                vars(layer).pop("propagate", None)
            else:
                vars(layer)["propagate"] = own


def _propagated(
    layer: Any,  # noqa: ANN401  (PyG is not typed)
    plain: Callable[..., torch.Tensor],
    arcs: object,
    size: object = None,
    **inputs: Any,  # noqa: ANN401
) -> torch.Tensor:
    if not isinstance(arcs, LiftedArcs):
        return plain(arcs, size=size, **inputs)
    states = inputs["x"]
    below, own = states if isinstance(states, tuple) else (states, None)
    level = below.level + 1
    further = {name: value for name, value in inputs.items() if name != "x" and value is not None}
    kind = arcs.kind_of_layer(layer, further.get("edge_weight"))
    ptr, senders, numbers = arcs.messages(level, kind)
    weights = None
    if kind and arcs.weight_of_arc is not None:
        weights = arcs.weight_of_arc[numbers]
        further.pop("edge_weight", None)
    if not further and layer.aggr in ("add", "sum", "mean") and _sends_states(layer):
        factors = np.ones(len(senders)) if weights is None else weights
        if layer.aggr == "mean":
            factors = factors / np.repeat(np.diff(ptr), np.diff(ptr))
        return ColourRows.of(pool(below.plain, ptr, senders, factors), arcs.nodes, level)
    rows = below.plain
    device, n_rows = rows.device, len(ptr) - 1
    if weights is not None:
        further["edge_weight"] = torch.from_numpy(weights).to(device, rows.dtype)
    elif further:
        edges = torch.from_numpy(arcs.edge_of_arc[numbers]).to(device)  # type: ignore[index]
        further = {name: _table(value)[edges] for name, value in further.items()}
    further |= {name: None for name in inputs if name != "x" and name not in further}
    target = None if own is None else arcs.nodes.raised(own.plain, own.level, level)
    edge_index = torch.stack([torch.from_numpy(senders).to(device), expanded(ptr, device)])
    out = plain(edge_index, x=(rows, target), size=(len(rows), n_rows), **further)
    return ColourRows.of(out, arcs.nodes, level)


def _sends_states(layer: object) -> bool:
    """Whether a layer of PyG sends each neighbour's state as it is, times a weight where there is one."""
    kind = type(layer)
    return kind.__module__.startswith("torch_geometric.nn.conv.") and kind.__name__ in (
        "GINConv",
        "SAGEConv",
        "GraphConv",
        "GCNConv",
    )


def _table(value: object) -> torch.Tensor:
    if isinstance(value, ColourRows) and isinstance(value.space, EdgeRows):
        return value.plain
    raise TwinWLError("a layer is given edge attributes that are not those of the data, or functions of them")
