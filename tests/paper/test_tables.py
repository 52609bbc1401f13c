from __future__ import annotations

import pytest

from twinwl.errors import TwinWLError
from twinwl.evaluation.methods import METHODS
from twinwl.paper.tables import PAIRS, TABLE_1, TABLE_2, TABLE_3, TABLES, TITLES, Cell, cells_of


def test_every_row_stands_for_a_method_there_is():
    assert {row.method for table in TABLES.values() for row in table.rows} <= METHODS.keys()
    assert {name for pair in PAIRS for name in pair} <= TITLES.keys()


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_every_row_of_the_paper_has_its_method(name):
    table = TABLES[name]
    assert [row.title for row in table.rows if row.in_paper] == list(table.reported)


def test_reported_figures_are_the_papers():
    assert TABLE_1["STwin-GNN"]["MUTAG"] == (90.00, 3.89)
    assert TABLE_1["NTwin-GNN"]["NCI109"] == (85.64, 0.83)
    assert TABLE_2["GCN-RNI"]["EXP"] == (98.0, 1.85)
    assert TABLE_3["1-WL"]["NCI1"] == (4.69, 0.16)
    assert "Mutagenicity" not in TABLE_1["WL kernel"]  # the paper leaves this cell empty
    assert sum(len(row) for row in TABLE_1.values()) == 52


def test_cells_of_some_methods_and_sets():
    cells = cells_of(TABLES["table1"], methods=["stwin", "wl"], datasets=["MUTAG"])
    assert cells == [Cell("MUTAG", "stwin"), Cell("MUTAG", "wl")]


def test_a_typo_is_answered_with_the_nearest_name():
    with pytest.raises(TwinWLError, match="did you mean 'stwin'"):
        cells_of(TABLES["table1"], methods=["stwyn"])
    with pytest.raises(TwinWLError, match="did you mean 'NCI1"):
        cells_of(TABLES["table1"], datasets=["NCI"])
