"""Parsed data sets in the user's cache: compact arrays under the digest of the file they came from."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.cache import file_digest, read_arrays, write_arrays
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from twinwl.graphs.labels import Label

__all__ = ["ParsedFile", "from_arrays", "parsed", "to_arrays"]

_FORMAT = 1  # raise it whenever the same file would be parsed or kept in another way


class ParsedFile(NamedTuple):
    """What stands in a file of a data set.

    Attributes
    ----------
    name : str
        What the file itself calls the set.
    graphs : GraphBatch
    y : array of int64 or str, shape (n_graphs,)
    smiles : tuple of str, or None
        One a graph, where the file holds SMILES.
    warning : str
        What has to be said whenever the file is used; empty where there is nothing to say.
    """

    name: str
    graphs: GraphBatch
    y: NDArray[np.generic]
    smiles: tuple[str, ...] | None = None
    warning: str = ""


def parsed(path: Path, kind: str, parse: Callable[[Path], ParsedFile]) -> ParsedFile:
    """Parse a file, or take from the cache what came out of parsing the same content before.

    Parameters
    ----------
    path
        A file or folder; nothing is ever written beside it.
    kind
        The name of the format.
    parse
        What to do where the cache has nothing; a damaged entry counts as nothing.
    """
    key = hashlib.sha256(f"{kind} {_FORMAT} {file_digest(path)}".encode()).hexdigest()
    result = _cached(key)
    if result is None:
        result = parse(path)
        write_arrays(key, to_arrays(result))
    if result.warning:
        warn_caller(result.warning)
    return result


def _cached(key: str) -> ParsedFile | None:
    arrays = read_arrays(key)
    try:
        return None if arrays is None else from_arrays(arrays)
    except (TwinWLError, LookupError, ValueError, TypeError):
        return None  # damaged: as good as absent


def to_arrays(content: ParsedFile) -> dict[str, NDArray[np.generic]]:
    """Write graphs and classes as arrays of the narrowest types that hold them.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> content = ParsedFile("tiny", GraphBatch.from_edges([[(0, 1)]]), np.array([1]))
    >>> arrays = to_arrays(content)
    >>> arrays["neighbours"].dtype, from_arrays(arrays).graphs
    (dtype('uint8'), GraphBatch(1 graph, 2 nodes, 1 edge))
    """
    graphs = content.graphs
    about = {
        "name": content.name,
        "directed": graphs.directed,
        "node_vocabulary": [_to_json(label) for label in graphs.node_vocabulary],
        "edge_vocabulary": [_to_json(label) for label in graphs.edge_vocabulary],
        "smiles": content.smiles,
        "warning": content.warning,
    }
    # Within its graph a neighbour has a small number, mostly one byte.
    shift = np.repeat(graphs.graph_ptr[:-1], np.diff(graphs.indptr[graphs.graph_ptr]))
    arrays: dict[str, NDArray[np.generic]] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "y": content.y,
        "n_nodes": _narrow(graphs.nodes_per_graph),
        "degrees": _narrow(np.diff(graphs.indptr)),
        "neighbours": _narrow(graphs.indices - shift),
        "node_labels": _narrow(graphs.node_labels),
    }
    if graphs.edge_labels is not None:
        arrays["edge_labels"] = _narrow(graphs.edge_labels)
    if graphs.node_features is not None:
        arrays["node_features"] = graphs.node_features
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> ParsedFile:
    """Read back what `to_arrays` wrote, checking it like any other input."""
    about = json.loads(arrays["about"].tobytes())
    graph_ptr = pointer(arrays["n_nodes"].astype(np.int64))
    indptr = pointer(arrays["degrees"].astype(np.int64))
    shift = np.repeat(graph_ptr[:-1], np.diff(indptr[graph_ptr])).astype(np.int32)
    edge_labels, features = arrays.get("edge_labels"), arrays.get("node_features")
    parts: dict[str, NDArray[Any] | None] = {
        "indptr": indptr,
        "indices": arrays["neighbours"].astype(np.int32) + shift,
        "graph_ptr": graph_ptr,
        "node_labels": arrays["node_labels"].astype(np.int32),
        "edge_labels": None if edge_labels is None else edge_labels.astype(np.int32),
        "node_features": features,
    }
    for part in parts.values():
        if part is not None:
            part.flags.writeable = False  # spares the batch a copy
    graphs = GraphBatch(
        **parts,  # type: ignore[arg-type]
        node_vocabulary=tuple(map(_from_json, about["node_vocabulary"])),
        edge_vocabulary=tuple(map(_from_json, about["edge_vocabulary"])),
        directed=bool(about["directed"]),
    )
    if len(arrays["y"]) != len(graphs):
        raise TwinWLError("the number of classes is not that of the graphs")
    smiles = None if about["smiles"] is None else tuple(about["smiles"])
    return ParsedFile(str(about["name"]), graphs, arrays["y"], smiles, str(about["warning"]))


def _narrow(values: NDArray[np.signedinteger]) -> NDArray[np.unsignedinteger]:
    largest = int(values.max()) if len(values) else 0
    return values.astype(np.min_scalar_type(largest))


def _to_json(label: Label) -> object:
    """Write a label so that JSON keeps its kind: bytes are the only kind that it lacks."""
    if isinstance(label, bytes):
        return {"bytes": label.hex()}
    return [_to_json(part) for part in label] if isinstance(label, tuple) else label


def _from_json(value: object) -> Label:
    if isinstance(value, dict):
        return bytes.fromhex(value["bytes"])
    return tuple(map(_from_json, value)) if isinstance(value, list) else value  # type: ignore[return-value]
