"""STwin features of a corpus: one vocabulary for all shards, and a shard of sparse rows for each.

1. *Count* by shard in how many graphs each column occurs; columns are identified by their content keys.
2. *Merge* the counts of a range of keys over all shards, and keep the columns that occur in enough graphs.
3. Freeze these into a vocabulary, with the first graph that has each.
4. *Encode* by shard.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from twinwl.arrays import Int64, UInt64
from twinwl.corpus.comparing import range_tasks, save_array, slices_of
from twinwl.corpus.jobs import VOCABULARY, Job, Running, Task
from twinwl.corpus.shards import (
    OWN_COLUMNS,
    Part,
    arrow,
    digest_of,
    graphs_in,
    lists_in,
    opened,
    other_columns,
    read_shard,
    write_shard,
)
from twinwl.errors import TwinWLError, setting
from twinwl.files.model_files import load, save
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.models.features import keep_columns, stwin_features
from twinwl.models.vectorizer import ColumnCounts, STwinVectorizer, freeze

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
    chosen = {"min_df": vectorizer.min_df, "max_features": vectorizer.max_features}
    with Job(output, "features", {**vectorizer.settings, **chosen, "of": corpus.digest}, running) as job:
        path = output / VOCABULARY
        if job.finished is None or not path.exists():
            counts = _count(job, corpus, vectorizer)
            graphs = concatenate(_graphs_at(parts, np.unique(counts.first)))
            save(freeze(vectorizer, counts, graphs), path, atoms=corpus.atoms)
        digest = digest_of(path.read_bytes())
        fitted = _vocabulary(str(path), digest)
        entries = job.run_shards(
            encode_shard, parts, (str(path), digest), 50, lambda part: digest_of(part.digest, digest)
        )
        n_entries = sum(entry["entries"] for entry in entries)
        job.finish(entries, rows=len(corpus), features=fitted.n_features_out_, entries=n_entries)
        return fitted


def _count(job: Job, corpus: Corpus, vectorizer: STwinVectorizer) -> ColumnCounts:
    """Run the first two stages; return the columns of enough graphs."""
    parts = corpus.parts()
    files = [job.work(f"counts-{place:05}.npy") for place in range(len(parts))]
    tasks = [
        Task(file.name, part.digest, (part, str(file)), part.stop - part.first, file)
        for part, file in zip(parts, files, strict=True)
    ]
    entries = job.run("count", count_shard, tasks, (vectorizer.settings,), 50)
    tasks = range_tasks(job, "columns", corpus.digest, files, sum(entry["entries"] for entry in entries))
    job.run("merge", merge_range, tasks, ([str(file) for file in files], vectorizer.min_df), 1)
    merged = [_unpacked(np.load(task.output)) for task in tasks]
    counts = ColumnCounts.merged(merged).frequent(int(vectorizer.min_df), vectorizer.max_features)
    if not len(counts.h):
        raise TwinWLError(
            f"min_df: got {vectorizer.min_df}, but no column occurs in so many of the {len(corpus):,} "
            f"graphs; lower it, with another folder or {setting(fresh=True)}"
        )
    return counts


def count_shard(part: Part, out: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Write the columns of a shard in order of their keys, shape (5, n)."""
    table = read_shard(part, OWN_COLUMNS)
    found = np.empty((5, 0), np.uint64)
    if table.num_rows:
        graphs = graphs_in(table, part.path)
        found = _packed(ColumnCounts.of(graphs, settings, np.arange(part.first, part.stop)))
    save_array(out, found)
    return {"rows": table.num_rows, "entries": found.shape[1]}


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


def _graphs_at(parts: Sequence[Part], rows: Int64) -> list[GraphBatch]:
    """Return the graphs of some rows, rising, one batch per shard."""
    batches = []
    for part in parts:
        here = rows[np.searchsorted(rows, part.first) : np.searchsorted(rows, part.stop)]
        if len(here):
            table = read_shard(part, OWN_COLUMNS).take(arrow().array(here - part.first))
            batches.append(graphs_in(table, part.path))
    return batches


def encode_shard(part: Part, output: str, vocabulary: str, digest: str) -> dict[str, Any]:
    """Write the features of a shard."""
    table = read_shard(part)
    model = _vocabulary(vocabulary, digest)
    matrix = sparse.csr_matrix((0, model.n_features_out_))
    if table.num_rows:
        encoding = stwin_features(graphs_in(table, part.path), space=model.space_)
        matrix = keep_columns(encoding.matrix, model.columns_)
    pa = arrow()
    starts = pa.array(matrix.indptr, pa.int64())
    found = other_columns(table)
    found["columns"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.indices, pa.int32()))
    found["values"] = pa.LargeListArray.from_arrays(starts, pa.array(matrix.data, pa.float64()))
    metadata = {b"twinwl.n_features": str(model.n_features_out_)}
    digest = write_shard(Path(output), pa.table(found).replace_schema_metadata(metadata))
    return {"rows": table.num_rows, "entries": int(matrix.nnz), "digest": digest}


@functools.lru_cache(maxsize=1)
def _vocabulary(path: str, digest: str) -> STwinVectorizer:  # noqa: ARG001  (another file has another one)
    model = load(path)
    if not isinstance(model, STwinVectorizer):
        raise TwinWLError(f"{path} is not the vocabulary of a corpus; give another folder")
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
