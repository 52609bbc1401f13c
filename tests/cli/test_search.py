"""``twinwl search`` on small tables of molecules."""

from __future__ import annotations

import csv
import json

import pytest

from tests.cli.molecules import run

pytest.importorskip("rdkit", reason="needs RDKit")


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library.csv"
    path.write_text("code,structure\nA,CCO\nB,CCCCO\nC,c1ccccc1\nD,nonsense\nE,OCC\n")
    return path


def options(*more):
    return ("--smiles-column", "structure", "--id", "code", *more)


def test_a_molecule_finds_its_copies_first_in_the_order_of_the_file(library):
    result = run("search", "smiles:CCO", library, "-k", 3, *options())
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "smiles:CCO",
        "    1  1.000  A  (row 0)  CCO",
        "    2  1.000  E  (row 4)  OCC",
        "    3  0.263  B  (row 1)  CCCCO",
    ]
    assert "left out 1 of 5 rows" in result.stderr


def test_a_file_of_queries_gives_a_table_and_a_page(library, tmp_path):
    queries, output, page = tmp_path / "queries.smi", tmp_path / "out.csv", tmp_path / "page.html"
    queries.write_text("CCO ethanol\nc1ccccc1 benzene\n")
    result = run("search", queries, library, "-k", 1, "-o", output, "--html", page, *options())
    assert result.exit_code == 0, result.output
    found = list(csv.DictReader(output.open()))
    assert [(row["query"], row["name"], row["rank"]) for row in found] == [
        ("ethanol", "A", "1"),
        ("benzene", "C", "1"),
    ]
    assert page.read_text().count("<svg") == 4


def test_one_row_of_a_file_is_a_query(library):
    found = json.loads(run("search", f"{library}#1", library, "-k", 1, "--json", *options()).stdout)
    assert [(match["query"], match["name"]) for match in found["matches"]] == [("B", "B")]


def test_a_corpus_is_searched_at_its_own_level(library, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    built = run(
        "corpus", "build", library, "-o", tmp_path / "corpus", "--same", "skeleton",
        "--smiles-column", "structure", "--id-column", "code",
    )  # fmt: skip
    assert built.exit_code == 0, built.output
    result = run("search", "smiles:CC[O-]", tmp_path / "corpus", "-k", 2)
    assert [line.split()[2] for line in result.stdout.splitlines()[1:]] == ["A", "E"]


def test_a_library_of_fewer_graphs_is_shown_whole(library):
    result = run("search", "smiles:CCO", library, *options("-k", 10))
    assert len(result.stdout.splitlines()) == 1 + 4


@pytest.mark.parametrize(
    ("query", "more", "message"),
    [
        ("smiles:", [], "nothing follows 'smiles:'"),
        ("", [], "the name of the data set is empty"),
        ("smiles:CC(", [], "cannot be read"),
        ("smiles:CCO", ["-k", "1", "--html", "x.csv"], "its name must end in .html"),
    ],
)
def test_what_cannot_be_searched_is_refused(library, query, more, message):
    result = run("search", query, library, *options(*more))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
