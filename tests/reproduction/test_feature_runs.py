from __future__ import annotations

import pytest
from reproduction.page import Page
from reproduction.results import Results
from reproduction.runs import RUNTIMES, find_ceilings, separate_pairs, time_features

import twinwl as tw
from tests.reproduction.stored_results import measured_rows
from twinwl.errors import TwinWLError
from twinwl.evaluation.result import ResultStore


@pytest.fixture(scope="module")
def twins():
    return tw.load_dataset("TWINS", n_pairs=20)


def test_each_method_is_timed_as_often_as_asked_and_not_again(twins, tmp_path):
    store = tmp_path / "table3.jsonl"
    rows = time_features(twins, store, runs=3)
    assert sorted((row["method"], row["fold"]) for row in rows) == [
        (name, run) for name in ("1-WL", "STwin") for run in range(3)
    ]
    assert all(row["scores"]["seconds"] > 0 for row in rows)
    assert time_features(twins, store, runs=3) == rows
    assert len(ResultStore(store).rows()) == 6


def test_runtimes_are_compared_by_a_t_test():
    rows = [row for row in measured_rows() if row["splits"] == RUNTIMES and row["fold"] < 3]
    for row in rows:
        row["scores"]["seconds"] = (2.0 if row["method"] == "STwin" else 1.0) + 0.01 * row["fold"]
    shown = Page(Results(rows)).markdown
    assert "| NCI1 | 2010.0 ± 8.2 ms | 1010.0 ± 8.2 ms | 1.99 | < 0.001 | 3 + 3 |" in shown


def test_twins_are_told_apart_from_round_three_on_and_never_by_counts(twins, tmp_path):
    rows = separate_pairs(twins, tmp_path / "pairs.jsonl", most_rounds=4)
    pairs = {(row["method"], row["config"]["n_iter"]): row["scores"]["pairs"] for row in rows}
    assert [pairs["1-WL", h] for h in range(5)] == [0] * 5
    assert [pairs["STwin, joint counts", h] for h in range(5)] == [0, 0, 0, 20, 20]
    assert separate_pairs(twins, tmp_path / "pairs.jsonl", most_rounds=4) == rows


def test_exp_is_separated_by_stwin_and_not_by_wl(tu_zip, tmp_path):
    data = tw.load_dataset("EXP", data_dir=tu_zip("EXP").parent)
    rows = separate_pairs(data, tmp_path / "pairs.jsonl", most_rounds=3)
    last = {row["method"]: row["scores"] for row in rows if row["config"]["n_iter"] == 3}
    assert last["1-WL"] == {"pairs": 0.0, "of": 600.0}
    assert last["STwin"] == {"pairs": 600.0, "of": 600.0}


def test_a_set_without_pairs_is_refused(tmp_path):
    with pytest.raises(TwinWLError, match="CSL does not consist of pairs"):
        separate_pairs(tw.load_dataset("CSL"), tmp_path / "pairs.jsonl")


def test_ceilings_are_found_once_and_shown(twins, tmp_path):
    store = tmp_path / "ceiling.jsonl"
    rows = find_ceilings(twins, store)
    best = {row["method"]: row["scores"]["best"] for row in rows}
    assert best == {"1-WL": 0.5, "size": 1.0, "rooted-wl": 1.0, "isomorphism": 1.0}
    assert find_ceilings(twins, store) == rows
    page = Page(Results(rows)).markdown
    assert "| TWINS | 40 | 50.00 | 50.00 | 100.00 | 100.00 | 100.00 | 40 | 20 | 40 |" in page
