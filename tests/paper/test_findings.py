from __future__ import annotations

import pytest

from tests.paper.stored_results import cell_rows
from twinwl.paper.findings import closeness_to_paper, no_help, protocol_gap, twins_against_wl, verdict
from twinwl.paper.result_cells import Results

BASE = [0.80, 0.82, 0.81, 0.79, 0.83, 0.80, 0.81, 0.82, 0.78, 0.80]


def against(shift):
    noisy = [score + shift + 0.003 * (place % 3 - 1) for place, score in enumerate(BASE)]
    rows = cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", noisy)
    return twins_against_wl(Results(rows), ["NCI1", "MUTAG"])


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        (0.05, "better on NCI1 (+4.97)"),
        (-0.05, "worse on NCI1 (−5.03)"),
        (0.0, "no significant difference on NCI1 (−0.03)"),
    ],
)
def test_the_verdict_falls_whichever_way_the_folds_do(shift, said):
    found = against(shift)
    assert [each.dataset for each in found] == ["NCI1"]
    assert said in verdict(found)[0]
    assert found[0].twin_mean - found[0].wl_mean == pytest.approx(100 * found[0].comparison.difference)


@pytest.mark.parametrize("shift", [0.0, -0.05])
def test_it_is_said_plainly_where_the_twin_does_not_help(shift):
    assert "On NCI1 no Twin is significantly better" in no_help(against(shift))
    assert no_help(against(0.05)) is None


def test_only_folds_that_both_have_are_compared():
    rows = cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", BASE[:4])
    found = twins_against_wl(Results(rows), ["NCI1"])
    assert found[0].comparison.n_folds == 4
    assert found[0].comparison.difference == 0


def test_closeness_is_judged_by_the_reported_deviation():
    near = cell_rows("MUTAG", "stwin", [0.87] * 10)  # 90.0 at its best test epoch
    far = cell_rows("NCI1", "stwin", [0.70] * 10)
    found = {each.dataset: each for each in closeness_to_paper(Results(near + far))}
    assert found["MUTAG"].ours == pytest.approx(90.0)
    assert found["MUTAG"].within
    assert found["MUTAG"].fair_within
    assert not found["NCI1"].within


def test_the_gap_between_protocols_is_measured():
    results = Results(cell_rows("MUTAG", "stwin", BASE) + cell_rows("MUTAG", "wl-svc", BASE))
    cells = [results.cell("MUTAG", name) for name in ("stwin", "wl-svc")]
    assert "Over 1 cell on MUTAG," in protocol_gap(cells)
    assert "by 3.0 points on average" in protocol_gap(cells)
    assert protocol_gap(cells[1:]) is None
