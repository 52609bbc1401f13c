"""as_batch: conversion of any unambiguous collection of graphs to a GraphBatch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from twinwl.arguments import NAME, checked, items
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.from_objects import is_sparse

GraphsLike: TypeAlias = "GraphBatch | Iterable[object]"

_ACCEPTED = (
    "a GraphBatch, or a list of networkx graphs, igraph graphs, PyTorch Geometric Data, RDKit molecules, "
    "adjacency matrices (SciPy or NumPy), lists of (u, v) edges, or GraphBatches"
)
_STRINGS = (
    "a string may be SMILES or graph6 ('CC' is both), and twinwl does not guess; use "
    "GraphBatch.from_smiles(strings) or GraphBatch.from_graph6(strings)"
)
_PYG_BATCH = "PyTorch Geometric Batch"  # many graphs in one object


class _Kind(NamedTuple):
    """A class of another library, the constructor of its graphs, and which arguments that takes."""

    module: str
    name: str
    constructor: str
    takes: tuple[str, ...] = ()


# An object of a class can only exist once its module is imported, so nothing is imported to find out.
_KINDS = {
    "GraphBatch": _Kind("twinwl.graphs.batch", "GraphBatch", ""),
    "networkx graph": _Kind("networkx", "Graph", "from_networkx", ("node_label", "edge_label")),
    "igraph graph": _Kind("igraph", "Graph", "from_igraph", ("node_label", "edge_label")),
    _PYG_BATCH: _Kind("torch_geometric.data.batch", "Batch", "from_pyg", ("edge_label", "x")),
    "PyTorch Geometric Data": _Kind("torch_geometric.data.data", "BaseData", "from_pyg", ("edge_label", "x")),
    "RDKit molecule": _Kind("rdkit.Chem.rdchem", "Mol", "from_rdkit"),
    "matrix": _Kind("", "", "from_scipy", ("edge_label",)),
    "edge list": _Kind("", "", "from_edges"),
}


def as_batch(
    graphs: GraphsLike, node_label: str | None = None, edge_label: str | None = None, *, x: str = "auto"
) -> GraphBatch:
    """Convert a collection of graphs of any unambiguous kind to a GraphBatch.

    Parameters
    ----------
    graphs
        A GraphBatch (returned as it is), a PyTorch Geometric ``Batch`` (its graphs), or any iterable of
        networkx graphs, igraph graphs, PyTorch Geometric ``Data``, RDKit molecules, adjacency matrices
        (SciPy, or two-dimensional NumPy arrays), lists of ``(u, v)`` edges, or GraphBatches, which are
        joined. An empty list gives an empty batch.
    node_label, edge_label
        Attributes to read as labels: both for networkx and igraph, ``edge_label`` for PyTorch Geometric, and
        ``edge_label="weight"`` for matrices. Attributes that are not named are not read, and weights are
        ignored with a warning.
    x
        How ``x`` of PyTorch Geometric is read, as in `GraphBatch.from_pyg`.

    Returns
    -------
    GraphBatch

    Raises
    ------
    GraphInputError
        For strings (SMILES and graph6 look alike), for a single graph that is not in a list, for a mixture
        of kinds, and for anything else.

    Examples
    --------
    >>> import networkx as nx
    >>> as_batch([nx.path_graph(3), nx.cycle_graph(3)])
    GraphBatch(2 graphs, 6 nodes, 5 edges)
    >>> as_batch([])
    GraphBatch(0 graphs, 0 nodes, 0 edges)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    node_label = checked("node_label", node_label, NAME, None)
    edge_label = checked("edge_label", edge_label, NAME, None)
    names = {"node_label": node_label, "edge_label": edge_label, "x": x}
    if _kind(graphs) == _PYG_BATCH:
        return _converted(graphs, _PYG_BATCH, names)
    collected = _collected(graphs)
    kinds = [_kind(graph) for graph in collected]
    for position, kind in enumerate(kinds):
        if kind is None:
            value, name = shown(collected[position]), type(collected[position]).__name__
            raise GraphInputError(
                f"{value} of type {name} is not a graph that twinwl accepts; give {_ACCEPTED}", position
            )
        if kind == "string":
            raise GraphInputError(f"{shown(collected[position])}: {_STRINGS}", position)
        if kind != kinds[0]:
            raise GraphInputError(
                f"it is of kind {kind!r} and graph 0 of kind {kinds[0]!r}; convert them to one kind", position
            )
    if not kinds:
        return GraphBatch.from_edges([])
    return _converted(collected, kinds[0] or "", names)


def _converted(graphs: object, kind: str, names: dict[str, str | None]) -> GraphBatch:
    takes = _KINDS[kind].takes
    for name in ("node_label", "edge_label"):
        if names[name] is not None and name not in takes:
            raise GraphInputError(
                f"{name} names an attribute, which kind {kind!r} does not have; leave it out"
            )
    if kind == "GraphBatch":
        return concatenate(cast("list[GraphBatch]", graphs))
    constructor: Callable[..., GraphBatch] = getattr(GraphBatch, _KINDS[kind].constructor)
    return constructor(graphs, **{name: value for name, value in names.items() if name in takes})


def one_graph(graph: object, name: str, x: str = "auto") -> GraphBatch:
    """Return a batch of one graph; refuse any other number.

    Parameters
    ----------
    graph
        A batch or list of one graph, or the graph itself.
    name
        Name of the argument, for the error.
    x
        As in `as_batch`.

    >>> import networkx as nx
    >>> one_graph(nx.path_graph(3), "the first graph")
    GraphBatch(1 graph, 3 nodes, 2 edges)
    """
    try:
        many = isinstance(graph, (GraphBatch, list, tuple)) or _kind(graph) == _PYG_BATCH
        batch = as_batch(graph if many else [graph], x=x)  # type: ignore[arg-type]
    except GraphInputError as error:
        raise GraphInputError(f"{name}: {error}") from error
    if len(batch) != 1:
        raise GraphInputError(f"{name} is a batch of {len(batch)} graphs; pick one, as in batch[0]")
    return batch


def _collected(graphs: object) -> list[Any]:
    """Return the graphs as a list; refuse a single graph, with a hint."""
    kind = _kind(graphs)
    if kind == "string":
        raise GraphInputError(f"{shown(graphs)} is one string, not a list of graphs; {_STRINGS}")
    lone_matrix = kind == "matrix" and getattr(graphs, "ndim", 2) == 2  # noqa: PLR2004
    if kind not in {None, "matrix", "edge list"} or lone_matrix:
        raise GraphInputError(f"this is one {kind}, not a list of them; wrap it in a list: [graph]")
    return items("graphs", graphs, _ACCEPTED)


def _kind(graph: object) -> str | None:
    """Name the kind of a graph, or return None."""
    if isinstance(graph, (str, bytes)):
        return "string"
    for kind, (module, name, *_) in _KINDS.items():
        if module in sys.modules and isinstance(graph, getattr(sys.modules[module], name)):
            return kind
    if is_sparse(graph) or (isinstance(graph, np.ndarray) and graph.dtype != object):
        return "matrix"
    return "edge list" if isinstance(graph, (list, tuple)) else None
