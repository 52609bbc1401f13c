from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from reproduction.page import Page, findings, update_summary
from reproduction.results import Results, twins_against_wl

from tests.reproduction.stored_results import BENCHMARK, cell_rows, measured_rows, table_rows
from twinwl.errors import TwinWLError

BASE = [0.80, 0.82, 0.81, 0.79, 0.83, 0.80, 0.81, 0.82, 0.78, 0.80]
MARKED = "before\n<!-- figures:start -->\nold\n<!-- figures:end -->\nafter\n"


@pytest.fixture(scope="module")
def full_page():
    skip = {("NCI109", "123-gnn"), ("Mutagenicity", "123-gnn")}
    rows = [*table_rows("table1", skip=skip), *table_rows("table2"), *measured_rows()]
    return Page(Results(rows), None, BENCHMARK)


def markdown_of(rows):
    return Page(Results(rows)).markdown


def titles_of(markdown):
    return [line[3:] for line in markdown.splitlines() if line.startswith("## ")]


def row_of(markdown, title, reading):
    """Return the cells of one line of an accuracy table."""
    inside = False
    for line in markdown.splitlines():
        inside = line.startswith(f"| **{title}**") or (inside and line.startswith("|  |"))
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if inside and cells[1] == reading:
            return cells[2:]
    raise AssertionError(f"no line {reading!r} of {title!r}")


def test_ours_is_set_beside_the_reported_figures(full_page):
    markdown = full_page.markdown
    assert row_of(markdown, "STwin-GNN", "paper")[0] == "90.00 ± 3.89"
    fair = row_of(markdown, "STwin-GNN", "fair")
    assert len(fair) == 5
    assert all(re.fullmatch(r"\*\*\d+\.\d\d ± \d+\.\d\d\*\* \(10\)", cell) for cell in fair)
    assert row_of(markdown, "STwin-GNN", "best-fold-epoch, optimistic")[0].endswith("(10)")


def test_cells_that_were_not_run_are_marked(full_page):
    cells = row_of(full_page.markdown, "1-2-3-GNN", "fair")
    assert cells[2] == cells[4] == "not run"
    assert cells[0] != "not run"


def test_a_part_of_the_folds_is_marked_as_a_part():
    markdown = markdown_of(cell_rows("MUTAG", "stwin", [0.8] * 4))
    assert row_of(markdown, "STwin-GNN", "fair")[0].endswith("(4 of 10)")


def test_a_row_says_what_was_searched_and_where_if_it_was_not_everywhere():
    searched = cell_rows("MUTAG", "gcn", BASE)
    plain = cell_rows("NCI1", "gcn", BASE, grid=None)
    assert "| **GCN** | fair" in markdown_of(plain)
    assert "| **GCN** (compact grid) | fair" in markdown_of(searched)
    assert "| **GCN** (compact grid on MUTAG) | fair" in markdown_of(searched + plain)
    assert "| **SAGPool** (not in the paper) | fair" in markdown_of([])


def test_charts_and_verdicts_leave_out_what_is_not_finished():
    rows = [row for method in ("wl", "stwin") for row in cell_rows("MUTAG", method, [0.8, 0.9, 0.7])]
    assert [title[:7] for title in titles_of(markdown_of(rows))] == ["Table 1", "Table 2"]


def test_every_section_of_a_full_store_is_there(full_page):
    assert len(titles_of(full_page.markdown)) == 9
    assert sorted(full_page.pictures) == [
        "results-cost", "results-growth", "results-pairs", "results-protocols", "results-significance",
    ]  # fmt: skip


def test_copies_in_the_training_part_have_a_section_of_their_own():
    rows = cell_rows("MUTAG", "wl-svc", [0.8] * 10, n_leaked=3)
    for row in rows:
        row["scores"]["accuracy-without-duplicates"] = 0.75
    markdown = markdown_of(rows)
    assert "## Copies in the training part" in markdown
    assert "| 1-WL, SVM | 75.00 (−5.00) |" in markdown


def test_the_first_screen_says_what_was_found(full_page):
    said = [text.replace("\n  ", " ") for text in findings(full_page.results).split("\n- ")]
    molecules, pairs, protocol, close, runtime, coverage = said
    assert "in none of 20 comparisons" in molecules
    assert "STwin's features tell 600 pairs apart and those of 1-WL 0" in pairs
    assert "3.0 points higher" in protocol
    assert "of 12 figures of STwin-GNN and NTwin-GNN" in close
    assert "times as long as those of 1-WL" in runtime
    assert coverage.startswith("99 of 101 cells")


def test_the_case_study_says_when_everyone_is_right(full_page):
    wrong = "Not always right: 1-WL, STwin-GNN's network and STwin-GNN."
    assert wrong in full_page.markdown.replace("\n", " ")
    rows = measured_rows()
    for row in rows:
        row["scores"] |= {name: 1.0 for name in row["scores"] if name.startswith("right")}
    text = markdown_of(rows).replace("\n", " ")
    assert "All of them, 1-WL included, predict the true class of both molecules" in text


def test_both_pages_are_written_with_their_pictures(full_page, tmp_path):
    full_page.write(tmp_path / "report.html", tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert sorted(tmp_path.glob("figures/*")) == sorted(tmp_path / name for name in shown)
    assert len(shown) == 5
    for name in shown:
        assert ET.parse(tmp_path / name).getroot().get("width")  # noqa: S314  (our own)
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 110
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<img" not in html
    assert html.count("<figure>") == 5
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []


def against(shift):
    noisy = [score + shift + 0.003 * (place % 3 - 1) for place, score in enumerate(BASE)]
    return cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", noisy)


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        (0.05, "better on NCI1 (+4.97)"),
        (-0.05, "worse on NCI1 (−5.03)"),
        (0.0, "no significant difference on NCI1 (−0.03)"),
    ],
)
def test_the_verdict_falls_whichever_way_the_folds_do(shift, said):
    text = markdown_of(against(shift)).replace("\n", " ")
    assert said in text
    assert ("On NCI1 no Twin is significantly better" in text) == (shift <= 0)


def test_only_folds_that_both_have_are_compared():
    rows = cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", BASE[:4])
    found = twins_against_wl(Results(rows), ["NCI1"])
    assert found[0].comparison.n_folds == 4
    assert found[0].comparison.difference == 0


def test_closeness_is_judged_by_the_reported_deviation():
    near = cell_rows("MUTAG", "stwin", [0.87] * 10)  # 90.0 at its best test epoch
    far = cell_rows("NCI1", "stwin", [0.70] * 10)
    text = findings(Results(near + far)).replace("\n  ", " ")
    assert "protocol 1 of 2 figures" in text
    assert "under the fair protocol 1 of 2 are" in text


def test_the_table_takes_the_place_of_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(MARKED, encoding="utf-8")
    results = Results(cell_rows("NCI1", "stwin-svc", [0.86] * 10))
    update_summary(path, results)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| STwin, SVM | not run | not run | not run | 86.0 ± 0.0 |" in text
    update_summary(path, results)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_without_marks_is_left_alone(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("nothing here", encoding="utf-8")
    with pytest.raises(TwinWLError, match="has no place for results"):
        update_summary(path, Results([]))
    assert path.read_text(encoding="utf-8") == "nothing here"
