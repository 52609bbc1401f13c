"""Graphs as arguments of kernels: their arrays in one structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.arrays import Int32, Int64
from twinwl.compilation import kernel

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch


class Graphs(NamedTuple):
    """All graphs of a batch: which nodes and which arcs each of them has."""

    graph_ptr: Int64
    indptr: Int64
    indices: Int32
    directed: bool


class Graph(NamedTuple):
    """One graph, its nodes counted from 0.

    A neighbour is stored as ``base`` plus its number, so that a graph of a batch needs no copy of its arcs:
    ``base`` is its first node, and ``indptr`` its part of the batch's ``indptr``.
    """

    base: int
    indptr: Int64
    indices: Int32
    directed: bool


def graphs_of(batch: GraphBatch) -> Graphs:
    """Return the arrays of a batch."""
    return Graphs(batch.graph_ptr, batch.indptr, batch.indices, batch.directed)


@kernel
def graph_between(low: int, high: int, graphs: Graphs) -> Graph:
    """Return the graph that consists of nodes ``low..high``."""
    return Graph(low, graphs.indptr[low : high + 1], graphs.indices, graphs.directed)


def union_of(batch: GraphBatch) -> Graph:
    """Return all graphs of a batch as one."""
    return Graph(0, batch.indptr, batch.indices, batch.directed)
