"""Models that twinwl 0.1 saved still load, and still say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

import twinwl as tw

FOLDER = Path(__file__).parent / "models_0_1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def graphs():
    """The three graphs that the models were asked about when they were saved."""

    def ring(n):
        return [(node, (node + 1) % n) for node in range(n)]

    edges = [ring(10), ring(11)[:-1], ring(3)]
    labels = [["C"] * 10, ["N"] * 11, ["O", "C", "C"]]
    return tw.from_edges(edges, labels, edge_labels=[["single"] * len(each) for each in edges])


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("svc", "decision_function"),
        ("vectorizer", "transform"),
        ("kernel", "transform"),
        ("stwin", "predict_proba"),
        ("ntwin", "predict_proba"),
    ],
)
@pytest.mark.filterwarnings("ignore::twinwl.errors.TwinWLWarning")
def test_a_model_of_0_1_says_what_it_said(name, method, tmp_path):
    if name in {"stwin", "ntwin"}:
        pytest.importorskip("torch")
    model = tw.load(FOLDER / f"{name}.twinwl")
    tw.save(model, tmp_path / "again.twinwl")
    for each in (model, tw.load(tmp_path / "again.twinwl")):
        said = getattr(each, method)(graphs())
        said = said.toarray() if hasattr(said, "toarray") else said
        np.testing.assert_allclose(said, EXPECTED[name], rtol=1e-5, atol=1e-7)
