from __future__ import annotations

from reproduction.results import PAIRS, TABLE_1, TABLE_2, TABLE_3, TABLES, TITLES

from twinwl.evaluation.methods import METHODS


def test_every_row_stands_for_a_method_there_is():
    assert {row.method for table in TABLES.values() for row in table.rows} <= METHODS.keys()
    assert {name for pair in PAIRS for name in pair} <= TITLES.keys()


def test_reported_figures_are_the_papers():
    assert TABLE_1.reported("MUTAG")["stwin"] == (90.00, 3.89)
    assert TABLE_1.reported("NCI109")["ntwin"] == (85.64, 0.83)
    assert TABLE_2.reported("EXP")["gcn-rni"] == (98.0, 1.85)
    assert TABLE_3["1-WL"]["NCI1"] == (4.69, 0.16)
    assert "wl-kernel" not in TABLE_1.reported("Mutagenicity")  # the paper leaves this cell empty
    assert sum(len(row.reported) for row in TABLE_1.rows) == 52
