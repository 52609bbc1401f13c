from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import load_dataset
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC
from twinwl.report.explain import explain_page
from twinwl.report.page import write_page

ALCOHOLS, ALKANES = ["CO", "CCO", "CCCO", "CC(C)O"], ["C", "CC", "CCC", "CC(C)C"]


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("rdkit", reason="needs RDKit")
    graphs = GraphBatch.from_smiles((ALCOHOLS + ALKANES) * 2, atoms="skeleton")
    return STwinSVC(n_iter=2, C=1.0).fit(graphs, (["alcohol"] * 4 + ["alkane"] * 4) * 2)


@pytest.fixture(scope="module")
def propanol(model):
    named = load_dataset("smiles:CCCO", atoms="skeleton")
    return named, model.explain(named.graphs)


@pytest.fixture(scope="module")
def page(model, propanol):
    return explain_page(*propanol, model, probability=0.87)


def test_the_page_says_what_was_predicted(page):
    assert '<h1>Predicted class: <span class="for">alcohol</span></h1>' in page
    assert "probability is 87\N{NO-BREAK SPACE}%" in page
    assert "model predicts alcohol rather than alkane" in page
    assert "<title>Predicted alcohol · smiles:CCCO</title>" in page


def test_every_node_has_its_share_and_its_shade(page, propanol):
    shares = propanol[1].node_shares
    found = re.findall(r'class="atom" data-node="(\d)" data-share="([^"]+)" data-label="(\w)"', page)
    assert [(int(node), label) for node, _, label in found] == [(0, "C"), (1, "C"), (2, "C"), (3, "O")]
    np.testing.assert_allclose([float(share.replace("−", "-")) for _, share, _ in found], shares, atol=6e-4)
    sides = re.findall(r'<circle class="halo (\w*)" data-node', page)
    assert sides == ["for" if share > 0 else "against" for share in shares]


def test_hydrogens_are_written(page):
    assert re.search(r"<text>O</text><text[^>]*>H</text>", page)


def test_the_parts_sum_to_the_decision(page, propanol):
    values = [float(text.replace("−", "-")) for text in re.findall(r"</dt><dd>([+−]?[\d.]+)</dd>", page)]
    assert len(values) == 4
    assert sum(values[:3]) == pytest.approx(values[3], abs=2e-3)
    assert values[3] == pytest.approx(propanol[1].decision, abs=6e-4)


def test_columns_show_tree_and_nodes(page, propanol):
    assert page.count("as a tree</summary>") == len(propanol[1].columns)
    assert 'data-nodes="3"' in page


def test_it_needs_nothing_from_outside(page):
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_names_and_labels_cannot_break_out(model):
    evil = '<script>alert("x")</script>'
    named = Dataset("g", GraphBatch.from_edges([[(0, 1)]], node_labels=[[evil, "O"]]), names=(evil,))
    found = replace(model.explain(named.graphs), prediction=evil)
    assert "<script>alert" not in explain_page(named, found)


def test_graphs_that_are_no_molecules_show_their_labels(model):
    named = Dataset("g", GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]), names=("CO.graphml",))
    page = explain_page(named, model.explain(named.graphs))
    assert '<main class="bare">' in page
    assert "probability" not in page


def test_a_large_graph_is_listed_not_drawn(model, tmp_path):
    chain = GraphBatch.from_edges([[(node, node + 1) for node in range(500)]], node_labels=[["C"] * 501])
    named = Dataset("g", chain, names=("chain",))
    found = model.explain(chain)
    page = explain_page(named, found, model)
    assert "is not drawn" in page
    assert "<svg" not in page
    assert "Shares of all nodes, largest first (501 nodes)" in page
    with pytest.raises(TwinWLError, match="501 nodes, too many"):
        found.draw(tmp_path / "x.png")


def test_the_file_is_the_page(model, propanol, page, tmp_path):
    write_page(tmp_path / "p.html", explain_page(*propanol, model, probability=0.87))
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == page


def test_a_page_that_cannot_be_written_is_our_error(propanol, tmp_path):
    with pytest.raises(TwinWLError, match="cannot write"):
        write_page(tmp_path / "no" / "p.html", explain_page(*propanol))


def test_molecules_have_atoms_and_their_patterns_smarts(page, propanol):
    body = page.partition("</style>")[2].partition("<script>")[0]
    assert "4 atoms, 3 bonds" in body
    assert not re.search(r"\b[Nn]odes?\b(?!=)", re.sub(r"data-nodes?", "", body))
    assert body.count("SMARTS <code>[#") == len(propanol[1].columns)


def test_unseen_atoms_are_marked_with_their_first_round(model):
    named = load_dataset("smiles:CCCN", atoms="skeleton")
    found = model.explain(named.graphs)
    page = explain_page(named, found, model)
    marked = dict(re.findall(r'aria-label="Atom (\d), \w, share [^"]*, unseen from round (\d) on"', page))
    assert marked == {"3": "0", "2": "1", "1": "2"}
    assert page.count('<circle class="unseen" r="20"/>') == 3
    assert "Dashed outline: no training graph has an atom" in page
    assert "Dashed outline" not in explain_page(named, found)


def test_bonds_that_the_model_does_not_see_are_admitted(propanol):
    words = "Bond orders are drawn for the eye; this model does not see them."
    assert words in explain_page(*propanol, SimpleNamespace(edge_labels=False))
    assert words not in explain_page(*propanol, SimpleNamespace(edge_labels=True))
