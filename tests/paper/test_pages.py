from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

import twinwl as tw
from tests.paper.stored_results import BENCHMARK, cell_rows, measured_rows, table_rows
from twinwl.errors import TwinWLError
from twinwl.paper.markdown import results_markdown, write_results
from twinwl.paper.pages import demo_page, paper_page
from twinwl.paper.result_cells import Results
from twinwl.report.page import Page, PlainTable, Section, results_html


@pytest.fixture(scope="module")
def full_page():
    skip = {("NCI109", "123-gnn"), ("Mutagenicity", "123-gnn")}
    rows = [*table_rows("table1", skip=skip), *table_rows("table2"), *measured_rows()]
    return paper_page(Results(rows), None, BENCHMARK)


def row_of(markdown, title, reading):
    """Return the cells of one line of an accuracy table."""
    inside = False
    for line in markdown.splitlines():
        inside = line.startswith(f"| **{title}**") or (inside and line.startswith("|  |"))
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if inside and cells[1] == reading:
            return cells[2:]
    raise AssertionError(f"no line {reading!r} of {title!r}")


def test_markdown_sets_ours_beside_the_reported_figures(full_page):
    markdown = results_markdown(full_page)
    assert row_of(markdown, "STwin-GNN", "paper")[0] == "90.00 ± 3.89"
    fair = row_of(markdown, "STwin-GNN", "fair")
    assert len(fair) == 5
    assert all(re.fullmatch(r"\*\*\d+\.\d\d ± \d+\.\d\d\*\* \(10\)", cell) for cell in fair)
    assert row_of(markdown, "STwin-GNN", "best-fold-epoch, optimistic")[0].endswith("(10)")


def test_cells_that_were_not_run_are_marked(full_page):
    cells = row_of(results_markdown(full_page), "1-2-3-GNN", "fair")
    assert cells[2] == cells[4] == "not run"
    assert cells[0] != "not run"
    assert results_html(full_page).count(">not run<") == 2 * 3  # three readings of two cells


def test_a_part_of_the_folds_is_marked_as_a_part():
    rows = cell_rows("MUTAG", "stwin", [0.8] * 4)
    assert row_of(results_markdown(paper_page(Results(rows))), "STwin-GNN", "fair")[0].endswith("(4 of 10)")


def test_charts_and_verdicts_leave_out_what_is_not_finished():
    rows = [row for method in ("wl", "stwin") for row in cell_rows("MUTAG", method, [0.8, 0.9, 0.7])]
    assert [section.anchor for section in paper_page(Results(rows)).sections] == ["table1", "table2"]


def test_every_section_of_a_full_store_is_there(full_page):
    assert [section.anchor for section in full_page.sections] == [
        "significance", "protocols", "closeness", "table1", "table2", "table3", "cost", "case-study",
        "growth",
    ]  # fmt: skip


def test_copies_in_the_training_part_have_a_section_of_their_own():
    rows = cell_rows("MUTAG", "wl-svc", [0.8] * 10, n_leaked=3)
    for row in rows:
        row["scores"]["accuracy-without-duplicates"] = 0.75
    markdown = results_markdown(paper_page(Results(rows)))
    assert "## Copies in the training part" in markdown
    assert "| 1-WL, SVM | 75.00 (−5.00) |" in markdown


def test_an_empty_store_gives_a_page_of_cells_not_run():
    page = paper_page(Results([]))
    assert page.highlights == []
    assert page.findings == ["0 of 101 cells of tables 1 and 2 are complete; the others are marked."]
    assert results_html(page).count(">not run<") == results_markdown(page).count("not run |") > 50


def test_the_page_needs_nothing_else(full_page):
    html = results_html(full_page)
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []
    assert "url(" not in html
    assert "<script" not in html
    assert html.count("<section") == len(full_page.sections)


def test_the_first_screen_says_what_was_found(full_page):
    figures = [figure for figure, _ in full_page.highlights]
    assert [figure.partition(" of ")[2] for figure in figures] == ["20", "600", "", "12"]
    molecules, pairs, protocol, closeness, runtime, coverage = full_page.findings
    assert "in none of 20 comparisons" in molecules
    assert "STwin's features tell 600 pairs apart and those of 1-WL 0" in pairs
    assert "3.0 points higher" in protocol
    assert f"{figures[3]} figures of STwin-GNN and NTwin-GNN" in closeness
    assert "times as long as those of 1-WL" in runtime
    assert coverage.startswith("99 of 101 cells")


def test_a_twin_that_is_never_better_is_said_not_to_help():
    rows = [row for method in ("wl", "stwin") for row in cell_rows("MUTAG", method, [0.8, 0.9] * 5)]
    page = paper_page(Results(rows))
    assert "the Twin does not help on these folds" in page.findings[0]
    assert page.highlights[0][0] == "0 of 1"


def test_the_case_study_says_when_everyone_is_right(full_page):
    assert "Not always right: 1-WL, STwin's MLP and STwin-GNN." in results_markdown(full_page).replace(
        "\n", " "
    )
    rows = measured_rows()
    for row in rows:
        row["scores"] |= {name: 1.0 for name in row["scores"] if name.startswith("right")}
    text = results_markdown(paper_page(Results(rows))).replace("\n", " ")
    assert "All of them, 1-WL included, predict the true class of both molecules" in text


def test_markdown_shows_the_pictures_written_beside_it(full_page, tmp_path):
    write_results(full_page, markdown=tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert sorted(tmp_path.glob("figures/*")) == sorted(tmp_path / name for name in shown)
    assert len(shown) == 5
    for name in shown:
        root = ET.parse(tmp_path / name).getroot()  # noqa: S314  (our own)
        assert ".dot" in root.find("{*}style").text
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 110


def test_the_same_results_give_the_same_bytes():
    rows = [*table_rows("table2"), *measured_rows()]
    assert results_html(paper_page(Results(rows))) == results_html(paper_page(Results(rows)))


def test_what_comes_from_outside_is_escaped():
    page = Page(
        "<b>", ["<i>"], [("<u>", "<s>")], [Section("a", "<em>", [PlainTable(["<x>"], [["<y>|"]])])], ["<z>"]
    )
    html = results_html(page)
    assert not re.search(r"<(b|i|u|s|em|x|y|z)>", html)
    assert "<y>\\|" in results_markdown(page)


def test_the_demonstration_shows_the_example_and_an_explained_pair():
    twins = tw.load_dataset("TWINS", n_pairs=20)
    model = tw.STwinSVC(3, 1.0).fit(twins.graphs, twins.targets)
    figures = [["", "TWINS"], ["1-WL, SVM", "50.0 ± 0.0"], ["STwin, SVM", "100.0 ± 0.0"]]
    page = demo_page(figures, twins, {graph: model.explain(twins.graphs[graph]) for graph in (0, 1)})
    html = results_html(page)
    assert page.highlights[0] == ("50.0 %", "1-WL, SVM on TWINS")
    assert "(20, 12) ≠ (16, 12)" in html
    assert "the rings of decalin" in html
    assert 'class="shade"' in html
    assert "MUTAG" not in page.lede[0]


def test_a_file_that_cannot_be_written_is_said_so(tmp_path):
    with pytest.raises(TwinWLError, match="cannot write"):
        write_results(Page("", [], [], [], []), tmp_path / "no" / "report.html")
