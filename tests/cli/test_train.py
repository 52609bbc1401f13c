from __future__ import annotations

import csv

import networkx as nx
import numpy as np
import pytest

import twinwl as tw
from tests.cli.molecules import CLASSES, SMILES, run, train, trained, write_csv
from twinwl.files.model_files import load
from twinwl.graphs.batch import GraphBatch

pytest.importorskip("rdkit", reason="needs RDKit")
pytest.importorskip("torch", reason="needs torch")


def test_it_says_what_it_learnt_from_how_well_and_where_the_model_is(tmp_path):
    data, model = write_csv(tmp_path / "m.csv"), tmp_path / "model.twinwl"
    result = run("train", data, "-o", model, "--method", "stwin", "--set", "n_iter=2", "--set", "hidden=16")
    assert result.exit_code == 0, result.output
    first, task, atoms, second, third = result.stdout.splitlines()
    assert atoms == "Atom labels: ecfp (--atoms)"
    assert task == "Task: classification: the target 'alcohol' has 2 values"
    assert first.startswith(f"m: {len(SMILES)} graphs, ")
    assert first.endswith("; alcohol: 0 (18), 1 (18)")
    assert third.startswith(f"Model written to {model} (")
    assert result.stderr == ""
    found = load(model)
    accuracy = f"{100 * found.history_.best_validation_accuracy:.1f} %"
    assert second.startswith("On held-out graphs (4 graphs; best of ")
    assert f": accuracy {accuracy}, majority class 50.0 %, ROC-AUC " in second
    assert all(name in second for name in ("PR-AUC", "balanced accuracy", "MCC", "Brier"))
    assert (found.n_iter, found.hidden, found.random_state) == (2, 16, 0)


@pytest.mark.parametrize(
    ("options", "kind", "params"),
    [
        (
            ["stwin", "--set", "features=joint", "--set", "initial=label", "--set", "class_weight=balanced"],
            "STwinClassifier",
            {"features": "joint", "initial": "label", "class_weight": "balanced"},
        ),
        (
            ["stwin-svc", "--set", "features=joint", "--set", "readout=canonical", "--set", "n_iter=1"],
            "STwinSVC",
            {"n_iter": 1, "features": "joint", "readout": "canonical"},
        ),
        (["stwin-svc", "--edge-labels"], "STwinSVC", {"n_iter": (0, 1, 2, 3, 4, 5), "edge_labels": True}),
        (
            ["stwin-svc", "--set", "kernel_approximation=nystroem"],
            "STwinSVC",
            {"kernel_approximation": "nystroem", "n_components": 1000},
        ),
        (
            ["stwin-svc", "--scoring", "mcc", "--set", "n_iter=1"],
            "STwinSVC",
            {"n_iter": 1, "scoring": "matthews_corrcoef"},
        ),
        (["stwin", "--scoring", "roc-auc"], "STwinClassifier", {"scoring": "roc_auc"}),
        (["stwin", "--set", "device=cpu"], "STwinClassifier", {"device": "cpu"}),
        (["stwin", "--set", "refit=true"], "STwinClassifier", {"refit": True}),
        (
            [
                "ntwin",
                "--set",
                "layers=2",
                "--set",
                "hops=1",
                "--set",
                "hidden=8",
                "--set",
                "root_mark=distance",
            ],
            "NTwinClassifier",
            {"layers": 2, "hops": 1, "hidden": 8, "root_mark": "distance"},
        ),
        (
            ["ntwin", "--set", "layers=1", "--set", "hops=growing"],
            "NTwinClassifier",
            {"layers": 1, "hops": "growing"},
        ),
        (
            ["ntwin", "--set", "layers=1", "--set", "readout=gcn"],
            "NTwinClassifier",
            {"layers": 1, "readout": "gcn"},
        ),
    ],
)
def test_every_method_takes_its_options_and_is_the_librarys(tmp_path, options, kind, params):
    model = load(trained(tmp_path, "--method", *options))
    assert type(model).__name__ == kind
    found = {name: value for name, value in model.get_params().items() if name in params}
    assert {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()} == params
    graphs = GraphBatch.from_smiles(SMILES)
    expected = getattr(tw, kind)(**params, random_state=0).fit(graphs, CLASSES)
    np.testing.assert_array_equal(model.decision_function(graphs), expected.decision_function(graphs))


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    once = train(tmp_path, "--seed", 3).read_bytes()
    assert train(tmp_path, "--seed", 3).read_bytes() == once
    assert train(tmp_path, "--seed", 4).read_bytes() != once


def test_a_folder_of_graphml_can_be_learnt_from(tmp_path):
    for kind, make in {"chain": nx.path_graph, "ring": nx.cycle_graph}.items():
        (tmp_path / "data" / kind).mkdir(parents=True)
        for n in range(3, 13):
            nx.write_graphml(make(n), tmp_path / "data" / kind / f"{n}.graphml")
    result = run("train", tmp_path / "data", "-o", tmp_path / "m.twinwl", "--method", "stwin-svc")
    assert result.exit_code == 0, result.output
    assert "classes: chain (10), ring (10)" in result.stdout


@pytest.mark.parametrize("method", ["stwin", "stwin-svc"])
def test_a_rare_class_shows_beside_the_accuracy(tmp_path, method):
    data = tmp_path / "m.csv"
    rare = ["1", "1"] + ["0"] * (len(SMILES) - 2)
    data.write_text("smiles,active\n" + "".join(f"{s},{c}\n" for s, c in zip(SMILES, rare, strict=True)))
    result = run("train", data, "-o", tmp_path / "m.twinwl", "--method", method)
    assert result.exit_code == 0, result.output
    majority = {"stwin": "75.0 %", "stwin-svc": "94.4 %"}[method]  # 3 of the 4 held out; 34 of all 36
    assert f"majority class {majority}, ROC-AUC " in result.stdout


@pytest.mark.parametrize("method", ["stwin-svc", "stwin"])
def test_pairs_stay_together(tmp_path, method):
    """Plain counts are the same for both of a pair, so of a held-out pair one is right and one is wrong."""
    options = ("--method", method, "--set", "features=count")
    result = run("train", "TWINS:n_pairs=40", "-o", tmp_path / "m.twinwl", *options)
    assert result.exit_code == 0, result.output
    assert "TWINS: 80 graphs" in result.stdout
    model = load(tmp_path / "m.twinwl")
    scores = model.inner_scores_.values() if method == "stwin-svc" else model.history_.validation_accuracy
    assert set(scores) == {0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "stwim"], "did you mean 'stwin'"),
        (["--method", "gin"], "gin cannot be written to a file, only evaluated; use stwin, "),
        (["--set", "layers=2"], "stwin-svc has no parameter 'layers': "),
        (
            ["--set", "features=sise"],
            "features: got 'sise', expected 'count', 'size' or 'joint'; did you mean 'size'",
        ),
        (["--set", "n_iter"], "--set: got 'n_iter', expected KEY=VALUE"),
        (["--method", "ntwin", "--set", "hops=many"], "hops: got 'many', expected "),
        (["--method", "ntwin", "--set", "root_mark=rot"], "did you mean 'root'"),
        (["--method", "ntwin", "--set", "readout=gim"], "did you mean 'gin'"),
        (["--method", "stwin", "--set", "readout=gcn"], "readout: got 'gcn'"),
        (["--set", "features=size", "--set", "readout=wl"], "stwin-svc with features='size' counts by none"),
        (["--task", "regress"], "did you mean 'regression'"),
        (["--set", "kernel_approximation=nystrom"], "nystroem"),
        (["--n-iter", "2"], "train --n-iter no longer exists; use --set n_iter=VALUE"),
        (["--balanced"], "--balanced no longer exists; use --set class_weight=balanced"),
    ],
)
def test_wrong_options_are_one_line_and_exit_2(tmp_path, options, message):
    data = write_csv(tmp_path / "m.csv")
    result = run("train", data, "-o", tmp_path / "model.twinwl", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("smiles,y\nCC,1\nCO,1\n", "nothing to learn"),
        ("smiles,a,b\nCC,1,0\n", "name the column of targets with --target; there are: 'a', 'b'"),
        ("structure,y\nCC,1\n", "--smiles-column"),
        ("smiles,y\nCC,1\nCO,0\n", "only 1 graph"),
    ],
)
def test_bad_data_is_one_line_and_leaves_no_model(tmp_path, content, message):
    (tmp_path / "m.csv").write_text(content)
    result = run("train", tmp_path / "m.csv", "-o", tmp_path / "model.twinwl")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_rows_that_cannot_be_used_are_counted_and_with_fail_stop_the_training(tmp_path):
    data = write_csv(tmp_path / "m.csv", ["C1CC,1", "CCC,nan"])
    result = run("train", data, "-o", tmp_path / "model.twinwl", "--method", "stwin-svc")
    assert result.exit_code == 0, result.output
    assert f"left out 2 of {len(SMILES) + 2} rows (1 cannot be read, 1 without a target)" in result.stderr
    result = run("train", data, "-o", tmp_path / "no.twinwl", "--on-error", "fail")
    assert result.exit_code == 2
    assert f"line {len(SMILES) + 2}: SMILES 'C1CC' cannot be read" in result.stderr
    assert "--on-error skip" in result.stderr


def test_a_folder_that_is_missing_is_said_before_training(tmp_path):
    result = run("train", "TWINS", "-o", tmp_path / "no" / "m.twinwl")
    assert result.exit_code == 2
    assert "its folder does not exist" in result.stderr
    assert result.stdout == ""


def test_a_model_remembers_what_its_atoms_were(tmp_path):
    acids, salts = "C" * 3 + "C(=O)O", "C" * 3 + "C(=O)[O-]"
    rows = [f"{'C' * n}{text},{kind}" for n in range(1, 16) for kind, text in enumerate((acids, salts))]
    path, model = tmp_path / "m.csv", tmp_path / "m.twinwl"
    path.write_text("smiles,salt\n" + "\n".join(rows) + "\n")
    result = run("train", path, "-o", model, "--method", "stwin-svc", "--atoms", "constitution")
    assert result.exit_code == 0, result.output
    assert load(model).atoms_ == "constitution"
    found = run("predict", model, "smiles:CCCC(=O)[O-]", "--proba")
    assert found.exit_code == 0, found.output
    assert "CCCC(=O)[O-],1," in found.stdout
    explained = run("explain", model, "smiles:CCCC(=O)[O-]")
    assert "O-" in explained.stdout.split()
    again = tmp_path / "again.twinwl"
    tw.save(tw.load(model), again)
    assert again.read_bytes() == model.read_bytes()
    plain = tmp_path / "plain.twinwl"
    options = ("--method", "stwin-svc", "--atoms", "skeleton")
    assert run("train", path, "-o", plain, *options).exit_code == 0
    assert load(plain).atoms_ == "skeleton"


@pytest.mark.parametrize("method", ["stwin", "stwin-svc", "ntwin"])
def test_numbers_are_learnt_said_to_be_and_predicted(tmp_path, method):
    data, model = tmp_path / "m.csv", tmp_path / "m.twinwl"
    rows = [f"{smiles},{len(smiles) + 0.5}" for smiles in SMILES]
    data.write_text("smiles,size\n" + "\n".join(rows) + "\n")
    result = run("train", data, "-o", model, "--method", method)
    assert result.exit_code == 0, result.output
    assert "Task: regression: the target 'size' has " in result.stdout
    assert "On held-out graphs (" in result.stdout
    assert "R² " in result.stdout
    predicted = run("predict", model, data, "--target", "size")
    assert predicted.exit_code == 0, predicted.output
    assert "RMSE " in predicted.stderr
    assert "Spearman " in predicted.stderr
    refused = {
        ("predict", model, data, "--proba"): "--proba needs a classifier, but this model predicts numbers",
        ("predict", model, data, "--threshold", 0.5): "--threshold needs a classifier",
        ("train", data, "-o", model, "--method", method, "--set", "class_weight=balanced"): "'class_weight'",
        ("train", data, "-o", model, "--task", "classification"): "holds 2.5, a measurement, not a class",
    }
    for arguments, message in refused.items():
        failed = run(*arguments)
        assert failed.exit_code == 2
        assert message in failed.stderr


def test_a_model_of_the_default_level_reads_new_molecules_at_that_level(tmp_path):
    data, model = write_csv(tmp_path / "m.csv"), tmp_path / "model.twinwl"
    assert run("train", data, "-o", model, "--method", "stwin-svc", "--set", "n_iter=1").exit_code == 0
    loaded = load(model)
    assert loaded.atoms_ == "ecfp"
    table = tmp_path / "predicted.csv"
    assert run("predict", model, data, "-o", table).exit_code == 0
    expected = loaded.predict(GraphBatch.from_smiles(SMILES, atoms="ecfp")).tolist()
    with table.open(encoding="utf-8", newline="") as file:
        assert [int(row["prediction"]) for row in csv.DictReader(file)] == expected


def test_scaffolds_can_be_held_out_as_a_whole(tmp_path):
    rings = ["c1ccccc1", "c1ccncc1", "C1CCCC1", "C1CCCCC1", "C1CCOC1", "c1ccsc1"]
    rows = [f"{ring}{'C' * n},{n % 2}" for ring in rings for n in range(1, 5)]
    data, model = tmp_path / "m.csv", tmp_path / "model.twinwl"
    data.write_text("\n".join(["smiles,odd", *rows]) + "\n")
    options = ("--method", "stwin-svc", "--set", "n_iter=1")
    whole = run("train", data, "-o", model, *options, "--split", "scaffold")
    assert whole.exit_code == 0, whole.output
    apart = run("train", data, "-o", model, *options)
    assert whole.stdout.splitlines()[3] != apart.stdout.splitlines()[3]
    refused = run("train", "TWINS:n_pairs=5", "-o", model, "--split", "scaffold")
    assert refused.exit_code == 2
    assert "--split scaffold is for molecules, and TWINS:n_pairs=5 holds none" in refused.stderr


def test_a_device_is_for_networks_and_has_to_be_there(tmp_path):
    data = write_csv(tmp_path / "m.csv")
    options = ("train", data, "-o", tmp_path / "m.twinwl", "--set")
    assert "stwin-svc has no parameter 'device'" in run(*options, "device=cpu").stderr
    assert "device: got 'tpu'" in run(*options, "device=tpu", "--method", "stwin").stderr
    model = tmp_path / "m.twinwl"
    assert run("train", data, "-o", model, "--method", "stwin", "--set", "hidden=4").exit_code == 0
    assert run("predict", model, data, "--device", "cpu").exit_code == 0
    svc = tmp_path / "svc.twinwl"
    assert run("train", data, "-o", svc, "--method", "stwin-svc", "--set", "n_iter=1").exit_code == 0
    assert "--device is for networks" in run("predict", svc, data, "--device", "cpu").stderr


def test_the_figures_of_a_refitted_network_are_those_before_the_refit(tmp_path):
    data = write_csv(tmp_path / "m.csv")
    lines = [
        run(
            "train",
            data,
            "-o",
            tmp_path / "model.twinwl",
            "--method",
            "stwin",
            "--set",
            "n_iter=1",
            "--set",
            "hidden=4",
            *refit,
        ).stdout.splitlines()[3]
        for refit in ((), ("--set", "refit=true"))
    ]
    plain, refitted = (line.rpartition(", in ")[0] for line in lines)
    assert refitted == plain.replace("): ", ", before the refit on all graphs): ", 1)


def test_rows_that_are_left_out_are_listed_beside_the_model(tmp_path):
    data = write_csv(tmp_path / "m.csv", ["C1CC,1", "CCC,"])
    result = run("train", data, "-o", tmp_path / "model.twinwl", "--set", "n_iter=1")
    assert result.exit_code == 0, result.output
    skipped = tmp_path / "model.skipped.csv"
    assert f"2 rows left out: see {skipped}" in result.stdout
    with skipped.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["line"], row["kind"]) for row in rows] == [
        ("36", "38", "graph"),
        ("37", "39", "target"),
    ]
    assert "C1CC" in rows[0]["reason"]


def test_the_help_of_train_fits_on_two_screens():
    lines = run("train", "--help").stdout.splitlines()
    assert len(lines) <= 64
    assert max(map(len, lines)) <= 80
    assert not any("<" in line for line in lines)
