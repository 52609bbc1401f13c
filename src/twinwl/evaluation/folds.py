"""Folds: training, validation and test graphs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.arrays import Int64, Values
from twinwl.errors import TwinWLError
from twinwl.models.hold_out import hold_out, rarest_classes
from twinwl.models.targets import Tasks

HELD_OUT = 0.1  # share of the training part that chooses epoch and configuration


@dataclass(frozen=True, eq=False, slots=True)
class Fold:
    """Indices of graphs, sorted and disjoint.

    Attributes
    ----------
    train : array of int64
        The training graphs.
    validation : array of int64
        Held out of the training part, to choose epoch and configuration.
    test : array of int64
        The test graphs.

    >>> Fold(np.array([0, 1]), np.array([2]), np.array([3])).training_part.tolist()
    [0, 1, 2]
    """

    train: Int64
    validation: Int64
    test: Int64

    @property
    def training_part(self) -> Int64:
        """All graphs that are not test graphs, sorted."""
        return np.sort(np.concatenate([self.train, self.validation]))


def make_folds(
    y: Values, groups: Int64 | None = None, *, n_folds: int = 10, seed: int = 0, stratified: bool = True
) -> list[Fold]:
    """Split graphs into stratified folds that keep groups together.

    Parameters
    ----------
    y : array, shape (n_graphs,) or (n_graphs, n_tasks)
        Classes; of several tasks, graphs are stratified by the rarest class that they have.
    groups : array of int64, shape (n_graphs,), optional
        Graphs of one group stay in one fold, and on one side of the inner hold-out.
    n_folds
        Each graph is in the test part of exactly one of them.
    seed
        Seed of the folds and the hold-outs.
    stratified
        False if the targets are numbers; the folds are then not stratified.

    Returns
    -------
    list of Fold
        A tenth of each training part is held out as ``validation``.

    >>> folds = make_folds(np.array([0, 1] * 20), n_folds=4)
    >>> sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(40))
    True
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # noqa: PLC0415

    y = np.asarray(y)
    several = y.ndim > 1
    classes, codes = np.unique(_strata(y, stratified=stratified), return_inverse=True)
    dense = None if groups is None else _dense(groups, len(y))
    if several:  # a class too rare for that many folds is not worth an error: other tasks can do without it
        classes, codes = np.unique(_with_rare_joined(codes, n_folds), return_inverse=True)
    _check(classes, codes, dense, n_folds, stratified=stratified and not several)
    kind = StratifiedKFold if dense is None else StratifiedGroupKFold
    splitter = kind(n_splits=n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it warns of was checked above
        parts = list(splitter.split(np.zeros(len(y)), codes, dense))
    return [
        _held_out(training, test, codes, dense, seed, number) for number, (training, test) in enumerate(parts)
    ]


def hold_out_tenth(
    training: Int64, test: Int64, y: Values, groups: Int64 | None, seed: int, *, stratified: bool = True
) -> Fold:
    """Return a fold whose hold-out is a tenth of a training part."""
    codes = np.unique(_strata(y, stratified=stratified), return_inverse=True)[1].astype(np.int64)
    return _held_out(training, test, codes, groups, seed, 0)


def _strata(y: Values, *, stratified: bool) -> Values:
    """Return what to stratify by: the classes, or of several tasks each graph's rarest class."""
    if not stratified:
        return np.zeros(len(y))
    if y.ndim == 1:
        return y
    tasks = Tasks.of(y, len(y), empty=True)
    assert tasks is not None  # noqa: S101  (it has two axes)
    codes = [np.unique(column, return_inverse=True)[1] for column in tasks.columns]
    return rarest_classes(np.where(tasks.known, np.stack(codes, axis=1), -1))


def _with_rare_joined(codes: Int64, n_folds: int) -> Int64:
    """Give classes with fewer graphs than there are folds the code of the most common class."""
    counts = np.bincount(codes)
    return np.where(counts[codes] < n_folds, counts.argmax(), codes)


def _held_out(
    training: Int64, test: Int64, codes: Int64, groups: Int64 | None, seed: int, number: int
) -> Fold:
    # Each fold has its own seed; otherwise the same places would be held out in all folds.
    own_seed = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
    here = np.unique(codes[training], return_inverse=True)[1]
    groups_here = None if groups is None else np.unique(groups[training], return_inverse=True)[1]
    remedy = "give more graphs: these are all that a fold has to train on"
    train, validation = hold_out(here, HELD_OUT, own_seed, groups_here, remedy)
    return Fold(training[train], training[validation], np.asarray(test, dtype=np.int64))


def _dense(groups: Int64, n_graphs: int) -> Int64:
    if len(groups) != n_graphs:
        raise TwinWLError(f"groups has {len(groups)} entries for {n_graphs} graphs; give one per graph")
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _check(classes: Values, codes: Int64, groups: Int64 | None, n_folds: int, *, stratified: bool) -> None:
    checked("n_folds", n_folds, integer(2))
    if stratified and len(classes) < 2:  # noqa: PLR2004
        raise TwinWLError(f"there is only one class, {classes.tolist()}; at least two are needed")
    for code, value in enumerate(classes.tolist()):
        members = codes == code
        n_units = int(members.sum()) if groups is None else len(np.unique(groups[members]))
        if n_units < n_folds:
            what = ("graph" if groups is None else "group") + "s" * (n_units != 1)
            fewer = f"use {n_units} folds or fewer" if n_units > 1 else ""
            whose, remedy = (
                (f"class {value!r} has", "leave that class out") if stratified else ("there are", "")
            )
            remedies = ", or ".join(filter(None, [fewer, remedy])) or "give more of them"
            raise TwinWLError(f"{whose} {n_units} {what}, too few for {n_folds} folds; {remedies}")
