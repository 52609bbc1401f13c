"""Tables that cannot be learnt from: one clear error that names file, row or column, and a remedy."""

from __future__ import annotations

import pytest

from tests.cli.molecules import run

pytest.importorskip("rdkit", reason="needs RDKit")

CHAINS = ["C" * n for n in range(2, 8)]


def table(folder, rows, header="smiles,y"):
    path = folder / "bad.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        pytest.param(
            [f"{c},1" for c in CHAINS], "smiles,y", "the target 'y' is 1 for all 6 graphs", id="one"
        ),
        pytest.param(
            [f"{c}," for c in CHAINS], "smiles,y", "line 2: its target 'y' is missing", id="missing"
        ),
        pytest.param(
            [f"{c},inf" for c in CHAINS], "smiles,y", "line 2: target 'y': got an infinite", id="inf"
        ),
        pytest.param(
            ["CC,1", "CCC,2.5", "CCO,abc"], "smiles,y", "line 4: target 'y': got 'abc', and 2.5", id="mixed"
        ),
        pytest.param(["CC,1,2"], "smiles,y,y", "2 columns are called 'y'; rename one", id="same name"),
        pytest.param([], "smiles,y", "there is no graph in it", id="no rows"),
        pytest.param(
            ["C(,1", ",0"], "smiles,y", "none of its 2 rows can be used; the first is line 2", id="text"
        ),
    ],
)
def test_a_table_that_cannot_be_learnt_from_is_refused(tmp_path, rows, header, message):
    path, model = table(tmp_path, rows, header), tmp_path / "m.twinwl"
    result = run("train", path, "-o", model, "--target", "y", "--method", "stwin-svc")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not model.exists()


def test_strings_are_classes_and_not_numbers(tmp_path):
    path = table(tmp_path, [f"{chain},{'high' if n % 2 else 'low'}" for n, chain in enumerate(CHAINS)])
    result = run("train", path, "-o", tmp_path / "m.twinwl", "--task", "regression", "--method", "stwin-svc")
    assert result.exit_code == 2
    assert "the target 'y' holds 'low', which is not a number" in result.stderr


def test_a_split_column_with_one_value_is_refused(tmp_path):
    rows = [f"{chain},{n % 2},train" for n, chain in enumerate(CHAINS)]
    path = table(tmp_path, rows, "smiles,y,part")
    result = run("evaluate", path, "--target", "y", "--method", "stwin-svc", "--split", "part")
    assert result.exit_code == 2
    assert "column 'part' of bad: all 6 graphs have the value 'train'" in result.stderr


def test_salts_metals_dummies_and_single_atoms_are_molecules(tmp_path):
    odd = ["[Na+].[Cl-]", "[Fe]", "*C", "C", "Cl[Pt](Cl)(N)N"]
    path = table(tmp_path, [f"{text},{n % 2}" for n, text in enumerate([*odd, *CHAINS, *odd])])
    model = tmp_path / "m.twinwl"
    result = run("train", path, "-o", model, "--method", "stwin-svc", "--n-iter", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    predicted = run("predict", model, path)
    assert len(predicted.stdout.splitlines()) == 1 + 2 * len(odd) + len(CHAINS)
