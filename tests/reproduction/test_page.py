from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from reproduction.page import Page, summary, update_summary
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


def test_a_line_says_which_grid_was_searched_on_which_data_set():
    searched = cell_rows("MUTAG", "gcn", BASE)
    plain = cell_rows("NCI1", "gcn", BASE, grid=None)
    assert "| grid |" not in markdown_of(plain)
    assert row_of(markdown_of(searched + plain), "GCN", "grid") == ["compact", "–", "–", "–", "–"]


def test_charts_and_verdicts_leave_out_what_is_not_finished():
    rows = [row for method in ("wl", "stwin") for row in cell_rows("MUTAG", method, [0.8, 0.9, 0.7])]
    assert [title[:7] for title in titles_of(markdown_of(rows))] == ["Table 1", "Table 2", "How ide"]


def test_every_section_of_a_full_store_is_there(full_page):
    assert len(titles_of(full_page.markdown)) == 10
    assert sorted(full_page.pictures) == [
        "figure-1-label-and-identity-trees", "figure-2-worked-example", "results-significance",
    ]  # fmt: skip


def test_copies_in_the_training_part_have_a_section_of_their_own():
    rows = cell_rows("MUTAG", "wl-svc", [0.8] * 10, n_leaked=3)
    for row in rows:
        row["scores"]["accuracy-without-duplicates"] = 0.75
    markdown = markdown_of(rows)
    assert "## Copies in the training part" in markdown
    assert "| 1-WL, SVM | 75.00 (−5.00) |" in markdown


def test_the_first_screen_says_what_was_found(full_page):
    first = full_page.markdown.partition("\n## ")[0]
    said = dict(re.findall(r"^\| (.+) \| (.+) \|$", first, re.MULTILINE))
    question = "on molecules, a Twin is significantly better than 1-WL, same classifier"
    assert said[question] == "in 0 of 20 comparisons"
    assert said["fair accuracy of 1-WL, STwin-GNN's network on EXP"].startswith("5")
    (rise,) = [figure for what, figure in said.items() if what.startswith("points that choosing the epoch")]
    assert rise == "3.0"
    assert said["cells of tables 1 and 2 that are complete"] == "99 of 101"


def test_the_case_study_counts_who_is_right(full_page):
    assert "| STwin-GNN | 3 of 3 | 0.80 | 0 of 3 | 0.40 |" in full_page.markdown


def test_both_pages_are_written_with_their_pictures(full_page, tmp_path):
    full_page.write(tmp_path / "report.html", tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert sorted(tmp_path.glob("figures/*")) == sorted(tmp_path / name for name in shown)
    assert len(shown) == 3
    for name in shown:
        assert ET.parse(tmp_path / name).getroot().get("width")  # noqa: S314  (our own)
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 110
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<img" not in html
    assert html.count("<figure>") == 3
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []


def against(shift):
    noisy = [score + shift + 0.003 * (place % 3 - 1) for place, score in enumerate(BASE)]
    return cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", noisy)


@pytest.mark.parametrize(
    ("shift", "points", "counts"),
    [(0.05, "**+4.97**", (1, 0)), (-0.05, "**−5.03**", (0, 1)), (0.0, "−0.03", (0, 0))],
)
def test_the_verdict_falls_whichever_way_the_folds_do(shift, points, counts):
    text = markdown_of(against(shift))
    assert f"| {points} |" in text
    assert f"better than 1-WL, same classifier | in {counts[0]} of 1 comparisons" in text
    assert f"significantly worse | in {counts[1]} of 1 comparisons" in text


def test_only_folds_that_both_have_are_compared():
    rows = cell_rows("NCI1", "wl-svc", BASE) + cell_rows("NCI1", "stwin-svc", BASE)
    twice = [{**row, "seed": 1} for row in cell_rows("NCI1", "wl-svc", BASE[:4])]
    assert twins_against_wl(Results([*rows, *twice]), ["NCI1"]) == []
    twice = [{**row, "seed": 1} for row in cell_rows("NCI1", "wl-svc", [0.9] * 10)]
    (found,) = twins_against_wl(Results([*rows, *twice]), ["NCI1"])
    assert found.comparison.n_folds == 10
    assert found.comparison.difference == 0


def test_closeness_is_judged_by_the_reported_deviation():
    near = cell_rows("MUTAG", "stwin", [0.87] * 10)  # 90.0 at its best test epoch
    far = cell_rows("NCI1", "stwin", [0.70] * 10)
    text = summary(Results(near + far))
    assert "best-fold-epoch | 1 of 2 |" in text
    assert "fair | 1 of 2 |" in text


def test_the_table_takes_the_place_of_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(MARKED, encoding="utf-8")
    results = Results(cell_rows("NCI1", "stwin-svc", [0.86] * 10))
    update_summary(path, results)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| STwin, SVM | – | – | – | 86.0 ± 0.0 |" in text
    update_summary(path, results)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_without_marks_is_left_alone(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("nothing here", encoding="utf-8")
    with pytest.raises(TwinWLError, match="has no place for results"):
        update_summary(path, Results([]))
    assert path.read_text(encoding="utf-8") == "nothing here"
