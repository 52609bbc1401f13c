"""Statistics of a data set beyond its card: sizes, degrees and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Ints
    from twinwl.datasets.dataset import Dataset


class Spread(NamedTuple):
    """Distribution of a number over the graphs."""

    smallest: float
    median: float
    mean: float
    largest: float


class Statistics(NamedTuple):
    """Figures of a data set.

    Attributes
    ----------
    nodes, edges, degree : Spread
        Nodes and edges of a graph; degree of a node.
    node_labels, edge_labels : list of (label, count)
        The most common first; an undirected edge counts once.
    n_groups : int or None
        Groups to be kept together in folds.
    """

    nodes: Spread
    edges: Spread
    degree: Spread
    node_labels: list[tuple[str, int]]
    edge_labels: list[tuple[str, int]]
    n_groups: int | None


def statistics_of(data: Dataset) -> Statistics:
    """Compute the statistics of a data set.

    >>> from twinwl import load_dataset
    >>> figures = statistics_of(load_dataset("CSL"))
    >>> figures.nodes.mean, figures.degree.largest
    (41.0, 4.0)
    """
    graphs = data.graphs
    ends = 1 if graphs.directed else 2
    degrees = np.diff(graphs.indptr)
    arcs_of_graph = np.diff(graphs.indptr[graphs.graph_ptr])
    edge_codes = np.empty(0, np.int32) if graphs.edge_labels is None else graphs.edge_labels
    edge_labels = _common(edge_codes, graphs.edge_vocabulary)
    return Statistics(
        _spread(graphs.nodes_per_graph),
        _spread(arcs_of_graph // ends),
        _spread(degrees),
        _common(graphs.node_labels, graphs.node_vocabulary) if graphs.has_node_labels else [],
        [(label, count // ends) for label, count in edge_labels],
        None if data.groups is None else len(np.unique(data.groups)),
    )


def _spread(values: Ints) -> Spread:
    if not len(values):
        return Spread(0.0, 0.0, 0.0, 0.0)
    return Spread(float(values.min()), float(np.median(values)), float(values.mean()), float(values.max()))


def _common(codes: Int32, vocabulary: tuple[object, ...]) -> list[tuple[str, int]]:
    counts = np.bincount(codes, minlength=len(vocabulary))
    order = np.argsort(-counts, kind="stable")
    return [(str(vocabulary[code]), int(counts[code])) for code in order if counts[code]]
