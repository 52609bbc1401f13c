"""PyTorch Geometric ``Data`` objects into a GraphBatch.

They are read by their attributes (``edge_index``, ``x``, ``edge_attr``, ``num_nodes``), so nothing of
PyTorch is imported here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.arguments import FLAG, MAX_ITEMS, NAME, checked, foreign_array, integer, one_of
from twinwl.arrays import Array, Bool, Int64
from twinwl.errors import GraphInputError, setting, shown
from twinwl.graphs.building import aligned, build_labelled, listed
from twinwl.graphs.labels import warn_weights

if TYPE_CHECKING:
    import torch_geometric.data

    from twinwl.graphs.batch import GraphBatch

READINGS_OF_X = one_of("auto", "labels", "rows", "features")


class PyGConstructors:
    """The constructor of `GraphBatch` from PyTorch Geometric."""

    __slots__ = ()

    @classmethod
    def from_pyg(
        cls,
        data_list: Iterable[torch_geometric.data.Data] | torch_geometric.data.Batch,
        edge_label: str | None = None,
        *,
        directed: bool = False,
        x: str = "auto",
    ) -> GraphBatch:
        """Build a batch from PyTorch Geometric ``Data`` objects, or from the graphs of one ``Batch``.

        ``x`` of an integer kind is node labels: the integer of a single column, the place of the one in
        one-hot rows, else a tuple per row. ``x`` of a floating kind is node labels if every row of every
        graph is one-hot, and continuous node features otherwise. ``edge_attr`` is edge labels by the same
        rules; several continuous columns are an error, because edges have no features here.

        ``edge_weight``, and an ``edge_attr`` of one floating column, are weights: ignored with a warning.

        Parameters
        ----------
        data_list
            Graphs whose ``edge_index`` holds both arcs of each edge.
        edge_label
            Attribute whose rows are used as edge labels, continuous or not.
        directed
            Keep arcs one-way.
        x
            ``"auto"`` is the rule above, which looks at all graphs. The others read each row by itself:
            ``"features"`` as continuous features, ``"rows"`` as the tuple of its numbers, ``"labels"`` as the
            place of the one in a one-hot row, else as that tuple. Labels are integers, or zeros and ones.
            Fitted estimators remember which of these suits their training graphs.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from twinwl import GraphBatch
        >>> arcs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> GraphBatch.from_pyg([Data(x=torch.tensor([[6], [6], [8]]), edge_index=arcs)])
        GraphBatch(1 graph, 3 nodes, 2 edges, 2 node labels)
        """
        edge_label = checked("edge_label", edge_label, NAME, None)
        directed = checked("directed", directed, FLAG)
        x = checked("x", x, READINGS_OF_X)
        collected = _list_graphs(data_list)
        arcs = [_arcs(data, graph) for graph, data in enumerate(collected)]
        arc_counts = np.array([pair.shape[1] for pair in arcs], dtype=np.int64)
        values = aligned([getattr(data, "x", None) for data in collected], len(collected), "x")
        columns = None if values is None else _matrices(values, "x")
        node_counts = np.array(
            [_node_count(data, graph) for graph, data in enumerate(collected)]
            if columns is None
            else list(map(len, columns)),
            np.int64,
        )
        labels = None if columns is None else _labels(columns, x)
        return build_labelled(
            node_counts,
            arc_counts,
            np.concatenate([np.empty((2, 0), np.int64), *arcs], axis=1),
            labels,
            _edge_labels(collected, arcs, edge_label, directed=directed),
            columns if labels is None else None,
            directed=directed,
            one_way_remedy="edge_index of an undirected graph holds both arcs: use to_undirected(), or pass "
            "directed=True",
        )


def edge_codes(data: object) -> Int64:
    """Return the ``edge_attr`` of a ``Data`` or ``Batch`` as the code of each arc's label, for a network.

    It is read as in `from_pyg`. What has no codes there (weights, vectors of numbers) is refused, because
    numbers given to its values here would depend on the other graphs.
    """
    arcs = _arcs(data, 0)
    columns = _edge_columns([data], [arcs], "edge_attr") or [np.empty((0, 1), np.int64)]
    labels = None if _are_weights(columns) else _labels(columns)
    if labels is None or not isinstance(labels[0], np.ndarray):
        shape, kind = columns[0].shape, columns[0].dtype
        raise GraphInputError(
            f"edge_attr: got {kind} of shape {shape}, expected one integer per arc, the code of its label, "
            "or one-hot rows; number the edge labels from 0"
        )
    codes: Int64 = labels[0].astype(np.int64)
    return codes


def _list_graphs(data_list: Any) -> list[Any]:  # noqa: ANN401
    """Return the graphs as a list of ``Data`` objects; a ``Batch`` is taken apart."""
    library = sys.modules.get("torch_geometric.data")
    if library is not None and isinstance(data_list, library.Batch):
        try:
            return list(data_list.to_data_list())
        except (RuntimeError, AttributeError) as error:
            raise GraphInputError(
                "this Batch was not built by Batch.from_data_list, so its graphs are unknown; give a list "
                "of Data objects"
            ) from error
    # PyG's data sets have the attributes of their graphs, too.
    of_library = library is not None and isinstance(data_list, library.Dataset)
    if not of_library and hasattr(data_list, "edge_index"):
        raise GraphInputError("this is one Data object, not a list of them; wrap it in a list: [data]")
    collected = listed(data_list, "data_list")
    for graph, data in enumerate(collected):
        if not hasattr(data, "edge_index"):
            raise GraphInputError(
                f"{type(data).__name__} has no edge_index; give homogeneous Data objects", graph
            )
        ptr, owners = getattr(data, "ptr", None), getattr(data, "batch", None)
        n_graphs = 1 if owners is None or not len(owners) else int(owners.max()) + 1
        n_graphs = n_graphs if ptr is None else len(ptr) - 1
        if n_graphs > 1:
            raise GraphInputError(
                f"it is a Batch of {n_graphs} graphs inside a list; pass the Batch itself, or the "
                "graphs of its to_data_list()",
                graph,
            )
    return collected


def _array(tensor: object, name: str, graph: int | None = None) -> Array:
    """Return a tensor as an array, from any device."""
    for step in ("detach", "cpu"):
        move = getattr(tensor, step, None)
        tensor = move() if callable(move) else tensor
    return foreign_array(name, tensor, None, graph)


def _arcs(data: object, graph: int) -> Int64:
    index = getattr(data, "edge_index", None)
    if index is None:
        return np.empty((2, 0), np.int64)
    array = _array(index, "edge_index", graph)
    if array.size == 0:
        return np.empty((2, 0), np.int64)
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":  # noqa: PLR2004
        raise GraphInputError(
            f"its edge_index is {array.dtype} of shape {array.shape}; it must hold integers, (2, n_arcs)",
            graph,
        )
    return array.astype(np.int64)


def _matrices(values: Sequence[object], name: str) -> list[Array]:
    matrices = []
    for graph, value in enumerate(values):
        array = _array(value, name, graph)
        if array.dtype.kind not in "biuf" or array.ndim not in {1, 2}:
            raise GraphInputError(
                f"its {name} is {array.dtype} of shape {array.shape}; it must be a matrix of numbers", graph
            )
        matrices.append(array[:, None] if array.ndim == 1 else array)
    return matrices


def _edge_labels(
    collected: Sequence[object], arcs: list[Int64], edge_label: str | None, *, directed: bool
) -> list[Any] | None:
    """Return the labels of the arcs of each graph; weights that are not named as such are only counted."""
    read = edge_label or "edge_attr"
    columns = _edge_columns(collected, arcs, read)
    if edge_label is not None and columns is None:
        raise GraphInputError(f"no graph has an edge attribute {edge_label!r}; name one that all graphs have")
    if read != "edge_weight":
        _warn_weights(_edge_columns(collected, arcs, "edge_weight"), arcs, "edge_weight", directed=directed)
    if columns is None:
        return None
    if edge_label is not None:
        return [_exact(matrix) for matrix in columns]
    if _are_weights(columns):
        _warn_weights(columns, arcs, "edge_attr", directed=directed)
        return None
    labels = _labels(columns)
    if labels is None:
        graph = next((place for place, part in enumerate(columns) if part.size), 0)
        raise GraphInputError(
            "its edge_attr is continuous, but edges have no features here; drop it (data.edge_attr = None), "
            f"or pass {setting(edge_label='edge_attr')} to take its rows as labels",
            graph,
        )
    return labels


def _edge_columns(collected: Sequence[object], arcs: list[Int64], name: str) -> list[Array] | None:
    """Return one matrix per graph of an edge attribute; a graph without arcs need not have any."""
    values = [getattr(data, name, None) for data in collected]
    pairs = zip(values, arcs)
    first = next((value for value, pair in pairs if pair.size and value is not None), None)
    if first is None:
        return None
    nothing = np.atleast_1d(_array(first, name))[:0]
    filled = [nothing if value is None and not pair.size else value for value, pair in zip(values, arcs)]
    columns = _matrices(aligned(filled, len(filled), name) or [], name)
    for graph, (matrix, pair) in enumerate(zip(columns, arcs)):
        if len(matrix) != pair.shape[1]:
            raise GraphInputError(
                f"{len(matrix)} rows of {name} for {pair.shape[1]} arcs; give one per arc", graph
            )
    return columns


def _are_weights(columns: list[Array]) -> bool:
    """Whether an edge attribute is one column of floats."""
    filled = [matrix for matrix in columns if matrix.size]
    widths = {matrix.shape[1] for matrix in filled}
    return widths == {1} and any(matrix.dtype.kind == "f" for matrix in filled)


def _warn_weights(columns: list[Array] | None, arcs: list[Int64], name: str, *, directed: bool) -> None:
    if columns is None:
        return
    ends = np.concatenate(arcs, axis=1)
    edges = ends[0] != ends[1] if directed else ends[0] < ends[1]  # an undirected edge has two arcs
    weighted = np.concatenate([(matrix != 1).any(axis=1) for matrix in columns])
    warn_weights(int(np.count_nonzero(weighted[edges])), int(np.count_nonzero(edges)), name)


def _node_count(data: object, graph: int) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # PyG warns where it has to guess from the edges
        count = getattr(data, "num_nodes", None)
    if count is None:
        raise GraphInputError("its number of nodes is unknown; set data.num_nodes", graph)
    n_nodes: int = checked("num_nodes", count, integer(0, MAX_ITEMS), graph=graph)
    return n_nodes


def _labels(columns: list[Array], reading: str = "auto") -> list[Any] | None:
    """Turn attribute matrices into labels, by one rule for all graphs; None where they are continuous."""
    if reading == "auto":
        reading = _reading_of([matrix for matrix in columns if matrix.size])
    if reading == "features":
        return None
    return [
        _labels_of_rows(matrix, graph, places=reading == "labels") for graph, matrix in enumerate(columns)
    ]


def _reading_of(filled: list[Array]) -> str:
    """Return how matrices are read that all have entries: one value of ``x`` suits all of them."""
    is_discrete = all(matrix.dtype.kind in "biu" for matrix in filled)
    widths = {matrix.shape[1] for matrix in filled}
    is_single = is_discrete and widths == {1}
    if len(widths) == 1 and not is_single and all(_one_hot_rows(matrix).all() for matrix in filled):
        return "labels"
    return "rows" if is_discrete else "features"


def _labels_of_rows(matrix: Array, graph: int, *, places: bool) -> Any:  # noqa: ANN401
    """Return the label of each row, whatever the other rows are; ``places`` are labels of one-hot rows."""
    if matrix.dtype.kind == "f":
        strange = ~((matrix == 0) | (matrix == 1)).all(axis=1)
        if strange.any():
            node = int(np.argmax(strange))
            raise GraphInputError(
                f"node {node} has {shown(matrix[node].tolist())} in x, expected labels: integers, or rows of "
                'zeros and ones; cast x to integers, or read it with x="features" (in training too)',
                graph,
            )
        matrix = matrix.astype(np.int64)
    elif matrix.shape[1] == 1:
        return _exact(matrix)
    one_hot = _one_hot_rows(matrix)
    if places and one_hot.all():
        return matrix.argmax(axis=1) if matrix.size else np.empty(0, np.int64)
    labels: list[Any] = list(map(tuple, matrix.tolist()))
    if places:
        for node in np.flatnonzero(one_hot).tolist():
            labels[node] = int(matrix[node].argmax())
    return labels


def _exact(matrix: Array) -> Any:  # noqa: ANN401
    """Return one label for each row, as it stands: a number, or a tuple of numbers."""
    if matrix.shape[1] == 1:
        return matrix.ravel() if matrix.dtype.kind in "iu" else matrix.ravel().tolist()
    return list(map(tuple, matrix.tolist()))


def _one_hot_rows(matrix: Array) -> Bool:
    rows: Bool = ((matrix == 0) | (matrix == 1)).all(axis=1) & (matrix.sum(axis=1) == 1)
    return rows
