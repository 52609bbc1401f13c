"""Commands call molecules by the ids of their table, and say which column these are from."""

from __future__ import annotations

import csv
import io

import pytest

from tests.cli.molecules import SMILES, run, trained

pytest.importorskip("rdkit", reason="needs RDKit")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("svc"), "--method", "stwin-svc", "--set", "n_iter=1")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "new.csv"
    rows = (f"M{row},K{row},{smiles}\n" for row, smiles in enumerate(SMILES[:5]))
    path.write_text("mol_id,code,smiles\n" + "".join(rows))
    return path


@pytest.mark.parametrize(("option", "letter"), [((), "M"), (("--id", "code"), "K")])
def test_the_nearest_training_molecule_is_called_by_its_id(model, table, option, letter):
    result = run("predict", model, table, "--train", table, *option)
    assert result.exit_code == 0, result.output
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["nearest"] for row in found] == [f"{letter}{row}" for row in range(5)]
    assert ("new: ids from the column 'mol_id' (--id names another)" in result.stderr) == (letter == "M")


def test_a_training_table_may_lack_the_column(model, table, tmp_path):
    other = tmp_path / "train.csv"
    other.write_text("smiles\nCCO\n")
    result = run("predict", model, table, "--train", other, "--id", "code")
    assert {row["nearest"] for row in csv.DictReader(io.StringIO(result.stdout))} == {"CCO"}


def test_explanations_are_of_ids(model, table, tmp_path):
    page, patterns = tmp_path / "page.html", tmp_path / "patterns.csv"
    result = run("explain", model, table, "--html", page, "-o", patterns)
    assert result.exit_code == 0, result.output
    assert {row["name"] for row in csv.DictReader(patterns.open())} <= {f"M{row}" for row in range(5)}
    assert ">M3<" in page.read_text()
    assert run("explain", model, f"{table}#3", "--id", "code").stdout.startswith("K3  ")


@pytest.mark.parametrize("command", ["dedup", "hash"])
def test_every_command_that_reads_a_table_knows_its_ids(table, command):
    result = run(command, table, "--id", "keys")
    assert result.exit_code == 2
    assert "id: got 'keys'; known: 'code', 'mol_id', 'smiles'" in result.stderr
