from __future__ import annotations

import numpy as np
import pytest
from reproduction.runs import COSINES, PREDICTIONS, cosine_of, run_case_study

import twinwl as tw
from reproduction import runs


@pytest.fixture(scope="module")
def twins():
    return tw.load_dataset("TWINS", n_pairs=20)


def test_the_cosines_of_the_paper(tu_zip):
    data = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    assert cosine_of(data, "count") == pytest.approx(0.9472, abs=5e-5)
    assert cosine_of(data, "size") == pytest.approx(0.7577, abs=5e-5)


def test_neither_graph_is_learnt_from(twins, tmp_path, monkeypatch):
    seen = []

    class Spy:
        classes_ = np.array([0, 1])

        def fit(self, graphs, y):
            seen.append((len(graphs), len(y)))
            return self

        def predict(self, graphs):
            return np.zeros(len(graphs), int)

        def predict_proba(self, graphs):
            return np.tile([0.7, 0.3], (len(graphs), 1))

    class Always:
        version = 1

        def build(self, _config, _seed):
            return Spy()

    monkeypatch.setattr(runs, "resolve", lambda _name: Always())
    store = tmp_path / "case.jsonl"
    rows = run_case_study(twins, store, methods=["stwin"], graphs=(1, 2), seeds=2)
    assert seen == [(38, 38)] * 2
    assert [row["splits"] for row in rows] == [COSINES] * 2 + [PREDICTIONS] * 2
    right = rows[-1]["scores"]
    assert right["right-1"] == float(twins.y[0] == 0)
    assert right["probability-1"] == (0.7 if twins.y[0] == 0 else 0.3)
    assert right["right-1"] + right["right-2"] == 1  # twins have opposite classes
    assert run_case_study(twins, store, methods=["stwin"], graphs=(1, 2), seeds=2) == rows
    assert len(seen) == 2
