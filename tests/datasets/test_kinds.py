from __future__ import annotations

import pytest

from twinwl import GraphBatch, load_dataset
from twinwl.datasets import graph_files
from twinwl.datasets.catalogue import is_known
from twinwl.datasets.formats import FORMATS, Format, place_of, reader_of
from twinwl.errors import GraphInputError, TwinWLError


def kind_of(path, text):
    path.write_text(text)
    return place_of(path).kind


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("MUTAG", ("name", "MUTAG", None, False)),
        ("MUTAG#17", ("name", "MUTAG", 17, False)),
        ("TWINS:n_pairs=2#3", ("name", "TWINS:n_pairs=2", 3, False)),
        ("MYSET", ("name", "MYSET", None, False)),
        ("smiles:C#N", ("smiles", "C#N", None, True)),
        ("graph6:Bw", ("graph6", "Bw", None, True)),
        ("smiles:-", ("smiles", "-", None, False)),
        ("-", ("graph6", "-", None, False)),
        ("x.SDF", ("sdf", "x.SDF", None, False)),
        ("x.g6.gz#3", ("graph6", "x.g6.gz", 3, False)),
    ],
)
def test_what_a_user_may_write(tmp_path, monkeypatch, source, place):
    monkeypatch.chdir(tmp_path)
    assert tuple(place_of(source, None, is_known)) == place


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("m.csv", "smiles,activity,HIV_active\nCCO,CI,0\n", "table"),
        ("m.csv", "id;Smiles\n1;CC\n", "table"),
        ("m.tsv", "SMILES\tid\nCC\t1\n", "table"),
        ("e.csv", "0,1\n1,2\n", "edges"),
        ("e.csv", "ann,bob\nbob,eve\n", "edges"),
        ("e.csv", "source,target,weight\n0,1,0.5\n", "edges"),
        ("e.csv", "# comment, with, many, commas\nann,bob,friend\n", "edges"),
        ("e.tsv", "0\t1\n", "edges"),
        ("e.txt", "C1 C2\nC2 C3\n", "edges"),
        ("e.txt", "7\n1 2\n", "edges"),
        ("g.txt", "1\n2 1\n0 1 1\n1 1 0\n", "exp"),
        ("e.edgelist", "0 1 {}\n", "edges"),
    ],
)
def test_content_decides_where_the_ending_leaves_it_open(tmp_path, name, text, kind):
    assert kind_of(tmp_path / name, text) == kind


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "m.csv",
            "a,b,c,d\n1,2,3,4\n",
            r'line 1: got 4 columns.*smiles_column="…" \(its first line is \'a, b, c, d\'\)',
        ),
        (
            "m.csv",
            "structure,y\nCCO,1\nCC(=O)O,0\n",
            r"line 3: 'CC\(=O\)O' looks like SMILES.*'structure, y'",
        ),
        ("m.csv", "CC(=O)O,1\n", "line 1: .*looks like SMILES.*write 'smiles' above their column"),
        ("m.csv", "structure,y\nCCO,1\nCCN,0\n", "line 1: 'structure, y' looks like a header"),
        ("e.csv", "name,age\nann,3\nbob,4\n", "line 1: 'name, age' looks like a header"),
        ("m.txt", "smiles,y\nCCO,1\n", 'looks like a table of molecules; pass kind="table"'),
        ("m.edges", "smiles y\nCCO 1\n", 'looks like a table of molecules; pass kind="table"'),
        ("m.csv", "", "the file is empty"),
        ("m.csv", "# nothing\n\n", "the file is empty"),
        ("m.pkl", "x", "is a pickle"),
    ],
)
def test_what_does_not_look_like_its_kind_is_refused_in_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphInputError, match=message) as caught:
        load_dataset(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_the_user_may_say_which(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / "m.csv"
    path.write_text("structure,y\nCCO,1\nCC(=O)O,0\n")
    assert load_dataset(path, smiles_column="structure").smiles == ("CCO", "CC(=O)O")
    assert load_dataset(path, kind="edges").graphs.n_edges == 3
    with pytest.raises(TwinWLError, match=r"kind: got 'edge', expected .*did you mean 'edges'"):
        load_dataset(path, kind="edge")


def test_a_folder_that_is_called_like_a_file(tmp_path):
    for name in ("m.csv", "m.g6", "m.zip", "m.graphml"):
        (tmp_path / name).mkdir()
        with pytest.raises(TwinWLError, match="neither a TU data set nor files of graphs"):
            load_dataset(tmp_path / name)


@pytest.mark.parametrize("source", ["~no-such-user/a.g6", "a.g6/b.g6", "a\0.g6", "#3", "x" * 5000 + ".g6"])
def test_paths_that_lead_nowhere(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.g6").write_text("Bw\n")
    with pytest.raises(TwinWLError):
        load_dataset(source)


def test_options_that_mean_nothing_are_refused(tmp_path):
    (tmp_path / "a.g6").write_text("Bw\n")
    for option in ("target", "smiles_column", "node_label", "edge_label"):
        with pytest.raises(TwinWLError, match=rf"a\.g6' does not have the option '{option}'"):
            load_dataset(tmp_path / "a.g6", **{option: "x"})


def test_every_format_has_its_reader_and_is_described():
    for kind, form in FORMATS.items():
        assert callable(reader_of(kind))
        assert not form.columns or callable(reader_of(kind, "columns"))
        assert f'"{kind}"' in load_dataset.__doc__


def test_a_format_is_a_reader_and_a_line_of_the_table(tmp_path, monkeypatch):
    def read_mine(path, _reading):
        return GraphBatch.from_edges(
            [[tuple(map(int, line.split()[1:])) for line in path.open() if line[0] == "e"]]
        )

    monkeypatch.setattr(graph_files, "read_mine", read_mine, raising=False)
    monkeypatch.setitem(FORMATS, "mine", Format("my own", (".mine",), "graph_files:read_mine"))
    (tmp_path / "a.mine").write_text("p edge 3 2\ne 0 1\ne 1 2\n")
    assert load_dataset(tmp_path / "a.mine").graphs.n_edges == 2
    (tmp_path / "a.xyz").write_text("")
    with pytest.raises(GraphInputError, match=r"Known: .*my own \(\.mine\)"):
        load_dataset(tmp_path / "a.xyz")
    with pytest.raises(TwinWLError, match=r"'a\.mine' does not have the option 'target'"):
        load_dataset("a.mine", target="y")
