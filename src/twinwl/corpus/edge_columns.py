"""Graphs from the columns of a Parquet file: edges as lists of node numbers, with or without labels.

=========================== ===========================================================================
``ends`` or ``edges``       list of integers u0, v0, u1, v1, …, or list of pairs (u, v)
``edge_index``              two lists, of sources and of targets, as in PyTorch Geometric
``n_nodes``, ``num_nodes``  number of nodes; else that of node labels; else the largest number plus one
``node_labels``             list of labels (integers or strings), one per node
``edge_labels``             list of labels, one per edge as listed
=========================== ===========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.corpus.shards import arrow, lists_in
from twinwl.errors import GraphInputError, nearest
from twinwl.graphs.assembly import MAX_NODES
from twinwl.graphs.building import PLAUSIBLE_NODES, build
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.selection import pointer, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Bool, Int64
    from twinwl.graphs.batch import GraphBatch

_EDGES = ("ends", "edges", "edge_index")
_COUNTS = ("n_nodes", "num_nodes")
_PAIR = 2


def edge_columns_of(types: Mapping[str, str], given: str | None, name: str) -> dict[str, str | None]:
    """Choose the columns of a Parquet file that hold its graphs.

    >>> edge_columns_of({"edges": "list<element: int64>", "num_nodes": "int64"}, None, "g.parquet")
    {'edges_column': 'edges', 'count_column': 'num_nodes', 'node_column': None, 'edge_column': None}
    """
    edges = given or next((column for column in _EDGES if column in types), None)
    if edges is None or edges not in types:
        wanted = "a column of edges (ends, edges or edge_index)" if given is None else f"the column {given!r}"
        raise GraphInputError(f"{name}: got no {wanted}; {nearest(given or 'edges', types)}")
    if "list<" not in types[edges] or "int" not in types[edges]:
        raise GraphInputError(f"{name}: column {edges!r}: got {types[edges]}, expected lists of integers")
    return {
        "edges_column": edges,
        "count_column": next((column for column in _COUNTS if column in types), None),
        "node_column": "node_labels" if "list<" in types.get("node_labels", "") else None,
        "edge_column": "edge_labels" if "list<" in types.get("edge_labels", "") else None,
    }


def read_edges(table: Any, settings: Mapping[str, Any]) -> tuple[GraphBatch, Int64, dict[int, str]]:  # noqa: ANN401
    """Return the graphs of a table, the places of their rows, and the problems of the others."""
    problems: dict[int, str] = {}

    def refuse(rows: Bool, reason: str) -> None:
        for place in np.flatnonzero(rows).tolist():
            problems.setdefault(place, reason)

    column = settings["edges_column"]
    edge_counts, ends, wrong = _pairs(table.column(column), column)
    refuse(wrong, f"its list of edges in {column!r} is missing, or not one of pairs of integers")
    node_counts, labels = _node_counts(table, settings, edge_counts, ends, refuse)
    if settings["edge_column"]:
        lengths, _ = lists_in(table.column(settings["edge_column"]))
        refuse(lengths != edge_counts, "it has not one edge label per edge")
    owner = np.repeat(np.arange(len(edge_counts)), edge_counts)
    outside = ((ends < 0) | (ends >= node_counts[owner, None])).any(axis=1)
    refuse(
        np.bincount(owner[outside], minlength=len(node_counts)) > 0,
        "an edge names a node that does not exist",
    )
    return *_built(table, settings, problems, (node_counts, edge_counts, ends, labels)), problems


def _built(
    table: Any,  # noqa: ANN401
    settings: Mapping[str, Any],
    problems: dict[int, str],
    parts: tuple[Int64, Int64, Int64, bool],
) -> tuple[GraphBatch, Int64]:
    """Build the graphs of the rows without a problem; what only the last step finds out becomes one."""
    node_counts, edge_counts, ends, labelled = parts
    kept = np.array([place for place in range(table.num_rows) if place not in problems], np.int64)
    chosen = ranges(pointer(edge_counts)[kept], edge_counts[kept])
    some = table if len(kept) == table.num_rows else table.take(arrow().array(kept))
    nodes = _coded(some.column(settings["node_column"])) if labelled else None
    edges = _coded(some.column(settings["edge_column"])) if settings["edge_column"] else None
    try:
        graphs = build(
            node_counts[kept],
            edge_counts[kept],
            ends[chosen, 0],
            ends[chosen, 1],
            nodes=nodes,
            edges=edges,
            directed=settings["directed"],
        )
    except GraphInputError as error:
        if error.graph is None:
            raise
        # Rare: an edge with two labels.
        problems[int(kept[error.graph])] = str(error).removeprefix(f"graph {error.graph}: ")
        return _built(table, settings, problems, parts)
    return graphs, kept


def _pairs(column: Any, name: str) -> tuple[Int64, Int64, Bool]:  # noqa: ANN401
    """Return the number of edges of each row, all ends, shape (n_edges, 2), and which rows are wrong."""
    pa = arrow()
    lengths, values = lists_in(column)
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    if not (
        pa.types.is_list(values.type)
        or pa.types.is_large_list(values.type)
        or pa.types.is_fixed_size_list(values.type)
    ):
        numbers, bad = _integers(values)
        wrong = nulls | (lengths % _PAIR == 1) | _any(bad, lengths)
        return _without(
            lengths // _PAIR, wrong, ranges(pointer(lengths)[:-1], np.where(wrong, 0, lengths)), numbers
        )
    inner, flat = lists_in(values)
    numbers, bad = _integers(flat)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    totals = np.bincount(owner, inner, minlength=len(lengths)).astype(np.int64)
    wrong = nulls | _any(bad, totals)
    if name == "edge_index":
        two = lengths == _PAIR
        wrong |= ~two
        first = pointer(lengths)[:-1]
        halves = np.where(two, inner[np.minimum(first, max(len(inner) - 1, 0))] if len(inner) else 0, 0)
        wrong |= halves * _PAIR != totals
        counts = np.where(wrong, 0, halves)
        starts = pointer(totals)[:-1]
        sources = numbers[ranges(starts, counts)]
        targets = numbers[ranges(starts + counts, counts)]
        return counts, np.column_stack([sources, targets]), wrong
    wrong |= _any(inner != _PAIR, lengths)
    return _without(lengths, wrong, ranges(pointer(totals)[:-1], np.where(wrong, 0, totals)), numbers)


def _without(counts: Int64, wrong: Bool, places: Int64, numbers: Int64) -> tuple[Int64, Int64, Bool]:
    return np.where(wrong, 0, counts), numbers[places].reshape(-1, 2), wrong


def _integers(values: Any) -> tuple[Int64, Bool]:  # noqa: ANN401
    bad = values.is_null().to_numpy(zero_copy_only=False)
    return values.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), bad


def _any(flags: Bool, lengths: Int64) -> Bool:
    """Tell which lists have a flag that is set."""
    before = np.concatenate([[0], np.cumsum(flags)])
    ends = pointer(lengths)
    found: Bool = before[ends[1:]] > before[ends[:-1]]
    return found


def _node_counts(
    table: Any,  # noqa: ANN401
    settings: Mapping[str, Any],
    edge_counts: Int64,
    ends: Int64,
    refuse: Any,  # noqa: ANN401
) -> tuple[Int64, bool]:
    """Return the number of nodes of each graph, and whether nodes have labels."""
    labelled = bool(settings["node_column"])
    if labelled:
        column = table.column(settings["node_column"])
        lengths, _ = lists_in(column)
        refuse(column.is_null().to_numpy(zero_copy_only=False), "its node labels are missing")
    if settings["count_column"]:
        column = table.column(settings["count_column"])
        counts = column.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        refuse((counts < 0) | (counts > MAX_NODES), "its number of nodes is missing or out of range")
        if labelled:
            refuse(lengths != counts, "it has not one node label per node")
    elif labelled:
        counts = lengths
    else:
        counts = np.zeros(len(edge_counts), np.int64)
        filled = edge_counts > 0
        starts = pointer(edge_counts)[:-1][filled]
        if len(starts):
            counts[filled] = np.maximum(np.maximum.reduceat(ends.max(axis=1), starts) + 1, 0)
    refuse(
        (counts > PLAUSIBLE_NODES) & (counts > 64 * edge_counts),
        "it has far more nodes than edges; number its nodes 0..n-1",
    )
    return counts, labelled


def _coded(column: Any) -> Coded:  # noqa: ANN401
    """Encode all labels of a column of lists."""
    _, values = lists_in(column)
    found = values.dictionary_encode(null_encoding="encode")
    ranks, vocabulary = encode_labels(found.dictionary.to_pylist())
    indices = found.indices.to_numpy(zero_copy_only=False)
    return Coded(ranks[indices] if len(indices) else np.empty(0, np.int32), vocabulary)
