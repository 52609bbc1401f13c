from __future__ import annotations

import re

import numpy as np
import pytest

from tests.cli.molecules import SMILES, run, trained, write_csv
from twinwl.files.model_files import load
from twinwl.graphs.batch import GraphBatch

pytest.importorskip("rdkit", reason="needs RDKit")
pytest.importorskip("torch", reason="needs torch")

PROPANOL = "smiles:CCCO"


@pytest.fixture(scope="module", params=["stwin", "stwin-svc", "ntwin"])
def model(request, tmp_path_factory):
    return trained(tmp_path_factory.mktemp("model"), "--method", request.param)


@pytest.fixture(scope="module")
def svc(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svc"), "--method", "stwin-svc", "--set", "n_iter=2")


def test_it_tells_prediction_shares_and_columns(model):
    result = run("explain", model, PROPANOL, "--top", 2)
    assert result.exit_code == 0, result.output
    found = load(model).explain(GraphBatch.from_smiles(["CCCO"]), 2)
    lines = result.stdout.splitlines()
    assert lines[0] == "smiles:CCCO  4 atoms, 3 bonds"
    wanted, other = f"alcohol = {found.prediction}", f"alcohol = {found.against}"  # the column of the table
    decision = rf"Predicted {wanted} \((over )?\d+ %\) rather than {other}"
    assert re.fullmatch(decision, lines[2])
    listed = {
        int(match[2]): float(match[1])
        for match in re.finditer(
            r"^  ([+-]\d+\.\d{3})  atom (\d) \([CO][^)]*\)$", result.stdout, re.MULTILINE
        )
    }
    np.testing.assert_allclose([listed[node] for node in range(4)], found.node_shares, atol=6e-4)
    assert len(re.findall(r"^  [+-].*  h\d", result.stdout, re.MULTILINE)) == 2


def test_the_oxygen_has_a_share_for_the_alcohol(svc):
    shares = load(svc).explain(GraphBatch.from_smiles(["CCCO"])).node_shares
    assert shares.argmax() == 3
    assert re.search(r"^  \+0\.\d{3}  atom 3 \(OH X2\)$", run("explain", svc, PROPANOL).stdout, re.MULTILINE)


def test_page_and_picture_are_written(model, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "picture.png"
    result = run("explain", model, PROPANOL, "--html", page, "--png", picture)
    assert result.exit_code == 0, result.output
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"The page is in {page}" in result.stdout
    assert f"The picture is in {picture}" in result.stdout


def test_a_row_of_a_csv_is_a_graph(svc, tmp_path):
    result = run("explain", svc, f"{write_csv(tmp_path / 'm.csv', ['C1CC,0'])}#3")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == f"{SMILES[3]}  5 atoms, 4 bonds"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{csv}", "--png", "{folder}/x.png"], "--png draws one graph"),
        (["{csv}", "--top", "0", "-o", "{folder}/x.csv"], "there is no pattern to write"),
        (["{csv}", "-o", "{folder}/x.xlsx"], "must end in .csv"),
        (["{csv}#99"], "graph 99 is out of range"),
        (["smiles:C1CC"], "not valid SMILES"),
        ([PROPANOL, "--png", "{folder}/x.txt"], "must end in .png, .svg or .pdf"),
        ([PROPANOL, "--html", "{folder}/no/x.html"], "its folder does not exist"),
    ],
)
def test_what_cannot_be_explained_is_one_line_and_exit_2(svc, tmp_path, arguments, message):
    data = write_csv(tmp_path / "m.csv")
    result = run("explain", svc, *(text.format(csv=data, folder=tmp_path) for text in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_the_nearest_training_graph_is_named_and_drawn(svc, tmp_path):
    data, page = write_csv(tmp_path / "train.csv"), tmp_path / "page.html"
    result = run("explain", svc, "smiles:CCCCN", "--train", data, "--html", page)
    assert result.exit_code == 0, result.output
    near = re.search(r"^Nearest training graph: (\w+) \(similarity (0\.\d\d)\)$", result.stdout, re.MULTILINE)
    assert near[1] in SMILES
    text = page.read_text(encoding="utf-8")
    assert f"<bdi>{near[1]}</bdi>" in text
    assert f"Its similarity is {near[2]}" in text
    same = run("explain", svc, PROPANOL, "--train", data)
    assert "Nearest training graph: CCCO (similarity 1.00)" in same.stdout


def test_a_gallery_names_the_nearest_training_graphs(svc, tmp_path):
    data, page = write_csv(tmp_path / "train.csv"), tmp_path / "page.html"
    assert run("explain", svc, data, "--train", data, "--html", page).exit_code == 0
    assert page.read_text(encoding="utf-8").count("nearest training graph: ") == len(SMILES)
