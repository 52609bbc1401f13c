"""One graph where one is wanted: a batch of one, or a single graph of any kind that can stand in a list."""

from __future__ import annotations

from twinwl.arguments import is_a
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import as_batch, is_pyg_batch

__all__ = ["one_graph"]


def one_graph(graph: object, name: str) -> GraphBatch:
    """Return a batch of one, or say what else was given.

    Parameters
    ----------
    graph
        A batch or list of one graph, or the graph itself.
    name
        What to call it in an error.

    >>> import networkx as nx
    >>> one_graph(nx.path_graph(3), "the first graph")
    GraphBatch(1 graph, 3 nodes, 2 edges)
    """
    try:
        many = is_a(graph, GraphBatch) or is_a(graph, list) or is_a(graph, tuple) or is_pyg_batch(graph)
        batch = as_batch(graph if many else [graph])  # type: ignore[arg-type]
    except GraphInputError as error:
        raise GraphInputError(f"{name}: {error}") from error
    if len(batch) != 1:
        raise GraphInputError(f"{name} is a batch of {len(batch)} graphs; pick one, as in batch[0]")
    return batch
