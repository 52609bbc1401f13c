from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from tests.cli.molecules import CLASSES, SMILES, run, trained, write_csv
from twinwl.files.model_files import load, save
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC
from twinwl.models.vectorizer import STwinVectorizer

pytest.importorskip("rdkit", reason="needs RDKit")
pytest.importorskip("torch", reason="needs torch")


@pytest.fixture(scope="module", params=["stwin", "stwin-svc", "ntwin"])
def model(request, tmp_path_factory):
    return trained(tmp_path_factory.mktemp("model"), "--method", request.param)


@pytest.fixture(scope="module")
def svc(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svc"), "--method", "stwin-svc")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_the_models(model, tmp_path):
    data = write_csv(tmp_path / "m.csv")
    result = run("predict", model, data, "--proba", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    found = rows((tmp_path / "out.csv").read_text())
    graphs, classifier = GraphBatch.from_smiles(SMILES), load(model)
    assert list(found[0]) == ["index", "smiles", "alcohol", "prediction", "p_0", "p_1", "unseen", "error"]
    assert [row["smiles"] for row in found] == SMILES
    assert [int(row["index"]) for row in found] == list(range(len(SMILES)))
    assert [int(row["prediction"]) for row in found] == classifier.predict(graphs).tolist()
    shares = np.array([[float(row["p_0"]), float(row["p_1"])] for row in found])
    np.testing.assert_allclose(shares, classifier.predict_proba(graphs), rtol=1e-5)
    assert result.stdout == ""
    assert f"{len(SMILES)} predictions in" in result.stderr
    assert "unseen: " in result.stderr


def test_decisions_are_made_once(model, monkeypatch):
    kind = type(load(model))
    decide, calls = kind._decisions, []

    def counted(self, graphs):
        calls.append(len(graphs))
        return decide(self, graphs)

    monkeypatch.setattr(kind, "_decisions", counted)
    assert run("predict", model, "smiles:CCCO", "--proba").exit_code == 0
    assert calls == [1]


def test_the_table_goes_to_the_screen_and_the_rest_to_stderr(svc):
    result = run("predict", svc, "smiles:CCCO")
    assert result.stdout == "index,name,prediction,unseen,error\n0,smiles:CCCO,1,0.0,\n"
    assert result.stderr == "unseen: 0.0 % of the node colours occur in no training graph\n"


def test_known_classes_give_an_accuracy(svc, tmp_path):
    result = run("predict", svc, write_csv(tmp_path / "m.csv"), "--target", "alcohol")
    found = rows(result.stdout)
    assert [int(row["alcohol"]) for row in found] == CLASSES
    right = sum(row["prediction"] == row["alcohol"] for row in found)
    assert f"accuracy {100 * right / len(found):.1f} % ({right} of {len(found)})" in result.stderr
    assert "majority class 50.0 %, ROC-AUC " in result.stderr


def test_targets_of_one_class_leave_figures_undefined(svc, tmp_path):
    (tmp_path / "m.csv").write_text("smiles,alcohol\nCCO,1\nCCCO,1\n")
    result = run("predict", svc, tmp_path / "m.csv", "--target", "alcohol")
    assert result.exit_code == 0, result.output
    assert "majority class 100.0 %, ROC-AUC undefined, PR-AUC (1) undefined" in result.stderr


def test_targets_that_the_model_never_saw_are_mistakes(svc, tmp_path):
    (tmp_path / "m.csv").write_text("smiles,alcohol\nCCO,yes\nCCCO,1\nCCC,no\n")
    result = run("predict", svc, tmp_path / "m.csv", "--target", "alcohol")
    assert result.exit_code == 0, result.output
    assert "accuracy 33.3 % (1 of 3), majority class 33.3 %" in result.stderr


def test_every_row_and_every_column_is_kept(svc, tmp_path):
    table = "id,smiles,prediction\na,CCO,old\nb,C1CC,old\nc,CCC,\nshort\nd,,old\n"
    (tmp_path / "new.csv").write_text(table)
    result = run("predict", svc, tmp_path / "new.csv")
    found = rows(result.stdout)
    assert list(found[0])[:5] == ["index", "id", "smiles", "prediction", "twinwl_prediction"]
    assert [row["id"] for row in found] == ["a", "b", "c", "", "d"]
    assert [row["prediction"] for row in found] == ["old", "old", "", "", "old"]
    assert [bool(row["twinwl_prediction"]) for row in found] == [True, False, True, False, False]
    assert [bool(row["unseen"]) for row in found] == [True, False, True, False, False]
    reasons = [row["error"] for row in found]
    assert "C1CC" in reasons[1]
    assert "got 1 cell, expected 3" in reasons[3]
    assert reasons[4] == "its cell of 'smiles' is empty"
    assert reasons[0] == reasons[2] == ""
    assert "left out 3 of 5 rows (3 cannot be read); the first is line 3" in result.stderr


def test_a_row_without_its_target_is_predicted(svc, tmp_path):
    (tmp_path / "new.csv").write_text("smiles,alcohol\nCCO,1\nCCC,\nCCCO,0\n")
    result = run("predict", svc, tmp_path / "new.csv", "--target", "alcohol")
    assert [row["prediction"] for row in rows(result.stdout)] == ["1", "0", "1"]
    assert "accuracy 50.0 % (1 of 2)" in result.stderr


def test_a_threshold_moves_the_line_between_two_classes(svc, tmp_path):
    data = write_csv(tmp_path / "m.csv")
    found = [rows(run("predict", svc, data, "--proba", "--threshold", p).stdout) for p in (0, 0.3, 1)]
    assert {row["prediction"] for row in found[0]} == {"1"}
    assert all((row["prediction"] == "1") == (float(row["p_1"]) >= 0.3) for row in found[1])
    assert {row["prediction"] for row in found[2]} == {"0"}
    for wrong in ("1.5", "-0.1", "nan"):
        result = run("predict", svc, data, "--threshold", wrong)
        assert result.exit_code == 2
        assert "--threshold" in result.stderr


def write_assay(path):
    rows = [f"{smiles},{'in' * (1 - kind)}active" for smiles, kind in zip(SMILES, CLASSES, strict=True)]
    path.write_text("\n".join(["smiles,alcohol", *rows, ""]))
    return path


def test_a_threshold_is_about_the_obvious_positive_class(tmp_path):
    model = trained(tmp_path, "--method", "stwin-svc", write=write_assay)
    result = run("predict", model, tmp_path / "molecules.csv", "--target", "alcohol", "--threshold", 1)
    assert {row["prediction"] for row in rows(result.stdout)} == {"inactive"}
    assert "threshold: 'active' is predicted where its probability is 1 or more" in result.stderr
    assert "PR-AUC (active)" in result.stderr


def test_the_positive_class_of_training_is_kept_in_the_file(tmp_path):
    model = trained(tmp_path, "--method", "stwin-svc", "--positive", "inactive", write=write_assay)
    result = run("predict", model, tmp_path / "molecules.csv", "--threshold", 1)
    assert "threshold: 'inactive'" in result.stderr
    result = run("predict", model, tmp_path / "molecules.csv", "--threshold", 1, "--positive", "active")
    assert "threshold: 'active'" in result.stderr


def test_training_names_the_positive_class(tmp_path):
    data = write_assay(tmp_path / "m.csv")
    result = run("train", data, "-o", tmp_path / "m.twinwl", "--method", "stwin-svc")
    assert "PR-AUC (active)" in result.stdout


def test_a_threshold_needs_two_classes(tmp_path):
    data = tmp_path / "three.csv"
    data.write_text("smiles,kind\n" + "".join(f"{text},{place % 3}\n" for place, text in enumerate(SMILES)))
    model = tmp_path / "three.twinwl"
    assert run("train", data, "-o", model, "--method", "stwin-svc").exit_code == 0
    result = run("predict", model, data, "--threshold", "0.5")
    assert result.exit_code == 2
    assert "--threshold needs a model with two classes; this one has 0, 1, 2" in result.stderr


def test_the_nearest_training_graph(svc, tmp_path):
    train = write_csv(tmp_path / "train.csv", header="smiles,alcohol")
    (tmp_path / "new.csv").write_text("smiles\nOCCC\n[Fe]\n")
    found = rows(run("predict", svc, tmp_path / "new.csv", "--train", train).stdout)
    assert (found[0]["nearest"], found[0]["nearest_row"], found[0]["similarity"]) == ("CCCO", "2", "1.0")
    assert (found[1]["nearest"], found[1]["similarity"]) == ("", "0.0")


def test_unseen_shares_by_round(svc):
    found = rows(run("predict", svc, "smiles:CCCCN", "--by-round").stdout)[0]
    by_round = [float(found[name]) for name in found if name.startswith("unseen_")]
    assert by_round[0] == 0.2
    assert by_round == sorted(by_round)  # what is unseen stays unseen
    assert float(found["unseen"]) == pytest.approx(np.mean(by_round), abs=1e-4)


def test_a_bad_smiles_stops_with_its_line_and_writes_nothing(svc, tmp_path):
    (tmp_path / "new.csv").write_text("id,smiles\na,CCO\nb,C1CC\n")
    result = run("predict", svc, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--on-error", "fail")
    assert result.exit_code == 2
    assert "line 3" in result.stderr
    assert not (tmp_path / "out.csv").exists()


def test_what_was_never_seen_is_told(svc):
    result = run("predict", svc, "smiles:[Fe][Fe]")
    assert result.exit_code == 0
    assert "unseen: 100.0 %" in result.stderr
    assert "check that the labels mean the same in both" in result.stderr


def test_what_is_no_classifier_is_refused(tmp_path):
    save(STwinVectorizer().fit(GraphBatch.from_smiles(SMILES)), tmp_path / "x.twinwl")
    result = run("predict", tmp_path / "x.twinwl", "smiles:CC")
    assert result.exit_code == 2
    assert "contains a STwinVectorizer, expected a classifier" in result.stderr


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 rubbish"])
def test_what_is_no_model_is_one_line_and_exit_2(tmp_path, content):
    path = tmp_path / "model.twinwl"
    if content is not None:
        path.write_bytes(content)
    result = run("predict", path, "smiles:CC")
    assert result.exit_code == 2
    assert result.stderr.startswith("twinwl: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
def test_the_ending_of_the_output_is_its_format(ending, svc, tmp_path):
    pandas = pytest.importorskip("pandas", reason="reads all of them")
    path = tmp_path / f"out{ending}"
    assert run("predict", svc, write_csv(tmp_path / "m.csv"), "--proba", "-o", path).exit_code == 0
    read = {
        ".csv": pandas.read_csv,
        ".tsv": lambda file: pandas.read_csv(file, sep="\t"),
        ".json": pandas.read_json,
        ".jsonl": lambda file: pandas.read_json(file, lines=True),
        ".parquet": pandas.read_parquet,
    }[ending]
    found = read(path)
    assert list(found) == ["index", "smiles", "alcohol", "prediction", "p_0", "p_1", "unseen", "error"]
    assert found["smiles"].tolist() == SMILES
    assert found["prediction"].tolist() == load(svc).predict(GraphBatch.from_smiles(SMILES)).tolist()
    assert found["p_0"].dtype == float


def test_other_endings_are_refused_before_any_work(tmp_path):
    result = run("predict", tmp_path / "no-such-model", "no-such-data.csv", "-o", tmp_path / "out.xlsx")
    assert result.exit_code == 2
    assert "its name must end in .csv, .tsv, .json, .jsonl or .parquet" in result.stderr


def test_formulas_in_a_table_are_text_and_read_back(tmp_path):
    classes = ["-low", "=1+1"] * (len(SMILES) // 2)
    data = tmp_path / "m.csv"
    data.write_text("smiles,class\n" + "".join(f"{s},{c}\n" for s, c in zip(SMILES, classes, strict=True)))
    model = tmp_path / "model.twinwl"
    assert run("train", data, "-o", model, "--method", "stwin-svc").exit_code == 0
    assert load(model).classes_.tolist() == ["-low", "=1+1"]
    out = tmp_path / "out.csv"
    assert run("predict", model, data, "--target", "class", "-o", out).exit_code == 0
    assert {row["prediction"] for row in rows(out.read_text())} <= {"'-low", "'=1+1"}
    again = tmp_path / "again.twinwl"
    options = ("--method", "stwin-svc", "--target", "class")
    result = run("train", out, "-o", again, *options)
    assert result.exit_code == 0, result.stderr
    assert load(again).classes_.tolist() == ["-low", "=1+1"]


def test_molecules_are_read_as_those_of_training_were(tmp_path):
    """Acids and their salts differ in charges only, which atoms="skeleton" does not read."""
    smiles = [f"{'C' * n}C(=O){end}" for n in range(1, 9) for end in ("O", "[O-]")]
    graphs = GraphBatch.from_smiles(smiles, atoms="constitution")
    save(STwinSVC(n_iter=1, C=10.0).fit(graphs, ["acid", "salt"] * 8), tmp_path / "m.twinwl")
    found = run("predict", tmp_path / "m.twinwl", "smiles:CCCCC(=O)[O-]")
    assert [row["prediction"] for row in rows(found.stdout)] == ["salt"]
    assert "unseen: 0.0 %" in found.stderr


def test_rows_with_many_unseen_colours_are_counted_with_their_sets(svc):
    known, strange = (
        run("predict", svc, f"smiles:{text}", "--confidence", "0.8") for text in ("CCO", "[Xe]")
    )
    message = "1 of 1 rows have more than 5% unseen: their sets or ranges may contain the truth less often"
    assert message in strange.stderr
    assert "rows have more than" not in known.stderr
