"""Several targets with empty cells from the command line: train, predict, explain, evaluate, audit."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import twinwl as tw
from tests.cli.molecules import CLASSES, NUMBERS, SMILES, run
from twinwl.files.model_files import load

pytest.importorskip("rdkit", reason="needs RDKit")


def write_tasks(path, columns=None, header=None):
    """Write molecules with two classes to predict, of which every fifth cell is empty, and a name."""
    columns = columns or [CLASSES, [int(number > 6) for number in NUMBERS]]
    lines = [",".join(["smiles", "name", *(header or ["alcohol", "large"])])]
    for row, smiles in enumerate(SMILES):
        cells = ["" if (row + 2 * task) % 5 == 0 else column[row] for task, column in enumerate(columns)]
        lines.append(",".join(map(str, [smiles, f"m{row}", *cells])))
    path.write_text("\n".join(lines) + "\n")
    return path


def train(folder, *options):
    data, model = write_tasks(folder / "m.csv"), folder / "m.twinwl"
    return data, model, run("train", data, "-o", model, *options)


@pytest.fixture(scope="module")
def svc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("svc")
    data, model, result = train(folder, "--target", "all", "--method", "stwin-svc", "--set", "n_iter=1")
    assert result.exit_code == 0, result.output
    assert "target: all leaves out 'name' (ids)" in result.output
    return data, model, result.stdout


def test_train_reports_each_target_and_their_mean(svc):
    data, path, text = svc
    assert "2 targets:\n  alcohol: 0 (14), 1 (14); 8 missing\n  large: 0 (" in text
    assert "Task: classification: 2 tasks, 79 % of their targets known" in text
    found = {
        name: float(figure)
        for name, figure in re.findall(r"(alcohol|large|mean of 2 targets)[^:\n]*: accuracy ([\d.]+) %", text)
    }
    assert found["mean of 2 targets"] == pytest.approx((found["alcohol"] + found["large"]) / 2, abs=0.06)
    model = load(path)
    assert model.tasks_ == ("alcohol", "large")
    dataset = tw.load_dataset(data, target=["alcohol", "large"], atoms=getattr(model, "atoms_", None))
    alone = tw.STwinSVC(n_iter=1).fit(dataset.graphs, dataset.y)
    np.testing.assert_array_equal(
        model.decision_function(dataset.graphs), alone.decision_function(dataset.graphs)
    )


def test_predict_writes_columns_for_each_target(svc):
    data, path, _ = svc
    result = run("predict", path, data, "--proba", "--confidence", 0.8, "--target", "all")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    wanted = [
        f"{name}_{task}" for task in ("alcohol", "large") for name in ("prediction", "p_0", "p_1", "set")
    ]
    assert list(rows[0]) == ["index", "smiles", "name", "alcohol", "large", *wanted, "unseen", "error"]
    model = load(path)
    graphs = tw.GraphBatch.from_smiles(SMILES, atoms=getattr(model, "atoms_", "skeleton"))
    assert [[int(row["prediction_alcohol"]), int(row["prediction_large"])] for row in rows] == model.predict(
        graphs
    ).tolist()
    lines = result.stderr.splitlines()
    assert (
        sum(
            line.startswith(("alcohol: accuracy", "large: accuracy", "mean of 2 targets: ")) for line in lines
        )
        == 3
    )
    one = run("predict", path, data, "--target", "large")
    assert "alcohol: accuracy" not in one.stderr
    assert "mean of 1 targets" in one.stderr


def test_numbers_of_the_table_are_numbers_where_the_format_has_them(svc, tmp_path):
    data, path, _ = svc
    out = tmp_path / "p.jsonl"
    assert run("predict", path, data, "-o", out).exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["alcohol"] for row in rows[:3]] == [None, *map(int, CLASSES[1:3])]  # the first cell is empty
    assert rows[0]["name"] == "m0"


def test_explain_is_about_one_target(svc):
    _, path, _ = svc
    assert "name one with --for-task: alcohol, large" in run("explain", path, "smiles:CCO").output
    assert "--for-task: got 'toxic', but" in run("explain", path, "smiles:CCO", "--for-task", "toxic").output
    result = run("explain", path, "smiles:CCO", "--for-task", "alcohol")
    assert "Predicted alcohol = 1" in result.output


def test_a_model_of_one_target_has_no_other(tmp_path):
    data, model = write_tasks(tmp_path / "m.csv"), tmp_path / "m.twinwl"
    assert run("train", data, "-o", model, "--target", "alcohol", "--method", "stwin-svc").exit_code == 0
    assert run("explain", model, "smiles:CCO", "--for-task", "alcohol").exit_code == 0
    wrong = run("explain", model, "smiles:CCO", "--for-task", "large")
    assert "--for-task: got 'large', but" in wrong.output
    assert "trained on one target, 'alcohol'; leave it out" in wrong.output


@pytest.mark.parametrize("method", ["stwin", "ntwin"])
def test_networks_learn_several_targets(method, tmp_path):
    pytest.importorskip("torch", reason="needs torch")
    _, model, result = train(tmp_path, "--target", "alcohol,large", "--method", method)
    assert result.exit_code == 0, result.output
    assert "mean of 2 targets: accuracy" in result.stdout
    assert load(model).module_.second.out_features == 2


def test_evaluate_gives_each_target_and_the_mean(tmp_path):
    data = write_tasks(tmp_path / "m.csv")
    options = (
        "--target",
        "alcohol,large",
        "--method",
        "stwin-svc",
        "--folds",
        3,
        "--store",
        tmp_path / "r.jsonl",
    )
    result = run("evaluate", data, *options, "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    assert set(found["tasks"]) == {"alcohol", "large"}
    of_tasks = [found["tasks"][task]["roc-auc"]["folds"] for task in found["tasks"]]
    np.testing.assert_allclose(found["metrics"]["roc-auc"]["folds"], np.mean(of_tasks, axis=0))
    again = run("evaluate", data, *options)  # from the store
    assert "means over 2 tasks, each on the graphs whose target is known" in again.stdout
    assert "by each graph's rarest class" in again.stdout
    assert re.search(r"    large: accuracy [\d.]+ ± [\d.]+, ROC-AUC [\d.]+ ± ", again.stdout)
    table = tmp_path / "figures.csv"
    assert run("evaluate", data, *options, "-o", table).exit_code == 0
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert {row["task"] for row in rows} == {"", "alcohol", "large"}


@pytest.mark.parametrize(
    "used", [["--split", "year"], ["--groups", "year", "--folds", 2]], ids=["split", "groups"]
)
def test_a_column_that_says_how_to_split_is_no_target(used, tmp_path):
    years = [2000 + row // 2 for row in range(len(SMILES))]
    data = write_tasks(tmp_path / "m.csv", [CLASSES, NUMBERS], ["alcohol", "year"])
    lines = data.read_text().splitlines()
    whole = [f"{line.rpartition(',')[0]},{year}" for line, year in zip(lines[1:], years, strict=True)]
    data.write_text("\n".join([lines[0], *whole]) + "\n")
    result = run("evaluate", data, "--target", "all", "--method", "stwin-svc", *used)
    assert result.exit_code == 0, result.output
    assert "target: all leaves out 'name' (ids), 'year' (split or groups)" in result.output
    assert "the target 'alcohol' has 2 values" in result.stdout


def test_audit_compares_every_target(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("smiles,a,b\nCCO,1,0\nOCC,1,1\nCC,0,\nCC,0,1\n")
    result = run("audit", path, "--target", "a,b", "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["contradictions"]
    assert [member["target"] for member in found["members"]] == ["b = 0", "b = 1"]


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("alcohol,lage", "target: got 'lage'; did you mean 'large'"),
        ("alcohol,alcohol", "'alcohol' is named 2 times"),
        ("alcohol,name", r"line 2: target 'name': got 'm0', expected numbers"),
    ],
)
def test_wrong_targets_are_named(target, named, tmp_path):
    _, _, result = train(tmp_path, "--target", target, "--method", "stwin-svc")
    assert result.exit_code != 0
    assert re.search(named, result.output.replace("\n", " "))


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ([CLASSES, [1] * 36], "the target 'large' is 1 for all"),
        ([CLASSES, [""] * 36], "target 'large' is missing in all rows"),
        ([CLASSES, ["inf"] * 36], "target 'large': got 'inf', expected finite numbers"),
        ([CLASSES, NUMBERS], "the targets are of two kinds, classification .* and regression"),
    ],
)
def test_wrong_columns_are_named(columns, named, tmp_path):
    data = write_tasks(tmp_path / "m.csv", columns)
    result = run(
        "train", data, "-o", tmp_path / "m.twinwl", "--target", "alcohol,large", "--method", "stwin-svc"
    )
    assert result.exit_code != 0
    assert re.search(named, result.output.replace("\n", " "))


def test_all_needs_a_column_that_can_be_a_target(tmp_path):
    data = write_tasks(tmp_path / "m.csv", [["x"] * 36, [""] * 36])
    result = run("train", data, "-o", tmp_path / "m.twinwl", "--target", "all")
    assert "no column can be a target: 'name' (ids), 'alcohol' (text), 'large' (empty)" in result.output


def test_a_column_may_be_called_all_or_contain_a_comma(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text('smiles,all,"a,b"\nCCO,1,0\nCC,0,1\n')
    assert tw.load_dataset(path, target="all").y.tolist() == [1, 0]
    assert tw.load_dataset(path, target="a,b").y.tolist() == [0, 1]
    both = tw.load_dataset(path, target=["all", "a,b"])
    assert both.tasks == ("all", "a,b")
    assert tw.load_dataset(path, target=["all", "a,b"]).digest == both.digest  # from the cache
    assert repr(both) == "Dataset('m', 2 graphs, 2 tasks)"


def test_rows_without_any_target_are_left_out(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("smiles,a,b\nCCO,1,\nCC,,\nC,0,1\n")
    with pytest.warns(tw.TwinWLWarning, match="1 without a target"):
        found = tw.load_dataset(path, target=["a", "b"])
    assert found.rows.tolist() == [0, 2]
    assert found.errors[0].reason.startswith("its target ")
    np.testing.assert_array_equal(found.y, [[1, np.nan], [0, 1]])
