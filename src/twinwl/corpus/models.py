"""Features and models of a corpus.

STwin features have one vocabulary for all shards, and a shard of sparse rows for each:

1. *Count* by shard in how many graphs each column occurs; columns are identified by their content keys.
2. *Merge* the counts of a range of keys over all shards, and keep the columns that occur in enough graphs.
3. Freeze these into a vocabulary, with the first graph that has each.
4. *Encode* by shard.

Models are trained on shards, of which one at a time is in memory, and predict shard by shard.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from twinwl.arguments import pointer
from twinwl.arrays import Fields, Int64, UInt64, Values
from twinwl.corpus import shards
from twinwl.corpus.comparing import range_tasks, save_array, slices_of, sorted_entries
from twinwl.corpus.jobs import VOCABULARY, Job, Running
from twinwl.corpus.shards import OWN_COLUMNS, Part, arrow, digest_of, graphs_in, lists_in, write_shard
from twinwl.datasets.dataset import known_cells, named_targets, targets_of
from twinwl.datasets.records import Record
from twinwl.errors import TwinWLError, setting, shown, warn_caller
from twinwl.files.model_files import load, save
from twinwl.graphs.atom_labels import FIRST_ATOMS
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.models.calibration import number_scaffolds, scaffold_keys
from twinwl.models.features import keep_columns, stwin_features
from twinwl.models.vectorizer import ColumnChoice, ColumnCounts, STwinVectorizer, freeze

if TYPE_CHECKING:
    from twinwl.corpus.corpus import Corpus


def features_of(
    corpus: Corpus, output: Path, vectorizer: STwinVectorizer, running: Running
) -> STwinVectorizer:
    """Write the vocabulary and one shard of features per shard of the corpus; return the vectorizer."""
    vectorizer = clone(vectorizer)
    vectorizer._check_parameters()  # noqa: SLF001  (as ``fit`` does)
    for name, value in (("n_iter", vectorizer.n_iter), ("min_df", vectorizer.min_df)):
        if not isinstance(value, int | np.integer):
            raise TwinWLError(f"{name}: got {value!r}, expected a whole number: shards are counted apart")
    readout = vectorizer.readout
    readouts = [readout] if isinstance(readout, str) or callable(readout) else readout
    if not all(isinstance(one, str) for one in readouts):
        raise TwinWLError("readout: got a function, expected the name of a readout, which can be saved")
    parts = corpus.parts()
    # Parameters that earlier versions lacked are left out where they change nothing, so that jobs can resume.
    chosen = {
        name: value
        for name, value in vectorizer.column_choice._asdict().items()
        if name in {"min_df", "max_features"} or value != ColumnChoice._field_defaults[name]
    }
    with Job(output, "features", {**vectorizer.settings, **chosen, "of": corpus.digest}, running) as job:
        path = output / VOCABULARY
        if job.finished is None or not path.exists():
            counts = _count(job, corpus, vectorizer)
            rows = np.unique(counts.first)
            examples = [(part.read_rows(rows, OWN_COLUMNS), part.path) for part in parts]
            graphs = concatenate([graphs_in(table, name) for table, name in examples if table is not None])
            save(freeze(vectorizer, counts, graphs), path, atoms=corpus.atoms)
        digest = digest_of(path.read_bytes())
        fitted = _model(str(path), digest)
        if not isinstance(fitted, STwinVectorizer):
            raise TwinWLError(f"{path} is not the vocabulary of a corpus; give another folder")
        entries = job.run_shards(encode_shard, parts, (str(path), digest), digest)
        n_entries = sum(entry["entries"] for entry in entries)
        job.finish(entries, rows=len(corpus), features=fitted.n_features_out_, entries=n_entries)
        return fitted


def _count(job: Job, corpus: Corpus, vectorizer: STwinVectorizer) -> ColumnCounts:
    """Run the first two stages; return the columns of enough graphs."""
    paths, n_entries = sorted_entries(job, "count", count_shard, corpus.parts(), vectorizer.settings)
    tasks = range_tasks(job, "columns", corpus.digest, n_entries)
    choice = vectorizer.column_choice
    job.run("merge", merge_range, tasks, (paths, choice._replace(max_features=None), len(corpus)))
    merged = [_unpack(np.load(task.output)) for task in tasks]
    counts = ColumnCounts.merge(merged).frequent(choice, len(corpus))
    if not len(counts.h):
        raise TwinWLError(
            f"min_df: got {vectorizer.min_df}, but no column occurs in so many of the {len(corpus):,} "
            f"graphs; lower it, with another folder or {setting(fresh=True)}"
        )
    return counts


def count_shard(part: Part, out: str, settings: Fields) -> Fields:
    """Write the columns of a shard in order of their keys, shape (5, n)."""
    table = part.read(OWN_COLUMNS)
    counts = np.empty((5, 0), np.uint64)
    if table.num_rows:
        graphs = graphs_in(table, part.path)
        counts = _pack(ColumnCounts.of(graphs, settings, np.arange(part.first, part.stop)))
    save_array(out, counts)
    return {"rows": table.num_rows, "entries": counts.shape[1]}


def _pack(counts: ColumnCounts) -> UInt64:
    """Return counts as one array of shape (5, n), sorted by its first row."""
    rows = [*counts.keys.T, counts.h, counts.n_graphs, counts.first]
    return np.stack(rows, dtype=np.uint64, casting="unsafe")


def _unpack(packed: UInt64) -> ColumnCounts:
    """Undo `_pack`."""
    keys = np.ascontiguousarray(packed[:2].T)
    return ColumnCounts(packed[2].astype(np.int32), keys, *packed[3:].astype(np.int64))


def merge_range(
    low: int, high: int, out: str, paths: Sequence[str], choice: ColumnChoice, n_graphs: int
) -> Fields:
    """Add up the counts of a range of keys, and write those of columns that may be kept."""
    counts = ColumnCounts.merge([_unpack(part) for part in slices_of(paths, low, high)])
    frequent = counts.frequent(choice, n_graphs)
    save_array(out, _pack(frequent))
    return {"columns": len(counts.h), "kept": len(frequent.h)}


def encode_shard(part: Part, output: str, vocabulary: str, digest: str) -> Fields:
    """Write the features of a shard."""
    table = part.read()
    model = _model(vocabulary, digest)
    matrix = sparse.csr_matrix((0, model.n_features_out_))
    if table.num_rows:
        encoding = stwin_features(graphs_in(table, part.path), space=model.space_)
        matrix = keep_columns(encoding.matrix, model.columns_)
    pa = arrow()
    starts = pa.array(matrix.indptr, pa.int64())
    columns = shards.other_columns(table)
    columns["columns"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.indices, pa.int32()))
    columns["values"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.data, pa.float64()))
    metadata = {b"twinwl.n_features": str(model.n_features_out_)}
    digest = write_shard(Path(output), pa.table(columns).replace_schema_metadata(metadata))
    return {"rows": table.num_rows, "entries": int(matrix.nnz), "digest": digest}


@functools.lru_cache(maxsize=1)
def _model(path: str, digest: str) -> Any:  # noqa: ANN401
    if digest_of(Path(path).read_bytes()) != digest:
        raise TwinWLError(f"{path} was changed while it was used; start again with {setting(fresh=True)}")
    return load(path)


def read_features(path: str | Path) -> sparse.csr_matrix:
    """Return a shard that `Corpus.features` has written as a sparse matrix, one row per graph."""
    with shards.open_shard(path) as file:
        table = file.read()
        n_columns = (table.schema.metadata or {}).get(b"twinwl.n_features")
        if n_columns is None:
            raise TwinWLError("it has no features; `twinwl corpus features` writes files that have them")
        lengths, columns = lists_in(table.column("columns"))
        values = lists_in(table.column("values"))[1].to_numpy()
        matrix = sparse.csr_matrix(
            (values, columns.to_numpy(), pointer(lengths)), shape=(len(lengths), int(n_columns))
        )
        matrix.check_format()
        return matrix


class ShardTargets(NamedTuple):
    """The rows of a corpus that have a target.

    ``y`` has shape (n,), or (n, n_tasks) with NaN where one of several is unknown; ``rows`` are the rows'
    numbers over all shards, and ``keys``, shape (n, 2), the exact keys of their graphs.
    """

    y: Values
    rows: Int64
    keys: UInt64


def targets_in(corpus: Corpus, names: Sequence[str]) -> ShardTargets:
    """Read some columns of all shards.

    Raises
    ------
    TwinWLError
        If the corpus lacks a column, or all its values are missing; if of several one is not numeric.
    """
    source = str(corpus.folder)
    header = [name for name in corpus.manifest["columns"] if name not in OWN_COLUMNS]
    target = named_targets(tuple(names), header, source)
    table = arrow().concat_tables([part.read([*names, *shards.KEYS]) for part in corpus.parts()])
    columns = [known_cells(table.column(name).to_pylist()) for name in names]
    known = [row for row, cells in enumerate(zip(*columns)) if any(cell is not None for cell in cells)]
    if not known:
        listing = ", ".join(map(shown, names))
        raise TwinWLError(f"{source}: {listing} is empty in all rows; name another target")
    records = [Record(row, None, "", "", tuple(column[row] for column in columns)) for row in known]
    rows = np.array(known, np.int64)
    return ShardTargets(targets_of(records, target, source), rows, shards.keys_in(table)[rows])


class _ShardParts:
    """The graphs of a corpus with a target, shard by shard, as a model sees them."""

    def __init__(self, parts: Sequence[Part], rows: Int64, *, edge_labels: bool) -> None:
        self._parts, self._edge_labels = parts, edge_labels
        stops = np.searchsorted(rows, [part.stop for part in parts])
        self._rows = np.split(rows, stops[:-1])
        self.sizes = [len(here) for here in self._rows]

    def read(self, part: int, rows: Int64) -> GraphBatch:
        """Return some graphs of a shard."""
        of = self._parts[part]
        chosen = arrow().array(self._rows[part][rows] - of.first)
        graphs = graphs_in(of.read(OWN_COLUMNS).take(chosen), of.path)
        return graphs if self._edge_labels else graphs.without_edge_labels()

    def scaffolds(self) -> Int64:
        """Return the scaffold of each molecule, as `twinwl.models.calibration.scaffolds_of` does."""
        graphs = (self.read(part, np.arange(size)) for part, size in enumerate(self.sizes) if size)
        return number_scaffolds(np.concatenate(list(map(scaffold_keys, graphs))))


def train_on_corpus(corpus: Corpus, estimator: Any, names: Sequence[str], memory: int) -> None:  # noqa: ANN401
    """Train an STwin network on the rows that have a target."""
    from twinwl.neural.stwin import STwinNetworkEstimator, fit_in_parts  # noqa: PLC0415  (torch)

    if not isinstance(estimator, STwinNetworkEstimator):
        raise TwinWLError(
            f"estimator: got {shown(estimator)}, expected an STwinClassifier or STwinRegressor: others need "
            "all graphs in memory"
        )
    targets = targets_in(corpus, names)
    y: Any = targets.y if len(names) == 1 else dict(zip(names, targets.y.T))
    parts = _ShardParts(corpus.parts(), targets.rows, edge_labels=bool(estimator.edge_labels))
    copies = np.unique(targets.keys, axis=0, return_inverse=True)[1].reshape(-1)
    scaffolds = None if corpus.atoms is None else parts.scaffolds
    fit_in_parts(estimator, parts, y, copies, scaffolds=scaffolds, memory=memory)
    if estimator.held_out_ is not None:
        estimator.held_out_ = targets.rows[estimator.held_out_]
    estimator.target_ = ",".join(names)
    estimator.atoms_ = corpus.atoms
    missing = len(corpus) - len(targets.rows)
    if missing:
        warn_caller(
            f"{missing:,} of {len(corpus):,} graphs have no value of {', '.join(map(repr, names))} and "
            "were left out"
        )


def predict_corpus(corpus: Corpus, path: Path, output: Path, running: Running, *, proba: bool) -> list[Path]:
    """Write the predictions of a model for each shard, with ids and the other columns; return the files."""
    model: Any = load(path)
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path} holds a {type(model).__name__}, which predicts nothing; give a classifier or regressor"
        )
    if proba and not hasattr(model, "predict_proba"):
        raise TwinWLError(f"proba: {path} predicts numbers, which have no probabilities; leave it out")
    if getattr(model, "view_names_", ()):
        raise TwinWLError(
            f"{path} was trained on {len(model.view_names_)} views, and a corpus has one; use twinwl predict"
        )
    learnt = getattr(model, "atoms_", None) or FIRST_ATOMS
    if corpus.atoms not in {None, learnt}:
        raise TwinWLError(
            f"{path} was trained on molecules with atoms={learnt!r}, but {corpus.folder} was built with "
            f"{corpus.atoms!r}, so its labels differ; build the corpus again with --same {learnt}"
        )
    digest = digest_of(path.read_bytes())
    parts = corpus.parts()
    full = next(part for part in parts if part.stop > part.first)
    settings = {"model": digest, "proba": proba, "of": corpus.digest}
    with Job(output, "predict", settings, running) as job:
        entries = job.run_shards(predict_shard, parts, (str(path), digest, proba, full))
        job.finish(entries, rows=len(corpus))
        return [output / "shards" / entry["name"] for entry in entries]


def predict_shard(part: Part, output: str, path: str, digest: str, proba: bool, full: Part) -> Fields:
    """Write the predictions for a shard; ``full`` is a shard with graphs."""
    table = part.read()
    columns = shards.other_columns(table)
    # A shard without rows has the same columns: those of some other graph, which is not kept.
    n = table.num_rows
    graphs = graphs_in(table if n else full.read().slice(0, 1), part.path)
    for name, values in _predictions(_model(path, digest), graphs, proba=proba).items():
        columns[f"twinwl_{name}" if name in columns else name] = arrow().array(values[:n])
    return {"rows": n, "digest": write_shard(Path(output), arrow().table(columns))}


def _predictions(model: Any, graphs: GraphBatch, *, proba: bool) -> dict[str, Values]:  # noqa: ANN401
    """Return the columns of predictions: one per task, and one per class and task."""
    tasks = getattr(model, "tasks_", None)
    values = model.predict(graphs)
    classes, shares = (model.classes_, model.predict_proba(graphs)) if proba else ([], [])
    if tasks is None:  # as of one task without a name
        values, classes, shares = values[:, None], [classes], [shares]
    columns: dict[str, Values] = {}
    for place, suffix in enumerate([""] if tasks is None else [f"_{task}" for task in tasks]):
        columns[f"prediction{suffix}"] = values[:, place]
        if proba:
            names = classes[place].tolist()
            columns |= {f"p_{name}{suffix}": share for name, share in zip(names, shares[place].T)}
    return columns
