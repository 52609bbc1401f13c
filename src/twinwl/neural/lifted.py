"""Exact training of a message passing network of PyG on the distinct colours of a data set.

After k layers the state of a node depends only on its colour after k rounds of 1-WL, so layer k computes one
row per colour, and each row receives the messages of any one of its nodes. The model's own ``forward`` is
called with rows in place of nodes. During the call, the ``forward`` of its message passing layers is replaced
by methods of `_Run`, which read the rows of the layer below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from twinwl.arguments import checked, one_of, pointer
from twinwl.arrays import Int64
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.neural import rows
from twinwl.neural.encoder import normalise
from twinwl.neural.rows import aggregate, as_tensor, distinct_rows, gather, pool, row_of_entry
from twinwl.neural.training import own_device

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

# The layers that are supported, and the attribute of edges that each of them reads.
_LAYERS = {
    "GCNConv": "edge_weight",
    "GraphConv": "edge_weight",
    "GINEConv": "edge_attr",
    "GINConv": None,
    "SAGEConv": None,
}
_AGGREGATIONS = ("add", "sum", "mean", "max", "min")


class LiftedModel(nn.Module):
    """A model of PyG that is run on the distinct colours of a data set; `twinwl.pyg.lifted` makes one.

    Its weights are those of ``model``, so an optimiser of either trains both.

    Attributes
    ----------
    model : torch.nn.Module
        The model that was given.
    pool : {"sum", "mean"} or None
    """

    def __init__(self, dataset: Iterable[Data], model: nn.Module, pool: str | None = None) -> None:
        super().__init__()
        self.layers = _checked_layers(model)
        self.model = model
        self.pool = None if pool is None else checked("pool", pool, one_of("sum", "mean"))
        batch = _batch_of(dataset)
        # ``_edge_values`` is what layers read of each message, sorted by receiver below.
        edges, self._edge_values = _messages(batch, self.layers[0])
        order = np.argsort(edges[1], kind="stable")
        arcs = (pointer(np.bincount(edges[1], minlength=len(batch.x))), edges[0][order])
        codes = None
        if self._edge_values is not None:
            self._edge_values = self._edge_values[torch.from_numpy(order)]
            codes = distinct_rows(self._edge_values.numpy().reshape(len(order), -1))[0]
        self._x, ptr = batch.x, batch.ptr.numpy()
        self._levels = rows.ColourLevels()
        self._levels.add(ptr, distinct_rows(batch.x.numpy().reshape(len(batch.x), -1))[0])
        for level in range(len(self.layers)):
            self._levels.add(ptr, own=(level, None), messages=(level, *arcs), codes=codes)
        # The levels of all graphs are kept: full-batch training uses them in each step.
        self._whole = self._levels.take(np.arange(len(self)))

    def __len__(self) -> int:
        return len(self._levels)

    def extra_repr(self) -> str:
        """Describe the data."""
        return f"{len(self)} graphs, {len(self._x)} nodes"

    def n_colours(self, depth: int) -> int:
        """Return the number of rows of layer ``depth``.

        They are the distinct inputs for depth 0, else the colours of round ``depth``.
        """
        return self._levels.n_colours(depth)

    def forward(self, rows: Sequence[int] | NDArray[np.integer] | Tensor | None = None) -> Tensor:
        """Return the pooled states of these graphs, in this order, or one state per node; None means all."""
        if any(part.training and _has_dropout(part) for part in self.model.modules()):
            raise TwinWLError(
                "model: dropout tells nodes of one colour apart; set it to 0, or apply it after the pooling"
            )
        levels = self._whole if rows is None else self._levels.take(self._checked_rows(rows))
        x = self._x[torch.from_numpy(levels.level(0).item_of_row)].to(own_device(self.model))
        run = _Run(levels, self._edge_values)
        with run.in_place_of_layers(self.model, self.layers):
            # Models of PyG take edges too, which the replaced layers ignore.
            states = self.model(x, None) if hasattr(self.model, "convs") else self.model(x)
        last = len(self.layers)
        if self.pool is None:
            return gather(states, levels.level(last).row_of_item)
        total = pool(states, *levels.pooled(last))
        if self.pool == "sum":
            return total
        return total / as_tensor(np.maximum(np.diff(levels.item_ptr(0)), 1), total.device)[:, None]

    def _checked_rows(self, rows: object) -> Int64:
        places = rows.detach().cpu().numpy() if isinstance(rows, Tensor) else np.asarray(rows)
        is_integer = places.ndim == 1 and (places.dtype.kind in "iu" or not places.size)
        if not is_integer or not ((places >= 0) & (places < len(self))).all():
            raise TwinWLError(
                f"rows: got {shown(rows)}, expected numbers of graphs from 0 to {len(self) - 1}, or None"
            )
        return places.astype(np.int64)


class _Run:
    """One call of a model on rows; ``depth`` counts the layers that have been called."""

    def __init__(self, levels: rows.BatchLevels, edge: Tensor | None) -> None:
        self.levels, self.edge, self.depth = levels, edge, 0

    @contextmanager
    def in_place_of_layers(self, model: Any, layers: list[Any]) -> Iterator[None]:  # noqa: ANN401
        """Replace layers, batch normalisation in training and jumping knowledge within the block."""
        norms = [part for part in model.modules() if isinstance(part, nn.BatchNorm1d) and part.training]
        replacements: list[tuple[nn.Module, Callable[..., Tensor]]] = [
            *((conv, partial(self._pass_messages, conv)) for conv in layers),
            *((norm, partial(self._normalise, norm)) for norm in norms),
        ]
        if hasattr(model, "jk"):
            replacements.append((model.jk, partial(self._jump, model.jk)))
        try:
            for part, forward in replacements:
                part.forward = forward
            yield
        finally:
            for part, _ in replacements:
                vars(part).pop("forward", None)

    def _pass_messages(self, conv: Any, x: Tensor, *_: object, **__: object) -> Tensor:  # noqa: ANN401
        """Return the rows of the next level from those of this one."""
        self.depth += 1
        level, edge, kind = self.levels.level(self.depth), self.edge, type(conv).__name__
        edge = None if edge is None else edge[torch.from_numpy(self.levels.arcs(self.depth))]
        if kind == "GCNConv":
            # Its loops and normalised weights are among the messages already, so there is no own row to add.
            weights = np.ones(len(level.senders)) if edge is None else edge.numpy()
            rows = pool(conv.lin(x), level.ptr, level.senders, weights)
            return rows if conv.bias is None else rows + conv.bias
        own = gather(x, level.own)
        if kind == "GINConv" and conv.aggr in ("add", "sum"):
            rows = conv.nn(aggregate(x, level.ptr, level.senders) + (1 + conv.eps) * own)
        else:  # PyG's own layer on a bipartite graph: from the rows below to those of this level
            index = torch.stack([as_tensor(level.senders, x.device), row_of_entry(level.ptr, x.device)])
            options = {} if edge is None else {str(_LAYERS[kind]): edge.to(x.device, x.dtype)}
            rows = type(conv).forward(conv, (x, own), index, **options, size=(len(x), len(own)))
        return cast("Tensor", rows)

    def _jump(self, jk: Any, states: list[Tensor]) -> Tensor:  # noqa: ANN401
        """Bring the states of all layers to the rows of the last level, level by level, and combine them."""
        for place in range(1, len(states)):
            own = self.levels.level(place + 1).own
            states[:place] = [gather(rows, own) for rows in states[:place]]
        return cast("Tensor", type(jk).forward(jk, states))

    def _normalise(self, norm: nn.BatchNorm1d, x: Tensor) -> Tensor:
        """Return the rows after batch normalisation that counts each row as often as it occurs."""
        return normalise(norm, x, self.levels.level(self.depth).counts)


def _checked_layers(model: nn.Module) -> list[Any]:
    """Return the message passing layers; refuse models that are not known to be exact on rows."""
    geometric = import_extra("torch_geometric.nn", "baselines")
    known = isinstance(model, geometric.models.basic_gnn.BasicGNN | nn.Sequential)
    layers = [
        part for part in (model.modules() if known else ()) if isinstance(part, geometric.MessagePassing)
    ]
    if not layers:
        raise TwinWLError(
            f"model: got {shown(type(model))}, expected a GCN, GIN or GraphSAGE of torch_geometric.nn, or "
            f"a torch.nn.Sequential of layers ({', '.join(_LAYERS)}) and functions of single nodes. Apply "
            "what follows the pooling to the result of lifted(dataset, model, pool='sum')"
        )
    for layer in layers:
        if type(layer) not in [getattr(geometric, name) for name in _LAYERS]:
            raise TwinWLError(
                f"model: got a layer {type(layer).__name__}; lifted supports {', '.join(_LAYERS)}"
            )
        if layer.aggr not in _AGGREGATIONS or layer.flow != "source_to_target":
            raise TwinWLError(
                f"model: got {type(layer).__name__} with aggr={shown(layer.aggr)}, flow={layer.flow!r}; "
                f"lifted supports {', '.join(_AGGREGATIONS)} along source_to_target"
            )
    if len({_message_inputs(layer) for layer in layers}) > 1:
        raise TwinWLError(
            "model: its layers read edges in different ways; use layers of one kind and setting"
        )
    for part in model.modules():
        mixes = type(part).__module__.startswith("torch_geometric.nn.norm") and not hasattr(part, "module")
        if mixes and getattr(part, "mode", "graph") != "node":
            raise TwinWLError(
                f"model: {type(part).__name__} mixes the nodes of a graph; lifted supports BatchNorm and "
                "LayerNorm(mode='node')"
            )
    return layers


def _has_dropout(part: nn.Module) -> bool:
    """Return whether a module has dropout."""
    share = part.p if isinstance(part, nn.Dropout) else getattr(part, "dropout", 0.0)
    return bool(np.any(share)) if isinstance(share, float | list) else False  # PyG's MLP has a list


def _message_inputs(layer: Any) -> tuple[object, ...]:  # noqa: ANN401
    """Return what the messages of a layer depend on besides states."""
    kind = type(layer).__name__
    if kind == "GCNConv":
        return kind, layer.normalize, layer.improved, layer.add_self_loops
    return (_LAYERS[kind],)


def _batch_of(dataset: Iterable[Data]) -> Batch:
    """Join the graphs."""
    data = import_extra("torch_geometric.data", "baselines")
    graphs = list(dataset) if isinstance(dataset, Iterable) else []
    if not graphs or not all(isinstance(graph, data.Data) for graph in graphs):
        raise TwinWLError(f"dataset: got {shown(dataset)}, expected Data objects of PyG, at least one")
    for number, graph in enumerate(graphs):
        if graph.x is None or graph.edge_index is None:
            raise TwinWLError(f"dataset: graph {number} has no x or no edge_index; add them")
    names = [name for name in ("x", "edge_index", "edge_attr", "edge_weight") if name in graphs[0]]
    plain = [data.Data(**{name: graph.get(name) for name in names}) for graph in graphs]
    try:
        return data.Batch.from_data_list(plain).cpu()
    except (KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise TwinWLError(f"dataset: the graphs cannot be joined to one batch: {error}") from None


def _messages(batch: Batch, layer: Any) -> tuple[Int64, Tensor | None]:  # noqa: ANN401
    """Return senders and receivers, and what layers read of each message."""
    name = _LAYERS[type(layer).__name__]
    edge = None if name is None else batch.get(name)
    index = batch.edge_index
    if type(layer).__name__ == "GCNConv" and layer.normalize:
        # Weights depend on the degrees of both ends. As codes of messages they become part of the colours.
        index, edge = import_extra("torch_geometric.nn.conv.gcn_conv", "baselines").gcn_norm(
            index,
            None if edge is None else edge.double(),
            len(batch.x),
            layer.improved,
            layer.add_self_loops,
            "source_to_target",
            torch.float64,
        )
    return index.numpy(), None if edge is None else edge.detach()
