"""Exact training of a message passing network of PyG on the distinct colours of a data set."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from twinwl.arguments import is_a
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.graphs.selection import pointer
from twinwl.learning.colour_levels import MessageLevels, distinct_rows
from twinwl.learning.lifted_layers import LiftedArcs, with_lifted_layers
from twinwl.learning.lifted_tensors import ColourRows, EdgeRows, NodeIndex, NodeRows, on_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from twinwl.arrays import Float64, Int32, Int64

__all__ = ["LiftedModel"]

_LAYERS = ("GINConv", "GINEConv", "SAGEConv", "GraphConv", "GCNConv")
_AGGREGATIONS = ("add", "sum", "mean", "max", "min")
_BY_NAME = ("x", "edge_index", "edge_attr", "edge_weight", "batch", "batch_size")


class LiftedModel(torch.nn.Module):
    """A model of PyG that is run on the distinct colours of a data set; `lifted` makes one.

    Its weights are those of ``model``, so an optimiser of either trains both.

    Attributes
    ----------
    model : torch.nn.Module
        The model that was given.
    """

    def __init__(self, dataset: Iterable[Data], model: torch.nn.Module) -> None:
        super().__init__()
        if not is_a(model, torch.nn.Module):
            raise TwinWLError(f"model: got {shown(model)}, expected a torch.nn.Module")
        self.model = model
        layers = _checked_layers(model)
        self._takes_data = _takes_data(model)
        graphs = _joined(dataset)
        self._x, self._edge_attr, self._edge_weight = graphs.x, graphs.edge_attr, graphs.edge_weight
        self._edge_values = _distinct([graphs.edge_attr, graphs.edge_weight], graphs.edge_index.shape[1])
        arcs = _messages(graphs, layers, self._edge_values[0])
        self._arcs = arcs
        self._levels = MessageLevels(
            graphs.ptr, arcs.indptr, arcs.senders, arcs.codes, _distinct([graphs.x], graphs.n_nodes)[0]
        )
        self._whole: NodeRows | None = None

    def __len__(self) -> int:
        return len(self._levels)

    def extra_repr(self) -> str:
        """Say how many graphs there are."""
        return f"{len(self)} graphs, {self._levels.n_nodes} nodes"

    def n_colours(self, depth: int) -> int:
        """Return the number of rows of layer ``depth``: distinct inputs for 0, colours of the round above."""
        return self._levels.n_colours(depth)

    def forward(self, rows: Sequence[int] | NDArray[np.integer] | torch.Tensor | None = None) -> Any:  # noqa: ANN401
        """Return what the model returns for a batch of these graphs, in this order; None stands for all."""
        nodes = self._nodes(rows)
        data = self._data(nodes)
        with with_lifted_layers(self.model):
            if self._takes_data:
                return on_nodes(self.model(data))
            wanted = inspect.signature(self.model.forward).parameters
            given = {name: data.get(name) for name in _BY_NAME if name in wanted}
            return on_nodes(self.model(**given))

    def _nodes(self, rows: object) -> NodeRows:
        device = next((weight.device for weight in self.model.parameters()), torch.device("cpu"))
        if rows is None:
            if self._whole is None or self._whole.device != device:
                self._whole = NodeRows(self._levels.take(np.arange(len(self))), device)
            return self._whole
        places = rows.detach().cpu().numpy() if isinstance(rows, torch.Tensor) else np.asarray(rows)
        integers = places.dtype.kind in "iu" or not places.size
        if (
            not integers
            or places.ndim != 1
            or (places.size and not 0 <= places.min() <= places.max() < len(self))
        ):
            raise TwinWLError(
                f"rows: got {shown(rows)}, expected numbers of graphs from 0 to {len(self) - 1}, or None"
            )
        return NodeRows(self._levels.take(places.astype(np.int64)), device)

    def _data(self, nodes: NodeRows) -> _LiftedData:
        levels, device = nodes.levels, nodes.device
        first = self._x[torch.from_numpy(levels.level(0).item_of_row)].to(device)
        batch = NodeIndex.of(torch.from_numpy(levels.graph_of_item(0)).to(device), nodes.pooled)
        _, of_value = self._edge_values
        edges = EdgeRows(int(np.diff(self._levels.indptr)[levels.items(0)].sum()))
        tables = {
            name: None if values is None else ColourRows.of(values[of_value].to(device), edges, 0)
            for name, values in (("edge_attr", self._edge_attr), ("edge_weight", self._edge_weight))
        }
        arcs = self._arcs
        raw = tables["edge_weight"]

        def kind(layer: object, weight: object) -> int:
            setting = _setting(layer, weighted=weight is not None)
            if setting is None:
                return 0
            if weight is not None and weight is not raw:
                raise TwinWLError(
                    "GCNConv is given other edge weights than data.edge_weight; lifted needs those"
                )
            return 1 + arcs.settings.index(setting)

        edge_index = LiftedArcs(nodes, arcs.kinds, kind, arcs.weights, arcs.edges)
        return _LiftedData(
            x=ColourRows.of(first, nodes, 0),
            edge_index=edge_index,
            batch=batch,
            num_graphs=levels.n_graphs,
            batch_size=levels.n_graphs,
            num_nodes=nodes.n_items,
            **tables,
        )


class _LiftedData:
    """What a model is handed in the place of a batch of PyG."""

    def __init__(self, **values: object) -> None:
        self._values = values

    def get(self, name: str) -> object:
        return self._values[name]

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._values:
            raise TwinWLError(f"the model uses data.{name}, but lifted knows {', '.join(self._values)} only")
        return self._values[name]

    def __getitem__(self, name: str) -> object:
        return getattr(self, name)


class _Graphs(NamedTuple):
    x: torch.Tensor
    edge_index: NDArray[np.int64]
    edge_attr: torch.Tensor | None
    edge_weight: torch.Tensor | None
    ptr: Int64

    @property
    def n_nodes(self) -> int:
        return int(self.ptr[-1])


class _Setting(NamedTuple):
    """How a GCN normalises its messages."""

    improved: bool
    loops: bool
    weighted: bool


class _Messages(NamedTuple):
    """Messages of all kinds by receiver: those of the graphs, and those of each setting of GCN."""

    indptr: Int64
    senders: Int64
    codes: Int32
    kinds: Int64 | None
    weights: Float64 | None
    edges: Int64
    settings: list[_Setting]


def _joined(dataset: Iterable[Data]) -> _Graphs:
    kind = import_extra("torch_geometric.data", "baselines")
    try:
        graphs = list(dataset)
    except TypeError:
        graphs = []
    if not graphs or not all(isinstance(graph, kind.Data) for graph in graphs):
        raise TwinWLError(f"dataset: got {shown(dataset)}, expected Data objects of PyG, at least one")
    for number, graph in enumerate(graphs):
        if graph.x is None or graph.edge_index is None:
            raise TwinWLError(f"dataset: graph {number} has no x or no edge_index; add them")
    names = [
        name for name in ("x", "edge_index", "edge_attr", "edge_weight") if graphs[0].get(name) is not None
    ]
    plain = [
        kind.Data(**{name: graph.get(name) for name in names}, num_nodes=len(graph.x)) for graph in graphs
    ]
    try:
        batch = kind.Batch.from_data_list(plain)
    except (KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise TwinWLError(f"dataset: the graphs cannot be joined to one batch: {error}") from None
    edge_index = batch.edge_index.cpu().numpy()
    sizes = batch.ptr.numpy()
    return _Graphs(batch.x.cpu(), edge_index, batch.get("edge_attr"), batch.get("edge_weight"), sizes)


def _distinct(columns: list[torch.Tensor | None], n: int) -> tuple[Int32, torch.Tensor]:
    """Give the distinct rows of some tensors numbers, to the bit; also return where each occurs first."""
    parts = [
        part.detach().cpu().contiguous().numpy().reshape(n, -1).view(np.uint8).reshape(n, -1)
        for part in columns
        if part is not None
    ]
    codes, first = distinct_rows(np.hstack(parts) if parts else np.empty((n, 0)))
    return codes, torch.from_numpy(first)


def _messages(graphs: _Graphs, layers: list[Any], edge_codes: Int32) -> _Messages:
    """Join the messages of all kinds of layers, so that one refinement is right for all of them."""
    given = (False,) if graphs.edge_weight is None else (False, True)
    found = {_setting(layer, weighted=weighted) for layer in layers for weighted in given}
    settings = sorted(setting for setting in found if setting is not None)
    senders, receivers = graphs.edge_index
    edges = np.arange(graphs.edge_index.shape[1])
    kinds, weights = [np.zeros(len(edges), np.int64)], [np.ones(len(edges))]
    arcs = [np.stack([senders, receivers, edges])]
    codes = [edge_codes.astype(np.int64)]
    if settings and None not in found:
        kinds, weights, arcs, codes = [], [], [], []  # no layer uses the messages as they are
    for number, setting in enumerate(settings, start=1):
        index, values = _normalised(graphs, setting)
        _, code = np.unique(values, return_inverse=True)
        arcs.append(np.concatenate([index, np.zeros((1, index.shape[1]), np.int64)]))
        kinds.append(np.full(len(values), number))
        weights.append(values)
        codes.append(code + (1 + max((int(each.max(initial=0)) for each in codes), default=-1)))
    senders, receivers, edges = np.concatenate(arcs, axis=1)
    order = np.argsort(receivers, kind="stable")
    return _Messages(
        pointer(np.bincount(receivers, minlength=graphs.n_nodes)),
        senders[order],
        np.concatenate(codes)[order].astype(np.int32),
        np.concatenate(kinds)[order] if settings else None,
        np.concatenate(weights)[order] if settings else None,
        edge_codes.astype(np.int64)[edges[order]] if len(edge_codes) else np.zeros(len(order), np.int64),
        settings,
    )


def _normalised(graphs: _Graphs, setting: _Setting) -> tuple[NDArray[np.int64], Float64]:
    """Return the messages of a GCN, with their weights."""
    weight = graphs.edge_weight if setting.weighted else None
    normalise = import_extra("torch_geometric.nn.conv.gcn_conv", "baselines").gcn_norm
    index, values = normalise(
        torch.from_numpy(graphs.edge_index),
        None if weight is None else weight.detach().cpu().double(),
        graphs.n_nodes,
        setting.improved,
        setting.loops,
        "source_to_target",
        torch.float64,
    )
    return index.numpy(), values.detach().numpy()


def _setting(layer: Any, *, weighted: bool) -> _Setting | None:  # noqa: ANN401
    """Return how a GCN normalises; None for other layers."""
    if type(layer).__name__ != "GCNConv" or not layer.normalize:
        return None
    return _Setting(bool(layer.improved), bool(layer.add_self_loops), weighted)


def _checked_layers(model: torch.nn.Module) -> list[Any]:
    """Return the message passing layers; refuse those that are not known to be exact."""
    conv = import_extra("torch_geometric.nn", "baselines")
    known = tuple(getattr(conv, name) for name in _LAYERS)
    layers = [layer for layer in model.modules() if isinstance(layer, conv.MessagePassing)]
    for layer in layers:
        if type(layer) not in known:
            raise TwinWLError(
                f"model: got a layer {type(layer).__name__}; lifted supports {', '.join(_LAYERS)}"
            )
        if layer.aggr not in _AGGREGATIONS or layer.flow != "source_to_target":
            raise TwinWLError(
                f"model: got {type(layer).__name__} with aggr={shown(layer.aggr)}, flow={layer.flow!r}; "
                f"lifted supports {', '.join(_AGGREGATIONS)} along source_to_target"
            )
    return layers


def _takes_data(model: torch.nn.Module) -> bool:
    """Whether ``forward`` takes a batch of PyG rather than its tensors by name."""
    parameters = inspect.signature(model.forward).parameters
    required = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    if "edge_index" in parameters:
        unknown = set(required) - set(_BY_NAME)
        if not unknown:
            return False
        raise TwinWLError(
            f"model: forward takes {', '.join(sorted(unknown))}, expected {', '.join(_BY_NAME)}"
        )
    if len(required) == 1:
        return True
    raise TwinWLError("model: forward must take a batch of PyG, or x, edge_index and batch by these names")
