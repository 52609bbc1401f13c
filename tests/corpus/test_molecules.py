"""Molecules and edge lists in every kind of file give the graphs that they give in memory."""

import pytest

import twinwl as tw
from tests.batch_equality import assert_same_graphs

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
SMILES = ["CCO", "OCC", "C(C", "c1ccccc1", "[NH4+]", "CCN"]
GOOD = [text for text in SMILES if text != "C(C"]


def built(path, folder, **options):
    return tw.Corpus.build(path, folder, rows_per_shard=2, workers=1, **options)


def check(corpus, ids):
    assert list(corpus.head(9).names) == ids
    assert corpus.head(9).graphs.atoms == "constitution"
    assert_same_graphs(tw.concatenate(list(corpus)), tw.from_smiles(GOOD, atoms="constitution"))
    (path,) = (corpus.folder / "errors").iterdir()
    (row,) = pq.read_table(path).to_pylist()
    assert (row["row"], row["text"]) == (2, "C(C")
    assert "cannot be read" in row["reason"]
    assert len(corpus.dedup(corpus.folder.parent / "out", workers=1)) == 4


def test_smiles_with_names(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    (tmp_path / "m.smi").write_text("".join(f"{text} name {place}\n" for place, text in enumerate(SMILES)))
    check(built(tmp_path / "m.smi", tmp_path / "corpus"), [f"name {place}" for place in (0, 1, 3, 4, 5)])


def test_table_with_line_breaks_in_cells(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    rows = [f'{place},{text},"a\nb",{place / 2}' for place, text in enumerate(SMILES)]
    (tmp_path / "m.csv").write_text("\n".join(["id,smiles,note,n_nodes", *rows]))
    corpus = built(tmp_path / "m.csv", tmp_path / "corpus")
    check(corpus, ["0", "1", "3", "4", "5"])
    table = corpus.table([2, 4])
    assert table.column("note").to_pylist() == ["a\nb"] * 2
    assert table.column("n_nodes.1").to_pylist() == ["1.5", "2.5"]
    assert table.column("smiles").to_pylist() == ["c1ccccc1", "CCN"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_smiles_cell_with_a_line_break_is_left_out(tmp_path, ending):
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path / f"m.{ending}"
    if ending == "csv":
        path.write_text('smiles\n"C\nCO"\nCN\n')
    else:
        pq.write_table(pa.table({"smiles": ["C\nCO", "CN"]}), path)
    expected = tw.from_smiles(["CN"], atoms="constitution")
    assert_same_graphs(tw.concatenate(list(built(path, tmp_path / "corpus"))), expected)
    with pytest.warns(tw.TwinWLWarning, match="it has 'CO' after white space"):
        assert tw.load_dataset(path).smiles == ("CN",)


def test_only_line_feeds_end_lines(tmp_path):
    """Form feeds and other characters at which ``str.splitlines`` cuts stay in their cells."""
    pytest.importorskip("rdkit", reason="needs RDKit")
    odd = ["a\x0cb", "c\u2028d", "e\x85f"]
    rows = [f"{text},{note}" for text, note in zip(GOOD, odd, strict=False)]
    (tmp_path / "m.csv").write_text("\n".join(["smiles,note", *rows]), "utf-8")
    corpus = built(tmp_path / "m.csv", tmp_path / "corpus")
    assert len(corpus) == 3
    assert corpus.info()["errors"] == 0
    assert corpus.table([0, 1, 2]).column("note").to_pylist() == odd


def test_parquet_with_smiles(tmp_path):
    pytest.importorskip("rdkit", reason="needs RDKit")
    pq.write_table(pa.table({"smiles": SMILES, "y": range(6)}), tmp_path / "m.parquet")
    corpus = built(tmp_path / "m.parquet", tmp_path / "corpus")
    check(corpus, [f"{tmp_path}/m.parquet#{place}" for place in (0, 1, 3, 4, 5)])
    assert corpus.table([0, 4]).column("y").to_pylist() == [0, 5]


def test_sd_files_keep_titles_and_properties(tmp_path):
    chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit")
    writer = chem.SDWriter(str(tmp_path / "m.sdf"))
    for place, text in enumerate(GOOD):
        molecule = chem.MolFromSmiles(text)
        molecule.SetProp("_Name", f"name {place}" if place else "")
        molecule.SetProp("odd" if place % 2 else "even", str(place))
        writer.write(molecule)
    writer.close()
    corpus = built(tmp_path / "m.sdf", tmp_path / "corpus")
    assert corpus.head(2).names == (f"{tmp_path}/m.sdf#0", "name 1")
    expected = tw.graph_hashes(tw.from_smiles(GOOD, atoms="constitution"))
    assert [digest for _, digest in corpus.hashes()] == expected
    assert corpus.table([0, 1]).column("odd").to_pylist() == [None, "1"]


@pytest.mark.parametrize("form", ["ends", "edges", "edge_index"])
def test_edge_columns(tmp_path, form):
    edges = [[(0, 1), (1, 2)], [(0, 5)], [(0, 1)], []]
    columns = {
        "ends": [[end for edge in graph for end in edge] for graph in edges],
        "edges": [[list(edge) for edge in graph] for graph in edges],
        "edge_index": [[[u for u, _ in graph], [v for _, v in graph]] for graph in edges],
    }
    kind = pa.list_(pa.int32()) if form == "ends" else pa.list_(pa.list_(pa.int32()))
    labels = [["C", "C", "O"], ["C", "C"], ["N", "N"], ["C"]]
    table = pa.table(
        {form: pa.array(columns[form], kind), "node_labels": labels, "edge_labels": [[1, 2], [1], [1], []]}
    )
    pq.write_table(table, tmp_path / "g.parquet")
    corpus = built(tmp_path / "g.parquet", tmp_path / "corpus")
    kept = [0, 2, 3]
    expected = tw.from_edges(
        [edges[row] for row in kept], node_labels=[labels[row] for row in kept], edge_labels=[[1, 2], [1], []]
    )
    assert_same_graphs(tw.concatenate(list(corpus)), expected)
    errors = pq.read_table(next((tmp_path / "corpus" / "errors").iterdir())).to_pylist()
    ((row, reason),) = [(row["row"], row["reason"]) for row in errors]
    assert row == 1
    assert reason.startswith("edge (0, 5) names node 5, which does not exist")


def test_files_that_do_not_fit_together(tmp_path):
    (tmp_path / "a.g6").write_text("Bw\n")
    (tmp_path / "b.d6").write_text("&BP_\n")
    with pytest.raises(tw.TwinWLError, match=r"b\.d6 differs from .*a\.g6 in directed"):
        tw.Corpus.build([tmp_path / "a.g6", tmp_path / "b.d6"], tmp_path / "corpus")
    corpus = tw.Corpus.build(tmp_path / "a.g6", tmp_path / "corpus", workers=1)
    with pytest.raises(tw.TwinWLError, match="is a shard of a corpus"):
        tw.Corpus.build(corpus.shards[0], tmp_path / "other")
