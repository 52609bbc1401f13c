"""Models that earlier versions saved still load, and still say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

import twinwl as tw

FOLDER = Path(__file__).parent


def graphs():
    """The three graphs that the models were asked about when they were saved."""

    def ring(n):
        return [(node, (node + 1) % n) for node in range(n)]

    edges = [ring(10), ring(11)[:-1], ring(3)]
    labels = [["C"] * 10, ["N"] * 11, ["O", "C", "C"]]
    return tw.from_edges(edges, labels, edge_labels=[["single"] * len(each) for each in edges])


METHODS = {
    "svc": "decision_function",
    "vectorizer": "transform",
    "readout": "transform",
    "kernel": "transform",
    "stwin": "predict_proba",
    "ntwin": "predict_proba",
}
FILES = sorted(FOLDER.glob("models_*/*.twinwl"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.filterwarnings("ignore::twinwl.errors.TwinWLWarning")
def test_an_earlier_model_says_what_it_said(file, tmp_path):
    if file.stem in {"stwin", "ntwin"}:
        pytest.importorskip("torch")
    model = tw.load(file)
    expected = json.loads(file.with_name("expected.json").read_text())[file.stem]
    tw.save(model, tmp_path / "again.twinwl")
    for each in (model, tw.load(tmp_path / "again.twinwl")):
        said = getattr(each, METHODS[file.stem])(graphs())
        said = said.toarray() if hasattr(said, "toarray") else said
        np.testing.assert_allclose(said, expected, rtol=1e-5, atol=1e-7)
