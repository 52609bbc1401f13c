from __future__ import annotations

import re

import numpy as np
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import load_dataset
from twinwl.evaluation.predictions import unseen_shares
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC, STwinSVR
from twinwl.report.explain import explain_all, explain_page, explained, gallery_page

ALCOHOLS, ALKANES = ["CO", "CCO", "CCCO", "CC(C)O"], ["C", "CC", "CCC", "CC(C)C"]
NEW = ["CCCO", "CCCC", "CCN"]


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("rdkit", reason="needs RDKit")
    graphs = GraphBatch.from_smiles((ALCOHOLS + ALKANES) * 2, atoms="skeleton")
    return STwinSVC(n_iter=2, C=1.0).fit(graphs, (["alcohol"] * 4 + ["alkane"] * 4) * 2)


def page_of(model, data, **more):
    return gallery_page(data, explain_all(model, data, 4), model, **more)


def test_every_molecule_has_a_tile_with_its_answer(model):
    data = load_dataset(NEW, kind="smiles", atoms="skeleton")
    page = page_of(model, data)
    assert page.count('class="tile"') == 3
    assert "Predicted <strong>alcohol</strong>" in page
    found = re.findall(r"row (\d) · probability (?:over )?\d+\s% · unseen (\d+)\s%", page)
    unseen = 100 * unseen_shares(model, data.graphs).mean(axis=0)
    assert found == [(f"{row}", f"{share:.0f}") for row, share in enumerate(unseen)]
    assert page.count('class="mini"') == 4
    assert " node" not in page.partition("</style>")[2]


def test_it_says_how_many_predictions_are_right_and_which_are_not(model):
    data = load_dataset(NEW, kind="smiles", atoms="skeleton")
    page = page_of(model, data, truth=["alcohol", "alcohol", None])  # the second is predicted an alkane
    assert "1 of 2 as in the data." in page
    assert page.count("<em>(wrong)</em>") == 1
    assert "as in the data" not in page_of(model, data)


def test_red_is_the_same_class_in_all_drawings(model):
    data = load_dataset(["CCCO", "CCCC"], kind="smiles", atoms="skeleton")
    first, second = (model.explain(data.graphs[number]) for number in (0, 1))
    assert (first.prediction, second.prediction) == ("alcohol", "alkane")
    page = page_of(model, data)
    drawn = re.findall(r'<circle class="halo (\w*)" cx', page)
    # The second of two classes, alkane, is red.
    expected = [*(-first.node_shares), *second.node_shares]
    assert drawn == ["for" if share > 0 else "against" if share < 0 else "" for share in expected]


def halos(page):
    return re.findall(r'<circle class="halo (\w*)" [^>]*cx', page)


@pytest.mark.parametrize("smiles", ["CCCO", "CCCC"])  # an alcohol, the first class, and an alkane
def test_red_is_the_same_class_on_the_page_of_one_graph(model, smiles):
    data = load_dataset([smiles], kind="smiles", atoms="skeleton")
    page = explain_page(data, explained(model, data.graphs, 4))
    assert halos(page) == halos(page_of(model, data))
    for each in (page, page_of(model, data)):
        assert "Red is for alkane, blue for alcohol." in each


def test_red_is_for_the_positive_class():
    pytest.importorskip("rdkit", reason="needs RDKit")
    graphs = GraphBatch.from_smiles(ALCOHOLS + ALKANES, atoms="skeleton")
    model = STwinSVC(n_iter=1, C=1.0).fit(graphs, ["active"] * 4 + ["inactive"] * 4)
    assert explained(model, graphs[0], 4).sides == ("active", "inactive")
    model.positive_ = "inactive"  # as chosen with train --positive
    assert explained(model, graphs[0], 4).sides == ("inactive", "active")


def test_patterns_for_the_blue_class_are_negative(model):
    data = load_dataset(["CCCO", "CCO"], kind="smiles", atoms="skeleton")
    shares = re.findall(r'<div class="share">(.)[^<]*<small>for (\w+)<', page_of(model, data))
    assert shares
    assert all(sign == ("+" if side == "alkane" else "−") for sign, side in shares)


def test_unseen_atoms_have_a_dashed_outline_and_a_legend(model):
    page = page_of(model, load_dataset(["CCN"], kind="smiles", atoms="skeleton"))
    assert "2 N, share 0.000, unseen from round 0 on" in page
    assert "1 C, share" in page
    assert "Dashed outline" in page
    known = page_of(model, load_dataset(["CCO"], kind="smiles", atoms="skeleton"))
    assert "Dashed outline" not in known


def test_it_says_that_the_model_does_not_see_bonds(model):
    data = load_dataset(["C=CO"], kind="smiles", atoms="skeleton")
    words = "Bond orders are drawn for the eye; this model does not see them."
    assert words in page_of(model, data)


def test_a_large_graph_is_listed_without_a_picture(model):
    chain = [(node, node + 1) for node in range(500)]
    data = Dataset("g", GraphBatch.from_edges([chain, [(0, 1)]], node_labels=[["C"] * 501, ["C", "O"]]))
    page = page_of(model, data)
    assert "Not drawn: 501 nodes, 500 edges" in page
    assert page.count('class="tile"') == 2


def test_a_regressors_page_speaks_of_numbers():
    pytest.importorskip("rdkit", reason="needs RDKit")
    graphs = GraphBatch.from_smiles(ALCOHOLS + ALKANES, atoms="skeleton")
    regressor = STwinSVR(n_iter=1, C=1.0).fit(graphs, np.arange(8.0))
    data = load_dataset(NEW, kind="smiles", atoms="skeleton")
    page = gallery_page(data, explain_all(regressor, data, 2), regressor)
    assert "The model predicts a number for each molecule" in page
    assert "for a higher number" in page


def test_names_cannot_break_out_and_nothing_is_loaded(model):
    evil = '<script>alert("x")</script>'
    data = Dataset(evil, GraphBatch.from_edges([[(0, 1)]], node_labels=[[evil, "O"]]), names=(evil,))
    page = page_of(model, data)
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)
