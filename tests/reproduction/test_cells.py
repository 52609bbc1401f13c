from __future__ import annotations

import pytest
from reproduction.results import Results

from tests.reproduction.stored_results import cell_rows, fold_row
from twinwl.evaluation.methods import METHODS

SCORES = [0.8, 0.9] * 5


def test_a_cell_reads_all_protocols_and_counts_its_runs():
    cell = Results(cell_rows("MUTAG", "stwin", SCORES)).cell("MUTAG", "stwin")
    assert list(cell.by_protocol) == ["fair", "best-epoch", "best-fold-epoch"]
    assert cell.by_protocol["fair"].mean == pytest.approx(0.85)
    assert cell.by_protocol["best-fold-epoch"].mean == pytest.approx(0.88)
    assert (cell.n_runs, cell.partial, cell.grid) == (10, False, "compact")


def test_a_fold_counts_only_with_every_configuration():
    rows = cell_rows("MUTAG", "stwin", SCORES)
    cell = Results(rows[:7]).cell("MUTAG", "stwin")  # three folds and half of the fourth
    assert (cell.n_runs, cell.partial) == (3, True)


def test_nothing_complete_is_no_cell():
    assert Results(cell_rows("MUTAG", "stwin", SCORES)[:1]).cell("MUTAG", "stwin") is None


def test_the_larger_grid_is_shown_where_both_are_complete():
    rows = cell_rows("MUTAG", "stwin", SCORES, "compact") + cell_rows("MUTAG", "stwin", SCORES, "paper")
    assert Results(rows).cell("MUTAG", "stwin").grid == "paper"
    few = cell_rows("MUTAG", "stwin", SCORES, "compact") + cell_rows("MUTAG", "stwin", SCORES[:2], "paper")
    assert Results(few).cell("MUTAG", "stwin").grid == "compact"


def test_rows_of_another_version_or_other_data_are_left_out():
    rows = cell_rows("MUTAG", "wl-svc", SCORES)
    old = fold_row("MUTAG", "wl-svc", 0, {}, 0.1, epochs=False)
    old["version"] = METHODS["wl-svc"].version + 1
    other = {**fold_row("MUTAG", "wl-svc", 0, {}, 0.1, epochs=False), "digest": "other"}
    cell = Results([*rows, old, other]).cell("MUTAG", "wl-svc")
    assert cell.n_runs == 10
    assert cell.by_protocol["fair"].mean == pytest.approx(0.85)


def test_a_method_without_epochs_has_the_fair_reading_alone():
    assert list(Results(cell_rows("NCI1", "wl-svc", SCORES)).cell("NCI1", "wl-svc").by_protocol) == ["fair"]


def test_other_numbers_of_folds_are_not_mixed_in():
    rows = [{**row, "splits": "5 folds"} for row in cell_rows("MUTAG", "stwin", SCORES[:5])]
    assert Results(rows).cell("MUTAG", "stwin") is None
    assert Results(rows, n_folds=5).cell("MUTAG", "stwin").n_runs == 5


def test_accuracy_without_copies_stands_beside():
    rows = cell_rows("MUTAG", "wl-svc", SCORES, n_leaked=3)
    for row in rows[:5]:
        row["scores"] = {**row["scores"], "accuracy-without-duplicates": row["scores"]["accuracy"] - 0.1}
    cell = Results(rows).cell("MUTAG", "wl-svc")
    assert cell.n_leaked == 30
    assert cell.without_leaks == pytest.approx(0.80)
