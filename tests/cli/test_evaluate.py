import json
import zipfile

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app
from twinwl.evaluation.result import ResultStore

runner = CliRunner()
TREE = "sklearn.dummy:DummyClassifier"


def run(*arguments):
    return runner.invoke(app, ["evaluate", *arguments])


def test_two_methods_are_compared_over_the_same_folds(tmp_path):
    store = tmp_path / "results.jsonl"
    done = run(
        "TWINS:n_pairs=20",
        "--method",
        "stwin-svc",
        "--method",
        "wl-svc",
        "--folds",
        "3",
        "--store",
        str(store),
    )
    assert done.exit_code == 0, done.output
    assert "fair protocol " in done.output
    assert done.output.count("corrected t-test") == 1
    assert "optimistic" not in done.output
    assert len(ResultStore(store).rows()) == 6


def test_json_holds_every_reading():
    done = run("TWINS:n_pairs=20", "--method", TREE, "--folds", "4", "--json")
    assert done.exit_code == 0, done.output
    (result,) = json.loads(done.stdout)
    assert result["protocols"]["fair"]["mean"] == 0.5
    assert len(result["protocols"]["fair"]["folds"]) == 4
    assert result["protocols"]["best-epoch"] is None


def molecules(tmp_path, n_rows=40):
    rings = [f"C1{'C' * (2 + row % 20)}1{'O' * (row % 2)}" for row in range(n_rows)]
    rows = [f"{ring},{row % 2},{1980 + row},lab{row // 4}" for row, ring in enumerate(rings)]
    path = tmp_path / "m.csv"
    path.write_text("smiles,y,year,lab\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--split", "scaffold"], "scaffold: 20 scaffolds, the most common ones to learn from; train 32"),
        (
            ["--split", "scaffold-shuffled", "--repeats", "2"],
            "scaffold-shuffled: 20 scaffolds, in random order",
        ),
        (["--split", "year"], "column 'year' of m, by time: tested on 2016 and later"),
        (["--groups", "lab", "--folds", "2"], "2 stratified folds, groups kept together"),
        (["--split", "parts.csv"], "parts.csv; train "),
    ],
)
def test_splits_of_a_table(tmp_path, monkeypatch, options, said):
    pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.csv").write_text("split\n" + "train\n" * 30 + "test\n" * 10)
    methods = ["--method", TREE, "--method", "wl-svc"]
    done = run(str(molecules(tmp_path)), "--target", "y", *methods, *options, "--json")
    assert done.exit_code == 0, done.output
    first, second = json.loads(done.stdout)
    assert said in first["split"]
    assert first["split"] == second["split"]
    if len(first["protocols"]["fair"]["folds"]) == 1:
        assert (
            run(
                str(molecules(tmp_path)), "--method", TREE, "--target", "y", *options, "-o", "f.tex"
            ).exit_code
            == 0
        )
        assert "pm" not in (tmp_path / "f.tex").read_text()  # one fold has no deviation
    shown = run(str(molecules(tmp_path)), "--target", "y", "--method", TREE, *options)
    assert f"  {first['split']}\n" in shown.output


def test_published_splits_are_looked_for_in_the_folder_of_data(tmp_path, monkeypatch):
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    (tmp_path / "other").mkdir()
    parts = [list(range(20)), list(range(20, 40))]
    folds = [
        {"test": test, "model_selection": [{"train": rest[2:], "validation": rest[:2]}]}
        for test, rest in (parts, parts[::-1])
    ]
    with zipfile.ZipFile(tmp_path / "gnn_comparison_splits.zip", "w") as archive:
        archive.writestr("splits/TWINS_splits.json", json.dumps(folds))
    options = ("TWINS:n_pairs=20", "--method", TREE, "--split", "gnn-comparison", "--data-dir")
    done = run(*options, str(tmp_path), "--json")
    assert done.exit_code == 0, done.output
    (result,) = json.loads(done.stdout)
    assert result["split"] == "published in gnn_comparison_splits.zip"
    assert len(result["protocols"]["fair"]["folds"]) == 2
    refused = run(*options, str(tmp_path / "other"))
    assert refused.exit_code == 2
    assert "gnn_comparison_splits.zip was not found" in refused.stderr


def test_json_has_null_where_a_metric_is_undefined(monkeypatch):
    monkeypatch.setattr("twinwl.models.metrics.TaskAnswers.measure", lambda _answers, names: {names[0]: 0.5})
    done = run("TWINS:n_pairs=20", "--method", TREE, "--folds", "2", "--json")
    (result,) = json.loads(done.stdout)
    assert result["task"] == "classification"
    assert result["fair"]["accuracy"] == 0.5
    assert result["fair"]["roc-auc"] is None
    assert result["metrics"]["roc-auc"]["folds"] == [None, None]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".tex"])
def test_figures_are_written_as_a_table(tmp_path, ending):
    out = tmp_path / f"figures{ending}"
    done = run("TWINS:n_pairs=20", "--method", TREE, "--folds", "2", "-o", str(out))
    assert done.exit_code == 0, done.output
    assert f"8 figures in {out}" in done.stderr
    text = out.read_text()
    if ending == ".tex":
        assert r"method & inputs & accuracy (\%) & majority class (\%) & ROC-AUC & PR-AUC" in text
        assert r"50.00 $\pm$ 0.00 & 50.00 $\pm$ 0.00 & 0.500 $\pm$ 0.000" in text
    else:
        assert text.count("\n") == 8 + (ending == ".csv")
        assert "balanced-accuracy" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("TWINS", "--method", TREE, "--task", "regression"),
            "is for classification, and this is regression",
        ),
        (("TWINS", "--method", TREE, "--scoring", "auc"), "roc-auc"),
        (("TWINS", "--method", TREE, "-o", "figures.xlsx"), "its name must end in"),
        (("TWINZ",), "TWINS"),
        (("TWINS", "--method", TREE, "--engine", "cloud"), "expected 'local' or 'ray'"),
        (("TWINS", "--method", TREE, "--address", "head:6379"), "but the engine is 'local'"),
        (("TWINS", "--method", "stwim"), "did you mean 'stwin'"),
        (("TWINS", "--method", TREE, "--method", TREE), "DummyClassifier is named twice"),
        (("TWINS", "--method", TREE, "--protocol", "fairr"), "did you mean 'fair'"),
        (("TWINS", "--method", TREE, "--metric", "auc"), "roc-auc"),
        (("TWINS", "--method", TREE, "--split", "nothing.json"), "nothing.json"),
        (("TWINS:nope=3",), "no option 'nope'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_two(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_interrupt_says_where_to_go_on(tmp_path, monkeypatch):
    def stop(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("twinwl.evaluation.evaluate.run_fold", stop)
    done = run("TWINS:n_pairs=20", "--method", TREE, "--folds", "3", "--store", str(tmp_path / "r.jsonl"))
    assert done.exit_code == 130
    assert "run the same command to continue" in done.stderr
