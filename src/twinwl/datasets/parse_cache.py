"""Parsed data sets in the user's cache: compact arrays under the digest of the file they came from."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.datasets.dataset import Dataset, RowError
from twinwl.errors import TwinWLError, held_warnings, warn_caller
from twinwl.files.cache import file_digest, read_arrays, write_arrays
from twinwl.files.json_values import from_json, to_json
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.selection import pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from twinwl.arrays import Ints, Values

_FORMAT = 3  # raise it whenever the same file would be parsed or kept in another way


def parsed(path: Path, kind: str, parse: Callable[[], Dataset]) -> Dataset:
    """Parse a file, or return the cached result, with its warnings, if the same content was parsed before.

    Parameters
    ----------
    path
        A file or folder; nothing is written next to it.
    kind
        Name of the format, and of every option that changes the result.
    parse
        Function that parses the file if the cache has no valid entry.
    """
    key = hashlib.sha256(f"{kind} {_FORMAT} {file_digest(path)}".encode()).hexdigest()
    result, messages = _cached(key)
    if result is None:
        with held_warnings() as messages:
            result = parse()
        write_arrays(key, {**to_arrays(result), "warnings": np.array(messages, np.str_)})
    for message in messages:
        warn_caller(message)
    return result


def _cached(key: str) -> tuple[Dataset | None, list[str]]:
    arrays = read_arrays(key)
    try:
        return (None, []) if arrays is None else (from_arrays(arrays), arrays["warnings"].tolist())
    except (TwinWLError, LookupError, ValueError, TypeError):
        return None, []  # damaged: as good as absent


def to_arrays(content: Dataset) -> dict[str, Values]:
    """Convert graphs and targets to arrays of the smallest sufficient types.

    >>> arrays = to_arrays(Dataset("tiny", GraphBatch.from_edges([[(0, 1)]]), np.array([1])))
    >>> arrays["neighbours"].dtype, from_arrays(arrays).graphs
    (dtype('uint8'), GraphBatch(1 graph, 2 nodes, 1 edge))
    """
    graphs = content.graphs
    vocabularies = to_json((graphs.node_vocabulary, graphs.edge_vocabulary), {}, "vocabularies")
    about = {
        "name": content.name,
        "directed": graphs.directed,
        "atoms": graphs.atoms,
        "vocabularies": vocabularies,
        "smiles": content.smiles,
        "names": content.names,
        "errors": content.errors,
        "target": content.target,
        "tasks": content.tasks,
    }
    # Within its graph a neighbour has a small number, mostly one byte.
    shift = np.repeat(graphs.graph_ptr[:-1], np.diff(graphs.indptr[graphs.graph_ptr]))
    arrays: dict[str, Values] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "rows": _narrow(content.rows),
        "n_nodes": _narrow(graphs.nodes_per_graph),
        "degrees": _narrow(np.diff(graphs.indptr)),
        "neighbours": _narrow(graphs.indices - shift),
        "node_labels": _narrow(graphs.node_labels),
    }
    for name in ("edge_labels", "node_features"):
        values = getattr(graphs, name)
        if values is not None:
            arrays[name] = _narrow(values) if name == "edge_labels" else values
    return arrays if content.y is None else arrays | {"y": content.y}


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Dataset:
    """Convert the arrays of `to_arrays` back, checking them like any other input."""
    about = json.loads(arrays["about"].tobytes())
    vocabularies: Any = from_json(about["vocabularies"], {})
    graph_ptr = pointer(arrays["n_nodes"].astype(np.int64))
    indptr = pointer(arrays["degrees"].astype(np.int64))
    shift = np.repeat(graph_ptr[:-1], np.diff(indptr[graph_ptr])).astype(np.int32)
    edge_labels = arrays.get("edge_labels")
    parts: dict[str, NDArray[Any] | None] = {
        "indptr": indptr,
        "indices": arrays["neighbours"].astype(np.int32) + shift,
        "graph_ptr": graph_ptr,
        "node_labels": arrays["node_labels"].astype(np.int32),
        "edge_labels": None if edge_labels is None else edge_labels.astype(np.int32),
        "node_features": arrays.get("node_features"),
    }
    for part in parts.values():
        if part is not None:
            part.flags.writeable = False  # spares the batch a copy
    graphs = GraphBatch(
        **parts,  # type: ignore[arg-type]
        node_vocabulary=vocabularies[0],
        edge_vocabulary=vocabularies[1],
        directed=bool(about["directed"]),
        atoms=about["atoms"],
    )
    return Dataset(
        str(about["name"]),
        graphs,
        arrays.get("y"),
        smiles=None if about["smiles"] is None else tuple(about["smiles"]),
        names=tuple(about["names"]),
        rows=arrays["rows"].astype(np.int64),
        errors=tuple(RowError(*error) for error in about["errors"]),
        target=about["target"],
        tasks=tuple(about.get("tasks", ())),
    )


def _narrow(values: Ints) -> NDArray[np.unsignedinteger]:
    largest = int(values.max()) if len(values) else 0
    return values.astype(np.min_scalar_type(largest))
