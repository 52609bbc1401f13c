"""Training an STwin network on graphs that are never in memory together.

The graphs come in parts, which are read one at a time, three times: columns are counted, the statistics of
features are collected, features are scaled. Scaled features are kept in files that are mapped into memory. An
epoch shuffles the rows of as many parts at a time as the memory allows, the parts chosen at random; where all
features fit, it shuffles all rows, and the result is that of ``fit`` to the bit.
"""

from __future__ import annotations

import tempfile
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
from twinwl.models.vectorizer import ColumnCounts, STwinVectorizer, frozen, frozen_vectorizer
from twinwl.neural.estimator import split_rows
from twinwl.neural.sparse import SparseExamples, SparseRows
from twinwl.neural.stwin import ColumnStatistics, STwinNetworkEstimator

# What ``fit`` of the estimator consists of, is called here in the same order.
# ruff: noqa: SLF001


MEMORY = 1 << 28
"""Bytes of features in memory at a time, unless told otherwise."""
_FILES = {"indices": np.int64, "values": np.float32}
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
        kept, held = _explicit_split(held_out[targets.rows], targets)
    learnt = targets.rows[kept]
    model.vectorizer_ = _counted(parts, learnt, model._new_vectorizer())

    with tempfile.TemporaryDirectory(prefix="twinwl-fit-", dir=folder) as scratch:
        model.input_ = None
        if model.scaling == "twin":
            seen = ColumnStatistics(model.vectorizer_.n_features_out_, sums=model.features == "size")
            for features, counts in _views(model, parts, learnt):
                seen.add(features, counts)
            model.input_ = seen.scaling()
        examples = StoredExamples(Path(scratch, "learnt"), memory)
        for features, counts in _views(model, parts, learnt):
            examples.add(model._scaled(features, counts))
        validation = None
        if held is not None:
            watched = StoredExamples(Path(scratch, "held"), memory // 4)
            for features, counts in _views(model, parts, targets.rows[held]):
                watched.add(model._scaled(features, counts))
            validation = model._labelled(watched, targets, held)
        model._train(model._labelled(examples, targets, kept), validation, None, other_seeds)
    model.held_out_ = None if held is None else targets.rows[held]


def _explicit_split(held_out: Bool, targets: object) -> tuple[Int64, Int64]:
    """Return the rows that are learnt from and those that are not; every class must be learnt."""
    kept, held = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    codes = getattr(targets, "codes", np.zeros(len(held_out), np.int64))
    if not len(held) or not len(kept) or len(np.unique(codes[kept])) < len(np.unique(codes)):
        raise TwinWLError(
            f"{len(held_out)} graphs with a target, {len(held)} of them held out by their keys, are too few "
            "to choose an epoch and learn every class; give more, or set validation_fraction=None"
        )
    return kept, held


def _read(parts: GraphParts, rows: Int64) -> Iterator[tuple[Int64, GraphBatch]]:
    """Yield some of all graphs, one part at a time, with their numbers among all graphs."""
    ends = np.cumsum(parts.sizes)
    for part, here in enumerate(np.split(rows, np.searchsorted(rows, ends[:-1]))):
        if len(here):
            yield here, parts.read(part, here - (ends[part] - parts.sizes[part]))


def _views(
    model: STwinNetworkEstimator, parts: GraphParts, rows: Int64
) -> Iterator[tuple[sparse.csr_matrix, sparse.csr_matrix | None]]:
    """Yield features and counts of some graphs, part by part."""
    for _, batch in _read(parts, rows):
        yield model._views(batch, stwin_features(batch, space=model.vectorizer_.space_))


def _counted(parts: GraphParts, graphs: Int64, vectorizer: STwinVectorizer) -> STwinVectorizer:
    """Fit a vectorizer by counting the columns of each part."""
    merged: list[ColumnCounts] = []
    for rows, batch in _read(parts, graphs):
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
    examples = concatenate([batch for _, batch in _read(parts, np.unique(counts.first))])
    vocabulary = frozen(counts, examples, vectorizer.settings, vectorizer.max_features)
    return frozen_vectorizer(vectorizer, vocabulary)


class StoredExamples:
    """Examples of a network in files that are mapped into memory.

    Parameters
    ----------
    folder
        Where to write them; it is created.
    memory
        Bytes that a random order reads at a time, though always one part.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        folder.mkdir()
        self._folder, self._memory = folder, memory
        self._indptr: list[Int64] = [np.zeros(1, np.int64)]
        self._first, self._bytes = [0], list[int]()
        self._mapped: SparseRows | None = None

    def add(self, examples: SparseExamples) -> None:
        """Append a part."""
        indptr, indices, values = examples.rows
        for name, array in zip(_FILES, (indices, values), strict=True):
            with (self._folder / name).open("ab") as file:
                array.tofile(file)
        self._indptr.append(indptr[1:] + self._indptr[-1][-1:])
        self._first.append(self._first[-1] + len(examples))
        self._bytes.append(indices.nbytes + values.nbytes)
        self._mapped = None

    def __len__(self) -> int:
        return self._first[-1]

    def take(self, rows: Int64) -> SparseRows:
        """Return these rows as input of `SparseLinear`."""
        if self._mapped is None:
            # An empty file cannot be mapped.
            indices, values = (
                np.memmap(self._folder / name, kind, "r") if sum(self._bytes) else np.empty(0, kind)
                for name, kind in _FILES.items()
            )
            self._mapped = SparseRows(np.concatenate(self._indptr), np.asarray(indices), np.asarray(values))
        return self._mapped.take(rows)

    def shuffled(self, random: np.random.Generator) -> Int64:
        """Return all rows in a random order that reads each part once."""
        if sum(self._bytes) <= self._memory:
            return random.permutation(len(self))
        windows: list[list[Int64]] = []
        room = 0
        for part in random.permutation(len(self._bytes)).tolist():
            room -= self._bytes[part]
            if room < 0:
                windows.append([])
                room = self._memory - self._bytes[part]
            windows[-1].append(np.arange(self._first[part], self._first[part + 1]))
        return np.concatenate([random.permutation(np.concatenate(window)) for window in windows])
