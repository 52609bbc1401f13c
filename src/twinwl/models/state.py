"""Labels and classes in model files: written with their types, and checked when they are read.

Alphabets, feature spaces and feature matrices in model files: plain values and arrays.

Kernels index arrays without checking bounds, so a file that was tampered with must be rejected here.

Support vector machines of one task or several in model files: plain values and arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from twinwl.arrays import Int64, Ints
from twinwl.errors import TwinWLError, nearest, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, normalise_label
from twinwl.isomorphism.readouts import resolve
from twinwl.models.features import KINDS, STRIDE, FeatureSpace
from twinwl.models.readout_columns import LARGEST_EXAMPLE, Examples, ValueTable
from twinwl.refinement.alphabet import Alphabet, Round
from twinwl.refinement.colours import INITIALS

if TYPE_CHECKING:
    pass


def labels_from_state(values: object) -> tuple[Label, ...]:
    """Read labels, which a model file holds as a list of values.

    Files of twinwl 0.1 hold ``[kind, value]`` for each.

    >>> labels_from_state(["C", (1, 2.5), ["int", "7"]])
    ('C', (1, 2.5), 7)

    Raises
    ------
    TwinWLError
        If a value cannot be a label.
    """
    if not isinstance(values, list):
        raise TwinWLError("the model's labels are not a list; the file is damaged")
    return tuple(_label(value) for value in values)


def _label(value: object) -> Label:
    try:
        return normalise_label(_read(value) if isinstance(value, list) else value)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise TwinWLError(f"{shown(value)} is not a label; the file is damaged") from error


def _read(value: object) -> Label:  # noqa: PLR0911  (one per kind)
    """Read a label as twinwl 0.1 wrote it."""
    match value:
        case ["none"]:
            return None
        case ["bool", bool(flag)]:
            return flag
        case ["int", str(digits)]:
            return int(digits)
        case ["float", str(digits)]:
            return float.fromhex(digits)
        case ["str", str(text)]:
            return text
        case ["bytes", str(digits)]:
            return bytes.fromhex(digits)
        case ["tuple", list(parts)]:
            return tuple(_read(part) for part in parts)
    raise ValueError(value)


_INTEGERS = (np.int32, np.int64)
_EXAMPLES_READ_AGAIN = 64


def space_to_state(space: FeatureSpace) -> dict[str, object]:
    """Return JSON values and arrays that `space_from_state` turns into the same space."""
    state = {"kind": space.kind, **alphabet_to_state(space.alphabet)}
    for h, pairs in enumerate(space.twins or ()):
        state[f"twins_{h}"] = pairs.sig_items
    return state | _readouts_to_state(space)


def space_from_state(state: Mapping[str, object]) -> FeatureSpace:
    """Rebuild a space.

    Raises
    ------
    TwinWLError
        If anything in the state is missing or does not fit.
    """
    kind = _one_of(state, "kind", KINDS)
    alphabet = alphabet_from_state(state)
    twins = None
    if kind == "joint":
        widths = alphabet.n_colours
        twins = tuple(_pairs(_array(state, f"twins_{h}"), width) for h, width in enumerate(widths))
    space = FeatureSpace(kind, alphabet, twins)
    return _with_readouts(space, state) if "readouts" in state else space


def alphabet_to_state(alphabet: Alphabet) -> dict[str, object]:
    """Return JSON values and arrays that `alphabet_from_state` turns into the same alphabet."""
    edge_labels = alphabet.edge_labels
    state: dict[str, object] = {
        "labels": list(alphabet.labels),
        "edge_labels": None if edge_labels is None else list(edge_labels),
        "initial": alphabet.initial,
        "directed": alphabet.directed,
        "n_iter": alphabet.n_iter,
    }
    for h, part in enumerate(alphabet.rounds, start=1):
        state[f"sig_ptr_{h}"] = part.sig_ptr
        state[f"sig_items_{h}"] = part.sig_items
    return state


def alphabet_from_state(state: Mapping[str, object]) -> Alphabet:
    """Rebuild an alphabet.

    Raises
    ------
    TwinWLError
        If anything in the state is missing or does not fit.
    """
    labels = labels_from_state(_entry(state, "labels"))
    edge_values = _entry(state, "edge_labels")
    edge_labels = None if edge_values is None else labels_from_state(edge_values)
    directed, n_iter = _entry(state, "directed"), _entry(state, "n_iter")
    if (
        not isinstance(directed, bool)
        or not isinstance(n_iter, int)
        or isinstance(n_iter, bool)
        or n_iter < 0
    ):
        raise TwinWLError("the model's alphabet lacks its rounds, or whether it is directed")
    n_codes = (1 if edge_labels is None else max(1, len(edge_labels))) * (2 if directed else 1)
    rounds: list[Round] = []
    stride = len(labels)
    for h in range(1, n_iter + 1):
        part = Round(_array(state, f"sig_ptr_{h}"), _array(state, f"sig_items_{h}"), stride, n_codes)
        _check_round(part, h)
        rounds.append(part)
        stride = part.n_colours
    return Alphabet(labels, edge_labels, _one_of(state, "initial", INITIALS), directed, tuple(rounds))


def columns_from_state(state: Mapping[str, object], n_columns: int) -> Int64 | None:
    """Read the columns that were kept; None if all were."""
    if "columns" not in state:
        return None
    columns = _array(state, "columns").astype(np.int64)
    if len(columns) and (columns[0] < 0 or columns[-1] >= n_columns or (np.diff(columns) <= 0).any()):
        raise TwinWLError("the model's column numbers do not fit its alphabet; the file is damaged")
    return columns


def n_graphs_from_state(state: Mapping[str, object], n_columns: int) -> Int64 | None:
    """Read how many graphs have each column of a vocabulary; None if the columns are not from one."""
    if "n_graphs_with_column" not in state:
        return None
    n_graphs = _array(state, "n_graphs_with_column").astype(np.int64)
    if len(n_graphs) != n_columns or (n_graphs < 1).any():
        raise TwinWLError("the vocabulary's numbers of graphs do not fit its columns; the file is damaged")
    return n_graphs


def matrix_to_state(matrix: sparse.csr_matrix) -> dict[str, object]:
    """Return the arrays of a feature matrix."""
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def matrix_from_state(state: Mapping[str, object], n_columns: int) -> sparse.csr_matrix:
    """Rebuild a feature matrix.

    Raises
    ------
    TwinWLError
        If an entry has no column, or the arrays do not fit together.
    """
    data, indices, indptr = _entry(state, "data"), _array(state, "indices"), _array(state, "indptr")
    if not isinstance(data, np.ndarray) or data.dtype != np.float64 or data.shape != indices.shape:
        raise TwinWLError("the model's features are not rows of numbers; the file is damaged")
    sound = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == len(indices)
    sound = sound and bool((np.diff(indptr) >= 0).all())
    if not sound or (len(indices) and (indices.min() < 0 or indices.max() >= n_columns)):
        raise TwinWLError("the model's features do not fit its alphabet; the file is damaged")
    matrix: sparse.csr_matrix = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.sort_indices()
    return matrix


def _readouts_to_state(space: FeatureSpace) -> dict[str, object]:
    """Return the readouts of a space by name, their values, and the example of each column."""
    if space.values is None or space.examples is None:
        return {}
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


def _with_readouts(space: FeatureSpace, state: Mapping[str, object]) -> FeatureSpace:
    """Undo `_readouts_to_state`, refusing values that the readouts do not have in this installation."""
    readouts = resolve(_list(state, "readouts"))  # type: ignore[arg-type]  # checked there
    keys = _array(state, "values").astype(np.int64)
    n_values = max([int(part.sig_items[1::2].max(initial=-1)) for part in space.twins or ()], default=-1) + 1
    if len(keys) % 2 or n_values > len(keys) // 2:
        raise TwinWLError("the model's values of readouts do not fit its columns; the file is damaged")
    node_vocabulary, edge_vocabulary = map(labels_from_state, _list(state, "example_vocabularies"))
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
    values, root = ValueTable(keys.view(np.uint64).reshape(-1, 2)), _array(state, "example_root")
    sizes = graphs.nodes_per_graph
    sound = len(root) == len(sizes) == space.n_columns and bool((sizes <= LARGEST_EXAMPLE).all())
    if not sound or not np.where(sizes > 0, (root >= 0) & (root < sizes), root == -1).all():
        raise TwinWLError("the model's examples do not fit its columns; the file is damaged")
    examples = Examples(graphs, root.astype(np.int32))
    full = replace(space, readouts=readouts, values=values, examples=examples)
    _check_values(full, examples, values)
    return full


def _check_values(space: FeatureSpace, examples: Examples, values: ValueTable) -> None:
    """Read some examples out again: canonical forms depend on the version of igraph."""
    columns = np.flatnonzero(examples.root >= 0)[-_EXAMPLES_READ_AGAIN:]
    numbers = np.concatenate([part.sig_items[1::2] for part in space.twins or ()])[columns]
    if not np.array_equal(examples.keys(columns, space.readouts), values.keys[numbers]):
        names = ", ".join(repr(readout.name) for readout in space.readouts)
        raise TwinWLError(
            f"the model's values of {names} are not those of this installation, perhaps because its igraph "
            "is of another version; fit the model again"
        )


def _check_round(part: Round, h: int) -> None:
    ptr, items = part.sig_ptr, part.sig_items
    sound = len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(items) and bool((np.diff(ptr) >= 1).all())
    if sound and len(items):
        owns = items[ptr[:-1]]
        sound = items.min() >= 0 and items.max() < part.stride * part.n_codes and owns.max() < part.stride
    if not sound:
        raise TwinWLError(
            f"the signatures of round {h} in the model do not fit together; the file is damaged"
        )


def _pairs(items: Ints, n_colours: int) -> Round:
    if len(items) % 2 or (len(items) and (items.min() < 0 or items[::2].max() >= n_colours)):
        raise TwinWLError("the model's colour and size pairs do not fit its alphabet; the file is damaged")
    return Round(np.arange(0, len(items) + 1, 2, dtype=np.int64), items.astype(np.int32), STRIDE)


def _entry(state: Mapping[str, object], key: str) -> object:
    if key not in state:
        raise TwinWLError(f"the model lacks {key!r}; the file is damaged")
    return state[key]


def _list(state: Mapping[str, object], key: str) -> list[object]:
    value = _entry(state, key)
    if not isinstance(value, list):
        raise TwinWLError(f"{key!r} in the model is not a list; the file is damaged")
    return value


def _array(state: Mapping[str, object], key: str) -> Ints:
    value = _entry(state, key)
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype not in _INTEGERS:
        raise TwinWLError(f"{key!r} in the model is not a row of integers; the file is damaged")
    return value


def _one_of(state: Mapping[str, object], key: str, known: tuple[str, ...]) -> str:
    value = _entry(state, key)
    if value not in known:
        raise TwinWLError(f"{key} in the model is {shown(value)}: {nearest(shown(value), known)}")
    return str(value)
