"""Three readings of the same curves, worked out by hand."""

import pytest

from twinwl import TwinWLError
from twinwl.evaluation.result import summarise


def row(fold, config, *, validation, test_curve, score, seed=0):
    return {
        "seed": seed,
        "fold": fold,
        "config": config,
        "scores": {"accuracy": score},
        "validation_score": validation,
        "curves": {"test": test_curve} if test_curve else {},
    }


A, B = {"n_iter": 2}, {"n_iter": 3}
ROWS = [
    row(0, A, validation=0.9, test_curve=[0.1, 0.2, 0.9], score=0.2),
    row(0, B, validation=0.8, test_curve=[0.5, 0.7], score=0.7),
    row(1, A, validation=0.6, test_curve=[0.8, 0.3], score=0.3),
    row(1, B, validation=0.7, test_curve=[0.4, 0.6, 0.5], score=0.6),
]


def test_fair_lets_the_hold_out_choose_fold_by_fold():
    summary = summarise(ROWS, "fair")
    assert summary.fold_scores == (0.2, 0.6)
    assert summary.configs == (A, B)
    assert not summary.optimistic


def test_of_equals_on_the_hold_out_the_first_in_the_grid_is_taken():
    rows = [{**entry, "validation_score": 0.5} for entry in ROWS]
    assert summarise(rows, "fair").configs == (A, A)


def test_best_epoch_takes_one_epoch_for_all_folds_and_carries_stopped_curves_on():
    summary = summarise(ROWS, "best-epoch")
    # By epoch, A: mean of (.1 .2 .9) and (.8 .3 .3) = .45 .25 .6; B: (.5 .7 .7) and (.4 .6 .5) = .45 .65 .6
    assert summary.fold_scores == (0.7, 0.6)
    assert summary.configs == (B, B)
    assert "optimistic" in str(summary)


def test_best_fold_epoch_peeks_at_every_fold():
    assert summarise(ROWS, "best-fold-epoch").fold_scores == (0.9, 0.8)


def test_without_epochs_the_optimistic_readings_say_nothing():
    rows = [row(fold, {}, validation=None, test_curve=None, score=0.5 + fold / 10) for fold in range(3)]
    assert summarise(rows, "best-epoch") is None
    assert summarise(rows, "best-fold-epoch") is None
    assert summarise(rows, "fair").mean == pytest.approx(0.6)


def test_repeats_are_more_folds():
    rows = [row(0, {}, validation=1.0, test_curve=[1.0], score=seed / 10, seed=seed) for seed in range(3)]
    assert summarise(rows, "fair").fold_scores == (0.0, 0.1, 0.2)


def test_an_unfinished_evaluation_is_not_summarised():
    with pytest.raises(TwinWLError, match="fold 1 of seed 0 has 1 of 2 configurations"):
        summarise(ROWS[:3], "fair")
    with pytest.raises(TwinWLError, match="no results"):
        summarise([], "fair")


def test_unknown_names_get_the_nearest():
    with pytest.raises(TwinWLError, match="did you mean 'best-epoch'"):
        summarise(ROWS, "best-epochs")
    with pytest.raises(TwinWLError, match="no 'roc-auc'"):
        summarise(ROWS, "fair", "roc-auc")
