"""STwin features of a corpus: one vocabulary for all shards, and a shard of sparse rows for each.

1. *Count* by shard in how many graphs each column occurs; columns are identified by their content keys.
2. *Merge* the counts of a range of keys over all shards, and keep the columns that occur in enough graphs.
3. Freeze these into a vocabulary, with the first graph that has each.
4. *Encode* by shard.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from twinwl.arrays import Int64, UInt64
from twinwl.corpus.comparing import (
    BYTES_OF_PROCESS,
    BYTES_PER_ENTRY,
    ranges_of,
    save_array,
    slices_of,
    task_of,
)
from twinwl.corpus.jobs import VOCABULARY, Job, Running, Task
from twinwl.corpus.shards import (
    OWN_COLUMNS,
    Part,
    arrow,
    digest_of,
    graphs_in,
    lists_in,
    opened,
    parts_of,
    read_shard,
    write_shard,
)
from twinwl.errors import TwinWLError
from twinwl.files.atomic import errors_of_writing
from twinwl.files.model_files import load, save
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.models.features import keep_columns, stwin_features
from twinwl.models.vectorizer import STwinVectorizer, frozen_vectorizer
from twinwl.models.vocabulary import ColumnCounts, FeatureSettings, frozen


def features_of(
    folder: Path,
    manifest: Mapping[str, Any],
    output: Path,
    vectorizer: STwinVectorizer,
    running: Running,
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
    parts = parts_of(folder, manifest)
    source = digest_of(*(part.digest for part in parts))
    chosen = {"min_df": vectorizer.min_df, "max_features": vectorizer.max_features}
    settings = {**vectorizer.settings, **chosen, "of": source}
    with Job(output, "features", settings, running) as job:
        with errors_of_writing(output):
            (output / "shards").mkdir(exist_ok=True)
        path = output / VOCABULARY
        if job.finished is None or not path.exists():
            counts = _counted(job, parts, manifest["columns"], vectorizer, source)
            graphs = concatenate(_graphs_at(parts, np.unique(counts.first), manifest["columns"]))
            vocabulary = frozen(counts, graphs, vectorizer.settings, vectorizer.max_features)
            save(frozen_vectorizer(vectorizer, vocabulary), path, atoms=manifest["settings"].get("atoms"))
        fitted = load(path)
        if not isinstance(fitted, STwinVectorizer):
            raise TwinWLError(f"{path} is not the vocabulary of a corpus; give another folder")
        digest = digest_of(path.read_bytes())
        tasks = [
            task_of(part, output, (part, str(output)))._replace(digest=digest_of(part.digest, digest))
            for part in parts
        ]
        entries = job.run("features", encode_shard, tasks, (manifest["columns"], digest), 50)
        job.finish(
            entries,
            rows=n_graphs_in(parts),
            features=fitted.n_features_out_,
            entries=sum(entry["entries"] for entry in entries),
        )
        return fitted


def n_graphs_in(parts: Sequence[Part]) -> int:
    """Return the number of graphs in some shards."""
    return sum(part.stop - part.first for part in parts)


def _counted(
    job: Job, parts: Sequence[Part], columns: Mapping[str, str], vectorizer: STwinVectorizer, source: str
) -> ColumnCounts:
    """Run the first two stages; return the columns of enough graphs."""
    files = [job.work(f"counts-{place:05}.npy") for place in range(len(parts))]
    tasks = [
        Task(file.name, part.digest, (part, str(file)), part.stop - part.first, file)
        for part, file in zip(parts, files, strict=True)
    ]
    entries = job.run("count", count_shard, tasks, (columns, vectorizer.settings), 50)
    paths = [str(file) for file in files]
    most = max(1, (int(job.running.memory) - BYTES_OF_PROCESS) // BYTES_PER_ENTRY)
    tasks = []
    for low, high, n_entries in ranges_of(paths, sum(entry["entries"] for entry in entries), most):
        out = job.work(f"columns-{low:016x}-{high - 1:016x}.npy")
        tasks.append(Task(out.name, source, (low, high, str(out)), n_entries, out))
    job.run("merge", merge_range, tasks, (paths, vectorizer.min_df), 1)
    merged = [_unpacked(np.load(task.output)) for task in tasks]
    counts = ColumnCounts.merged(merged).frequent(int(vectorizer.min_df), vectorizer.max_features)
    if not len(counts.h):
        raise TwinWLError(
            f"min_df: got {vectorizer.min_df}, but no column occurs in so many of the {n_graphs_in(parts):,} "
            "graphs; lower it, with another folder or fresh=True"
        )
    return counts


def count_shard(
    part: Part, out: str, columns: Mapping[str, str], settings: FeatureSettings
) -> dict[str, Any]:
    """Write the columns of a shard in order of their keys, shape (5, n)."""
    table = read_shard(part, OWN_COLUMNS, columns)
    found = np.empty((5, 0), np.uint64)
    if table.num_rows:
        graphs = graphs_in(table, part.path)
        counts = ColumnCounts.of(graphs, settings, np.arange(part.first, part.stop))
        found = _packed(counts)
    save_array(out, found)
    return {"rows": part.stop - part.first, "entries": found.shape[1]}


def _packed(counts: ColumnCounts) -> UInt64:
    """Return counts as one array of shape (5, n), sorted by its first row."""
    words = [part.astype(np.uint64) for part in (counts.h, counts.n_graphs, counts.first)]
    return np.stack([*counts.keys.T, *words])


def _unpacked(found: UInt64) -> ColumnCounts:
    """Undo `_packed`."""
    keys = np.ascontiguousarray(found[:2].T)
    return ColumnCounts(found[2].astype(np.int32), keys, found[3].astype(np.int64), found[4].astype(np.int64))


def merge_range(low: int, high: int, out: str, paths: Sequence[str], min_df: int) -> dict[str, Any]:
    """Add up the counts of a range of keys, and write those of columns in enough graphs."""
    counts = ColumnCounts.merged([_unpacked(part) for part in slices_of(paths, low, high)])
    kept = counts.frequent(min_df)
    save_array(out, _packed(kept))
    return {"columns": len(counts.h), "kept": len(kept.h)}


def _graphs_at(parts: Sequence[Part], rows: Int64, columns: Mapping[str, str]) -> list[GraphBatch]:
    """Return the graphs of some rows, rising, one batch per shard."""
    batches = []
    for part in parts:
        here = rows[np.searchsorted(rows, part.first) : np.searchsorted(rows, part.stop)]
        if len(here):
            table = read_shard(part, OWN_COLUMNS, columns)
            batches.append(graphs_in(table.take(arrow().array(here - part.first)), part.path))
    return batches


def encode_shard(part: Part, output: str, columns: Mapping[str, str], digest: str) -> dict[str, Any]:
    """Write the features of a shard."""
    path = Path(part.path)
    table = read_shard(part, None, columns)
    model = _vocabulary(str(Path(output, VOCABULARY)), digest)
    matrix = sparse.csr_matrix((0, model.n_features_out_))
    if table.num_rows:
        encoding = stwin_features(graphs_in(table, str(path)), space=model.space_)
        matrix = keep_columns(encoding.matrix, model.columns_)
    pa = arrow()
    starts = pa.array(matrix.indptr, pa.int64())
    found = {"id": table.column("id")}
    found |= {name: table.column(name) for name in table.column_names if name not in OWN_COLUMNS}
    found["columns"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.indices, pa.int32()))
    found["values"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.data, pa.float64()))
    about = {b"twinwl.n_features": str(model.n_features_out_)}
    written = pa.table(found).replace_schema_metadata(about)
    return {
        "rows": table.num_rows,
        "entries": int(matrix.nnz),
        "digest": write_shard(Path(output, "shards", path.name), written),
    }


@functools.lru_cache(maxsize=1)
def _vocabulary(path: str, digest: str) -> STwinVectorizer:  # noqa: ARG001  (another file has another one)
    model = load(path)
    assert isinstance(model, STwinVectorizer)  # noqa: S101  (written by this job)
    return model


def read_features(path: str | Path) -> sparse.csr_matrix:
    """Return a shard that `Corpus.features` has written as a sparse matrix, one row per graph."""
    with opened(path) as file:
        table = file.read()
        n_columns = (table.schema.metadata or {}).get(b"twinwl.n_features")
        if n_columns is None:
            raise TwinWLError("it has no features; `twinwl corpus features` writes files that have them")
        lengths, columns = lists_in(table.column("columns"))
        values = lists_in(table.column("values"))[1].to_numpy()
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        matrix = sparse.csr_matrix((values, columns.to_numpy(), indptr), shape=(len(lengths), int(n_columns)))
        matrix.check_format()
        return matrix
