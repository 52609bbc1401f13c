"""as_batch: conversion of any unambiguous collection of graphs to a GraphBatch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from twinwl.arguments import NAME, checked, items
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.batch import GraphBatch, concatenate

GraphsLike: TypeAlias = "GraphBatch | Iterable[object]"

_ACCEPTED = (
    "a GraphBatch, or a list of networkx graphs, igraph graphs, PyTorch Geometric Data, RDKit molecules, "
    "adjacency matrices (SciPy or NumPy), lists of (u, v) edges, or GraphBatches"
)
_STRINGS = (
    "a string may be SMILES or graph6 ('CC' is both), and twinwl does not guess; use "
    "GraphBatch.from_smiles(strings) or GraphBatch.from_graph6(strings)"
)

# Each kind by the module and class its objects descend from, as they can only exist once it is imported.
_CLASS_OF_KIND = {
    "GraphBatch": ("twinwl.graphs.batch", "GraphBatch"),
    "networkx graph": ("networkx", "Graph"),
    "igraph graph": ("igraph", "Graph"),
    "PyTorch Geometric Batch": ("torch_geometric.data.batch", "Batch"),
    "PyTorch Geometric Data": ("torch_geometric.data.data", "BaseData"),
    "RDKit molecule": ("rdkit.Chem.rdchem", "Mol"),
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
    if is_pyg_batch(graphs):
        return _door("PyTorch Geometric Data", node_label, edge_label, x)(graphs)  # type: ignore[arg-type]
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
    return _door(kinds[0] or "", node_label, edge_label, x)(collected)


_WITH_EDGE_ATTRIBUTES = {"PyTorch Geometric Batch", "PyTorch Geometric Data", "matrix"}
_WITH_ATTRIBUTES = {"networkx graph", "igraph graph"}


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
        many = isinstance(graph, (GraphBatch, list, tuple)) or is_pyg_batch(graph)
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


def is_pyg_batch(graphs: object) -> bool:
    """Whether this is many graphs in one PyTorch Geometric ``Batch``."""
    return _kind(graphs) == "PyTorch Geometric Batch"


def _kind(graph: object) -> str | None:
    """Name the kind of a graph, or return None; nothing is imported to find out."""
    if isinstance(graph, (str, bytes)):
        return "string"
    for kind, (module, name) in _CLASS_OF_KIND.items():
        if module in sys.modules and isinstance(graph, getattr(sys.modules[module], name)):
            return kind
    if isinstance(graph, np.ndarray) and graph.dtype != object:
        return "matrix"
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and (isinstance(graph, (sparse.sparray, sparse.spmatrix))):
        return "matrix"
    return "edge list" if isinstance(graph, (list, tuple)) else None


def _door(
    kind: str, node_label: str | None, edge_label: str | None, x: str
) -> Callable[[Sequence[Any]], GraphBatch]:
    """Return what builds a batch from a list of graphs of one kind."""
    for name, given, having in (
        ("node_label", node_label, _WITH_ATTRIBUTES),
        ("edge_label", edge_label, _WITH_ATTRIBUTES | _WITH_EDGE_ATTRIBUTES),
    ):
        if given is not None and kind not in having:
            raise GraphInputError(
                f"{name} names an attribute, which kind {kind!r} does not have; leave it out"
            )
    doors: dict[str, Callable[[Sequence[Any]], GraphBatch]] = {
        "GraphBatch": concatenate,
        "networkx graph": lambda graphs: GraphBatch.from_networkx(graphs, node_label, edge_label),
        "igraph graph": lambda graphs: GraphBatch.from_igraph(graphs, node_label, edge_label),
        "PyTorch Geometric Batch": GraphBatch.from_pyg,  # which says what to do about one inside a list
        "PyTorch Geometric Data": lambda graphs: GraphBatch.from_pyg(graphs, edge_label, x=x),
        "RDKit molecule": GraphBatch.from_rdkit,
        "matrix": lambda graphs: GraphBatch.from_scipy(graphs, edge_label=edge_label),
        "edge list": GraphBatch.from_edges,
    }
    return doors[kind]
