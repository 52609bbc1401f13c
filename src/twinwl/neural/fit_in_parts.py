"""Training an STwin network on graphs that are never in memory together.

The graphs come in parts, which are read one at a time, three times: columns are counted, the statistics of
features are collected, features are scaled. Scaled features are kept in files, from which mini-batches are
taken. An epoch shuffles the rows of as many parts at a time as the memory allows, the parts chosen at random;
where all features fit, it shuffles all rows, and the result is that of ``fit`` to the bit.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy import sparse

from twinwl.arrays import Bool, Int64
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.models.base import seeds
from twinwl.models.features import fewest_graphs, stwin_features
from twinwl.models.vectorizer import STwinVectorizer, frozen_vectorizer
from twinwl.models.vocabulary import ColumnCounts, frozen
from twinwl.neural.estimator import split_rows
from twinwl.neural.sparse import SparseExamples, SparseRows
from twinwl.neural.stwin import ColumnStatistics, STwinNetworkEstimator

# What ``fit`` of the estimator consists of, is called here in the same order.
# ruff: noqa: SLF001


MEMORY = 1 << 28
"""Bytes of features in memory at a time, unless told otherwise."""
_COUNTS_AT_ONCE = 1 << 22


class GraphParts(Protocol):
    """Graphs in parts, each of which can be read again and again."""

    @property
    def sizes(self) -> list[int]:
        """Number of graphs of each part."""

    def read(self, part: int, rows: Int64) -> GraphBatch:
        """Return some graphs of a part, by their rising numbers within it."""


def fit_in_parts(
    model: STwinNetworkEstimator,
    parts: GraphParts,
    y: object,
    held_out: Bool | None = None,
    *,
    memory: int = MEMORY,
    folder: Path | None = None,
) -> None:
    """Fit an `STwinClassifier` or `STwinRegressor`; the targets and 40 bytes per column are in memory.

    Parameters
    ----------
    model
        The estimator to fit.
    parts
        The graphs.
    y
        Targets of all graphs, as for ``fit``.
    held_out : array of bool, shape (n_graphs,), optional
        Graphs that choose the epoch; None holds out the same graphs as ``fit``.
    memory
        Bytes of features to keep in memory.
    folder
        Where to write temporary files; None takes the usual folder for these.
    """
    model._check_parameters()
    if model.n_iter is None:
        raise TwinWLError("n_iter: got None, expected a number: no part shows when all are stable")
    if model.refit or model.warm_start:
        name = "refit" if model.refit else "warm_start"
        raise TwinWLError(f"{name}: got True, expected False where graphs are not all in memory")
    targets = model._read_targets(y, sum(parts.sizes), None, None)
    model._begin(targets)
    split_seed, *other_seeds = seeds(model.random_state, 3)
    if held_out is None or model.validation_fraction is None:
        kept, held = split_rows(model.validation_fraction, None, targets, split_seed)
    else:
        kept, held = _told(held_out[targets.rows], targets)
    learnt = _Selection(parts, targets.rows[kept])
    model.vectorizer_ = _counted(learnt, model._new_vectorizer())
    with tempfile.TemporaryDirectory(prefix="twinwl-fit-", dir=folder) as scratch:
        model.input_ = None
        if model.scaling == "twin":
            seen = ColumnStatistics(model.vectorizer_.n_features_out_, sums=model.features == "size")
            for _, batch in learnt:
                seen.add(*_views(model, batch))
            model.input_ = seen.scaling()
        examples = StoredExamples(Path(scratch, "learnt"), memory)
        for _, batch in learnt:
            examples.add(model._scaled(*_views(model, batch)))
        validation = None
        if held is not None:
            watched = StoredExamples(Path(scratch, "held"), memory // 4)
            for _, batch in _Selection(parts, targets.rows[held]):
                watched.add(model._scaled(*_views(model, batch)))
            validation = model._labelled(watched, targets, held)
        model._train(model._labelled(examples, targets, kept), validation, None, other_seeds)
    model.held_out_ = None if held is None else targets.rows[held]


def _told(held_out: Bool, targets: object) -> tuple[Int64, Int64]:
    """Return the rows that are learnt from and those that are not; every class must be learnt."""
    kept, held = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    codes = getattr(targets, "codes", np.zeros(len(held_out), np.int64))
    if not len(held) or not len(kept) or len(np.unique(codes[kept])) < len(np.unique(codes)):
        raise TwinWLError(
            f"{len(held_out)} graphs with a target, {len(held)} of them held out by their keys, are too few "
            "to choose an epoch and learn every class; give more, or set validation_fraction=None"
        )
    return kept, held


class _Selection:
    """Some graphs of all parts, one part at a time, with their numbers among all graphs."""

    def __init__(self, parts: GraphParts, rows: Int64) -> None:
        self._parts, self._rows = parts, rows
        self._ends = np.cumsum(parts.sizes)

    def __iter__(self) -> Iterator[tuple[Int64, GraphBatch]]:
        yield from self.only(self._rows)

    def only(self, rows: Int64) -> Iterator[tuple[Int64, GraphBatch]]:
        """Yield these graphs by part."""
        for part, here in enumerate(np.split(rows, np.searchsorted(rows, self._ends[:-1]))):
            if len(here):
                yield here, self._parts.read(part, here - (self._ends[part] - self._parts.sizes[part]))

    def __len__(self) -> int:
        return len(self._rows)


def _counted(graphs: _Selection, vectorizer: STwinVectorizer) -> STwinVectorizer:
    """Fit a vectorizer by counting the columns of each part."""
    merged: list[ColumnCounts] = []
    for rows, batch in graphs:
        merged.append(ColumnCounts.of(batch, vectorizer.settings, rows))
        if sum(len(counts.h) for counts in merged[1:]) > max(_COUNTS_AT_ONCE, len(merged[0].h)):
            merged = [ColumnCounts.merged(merged)]
    fewest = fewest_graphs(vectorizer.min_df, len(graphs))
    counts = ColumnCounts.merged(merged).frequent(fewest, vectorizer.max_features)
    if not len(counts.h):
        raise TwinWLError(
            f"min_df: got {vectorizer.min_df!r}, but no column occurs in {fewest} of {len(graphs)} graphs; "
            "lower it"
        )
    examples = concatenate([batch for _, batch in graphs.only(np.unique(counts.first))])
    vocabulary = frozen(counts, examples, vectorizer.settings, vectorizer.max_features)
    return frozen_vectorizer(vectorizer, vocabulary)


def _views(
    model: STwinNetworkEstimator, batch: GraphBatch
) -> tuple[sparse.csr_matrix, sparse.csr_matrix | None]:
    return model._views(batch, stwin_features(batch, space=model.vectorizer_.space_))


class StoredExamples:
    """Examples of a network in files, of which some are in memory.

    Parameters
    ----------
    folder
        Where to write them; it is created.
    memory
        Bytes to keep in memory, though always one part.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        folder.mkdir()
        self._folder, self._memory = folder, memory
        self._first: Int64 = np.zeros(1, np.int64)
        self._bytes: list[int] = []
        self._loaded: OrderedDict[int, SparseExamples] = OrderedDict()

    def add(self, examples: SparseExamples) -> None:
        """Append a part."""
        rows = examples.take(np.arange(len(examples)))
        np.savez(self._file(len(self._bytes)), **rows._asdict(), n_columns=np.array(examples.n_columns))
        self._first = np.append(self._first, self._first[-1] + len(examples))
        self._bytes.append(examples.n_bytes)

    def __len__(self) -> int:
        return int(self._first[-1])

    def take(self, rows: Int64) -> SparseRows:
        """Return these rows as input of `SparseLinear`."""
        part_of_row = np.searchsorted(self._first, rows, side="right") - 1
        order = np.argsort(part_of_row, kind="stable")
        taken = [
            self._part(int(part)).take(rows[order[part_of_row[order] == part]] - self._first[part])
            for part in np.unique(part_of_row)
        ]
        if len(taken) == 1:
            return taken[0]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return SparseRows.joined(taken, place)

    def shuffled(self, random: np.random.Generator) -> Int64:
        """Return all rows in a random order that reads each part once."""
        if sum(self._bytes) <= self._memory:
            return random.permutation(len(self))
        windows: list[list[int]] = []
        room = 0
        for part in random.permutation(len(self._bytes)).tolist():
            room -= self._bytes[part]
            if room < 0:
                windows.append([])
                room = self._memory - self._bytes[part]
            windows[-1].append(part)
        rows = [
            np.concatenate([np.arange(self._first[part], self._first[part + 1]) for part in window])
            for window in windows
        ]
        return np.concatenate([random.permutation(here) for here in rows])

    def _part(self, part: int) -> SparseExamples:
        found = self._loaded.pop(part, None)
        if found is None:
            with np.load(self._file(part), allow_pickle=False) as file:
                shape = len(file["indptr"]) - 1, int(file["n_columns"])
                arrays = file["values"], file["indices"], file["indptr"]
                found = SparseExamples(sparse.csr_matrix(arrays, shape=shape))
            held = sum(self._bytes[one] for one in self._loaded)
            while self._loaded and held + self._bytes[part] > self._memory:
                held -= self._bytes[self._loaded.popitem(last=False)[0]]
        self._loaded[part] = found
        return found

    def _file(self, part: int) -> Path:
        return self._folder / f"{part}.npz"
