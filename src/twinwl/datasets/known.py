"""Data sets by name: generated, found locally, or downloaded.

Parsed data sets in the user's cache: compact arrays under the digest of the file they came from.

The catalogue: which data sets are known, and which of them are available locally.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Ints, Values, pointer
from twinwl.datasets.catalogue import (
    CARDS,
    MOLECULE_SETS,
    TU_NAMES,
    Card,
    CardError,
    check_card,
    downloads_folder,
    find,
    find_molecules,
    names_at_hand,
)
from twinwl.datasets.dataset import Dataset, RowError
from twinwl.datasets.generated import GENERATED, generate
from twinwl.errors import TwinWLError, held_warnings, warn_caller
from twinwl.files.cache import file_digest, read_arrays, write_arrays
from twinwl.files.model_files import from_json, to_json
from twinwl.graphs.batch import GraphBatch

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


_IN_PAIRS = {"EXP", "CEXP"}


def known_names() -> list[str]:
    """Return every name that `load_dataset` knows: generated sets, those with cards, then all others.

    >>> known_names()[:2]
    ['TWINS', 'CSL']
    """
    return list(dict.fromkeys([*GENERATED, *CARDS, *MOLECULE_SETS, *sorted(TU_NAMES, key=str.casefold)]))


def is_known(name: str) -> bool:
    """Return whether a name is that of a known data set, available locally or not.

    >>> is_known("MUTAG"), is_known("MUTAG.zip")
    (True, False)
    """
    return any(name in names for names in (GENERATED, CARDS, MOLECULE_SETS, TU_NAMES))


def check_known(name: str, data_dir: str | Path | None) -> None:
    """Refuse a name that is neither available locally nor in the TU collection.

    >>> check_known("MUTAG", None)
    """
    if name not in TU_NAMES and find(name, data_dir) is None:
        raise TwinWLError(_not_at_hand(name, data_dir))


def split_options(given: str, options: Mapping[str, int]) -> tuple[str, dict[str, int]]:
    """Split a name such as ``TWINS:n_pairs=50`` into the name and its options.

    >>> split_options("TWINS:n_pairs=50", {})
    ('TWINS', {'n_pairs': 50})
    """
    name, _, written = given.partition(":")
    found = dict(options)
    for part in filter(None, written.split(",")):
        key, _, value = (text.strip() for text in part.partition("="))
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise TwinWLError(f"{given!r}: got {part!r}, expected an option as in 'TWINS:n_pairs=50'")
        found[key] = int(value)
    return name, found


def load_generated(name: str, options: Mapping[str, int]) -> Dataset:
    """Generate a data set.

    >>> load_generated("TWINS", {"n_pairs": 2})
    Dataset('TWINS', 4 graphs, 2 classes)
    """
    graphs, y, groups = generate(name, options)
    return Dataset(name, graphs, y, groups, about=GENERATED[name].about)


def load_collection(name: str, data_dir: str | Path | None, progress: bool | None) -> Dataset:
    """Load a set by its name in the TU collection, from a local file or by downloading it."""
    path = find(name, data_dir)
    if path is None or path.parent != downloads_folder() or name not in TU_NAMES:
        return _checked(name, path or _fetched(name, data_dir, progress))
    from twinwl.datasets.download import is_intact, set_aside  # noqa: PLC0415

    if is_intact(path):
        try:
            return _checked(name, path)
        except CardError as error:  # a bad download is replaced
            set_aside(path, f"{error}; it is downloaded again")
    return _checked(name, _fetched(name, data_dir, progress))


def read_collection(path: Path, kind: str) -> Dataset:
    """Read a TU data set, or EXP in its authors' text format, from a file or folder; the files give the name.

    Parameters
    ----------
    path
    kind
        ``"tu"`` or ``"exp"``.
    """
    found = parsed(path, kind, lambda: _parse_exp(path) if kind == "exp" else _parse_tu(path))
    return _in_pairs(found) if found.name in _IN_PAIRS else found


def _checked(name: str, path: Path) -> Dataset:
    """Load a set from a file, and compare it with the card of its name."""
    is_text = path.suffix.lower() == ".txt"
    result = replace(read_collection(path, "exp" if is_text else "tu"), name=name, names=())
    if name not in CARDS:
        return result
    # The authors' text form of EXP need not have the order of the zip.
    card = replace(CARDS[name], digest=None) if is_text else CARDS[name]
    check_card(card, result.card, str(path))
    return replace(result, about=card.about)


def _fetched(name: str, data_dir: str | Path | None, progress: bool | None) -> Path:
    check_known(name, data_dir)
    from twinwl.datasets.download import downloaded_tu  # noqa: PLC0415  (it brings pooch)

    return downloaded_tu(name, progress)


def _not_at_hand(name: str, data_dir: str | Path | None) -> str:
    if name in _IN_PAIRS:
        return (
            f"{name} was not found, and is not in the TU collection: put {name}.zip in TU format, or its "
            f"authors' text form as {name}/GRAPHSAT.txt, into the folder given by TWINWL_DATA or --data-dir"
        )
    of_folded = {known.casefold(): known for known in [*known_names(), *names_at_hand(data_dir)]}
    close = get_close_matches(name.casefold(), list(of_folded), n=1)
    hint = f"did you mean {of_folded[close[0]]!r}? " if close else ""
    return (
        f"there is no data set or file {name!r}: {hint}'twinwl datasets' lists all names; load your own "
        f"TU zip by its path, or by name from the folder given by TWINWL_DATA or --data-dir"
    )


def _in_pairs(data: Dataset) -> Dataset:
    """Add the pairs of EXP as groups: graphs 2i and 2i + 1 are a pair, with opposite classes."""
    y = data.targets
    if len(y) % 2 or (y[::2] == y[1::2]).any():
        warn_caller(
            f"{data.name} does not consist of pairs with opposite classes, so it is unknown which graphs to "
            "keep together in folds; scores will be misleading"
        )
        return data
    return replace(data, groups=np.repeat(np.arange(len(y) // 2), 2))


def _parse_tu(path: Path) -> Dataset:
    from twinwl.datasets.tu import read_tu  # noqa: PLC0415  (numba)

    content = read_tu(path)
    return Dataset(content.name, content.graphs, content.y)


def _parse_exp(path: Path) -> Dataset:
    from twinwl.datasets.exp_text import read_exp_text  # noqa: PLC0415

    return Dataset("CEXP" if "CEXP" in path.absolute().parts else "EXP", *read_exp_text(path))


class Entry(NamedTuple):
    """One line of the catalogue.

    Attributes
    ----------
    name : str
    source : str
        ``"made in code"``, ``"TU collection"``, ``"EXP's authors"``, ``"MoleculeNet"`` or ``"your own"``.
    where : str or None
        The file it would be loaded from; None if it is not available locally.
    card : Card
        Its figures, as far as they are known without loading it.
    """

    name: str
    source: str
    where: str | None
    card: Card

    @property
    def ready(self) -> bool:
        """Whether it can be loaded without a download."""
        return self.where is not None or self.source == "made in code"


def catalogue(data_dir: str | Path | None = None, *, everything: bool = False) -> list[Entry]:
    """List generated sets, those with cards, molecules, and all others that are available locally.

    Parameters
    ----------
    data_dir
        Folder to search; None uses ``TWINWL_DATA``.
    everything
        Whether to list all names of the TU collection too.

    >>> [entry.name for entry in catalogue()][:3]
    ['TWINS', 'CSL', 'SRG']
    """
    names = [*GENERATED, *CARDS, *MOLECULE_SETS, *names_at_hand(data_dir)]
    if everything:
        names += sorted(TU_NAMES, key=str.casefold)
    return [entry_of(name, data_dir) for name in dict.fromkeys(names)]


def entry_of(name: str, data_dir: str | Path | None = None) -> Entry:
    """Return the entry of one set.

    >>> entry_of("CSL").source
    'made in code'
    """
    if name in GENERATED:
        about, _, n_graphs, n_classes = GENERATED[name]
        return Entry(name, "made in code", None, Card(name, about, n_graphs, n_classes=n_classes))
    if name in MOLECULE_SETS:
        return Entry(name, "MoleculeNet", _molecules(name, data_dir), Card(name, MOLECULE_SETS[name].about))
    path = find(name, data_dir)
    source = "TU collection" if name in TU_NAMES else "EXP's authors" if name in CARDS else "your own"
    return Entry(name, source, None if path is None else str(path), CARDS.get(name, Card(name)))


def _molecules(name: str, data_dir: str | Path | None) -> str | None:
    try:
        path, member = find_molecules(name, data_dir)
    except TwinWLError:
        return None
    return str(path) if member is None else f"{path}: {member}"
