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
        pytest.param([f"{c},inf" for c in CHAINS], "smiles,y", "line 2: target 'y': got 'inf'", id="inf"),
        pytest.param(
            ["CC,1", "CCC,2.5", "CCO,abc"], "smiles,y", "line 4: target 'y': got 'abc' beside 2.5", id="mixed"
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
    assert "column 'part' of bad: no graph is marked 'test'" in result.stderr


def test_salts_metals_dummies_and_single_atoms_are_molecules(tmp_path):
    odd = ["[Na+].[Cl-]", "[Fe]", "*C", "C", "Cl[Pt](Cl)(N)N"]
    path = table(tmp_path, [f"{text},{n % 2}" for n, text in enumerate([*odd, *CHAINS, *odd])])
    model = tmp_path / "m.twinwl"
    result = run("train", path, "-o", model, "--method", "stwin-svc", "--set", "n_iter=1")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    predicted = run("predict", model, path)
    assert len(predicted.stdout.splitlines()) == 1 + 2 * len(odd) + len(CHAINS)


@pytest.mark.parametrize("command", ["dedup", "hash"])
@pytest.mark.parametrize(
    ("content", "ending", "message"),
    [
        pytest.param("smiles,y\nCC,1\n".encode("utf-16"), "csv", "save it as UTF-8 text", id="UTF-16"),
        pytest.param(
            b"smiles,y\rCC,1\rCO,0\r", "csv", "line 1: new-line character seen in unquoted field", id="CR"
        ),
        pytest.param(
            b'smiles,y\nCC,1\n"CO,0\nCN,1\n', "csv", "line 3: a quote is opened and never closed", id="quote"
        ),
        pytest.param(
            b'smiles,y\nCC,1\n"C\nO",0\nCN,"' + b"x" * 200_000 + b'"\n',
            "csv",
            "line 5: field larger than field limit (131072); close its quotes",
            id="cell",
        ),
        pytest.param(b"smiles\nCC\n", "csv.gz", "not a readable gzip file", id="gzip"),
        pytest.param(b"smiles\nCC\n", "sdf", "none of its 1 rows can be used; the first is line 1", id="sdf"),
        pytest.param(b"[", "json", "not valid JSON (Expecting value: line 1", id="json"),
        pytest.param(
            b"my structure,y\nCC(=O)O,1\n",
            "csv",
            "looks like SMILES. If this is a table of molecules, write 'smiles' above their column",
            id="column",
        ),
    ],
)
def test_a_file_that_is_not_what_it_seems_gets_one_error(tmp_path, command, content, ending, message):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    result = run(command, path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "iterator" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_a_row_over_several_lines_is_named_by_its_first(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text('smiles,note\nCC,"two\nlines"\nC(,"two\nlines"\n')
    assert "left out 1 of 2 rows (1 cannot be read); the first is line 4" in run("dedup", path).stderr
    path.write_text('smiles,note\nCC,"two\nlines"\nCCC\n')
    assert "line 4: got 1 cell, expected 2 as in the header" in run("dedup", path).stderr


@pytest.mark.parametrize("part", ["", "#3"])
def test_no_command_writes_over_its_input(tmp_path, part):
    path = table(tmp_path, [f"{chain},{n % 2}" for n, chain in enumerate(CHAINS * 2)])
    model = tmp_path / "m.twinwl"
    assert run("train", path, "-o", model, "--method", "stwin-svc", "--set", "n_iter=1").exit_code == 0
    before = path.read_bytes()
    data = f"{path}{part}"
    for command in (
        ["predict", model, data],
        ["predict", model, tmp_path / "other.csv", "--train", data],
        ["dedup", data],
        ["explain", model, data],
        ["audit", data, data],
    ):
        result = run(*command, "-o", path)
        assert result.exit_code == 2
        assert "that is the input; name another file" in result.stderr
    assert path.read_bytes() == before


def test_targets_that_are_no_classes_of_the_model_are_refused(tmp_path):
    path = table(tmp_path, [f"{chain},{n % 2}" for n, chain in enumerate(CHAINS * 2)])
    model, output = tmp_path / "m.twinwl", tmp_path / "p.csv"
    assert run("train", path, "-o", model, "--method", "stwin-svc", "--set", "n_iter=1").exit_code == 0
    other = table(tmp_path, ["CC,", "CCO,active", "CCN,inactive"])
    result = run("predict", model, other, "--target", "y", "-o", output)
    assert result.exit_code == 2
    assert "target 'y' of row 1 is 'active', and no row has a class of the model: ['0', '1']" in result.stderr
    assert not output.exists()


def test_a_method_of_one_target_refuses_several(tmp_path):
    rows = [f"{chain},{n % 2},{n // 2 % 2}" for n, chain in enumerate(CHAINS * 4)]
    path = table(tmp_path, rows, "smiles,a,b")
    result = run("evaluate", path, "--target", "all", "--method", "wl-oa")
    assert result.exit_code == 2
    assert "wl-oa learns one target, and there are 2: ['a', 'b']; name one, or use stwin" in result.stderr


def test_audit_refuses_a_target_that_no_table_has_and_a_set_with_nothing_beside_it(tmp_path):
    path = table(tmp_path, [f"{chain},1" for chain in CHAINS])
    for target in ("z", "y,z"):
        result = run("audit", path, path, "--target", target)
        assert result.exit_code == 2
        assert "target: got 'z'; no data set has a column of this name" in result.stderr
    alone = run("audit", path)
    assert alone.exit_code == 2
    assert "give a second data set or" in alone.stderr
    assert "with --target" in alone.stderr


def test_audit_names_the_row_of_a_bad_target(tmp_path):
    path = table(tmp_path, ["CC,1.5", "CCC,", "CCO,inf"])
    result = run("audit", path, "--target", "y")
    assert result.exit_code == 2
    assert "row 2: target 'y': got 'inf', expected finite numbers" in result.stderr
