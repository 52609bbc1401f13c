import warnings
import zipfile

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batch_equality import assert_same_graphs, edge_dict
from tests.strategies import graphs
from twinwl import GraphBatch
from twinwl.datasets.graph_files import read_tu
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import validate

# graphs, nodes, edges, classes, node labels, edge labels, isolated nodes, as the README of the data has them
CARDS = {
    "MUTAG": (188, 3371, 3721, {-1: 63, 1: 125}, tuple(range(7)), (0, 1, 2, 3), 0),
    "PTC_MR": (344, 4915, 5054, {-1: 192, 1: 152}, tuple(range(18)), (0, 1, 2, 3), 0),
    "Mutagenicity": (4337, 131488, 133447, {0: 2401, 1: 1936}, tuple(range(14)), (0, 1, 2), 2401),
    "NCI1": (4110, 122747, 132753, {0: 2053, 1: 2057}, tuple(range(1, 38)), (), 428),
    "NCI109": (4127, 122494, 132604, {0: 2048, 1: 2079}, tuple(range(1, 39)), (), 474),
    "EXP": (1200, 53336, 66130, {0: 600, 1: 600}, (0, 1), (), 0),
    "DD": (1178, 334925, 843046, {1: 691, 2: 487}, None, (), 0),
    "IMDB-BINARY": (1000, 19773, 96531, {0: 500, 1: 500}, (None,), (), 0),
}


LARGE = {"Mutagenicity", "NCI1", "NCI109", "DD"}  # test_cards.py reads them too


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name in LARGE)) for name in CARDS]
)
def test_real_set_has_the_figures_of_its_card(tu_zip, name):
    n_graphs, n_nodes, n_edges, classes, node_labels, edge_labels, isolated = CARDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        collection = read_tu(tu_zip(name))
    batch = collection.graphs
    validate(batch)
    assert collection.name == name
    assert (len(batch), batch.n_nodes, batch.n_edges) == (n_graphs, n_nodes, n_edges)
    assert (
        dict(zip(*(part.tolist() for part in np.unique(collection.y, return_counts=True)), strict=True))
        == classes
    )
    assert batch.edge_vocabulary == edge_labels
    assert int((np.diff(batch.indptr) == 0).sum()) == isolated
    if node_labels is None:
        assert len(batch.node_vocabulary) == 82
    else:
        assert batch.node_vocabulary == node_labels


def test_first_molecule_of_mutag_is_read_as_a_plain_loop_reads_it(tu_zip):
    with zipfile.ZipFile(tu_zip("MUTAG")) as archive:
        lines = {
            part: archive.read(f"MUTAG/MUTAG_{part}.txt").decode().split("\n")
            for part in ("A", "graph_indicator", "node_labels", "edge_labels")
        }
    n_nodes = lines["graph_indicator"].index("2")
    expected = nx.Graph()
    expected.add_nodes_from((i, {"label": int(lines["node_labels"][i])}) for i in range(n_nodes))
    for arc, label in zip(lines["A"], lines["edge_labels"], strict=True):
        ends = [int(end) - 1 for end in arc.split(",")] if arc else [n_nodes]
        if max(ends) < n_nodes:
            expected.add_edge(*ends, label=int(label))
    assert_same_graphs(
        read_tu(tu_zip("MUTAG")).graphs[0], GraphBatch.from_networkx([expected], "label", "label")
    )


SOUND = {
    "A": "1, 2\n2, 1\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "7\n-7\n",
    "node_labels": "3\n4\n3\n5\n5\n",
    "edge_labels": "0\n0\n1\n1\n",
}


def _folder(path, **changes):
    folder = path / "DS"
    folder.mkdir(exist_ok=True)
    for part, text in {**SOUND, **changes}.items():
        if text is not None:
            (folder / f"DS_{part}.txt").write_text(text)
    return folder


def test_small_set_is_read_from_folder_parent_and_zip(tmp_path):
    folder = _folder(tmp_path)
    (folder / "README.txt").write_text("not numbers")
    archive = tmp_path.parent / f"{tmp_path.name}.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.iterdir():
            file.write(path, f"DS/{path.name}")
        file.writestr("__MACOSX/DS/._DS_A.txt", "junk")
    for path in (folder, tmp_path, archive, str(archive)):
        collection = read_tu(path)
        assert (collection.name, collection.y.tolist()) == ("DS", [7, -7])
        assert collection.graphs.nodes_per_graph.tolist() == [3, 2]
        assert collection.graphs.labels_of_nodes() == [3, 4, 3, 5, 5]
        assert edge_dict(collection.graphs) == {(0, 1): 0, (1, 0): 0, (3, 4): 1, (4, 3): 1}


def test_attributes_are_features(tmp_path):
    collection = read_tu(
        _folder(
            tmp_path, node_attributes="0.5, 1\n" * 5, graph_attributes="1.5\n2.5\n", edge_attributes="x\n"
        )
    )
    assert collection.graphs.node_features.tolist() == [[0.5, 1.0]] * 5


def test_labels_of_several_columns_are_tuples(tmp_path):
    collection = read_tu(_folder(tmp_path, node_labels="3, 1\n4, 1\n3, 1\n3, 2\n-1, 2\n"))
    assert collection.graphs.labels_of_nodes() == [(3, 1), (4, 1), (3, 1), (3, 2), (-1, 2)]


def test_nodes_of_a_graph_need_not_stand_together(tmp_path):
    mixed = {
        "graph_indicator": "2\n1\n2\n1\n1\n",
        "A": "2, 4\n4, 2\n1, 3\n3, 1\n",
        "node_labels": "5\n3\n5\n4\n3\n",
    }
    apart = read_tu(_folder(tmp_path, **mixed, node_attributes="1\n2\n3\n4\n5\n"))
    assert apart.graphs.node_features.ravel().tolist() == [2, 4, 5, 1, 3]
    assert apart.graphs.labels_of_nodes() == [3, 4, 3, 5, 5]
    assert set(edge_dict(apart.graphs)) == {(0, 1), (1, 0), (3, 4), (4, 3)}


def test_repeated_arcs_and_loops_are_not_warned_about(tmp_path):
    collection = read_tu(_folder(tmp_path, A="1, 2\n2, 1\n1, 2\n2, 1\n1, 1\n", edge_labels=None))
    assert collection.graphs.n_edges == 1


def test_empty_graphs_and_no_arcs_are_ordinary(tmp_path):
    collection = read_tu(
        _folder(
            tmp_path,
            A="",
            graph_indicator="2\n",
            graph_labels="0\n1\n0\n",
            node_labels="9\n",
            edge_labels=None,
        )
    )
    assert collection.graphs.nodes_per_graph.tolist() == [0, 1, 0]


BAD = {
    "no arcs file": ({"A": None}, "no file DS_A.txt"),
    "no indicator": ({"graph_indicator": None}, "DS_graph_indicator.txt is missing"),
    "no classes": ({"graph_labels": None}, "DS_graph_labels.txt is missing"),
    "short indicator": ({"graph_indicator": "1\n1\n1\n2\n"}, r"DS_A.txt, line 3: arc \(4, 5\) does not join"),
    "short labels": ({"node_labels": "1\n2\n"}, "DS_node_labels.txt has 2 lines, expected 5"),
    "short edge labels": ({"edge_labels": "1\n"}, "DS_edge_labels.txt has 1 lines, expected 4"),
    "short attributes": ({"node_attributes": "1\n"}, "DS_node_attributes.txt has 1 lines, expected 5"),
    "arc across": (
        {"A": "1, 2\n2, 1\n3, 4\n4, 3\n"},
        r"DS_A.txt, line 3: arc \(3, 4\) does not join two nodes of one graph",
    ),
    "node 0": ({"A": "1, 2\n0, 1\n1, 1\n1, 1\n"}, r"DS_A.txt, line 2: arc \(0, 1\) does not join"),
    "node beyond": ({"A": "1, 2\n2, 6\n1, 1\n1, 1\n"}, r"line 2: arc \(2, 6\) does not join.*1\.\.5"),
    "graph 0": ({"graph_indicator": "1\n0\n1\n2\n2\n"}, "DS_graph_indicator.txt, line 2: no graph 0"),
    "graph beyond": ({"graph_indicator": "1\n1\n1\n2\n3\n"}, "line 5: no graph 3"),
    "text": ({"node_labels": "1\nC\n1\n1\n1\n"}, "DS_node_labels.txt, line 2: got 'C', expected integers"),
    "class missing": ({"graph_labels": "7\n\n-7\n"}, "DS_graph_labels.txt, line 2: got ''"),
    "class not whole": ({"graph_labels": "7\n0.5\n"}, "DS_graph_labels.txt, line 2: got '0.5'"),
    "two classes": (
        {"graph_labels": "7, 1\n-7, 1\n"},
        "DS_graph_labels.txt, line 1: got 2 numbers, expected 1",
    ),
    "three ends": ({"A": "1, 2, 3\n"}, "DS_A.txt, line 1: got 3 numbers, expected 2"),
    "one end": ({"A": "1, 2\n2\n"}, "DS_A.txt, line 2"),
    "two labels for one edge": (
        {"edge_labels": "0\n1\n1\n1\n"},
        "DS_A.txt: graph 0: edge .* different labels",
    ),
    "NaN attribute": ({"node_attributes": "1\nnan\n1\n1\n1\n"}, "DS_node_attributes.txt, line 2: got 'nan'"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_unsound_set_is_refused_by_file_and_line(tmp_path, changes, message):
    with pytest.raises(TwinWLError, match=message):
        read_tu(_folder(tmp_path, **changes))


def test_folder_of_several_sets_is_refused(tmp_path):
    folder = _folder(tmp_path)
    (folder / "OTHER_A.txt").write_text("1, 1\n")
    with pytest.raises(TwinWLError, match="several data sets"):
        read_tu(folder)


def test_half_a_zip_is_refused(tu_zip, tmp_path):
    whole = tu_zip("MUTAG").read_bytes()
    part = tmp_path / "MUTAG.zip"
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TwinWLError, match="not a readable zip"):
        read_tu(part)


@given(st.lists(graphs(max_nodes=5), min_size=1, max_size=4))
def test_written_and_read_again_is_the_same(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("tu")
    shift, lines = 0, {"A": [], "graph_indicator": [], "graph_labels": []}
    for number, (n, edges, _, _) in enumerate(parts, start=1):
        for u, v in edges:
            lines["A"] += [f"{shift + u + 1}, {shift + v + 1}", f"{shift + v + 1}, {shift + u + 1}"]
        lines["graph_indicator"] += [str(number)] * n
        lines["graph_labels"].append(str(-number))
        shift += n
    for part, content in lines.items():
        (folder / f"T_{part}.txt").write_text("".join(line + "\n" for line in content))
    expected = GraphBatch.from_edges(
        [edges for _, edges, _, _ in parts], num_nodes=[n for n, _, _, _ in parts]
    )
    assert_same_graphs(read_tu(folder).graphs, expected)
