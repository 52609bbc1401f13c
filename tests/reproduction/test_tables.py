from __future__ import annotations

from reproduction.results import PAIRS, TABLE_1, TABLE_2, TABLE_3, TABLES, TITLES

from twinwl.evaluation.methods import METHODS


def test_every_row_stands_for_a_method_there_is():
    assert {row.method for table in TABLES.values() for row in table.rows} <= METHODS.keys()
    assert {name for pair in PAIRS for name in pair} <= TITLES.keys()


def test_reported_figures_are_the_papers():
    reported = [{row.method: row.reported for row in table.rows} for table in (TABLE_1, TABLE_2)]
    assert reported[0]["stwin"]["MUTAG"] == (90.00, 3.89)
    assert reported[0]["ntwin"]["NCI109"] == (85.64, 0.83)
    assert reported[1]["gcn-rni"]["EXP"] == (98.0, 1.85)
    assert TABLE_3["1-WL"]["NCI1"] == (4.69, 0.16)
    assert "Mutagenicity" not in reported[0]["wl-kernel"]  # the paper leaves this cell empty
    assert sum(len(row.reported) for row in TABLE_1.rows) == 52
