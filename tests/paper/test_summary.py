from __future__ import annotations

import pytest

from tests.paper.stored_results import cell_rows
from twinwl.errors import TwinWLError
from twinwl.paper.result_cells import Results
from twinwl.paper.summary import update_readme

MARKED = "before\n<!-- figures:start -->\nold\n<!-- figures:end -->\nafter\n"


def test_the_table_takes_the_place_of_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(MARKED, encoding="utf-8")
    results = Results(cell_rows("NCI1", "stwin-svc", [0.86] * 10))
    update_readme(path, results)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| STwin, SVM | not run | not run | not run | 86.0 ± 0.0 |" in text
    update_readme(path, results)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_without_marks_is_left_alone(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("nothing here", encoding="utf-8")
    with pytest.raises(TwinWLError, match="has no place for results"):
        update_readme(path, Results([]))
    assert path.read_text(encoding="utf-8") == "nothing here"
