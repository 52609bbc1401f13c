"""What methods use of the graphs: recorded with each result, the same for all methods on request."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from twinwl import TwinWLError
from twinwl.errors import TwinWLWarning
from twinwl.evaluation.evaluate import Unit, inputs_of
from twinwl.evaluation.methods import METHODS, resolve
from twinwl.evaluation.result import Evaluation, ResultStore

N_GRAPHS = 16
Y = np.arange(N_GRAPHS) % 2


def graphs(*, attributes=True, edge_labels=True, node_labels=True):
    """Rings of six with a chord, in which labels, edge labels or attributes may be missing."""
    edges = [[(i, (i + 1) % 6) for i in range(6)] + [(0, 2 + g % 3)] for g in range(N_GRAPHS)]
    return tw.GraphBatch.from_edges(
        edges,
        [["CO"[(g * i) % 3 == 1] for i in range(6)] for g in range(N_GRAPHS)] if node_labels else None,
        edge_labels=[["xy"[(g + i) % 2] for i in range(7)] for g in range(N_GRAPHS)] if edge_labels else None,
        node_features=np.random.default_rng(0).normal(size=(N_GRAPHS, 6, 2)) if attributes else None,
    )


def data(**missing):
    return tw.Dataset.from_graphs(graphs(**missing), Y, name="RINGS")


@pytest.mark.parametrize(
    ("method", "used"),
    [
        ("stwin", ["node_labels"]),
        ("stwin-svc", ["node_labels"]),
        ("gin", ["node_labels", "node_attributes"]),
        ("ntwin", ["node_labels", "node_attributes"]),
        (tw.STwinSVC(edge_labels=True), ["node_labels", "edge_labels"]),
        (tw.STwinSVC(initial="degree"), []),
        (
            make_pipeline(tw.STwinVectorizer(edge_labels=True), DecisionTreeClassifier()),
            ["node_labels", "edge_labels"],
        ),
    ],
    ids=str,
)
def test_inputs_are_those_that_the_graphs_have_and_the_method_uses(method, used):
    if isinstance(method, str):
        pytest.importorskip("torch")
    estimator = resolve(method).build({}, 0)
    assert inputs_of(estimator, graphs()) == used
    assert inputs_of(estimator, graphs(attributes=False, edge_labels=False, node_labels=False)) == []


@pytest.mark.parametrize("method", ["stwin", "gin"])
def test_a_prediction_depends_on_attributes_exactly_where_they_are_an_input(method):
    pytest.importorskip("torch")
    given, changed = graphs(), replace(graphs(), node_features=graphs().node_features + 1)
    estimator = resolve(method).build({"max_epochs": 2}, 0)
    if method == "stwin":
        estimator.set_params(ignore_features=True)
    estimator.fit(given, Y)
    moved = not np.allclose(estimator.predict_proba(given), estimator.predict_proba(changed))
    assert moved == ("node_attributes" in inputs_of(estimator, given))


def test_inputs_are_in_the_store_the_text_and_the_records(tmp_path):
    store = tmp_path / "results.jsonl"
    result = tw.evaluate(
        "stwin-svc", data(), n_folds=2, store=store, edge_labels=True, ignore_node_attributes=True
    )
    assert [row["inputs"] for row in ResultStore(store).rows()] == [["node_labels", "edge_labels"]] * 2
    assert "\n  inputs: node labels, edge labels\n" in str(result)
    assert {record["inputs"] for record in result.to_records()} == {"node labels, edge labels"}
    assert "inputs: node labels, edge labels" in result._repr_html_()


def test_results_of_earlier_versions_are_used_and_their_inputs_not_guessed(tmp_path):
    store = tmp_path / "results.jsonl"
    tw.evaluate("wl-svc", data(attributes=False), n_folds=2, store=store, edge_labels=False)
    rows = [json.loads(line) for line in store.read_text().splitlines()]
    earlier = [{name: value for name, value in row.items() if name != "inputs"} for row in rows]
    store.write_text("".join(json.dumps(row) + "\n" for row in earlier))
    again = tw.evaluate("wl-svc", data(attributes=False), n_folds=2, store=store, edge_labels=False)
    assert len(store.read_text().splitlines()) == 2
    assert again.inputs == "not recorded"


def test_configurations_that_differ_in_their_inputs_name_both():
    rows = [{"inputs": []}, {"inputs": ["edge_labels"]}]
    assert Evaluation("RINGS", "m", "fair", "accuracy", rows).inputs == "structure only or edge labels"


def test_attributes_that_a_method_does_not_use_are_one_warning():
    with pytest.warns(
        TwinWLWarning, match="RINGS: not every method uses continuous node attributes"
    ) as caught:
        tw.evaluate("stwin-svc", data(edge_labels=False), n_folds=2)
    assert len(caught) == 1


def test_ignoring_attributes_lets_kernels_of_labels_run_and_warns_of_nothing():
    with pytest.raises(TwinWLError, match="continuous features"):
        tw.evaluate("wl-kernel", data(edge_labels=False), n_folds=2)
    result = tw.evaluate("wl-kernel", data(edge_labels=False), n_folds=2, ignore_node_attributes=True)
    assert result.inputs == "node labels"


def test_edge_labels_that_a_method_does_not_use_are_one_warning():
    with pytest.warns(
        TwinWLWarning, match="RINGS: models ignore edge labels unless edge_labels=True"
    ) as caught:
        tw.evaluate("stwin-svc", data(attributes=False), n_folds=2)
    assert len(caught) == 1


def test_edge_labels_are_used_under_a_name_of_their_own_and_ignored_under_the_usual_one():
    method = METHODS["stwin-svc"]
    assert method.with_edge_labels(use=True).name == "stwin-svc+edge-labels"
    assert method.with_edge_labels(use=True).with_edge_labels(use=True).name == "stwin-svc+edge-labels"
    assert method.with_edge_labels(use=False).name == "stwin-svc"
    used = resolve(tw.STwinSVC(edge_labels=True))
    assert used.with_edge_labels(use=True).name == used.name
    assert used.with_edge_labels(use=False).name == f"{used.name}+no-edge-labels"


def test_a_method_that_cannot_use_edge_labels_is_refused():
    pytest.importorskip("torch")
    with pytest.raises(
        TwinWLError, match=r"gin cannot use edge labels, only stwin, .* can; leave edge_labels out"
    ):
        METHODS["gin"].with_edge_labels(use=True)


class SeesEdgeLabels(ClassifierMixin, BaseEstimator):
    """Of another package: predicts whether it was given edge labels."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), int(X.edge_labels is not None)
        return self

    def predict(self, X):
        return np.full(len(X), self.seen_)


@pytest.mark.parametrize(("edge_labels", "share_of_class_seen"), [(None, 0.25), (False, 0.75)])
def test_other_packages_are_not_given_edge_labels_that_are_to_be_ignored(edge_labels, share_of_class_seen):
    y = (np.arange(N_GRAPHS) % 4 == 0).astype(int)  # a quarter is of class 1
    dataset = tw.Dataset.from_graphs(graphs(), y)
    result = tw.evaluate(SeesEdgeLabels(), dataset, n_folds=2, edge_labels=edge_labels)
    assert result.mean == share_of_class_seen
    assert result.inputs == "not recorded"


def test_fits_of_an_evaluation_neither_warn_of_inputs_nor_show_progress(recwarn):
    both = make_pipeline(tw.STwinVectorizer(), DecisionTreeClassifier())
    for method in ("stwin-svc", both):
        recwarn.clear()
        tw.evaluate(method, data(), n_folds=2)
        said = [str(each.message) for each in recwarn if issubclass(each.category, TwinWLWarning)]
        assert len(said) == 2  # of the evaluation: about attributes, and about edge labels
        assert all(message.startswith("RINGS: ") for message in said)
    unit = Unit({"config": {}, "seed": 0}, METHODS["stwin-svc"], None)
    assert unit.build().verbose is False
