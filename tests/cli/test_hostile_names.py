"""Names that would control a terminal or be markup are shown as they are by every command."""

from __future__ import annotations

import pytest

from tests.cli.molecules import run

NAME = "a\x1b]0;title\x07\x9b2J\u202e[b]"
WRITTEN_OUT = r"a\x1b]0;title\x07\x9b2J\u202e[b]"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs RDKit")
    (tmp_path / "m.smi").write_text(f"CCO {NAME}\nOCC [/markup]\nCCC {NAME}\n")
    (tmp_path / f"{NAME}.csv").write_text(
        "smiles,class\n" + "".join(f"{'C' * n},{NAME if n % 2 else '[/no]'}\n" for n in range(1, 9))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("hash", "m.smi"),
        ("hash", "m.smi", "m.smi#0"),
        ("dedup", "m.smi"),
        ("compare", "m.smi#0", "m.smi#2"),
        ("datasets", f"{NAME}.csv"),
        ("train", f"{NAME}.csv", "-o", f"{NAME}.twinwl", "--method", "stwin-svc"),
        ("features", f"{NAME}.csv", "-o", f"{NAME}.npz"),
        # errors
        ("hash", NAME),
        ("hash", "--n-iter", NAME, "m.smi"),
        ("dedup", "m.smi", "-o", NAME),
        ("predict", NAME, "m.smi"),
        ("evaluate", "TWINS", "--method", NAME),
        (NAME,),
        ("compare", "m.smi#0", "m.smi#1", NAME),
    ],
    ids=lambda arguments: " ".join(arguments).replace(NAME, "NAME"),
)
@pytest.mark.usefixtures("folder")
def test_control_characters_are_written_out(arguments):
    result = run(*arguments)
    assert result.exit_code in {0, 1, 2}, result.exception
    assert WRITTEN_OUT[:12] in result.output
    for character in "\x1b\x07\x9b\u202e":
        assert character not in result.output


def test_json_is_not_changed(folder):
    assert r"\u001b]0;title\u0007\u009b2J\u202e[b]" in run("hash", "--json", folder / "m.smi").stdout


def test_a_table_keeps_the_names_as_they_are(folder):
    assert run("dedup", folder / "m.smi", "--groups", folder / "groups.jsonl").exit_code == 0
    assert r"\u001b]0;title\u0007" in (folder / "groups.jsonl").read_text()


def test_pages_show_pictures_of_control_characters(folder):
    page = folder / "page.html"
    assert run("compare", "m.smi#0", "m.smi#2", "--html", page).exit_code == 1  # they differ
    text = page.read_text()
    assert "a␛]0;title␇" in text
    assert not set("\x1b\x07\x9b") & set(text)
