"""Alphabets, feature spaces and feature matrices in model files: plain values and arrays.

Kernels index arrays without checking bounds, so a file that was tampered with must be rejected here. All else
that can be wrong in a file becomes one error where it is loaded (`twinwl.files.model_files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from twinwl.arrays import Int64, Ints
from twinwl.errors import TwinWLError
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label
from twinwl.isomorphism.readouts import resolve
from twinwl.models.features import KINDS, STRIDE, FeatureSpace
from twinwl.models.readout_columns import LARGEST_EXAMPLE, Examples, ValueTable
from twinwl.refinement.alphabet import Alphabet, Round
from twinwl.refinement.colours import INITIALS

_EXAMPLES_READ_AGAIN = 64


def _require(sound: object, what: str) -> None:
    if not sound:
        raise TwinWLError(f"the model's {what} do not fit together; the file is damaged")


def space_to_state(space: FeatureSpace) -> dict[str, object]:
    """Return JSON values and arrays that `space_from_state` turns into the same space."""
    state = {"kind": space.kind, **alphabet_to_state(space.alphabet)}
    for h, pairs in enumerate(space.twins or ()):
        state[f"twins_{h}"] = pairs.sig_items
    if space.values is None or space.examples is None:
        return state
    for readout in space.readouts:
        if not readout.is_known:
            raise TwinWLError(
                f"the readout {readout.name!r} is a function, which a model file cannot hold, because "
                "nothing in a file is ever executed; use a known readout, or fit the model again where it is "
                "needed"
            )
    graphs, root = space.examples.graphs, space.examples.root
    edges = {} if graphs.edge_labels is None else {"example_edge_labels": graphs.edge_labels}
    return {
        **state,
        "readouts": [readout.name for readout in space.readouts],
        "values": space.values.keys.view(np.int64).ravel(),
        "example_root": root,
        "example_graph_ptr": graphs.graph_ptr,
        "example_indptr": graphs.indptr,
        "example_indices": graphs.indices,
        "example_labels": graphs.node_labels,
        "example_vocabularies": [list(graphs.node_vocabulary), list(graphs.edge_vocabulary)],
        **edges,
    }


def space_from_state(state: Mapping[str, Any]) -> FeatureSpace:
    """Rebuild a space; refuse what does not fit together."""
    kind, alphabet, twins = state["kind"], alphabet_from_state(state), None
    _require(kind in KINDS, "features")
    if kind == "joint":
        widths = alphabet.n_colours
        twins = tuple(_pairs(_array(state, f"twins_{h}"), width) for h, width in enumerate(widths))
    space = FeatureSpace(kind, alphabet, twins)
    return _with_readouts(space, state) if "readouts" in state else space


def alphabet_to_state(alphabet: Alphabet) -> dict[str, object]:
    """Return JSON values and arrays that `alphabet_from_state` turns into the same alphabet."""
    state: dict[str, object] = {
        "labels": list(alphabet.labels),
        "edge_labels": None if alphabet.edge_labels is None else list(alphabet.edge_labels),
        "initial": alphabet.initial,
        "directed": alphabet.directed,
        "n_iter": alphabet.n_iter,
    }
    for h, part in enumerate(alphabet.rounds, start=1):
        state |= {f"sig_ptr_{h}": part.sig_ptr, f"sig_items_{h}": part.sig_items}
    return state


def alphabet_from_state(state: Mapping[str, Any]) -> Alphabet:
    """Rebuild an alphabet; refuse what does not fit together."""
    labels = labels_from_state(state["labels"])
    edge_labels = None if state["edge_labels"] is None else labels_from_state(state["edge_labels"])
    directed, n_iter = restore(bool, state["directed"]), restore(int, state["n_iter"])
    _require(n_iter >= 0 and state["initial"] in INITIALS, "rounds")
    n_codes = max(1, len(edge_labels or ())) * (2 if directed else 1)
    rounds: list[Round] = []
    stride = len(labels)
    for h in range(1, n_iter + 1):
        ptr, items = _array(state, f"sig_ptr_{h}"), _array(state, f"sig_items_{h}")
        sound = len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(items) and bool((np.diff(ptr) >= 1).all())
        if sound and len(items):
            own = items[ptr[:-1]]
            sound = items.min() >= 0 and items.max() < stride * n_codes and own.max() < stride
        _require(sound, f"signatures of round {h}")
        rounds.append(Round(ptr, items, stride, n_codes))
        stride = rounds[-1].n_colours
    return Alphabet(labels, edge_labels, state["initial"], directed, tuple(rounds))


def labels_from_state(values: object) -> tuple[Label, ...]:
    """Read labels, which a model file holds as a list of values."""
    _require(isinstance(values, list), "labels")
    return restore(tuple[Label, ...], values, "labels")


def columns_from_state(state: Mapping[str, Any], n_columns: int) -> Int64 | None:
    """Read the columns that were kept; None if all were."""
    if "columns" not in state:
        return None
    columns = _array(state, "columns").astype(np.int64)
    inside = not len(columns) or (columns[0] >= 0 and columns[-1] < n_columns)
    _require(inside and (np.diff(columns) > 0).all(), "columns")
    return columns


def n_graphs_from_state(state: Mapping[str, Any], n_columns: int) -> Int64 | None:
    """Read how many graphs have each column of a vocabulary; None if the columns are not from one."""
    if "n_graphs_with_column" not in state:
        return None
    n_graphs = _array(state, "n_graphs_with_column").astype(np.int64)
    _require(len(n_graphs) == n_columns and (n_graphs >= 1).all(), "numbers of graphs")
    return n_graphs


def matrix_to_state(matrix: sparse.csr_matrix) -> dict[str, object]:
    """Return the arrays of a feature matrix."""
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def matrix_from_state(state: Mapping[str, Any], n_columns: int) -> sparse.csr_matrix:
    """Rebuild a feature matrix; refuse entries without a column."""
    parts = {**state, "shape": (len(state["indptr"]) - 1, n_columns)}
    matrix = restore(sparse.csr_matrix, parts)
    _require(matrix.dtype == np.float64, "features")
    matrix.sort_indices()
    return matrix


def _with_readouts(space: FeatureSpace, state: Mapping[str, Any]) -> FeatureSpace:
    """Read the readouts, refusing values that they do not have in this installation."""
    readouts = resolve(state["readouts"])
    keys = _array(state, "values").astype(np.int64).view(np.uint64).reshape(-1, 2)
    numbers = np.concatenate([part.sig_items[1::2] for part in space.twins or ()])
    _require(numbers.max(initial=-1) < len(keys), "values of readouts")
    node_vocabulary, edge_vocabulary = map(labels_from_state, state["example_vocabularies"])
    has_edge_labels = "example_edge_labels" in state
    graphs = GraphBatch(
        _array(state, "example_indptr").astype(np.int64),
        _array(state, "example_indices").astype(np.int32),
        _array(state, "example_graph_ptr").astype(np.int64),
        _array(state, "example_labels").astype(np.int32),
        node_vocabulary,
        _array(state, "example_edge_labels").astype(np.int32) if has_edge_labels else None,
        edge_vocabulary,
        directed=space.alphabet.directed,
    )
    root, sizes = _array(state, "example_root").astype(np.int32), graphs.nodes_per_graph
    _require(
        len(root) == len(sizes) == space.n_columns
        and (sizes <= LARGEST_EXAMPLE).all()
        and np.where(sizes > 0, (root >= 0) & (root < sizes), root == -1).all(),
        "examples",
    )
    examples = Examples(graphs, root)
    # Read some examples out again: canonical forms depend on the version of igraph.
    columns = np.flatnonzero(root >= 0)[-_EXAMPLES_READ_AGAIN:]
    if not np.array_equal(examples.keys(columns, readouts), keys[numbers[columns]]):
        names = ", ".join(repr(readout.name) for readout in readouts)
        raise TwinWLError(
            f"the model's values of {names} are not those of this installation, perhaps because its igraph "
            "is of another version; fit the model again"
        )
    return replace(space, readouts=readouts, values=ValueTable(keys), examples=examples)


def _pairs(items: Ints, n_colours: int) -> Round:
    sound = len(items) % 2 == 0 and (not len(items) or (items.min() >= 0 and items[::2].max() < n_colours))
    _require(sound, "pairs of colour and size")
    return Round(np.arange(0, len(items) + 1, 2, dtype=np.int64), items.astype(np.int32), STRIDE)


def _array(state: Mapping[str, Any], key: str) -> Ints:
    value = restore(Ints, state[key], key)
    _require(value.ndim == 1 and value.dtype in (np.int32, np.int64), key)
    return value
