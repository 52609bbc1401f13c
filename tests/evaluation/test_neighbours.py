"""Search for the most similar graphs: in memory and in a corpus, its result and its page."""

from __future__ import annotations

import json

import numpy as np
import pytest

import twinwl as tw
from twinwl import Dataset, TwinKernel

RINGS = [[(node, (node + 1) % n) for node in range(n)] for n in range(3, 15)]


@pytest.fixture(scope="module")
def rings():
    return Dataset.from_graphs(RINGS, name="rings")


@pytest.fixture(scope="module")
def found(rings):
    return tw.neighbours(rings[[4, 9]], rings, k=3)


def test_the_nearest_of_a_data_set_are_those_of_the_kernel(rings, found):
    matrix = TwinKernel(2, "joint", "minmax").fit(rings.graphs).transform(rings.graphs[[4, 9]])
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :3]
    assert found.indices.tolist() == order.tolist()
    assert found.similarities.tolist() == np.take_along_axis(matrix, order, axis=1).tolist()


def test_a_match_has_query_rank_name_and_row(found):
    assert found.of(1)[0]._asdict() == {
        "query": "rings#9",
        "rank": 1,
        "similarity": 1.0,
        "name": "rings#9",
        "row": 9,
        "smiles": None,
    }
    assert [one.rank for one in found.matches] == [1, 2, 3, 1, 2, 3]
    assert len(json.loads(found.to_json())["matches"]) == 6


def test_text_and_repr(found):
    assert repr(found) == "Neighbours(2 queries, the nearest 3 of 12 graphs)"
    assert str(found).splitlines()[:2] == ["rings#4", "    1  1.000  rings#4  (row 4)"]


def test_queries_may_be_graphs_or_a_name(rings):
    by_graph = tw.neighbours(RINGS[:1], rings, 2)
    assert tw.neighbours("graph6:Bw", rings, 2).indices.tolist() == by_graph.indices.tolist()


def test_labels_that_differ_everywhere_are_pointed_out(rings):
    strange = tw.from_edges([[(0, 1)]], [["X", "Y"]])
    assert "No graph has anything in common" in str(tw.neighbours(strange, rings, 1))


def test_edge_labels_count_where_both_have_them_unless_told_otherwise():
    single, double = (tw.from_edges([[(0, 1)]], edge_labels=[[kind]]) for kind in "-=")
    assert tw.neighbours(single, double, 1).similarities[0, 0] < 1
    assert tw.neighbours(single, double, 1, edge_labels=False).similarities[0, 0] == 1
    assert tw.neighbours(single, double.without_edge_labels(), 1).similarities[0, 0] == 1


@pytest.mark.parametrize("k", [0, 2.0])
def test_a_wrong_number_of_neighbours_is_refused(rings, k):
    with pytest.raises(tw.TwinWLError, match="k: got"):
        tw.neighbours(rings, rings, k)


def test_all_graphs_are_neighbours_where_there_are_fewer(rings):
    many, n_graphs = tw.neighbours(rings, rings, 1000), len(rings.graphs)
    assert many.indices.shape == (n_graphs, n_graphs)


def test_no_query_is_refused(rings):
    with pytest.raises(tw.TwinWLError, match="queries: got no graphs"):
        tw.neighbours(rings.graphs[:0], rings, 1)


def test_molecules_read_at_two_levels_are_refused():
    pytest.importorskip("rdkit", reason="needs RDKit")
    here, there = (tw.from_smiles(["CCO"], atoms=level) for level in ("skeleton", "constitution"))
    with pytest.raises(tw.TwinWLError, match=r"atoms='skeleton'.*atoms='constitution'"):
        tw.neighbours(here, there, 1)
    assert tw.neighbours("smiles:CCO", there, 1).similarities[0, 0] == 1


def test_a_corpus_gives_what_its_graphs_in_memory_give(tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    pytest.importorskip("rdkit", reason="needs RDKit")
    smiles = ["C" * n + "O" * (n % 3) + "N" * (n % 2) for n in range(1, 30)]
    (tmp_path / "m.csv").write_text(
        "id,smiles\n" + "".join(f"M{row},{text}\n" for row, text in enumerate(smiles))
    )
    corpus = tw.Corpus.build(tmp_path / "m.csv", tmp_path / "corpus", rows_per_shard=7, verbose=False)
    graphs = tw.from_smiles(smiles, atoms="constitution")
    expected = tw.neighbours(graphs[::5], graphs, 4)
    found = tw.neighbours(graphs[::5], corpus, 4)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.similarities.tolist() == expected.similarities.tolist()
    assert [(one.name, one.smiles) for one in found.of(0)] == [
        (f"M{row}", smiles[row]) for row in expected.indices[0].tolist()
    ]
    assert tw.neighbours("smiles:CCO", str(tmp_path / "corpus"), 1).similarities.shape == (1, 1)


def test_the_page_draws_each_query_and_its_neighbours(found, tmp_path):
    found.save_page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.count("<svg") == 2 * (1 + 3)
    assert "query: rings#9" in text
