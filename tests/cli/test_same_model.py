"""The command line and Python make the same model of the same data, byte for byte."""

from __future__ import annotations

import pytest

import twinwl as tw
from tests.cli.molecules import run, write_csv, write_numbers

pytest.importorskip("rdkit", reason="needs RDKit")


@pytest.mark.parametrize(("write", "kind"), [(write_csv, tw.STwinSVC), (write_numbers, tw.STwinSVR)])
def test_train_and_the_obvious_python_write_the_same_file(tmp_path, write, kind):
    file, here, there = write(tmp_path / "m.csv"), tmp_path / "here.twinwl", tmp_path / "there.twinwl"
    assert run("train", file, "-o", there).exit_code == 0
    data = tw.load_dataset(file)
    model = kind().fit(data.graphs, data.y)
    tw.save(model, here, target=data.target)
    assert here.read_bytes() == there.read_bytes()


def test_evaluate_defaults_to_the_method_of_train(tmp_path):
    data = tw.load_dataset(write_csv(tmp_path / "m.csv"))
    assert tw.evaluate(data, n_folds=2).method == tw.evaluate(dataset=data, n_folds=2).method == "stwin-svc"
    found = run("evaluate", tmp_path / "m.csv", "--folds", 2)
    assert "stwin-svc on m" in found.stdout


def test_every_way_to_read_molecules_for_models_gives_the_same_labels(tmp_path):
    file, smiles = tmp_path / "m.smi", ["CC(=O)[O-]", "c1ccccc1O"]
    file.write_text("\n".join(smiles))
    expected = tw.from_smiles(smiles).labels_of_nodes()
    assert tw.load_dataset(file).graphs.labels_of_nodes() == expected
    assert tw.SmilesToGraphs().fit_transform(smiles).labels_of_nodes() == expected


def test_identity_of_molecules_read_for_models_is_warned_about():
    graphs = tw.from_smiles(["CCO", "OCC"])
    for ask in (tw.deduplicate, tw.graph_hashes, lambda both: tw.compare(both[0], both[1])):
        with pytest.warns(tw.TwinWLWarning, match="atoms='ecfp', which is for models"):
            ask(graphs)
