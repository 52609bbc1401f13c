"""Training, prediction and explanation of numbers from the command line."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

import twinwl as tw
from tests.cli.molecules import NUMBERS, SMILES, run, trained, write_csv, write_numbers
from twinwl.files.model_files import load, save

pytest.importorskip("rdkit", reason="needs RDKit")
pytest.importorskip("torch", reason="needs torch")

KINDS = {"stwin": "STwinRegressor", "stwin-svc": "STwinSVR", "ntwin": "NTwinRegressor"}


@pytest.fixture(scope="module", params=KINDS)
def any_model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return KINDS[request.param], trained(folder, "--method", request.param, write=write_numbers)


@pytest.fixture(scope="module")
def svr(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svr"), "--method", "stwin-svc", write=write_numbers)


@pytest.fixture(scope="module")
def svc(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svc"), "--method", "stwin-svc")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_the_regressor_of_each_method_is_trained_and_predicts_numbers(any_model, tmp_path):
    kind, path = any_model
    model, graphs = load(path), tw.GraphBatch.from_smiles(SMILES)
    assert type(model).__name__ == kind
    expected = getattr(tw, kind)(random_state=0, **({} if kind == "STwinSVR" else {"verbose": False}))
    np.testing.assert_array_equal(model.predict(graphs), expected.fit(graphs, NUMBERS).predict(graphs))
    result = run("predict", path, write_numbers(tmp_path / "m.csv"), "--target", "size")
    assert result.exit_code == 0, result.output
    found = rows(result.stdout)
    assert list(found[0]) == ["index", "smiles", "size", "prediction", "unseen", "error"]
    assert [float(row["prediction"]) for row in found] == model.predict(graphs).tolist()
    assert re.search(r"RMSE [\d.]+, MAE [\d.]+, R² -?[\d.]+, Spearman -?[\d.]+ \(36 targets\)", result.stderr)


def test_the_task_is_said_with_its_reason_and_the_error_beside_that_of_the_mean(tmp_path):
    data, model = write_numbers(tmp_path / "m.csv"), tmp_path / "m.twinwl"
    result = run("train", data, "-o", model, "--method", "stwin-svc")
    assert result.exit_code == 0, result.output
    summary, task, _, figures, _ = result.stdout.splitlines()
    n_values = len(set(NUMBERS))
    assert task == (
        f"Task: regression: the target 'size' has {n_values} different values, not all of them whole numbers"
    )
    assert summary.endswith(f"; size: from 1.5 to {max(NUMBERS):g}, mean {np.mean(NUMBERS):.4g}")
    assert re.search(r"RMSE [\d.]+, MAE [\d.]+, R² -?[\d.]+, Spearman -?[\d.]+; ", figures)
    baseline = f"always predicting the mean of the training targets ({np.mean(NUMBERS):.4g}) has RMSE "
    assert f"{baseline}{np.std(NUMBERS):.3f}, in " in figures


def test_a_networks_baseline_is_the_mean_of_what_it_learnt_from(tmp_path):
    data, model = write_numbers(tmp_path / "m.csv"), tmp_path / "m.twinwl"
    result = run("train", data, "-o", model, "--method", "stwin")
    graphs, y = tw.GraphBatch.from_smiles(SMILES), np.array(NUMBERS)
    held = tw.STwinRegressor(verbose=False).fit(graphs, y).held_out_
    mean = np.delete(y, held).mean()
    assert f"({mean:.4g}) has RMSE {np.sqrt(np.mean((y[held] - mean) ** 2)):.3f}, in " in result.stdout


def test_the_task_can_be_asked_for(tmp_path):
    data, model = write_csv(tmp_path / "m.csv"), tmp_path / "m.twinwl"
    result = run("train", data, "-o", model, "--method", "stwin-svc", "--task", "regression")
    assert "\nTask: regression: as asked for\n" in result.stdout
    assert type(load(model)).__name__ == "STwinSVR"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "classification"], "the target 'size' holds 1.5, a measurement, not a class"),
        (["--scoring", "roc-auc"], "--scoring: roc-auc is for classification, and this is regression"),
        (["--scoring", "spearman"], "stwin-svc cannot choose by spearman; choose from rmse, mae, r2"),
        (["--set", "class_weight=balanced"], "no parameter 'class_weight'"),
    ],
)
def test_what_numbers_cannot_serve_is_refused(tmp_path, options, message):
    data = write_numbers(tmp_path / "m.csv")
    result = run("train", data, "-o", tmp_path / "m.twinwl", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "m.twinwl").exists()


def test_names_are_no_numbers(tmp_path, svr):
    (tmp_path / "m.csv").write_text("smiles,size\nCCO,large\nCC,small\n")
    result = run("train", tmp_path / "m.csv", "-o", tmp_path / "m.twinwl", "--task", "regression")
    assert result.exit_code == 2
    assert "the target 'size' holds 'large', which is not a number" in result.stderr
    result = run("predict", svr, tmp_path / "m.csv", "--target", "size")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "target 'size' of row 0 is 'large', which is not a number" in result.stderr


@pytest.mark.parametrize("option", [["--proba"], ["--threshold", "0.5"]])
def test_numbers_have_no_probabilities(svr, option):
    result = run("predict", svr, "smiles:CCO", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{option[0]} needs a classifier, but this model predicts numbers; leave it out" in result.stderr


def test_rows_without_graph_or_target_are_kept(svr, tmp_path):
    data = write_numbers(tmp_path / "m.csv", ["C1CC,3", "CCC,"])
    result = run("predict", svr, data, "--target", "size")
    found = rows(result.stdout)
    assert found[-2]["prediction"] == ""
    assert "C1CC" in found[-2]["error"]
    assert float(found[-1]["prediction"]) > 0
    assert "(36 targets)" in result.stderr


def test_targets_that_are_all_missing(svr, tmp_path):
    (tmp_path / "m.csv").write_text("smiles,size\nCCO,\nCC,\n")
    result = run("predict", svr, tmp_path / "m.csv", "--target", "size")
    assert result.exit_code == 0, result.output
    assert "RMSE unknown (0 of 0)" in result.stderr


def test_a_range_around_each_number(any_model, tmp_path):
    _, path = any_model
    result = run(
        "predict", path, write_numbers(tmp_path / "m.csv"), "--target", "size", "--confidence", "0.75"
    )
    assert result.exit_code == 0, result.output
    found = np.array([[float(row["low"]), float(row["high"])] for row in rows(result.stdout)])
    expected = load(path).predict_interval(tw.GraphBatch.from_smiles(SMILES), 0.75)
    np.testing.assert_array_equal(found, expected)
    inside = int(((expected[:, 0] <= NUMBERS) & (expected[:, 1] >= NUMBERS)).sum())
    assert f"interval contains the true number: {100 * inside / 36:.1f} % ({inside} of 36)" in result.stderr


def test_the_classes_that_cannot_be_ruled_out(svc, tmp_path):
    data = write_csv(tmp_path / "m.csv")
    for confidence in (0.3, 0.99):
        result = run("predict", svc, data, "--target", "alcohol", "--confidence", confidence)
        assert result.exit_code == 0, result.output
        sets = load(svc).predict_set(tw.GraphBatch.from_smiles(SMILES), confidence)
        expected = ["|".join(name for name, is_in in zip("01", row, strict=True) if is_in) for row in sets]
        assert [row["set"] for row in rows(result.stdout)] == expected
        right = sum(row["alcohol"] in row["set"].split("|") for row in rows(result.stdout))
        assert f"set contains the true class: {100 * right / 36:.1f} % ({right} of 36)" in result.stderr
    assert set(expected) == {"0|1"}  # 18 graphs of a class can rule out nothing at 0.99


def test_a_confidence_that_the_held_out_graphs_cannot_give(svr):
    result = run("predict", svr, "smiles:CCO", "--confidence", "0.99")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "got 0.99, but the model held out 36 graphs, which are enough for 0.973 at most" in result.stderr
    assert run("predict", svr, "smiles:CCO", "--confidence", "0.97").exit_code == 0


@pytest.mark.parametrize("wrong", ["0", "1", "-0.5", "nan"])
def test_a_confidence_is_between_0_and_1(svr, wrong):
    result = run("predict", svr, "smiles:CCO", "--confidence", wrong)
    assert result.exit_code == 2
    assert "--confidence: got" in result.stderr


@pytest.mark.parametrize("kind", [tw.STwinClassifier, tw.STwinRegressor])
def test_a_confidence_needs_held_out_graphs(kind, tmp_path):
    model = kind(max_epochs=1, validation_fraction=None, verbose=False)
    save(model.fit(tw.GraphBatch.from_smiles(SMILES), [0, 1] * 18), tmp_path / "m.twinwl")
    result = run("predict", tmp_path / "m.twinwl", "smiles:CCO", "--confidence", "0.9")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "m.twinwl: this model kept no scores of held-out graphs; train it again" in result.stderr


def test_an_explanation_speaks_of_the_number(any_model, tmp_path):
    kind, path = any_model
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    result = run("explain", path, "smiles:CCCCO", "--html", page, "--png", picture)
    assert result.exit_code == 0, result.output
    number = load(path).predict(tw.GraphBatch.from_smiles(["CCCCO"]))[0]
    assert f"\nPredicted size: {number:.4g}\n" in result.stdout
    assert "rather than" not in result.stdout
    assert kind == "NTwinRegressor" or "for a higher size, " in result.stdout
    text = page.read_text()
    assert f"<title>Predicted size: {number:.4g} · " in text
    assert "<h1>Predicted size: " in text
    assert "Predicted class" not in text
    assert "probability" not in text
    assert picture.exists()


def test_a_file_is_explained_by_the_name_of_the_number(svr, tmp_path):
    (tmp_path / "m.csv").write_text("smiles\nCCO\nCCCO\n")
    page = tmp_path / "page.html"
    result = run("explain", svr, tmp_path / "m.csv", "--html", page)
    assert result.exit_code == 0, result.output
    assert "for a higher size" in page.read_text()


def test_a_model_remembers_what_it_predicts(svr, tmp_path):
    assert load(svr).target_ == "size"
    save(load(svr), tmp_path / "again.twinwl")
    assert (tmp_path / "again.twinwl").read_bytes() == svr.read_bytes()
    plain = tw.STwinSVR(1, 1).fit(tw.GraphBatch.from_smiles(SMILES), NUMBERS)
    save(plain, tmp_path / "plain.twinwl")
    assert not hasattr(load(tmp_path / "plain.twinwl"), "target_")
