from __future__ import annotations

from tests.paper.stored_results import cell_rows
from twinwl.paper.accuracy_tables import accuracy_table
from twinwl.paper.result_cells import Results
from twinwl.paper.tables import TABLES

ACCURACIES = [0.8] * 10


def note_of(title, rows):
    table = accuracy_table(TABLES["table1"], Results(rows))
    return next(group.note for group in table.groups if group.title == title)


def test_a_row_says_what_was_searched_and_where_if_it_was_not_everywhere():
    searched = cell_rows("MUTAG", "gcn", ACCURACIES)
    plain = cell_rows("NCI1", "gcn", ACCURACIES, grid=None)
    assert note_of("GCN", plain) == ""
    assert note_of("GCN", searched) == "compact grid"
    assert note_of("GCN", searched + plain) == "compact grid on MUTAG"


def test_a_row_of_ours_says_so():
    assert note_of("SAGPool", []) == "not in the paper"
    rows = cell_rows("MUTAG", "sagpool", ACCURACIES)
    assert note_of("SAGPool", rows) == "not in the paper · compact grid"
