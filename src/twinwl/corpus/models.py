"""Models and corpora: training on shards, of which one at a time is in memory, and predictions by shard."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinwl.arrays import Bool, Int64, UInt64, Values
from twinwl.corpus.comparing import task_of
from twinwl.corpus.jobs import Job, Running
from twinwl.corpus.shards import (
    KEYS,
    OWN_COLUMNS,
    Part,
    arrow,
    digest_of,
    graphs_in,
    keys_in,
    parts_of,
    read_shard,
    write_shard,
)
from twinwl.datasets.targets import as_targets, known_cells
from twinwl.errors import TwinWLError, first_line, nearest, shown, warn_caller
from twinwl.files.atomic import errors_of_writing
from twinwl.files.model_files import load
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.values import row_keys
from twinwl.models.base import one_seed

_WHOLE = 2.0**53  # up to here every whole number is a float


class ShardTargets(NamedTuple):
    """The rows of a corpus that have a target.

    ``y`` has shape (n,), or (n, n_tasks) with NaN where one of several is unknown; ``rows`` are the rows'
    numbers over all shards, and ``keys``, shape (n, 2), the exact keys of their graphs.
    """

    y: Values
    rows: Int64
    keys: UInt64


def targets_in(folder: Path, manifest: Mapping[str, Any], names: Sequence[str]) -> ShardTargets:
    """Read some columns of all shards.

    Raises
    ------
    TwinWLError
        If the corpus lacks a column, or all its values are missing; if of several one is not numeric.
    """
    if not names:
        raise TwinWLError("target: got no name, expected at least one column")
    kinds = {name: kind for name, kind in manifest["columns"].items() if name not in OWN_COLUMNS}
    for name in names:
        if name not in kinds:
            remedy = nearest(name, kinds) if kinds else "it has no columns besides its graphs"
            raise TwinWLError(f"{folder}: got target {shown(name)}: {remedy}")
    found: list[list[Values]] = [[] for _ in names]
    keys = []
    for part in parts_of(folder, manifest):
        table = read_shard(part, [*names, *KEYS], manifest["columns"])
        keys.append(keys_in(table))
        for name, values in zip(names, found, strict=True):
            values.append(_values(table.column(name), f"{folder}: target {shown(name)}"))
    columns, known = zip(
        *(
            _completed(np.concatenate(values), name, str(folder))
            for name, values in zip(names, found, strict=True)
        ),
        strict=True,
    )
    rows = np.flatnonzero(np.logical_or.reduce(known))
    if not len(rows):
        listing = ", ".join(map(shown, names))
        raise TwinWLError(f"{folder}: {listing} is empty in all rows; name another target")
    if len(names) == 1:
        return ShardTargets(columns[0][rows], rows, np.concatenate(keys)[rows])
    for name, column, there in zip(names, columns, known, strict=True):
        if column.dtype.kind not in "biuf":
            raise TwinWLError(
                f"{folder}: target {shown(name)} holds {shown(str(column[there][0]))}, expected numbers "
                "where there are several targets; name it alone"
            )
    cells = [np.where(there, column, np.nan) for column, there in zip(columns, known, strict=True)]
    return ShardTargets(np.stack(cells, axis=1)[rows], rows, np.concatenate(keys)[rows])


def _values(column: Any, name: str) -> Values:  # noqa: ANN401
    """Return the values of a column: numbers, NaN where there is none, or text, empty where there is none."""
    try:
        return _plain_values(column)
    except arrow().ArrowException as error:
        raise TwinWLError(
            f"{name} holds {column.type}, expected numbers or text ({first_line(error)}); name another"
        ) from error


def _plain_values(column: Any) -> Values:  # noqa: ANN401
    pa = arrow()
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        number = pa.float64()
        values = column.cast(kind).cast(number) if not pa.types.is_boolean(kind) else column.cast(pa.int8())
        return np.asarray(values.cast(number).to_numpy(zero_copy_only=False), np.float64)
    texts = column.cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False)
    return np.char.strip(texts.astype(np.str_))


def _completed(values: Values, name: str, source: str) -> tuple[Values, Bool]:
    """Return the values of all shards, and which are there; text of numbers only becomes numbers.

    >>> _completed(np.array(["1", "NA", "0"]), "active", "library")
    (array([1, 0, 0]), array([ True, False,  True]))
    """
    if values.dtype.kind == "U":
        distinct, code_of_row = np.unique(values, return_inverse=True)
        cells = known_cells(distinct.tolist())
        is_known = np.array([cell is not None for cell in cells], np.bool_)
        found = as_targets([cell for cell in cells if cell is not None], name, source)
        spread = np.zeros(len(cells), found.dtype)
        spread[is_known] = found
        return spread[code_of_row], is_known[code_of_row]
    measured = np.asarray(values, np.float64)
    known = ~np.isnan(measured)
    there = measured[known]
    if (there == np.floor(there)).all() and (np.abs(there) < _WHOLE).all():
        return np.where(known, measured, 0).astype(np.int64), known
    return measured, known


class _ShardParts:
    """The graphs of a corpus with a target, shard by shard."""

    def __init__(self, parts: Sequence[Part], columns: Mapping[str, str], rows: Int64) -> None:
        self._parts, self._columns = parts, columns
        stops = np.searchsorted(rows, [part.stop for part in parts])
        self._rows = np.split(rows, stops[:-1])
        self.sizes = [len(here) for here in self._rows]

    def read(self, part: int, rows: Int64) -> GraphBatch:
        """Return some graphs of a shard."""
        of = self._parts[part]
        table = read_shard(of, OWN_COLUMNS, self._columns)
        return graphs_in(table.take(arrow().array(self._rows[part][rows] - of.first)), of.path)


def train_on_corpus(
    folder: Path,
    manifest: Mapping[str, Any],
    estimator: Any,  # noqa: ANN401
    names: Sequence[str],
    memory: int,
) -> None:
    """Train an STwin network on the rows that have a target."""
    from twinwl.neural.fit_in_parts import fit_in_parts  # noqa: PLC0415  (torch)
    from twinwl.neural.stwin import STwinNetworkEstimator  # noqa: PLC0415

    if not isinstance(estimator, STwinNetworkEstimator):
        raise TwinWLError(
            f"estimator: got {shown(estimator)}, expected an STwinClassifier or STwinRegressor: others need "
            "all graphs in memory"
        )
    found = targets_in(folder, manifest, names)
    y: Any = found.y
    if len(names) > 1:
        y = dict(zip(names, found.y.T, strict=True))
    parts = _ShardParts(parts_of(folder, manifest), manifest["columns"], found.rows)
    held = None
    if estimator.validation_fraction is not None:
        held = held_by_key(found.keys, float(estimator.validation_fraction), one_seed(estimator.random_state))
    fit_in_parts(estimator, parts, y, held, memory=memory)
    if estimator.held_out_ is not None:
        estimator.held_out_ = found.rows[estimator.held_out_]
    estimator.target_ = ",".join(names)
    estimator.atoms_ = manifest["settings"].get("atoms")
    missing = int(manifest["rows"]) - len(found.rows)
    if missing:
        warn_caller(
            f"{missing:,} of {manifest['rows']:,} graphs have no value of {', '.join(map(repr, names))} and "
            "were left out"
        )


def held_by_key(keys: UInt64, fraction: float, seed: int) -> Bool:
    """Return which graphs to hold out, so that copies of a graph are on the same side.

    >>> keys = np.arange(2000, dtype=np.uint64).reshape(-1, 2)
    >>> int(held_by_key(keys, 0.1, 0).sum())
    102
    """
    words = np.column_stack([keys, np.full(len(keys), seed, np.uint64)])
    return row_keys(words)[:, 0] < np.uint64(int(fraction * 2**64))


def predict_corpus(
    folder: Path,
    manifest: Mapping[str, Any],
    model: Path,
    output: Path,
    running: Running,
    *,
    proba: bool = False,
) -> list[Path]:
    """Write the predictions of a model for each shard, with ids and the other columns; return the files."""
    loaded = load(model)
    _check_model(loaded, model, folder, manifest, proba=proba)
    digest = digest_of(model.read_bytes())
    parts = parts_of(folder, manifest)
    source = digest_of(*(part.digest for part in parts))
    full = next(part for part in parts if part.stop > part.first)
    shared = (str(model), digest, proba, manifest["columns"], full)
    with Job(output, "predict", {"model": digest, "proba": proba, "of": source}, running) as job:
        with errors_of_writing(output):
            (output / "shards").mkdir(exist_ok=True)
        tasks = [task_of(part, output, (part, str(output))) for part in parts]
        entries = job.run("predict", predict_shard, tasks, shared, 100)
        job.finish(entries, rows=sum(entry["rows"] for entry in entries))
        return [task.output for task in tasks]


def _check_model(
    model: object, path: Path, folder: Path, manifest: Mapping[str, Any], *, proba: bool
) -> None:
    """Refuse a model that cannot be asked about these graphs, before anything is written."""
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path} holds a {type(model).__name__}, which predicts nothing; give a classifier or regressor"
        )
    if proba and not hasattr(model, "predict_proba"):
        raise TwinWLError(f"proba: {path} predicts numbers, which have no probabilities; leave it out")
    atoms = manifest["settings"].get("atoms")
    learnt = getattr(model, "atoms_", None) or "skeleton"
    if atoms is not None and atoms != learnt:
        raise TwinWLError(
            f"{path} was trained on molecules with atoms={learnt!r}, but {folder} was built with {atoms!r}, "
            f"so its labels mean something else; build the corpus again with --same {learnt}"
        )


def predict_shard(
    part: Part, output: str, model: str, digest: str, proba: bool, columns: Mapping[str, str], full: Part
) -> dict[str, Any]:
    """Write the predictions for a shard; ``full`` is a shard with graphs."""
    path = Path(part.path)
    table = read_shard(part, None, columns)
    found = {"id": table.column("id")}
    found |= {name: table.column(name) for name in table.column_names if name not in OWN_COLUMNS}
    loaded = _model(model, digest)
    # A shard without rows has the same columns: those of some other graph, which is not kept.
    n = table.num_rows
    some = table if n else read_shard(full, None, columns).slice(0, 1)
    graphs = graphs_in(some, str(path))
    for name, values in _predictions(loaded, graphs, proba=proba).items():
        found[f"twinwl_{name}" if name in found else name] = arrow().array(values[:n])
    return {"rows": n, "digest": write_shard(Path(output, "shards", path.name), arrow().table(found))}


def _predictions(model: Any, graphs: GraphBatch, *, proba: bool) -> dict[str, Values]:  # noqa: ANN401
    """Return the columns of predictions: one per task, and one per class and task."""
    tasks = getattr(model, "tasks_", None)
    values = model.predict(graphs)
    shares = model.predict_proba(graphs) if proba else None
    if tasks is None:
        out = {"prediction": values}
        if shares is not None:
            out |= {f"p_{name}": share for name, share in zip(model.classes_.tolist(), shares.T, strict=True)}
        return out
    out = {}
    for place, task in enumerate(tasks):
        out[f"prediction_{task}"] = values[:, place]
        if shares is not None:
            names = model.classes_[place].tolist()
            out |= {f"p_{name}_{task}": share for name, share in zip(names, shares[place].T, strict=True)}
    return out


@functools.lru_cache(maxsize=1)
def _model(path: str, digest: str) -> Any:  # noqa: ANN401
    if digest_of(Path(path).read_bytes()) != digest:
        raise TwinWLError(f"{path} was changed while it was used; start again with fresh=True")
    return load(path)
