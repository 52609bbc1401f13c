"""The page of an audit: figures at the chosen level, and pairs drawn alike."""

from __future__ import annotations

import pytest

from twinwl import Dataset, GraphBatch, load_dataset
from twinwl.evaluation.audit import audit
from twinwl.report.audit_page import audit_page
from twinwl.report.page import Drawings, results_html

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]


@pytest.fixture(scope="module")
def page():
    pytest.importorskip("rdkit", reason="needs RDKit")
    # The first of the later molecules is a copy, the second has only the same skeleton, the others are near.
    long, longer = "CCCCCCCCCCCCCCCCCCCCCCCCO", "CCCCCCCCCCCCCCCCCCCCCCCCCO"
    sets = [
        load_dataset(["CCO", "CC(=O)O", "CCCCCCN", long], kind="smiles"),
        load_dataset(["OCC", "CC(=O)[O-]", "CCCCCN", longer], kind="smiles"),
    ]
    return audit_page(audit(*sets, near=0.5))


def test_the_figures_are_those_of_the_chosen_level(page):
    figures = {text: figure for figure, text in page.highlights}
    same, coarser, near = figures.items()
    assert same[1] == "1 of 4"
    assert same[0].endswith("(same constitution)")
    assert coarser == ("more have only the same skeleton", "1")
    assert near == ("more are nearly the same (similarity 0.5 or more)", "2")


def test_carbon_is_a_corner_of_the_pictures(page):
    drawn = [block for section in page.sections for block in section.blocks if isinstance(block, Drawings)]
    pictures = drawn[0].pictures
    assert len(pictures) == 4
    assert [picture.count("<circle") for picture in pictures] == [1] * 4  # N or O


def test_the_page_speaks_of_molecules(page):
    text = results_html(page).partition("</style>")[2]
    assert "Molecules in common" in text
    assert "<span>twinwl</span> audit" in text
    assert "earlier graph" not in text


def test_one_set_alone_has_nothing_in_common():
    alone = Dataset.from_graphs(GraphBatch.from_edges([PATH, PATH, TRIANGLE]), [0, 1, 1], name="alone")
    page = audit_page(audit(alone))
    assert page.highlights == [("1", "groups of copies have different targets")]
    assert [section.anchor for section in page.sections] == ["contradictions"]


def test_graphs_that_are_not_molecules_are_called_graphs():
    sets = [Dataset.from_graphs(GraphBatch.from_edges([TRIANGLE, PATH]), name=name) for name in "ab"]
    page = audit_page(audit(*sets))
    assert page.highlights[0] == ("2 of 2", "graphs of b are also in a")
    assert "molecule" not in results_html(page).partition("</style>")[2]
