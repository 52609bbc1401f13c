"""Whatever stands in a file, it is read or refused with an error of ours: in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import warnings
import zipfile

import networkx as nx
import pytest

from tests.datasets.conftest import TINY
from twinwl import load_dataset
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import ReadOptions, iter_source
from twinwl.errors import TwinWLError, TwinWLWarning

MUTANTS = 150  # of each file below
RECORD = """\

     made up

  2  1  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.5000    0.0000    0.0000 O   0  0
  1  2  1  0
M  END
>  <y>
1

$$$$
"""
SPLICES = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b"9" * 30, b"9" * 5000, b"-", b"1e999", b"nan", b'"',
    b",", b"{", b"[", b"]", b"<", b">", b"&b;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"encoding='foo'", b"\xe4",
    b"null", b"\xf0\x9f\x98\x80", b"~~~~~~~~", b"$$$$\n", b"A" * 3000, b"#", b"\t", b"\x1b]0;x\x07",
    b"\\ud800", b"V3000",
]  # fmt: skip


def tu_zip(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in files.items():
            archive.writestr(f"X/X_{part}.txt", text)
    return packed.getvalue()


def sound_files():
    graph = nx.relabel_nodes(nx.path_graph(4), str)
    nx.set_node_attributes(graph, dict(zip(graph, "CNOC", strict=True)), "label")
    nx.set_edge_attributes(graph, 2.5, "weight")
    graphml, gml = io.BytesIO(), io.BytesIO()
    nx.write_graphml_xml(graph, graphml)
    nx.write_gml(graph, gml)
    table = b'id,smiles,y\n1,CCO,0\n2,"C(=O)O",1\n3,C#N,0\n'
    attributes = "0.5, 1\n1, 2\n1e3, 4\n1,1\n2,2\n3,3\n"
    return {
        "a.g6": b">>graph6<<Bw\nA_\nDqK\n",
        "a.s6": b":Fa@x^\n:A_\n",
        "a.d6": b"&BP_\n&AG\n",
        "a.smi": b"CCO ethanol\nC1CC1 ring\nC#N\n",
        "a.csv": table,
        "a.csv.gz": gzip.compress(table),
        "a.tsv": b"smiles\ty\nCC\t1\nCO\t0\n",
        "edges.csv": b"source,target,kind\na,b,x\nb,c,y\n",
        "a.edges": b"a b 1\nb c 2\n",
        "exp.txt": b"2\n2 1\n0 1 1\n1 1 0\n1 0\n0 0\n",
        "a.graphml": graphml.getvalue(),
        "a.gml": gml.getvalue(),
        "a.json": json.dumps([nx.node_link_data(graph, edges="links")]).encode(),
        "a.sdf": 2 * RECORD.encode(),
        "a.zip": tu_zip(TINY | {"node_attributes": attributes}),
    }


FILES = sound_files()


def mutated(chance, content, other):
    """Truncate, flip, splice, repeat, cut out, overwrite and encode otherwise."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.randrange(40))
        match chance.randrange(7):
            case 0:
                del data[place:]
            case 1 if data:
                data[place % len(data)] ^= 1 << chance.randrange(8)
            case 2:
                data[place:place] = chance.choice(SPLICES)
            case 3:
                data[place:place] = data[place:end] * chance.choice((1, 5))
            case 4:
                del data[place:end]
            case 5:
                start = chance.randrange(len(other))
                data[place:end] = other[start : start + 100]
            case 6:
                text = data.decode("utf-8", "replace")
                data = bytearray(text.encode(chance.choice(("utf-16", "utf-8-sig", "cp037")), "replace"))
    return bytes(data)


def read_or_refused(path, **options):
    """Load a file in every way there is; return the message where it was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinWLWarning)
        try:
            data = load_dataset(path, **options)
        except TwinWLError as error:
            return str(error)
        assert isinstance(data, Dataset)
        assert len(data.digest) == 64
        assert sum(len(part) for part in iter_source(path, ReadOptions(**options))) <= len(data) + len(
            data.errors
        )
    return None


@pytest.mark.parametrize("name", FILES)
def test_sound_files_are_read(tmp_path, name):
    _skip_without_chemistry(name)
    (tmp_path / name).write_bytes(FILES[name])
    assert read_or_refused(tmp_path / name) is None


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused(tmp_path, name):
    _skip_without_chemistry(name)
    chance = random.Random(f"twinwl {name}")  # noqa: S311  (the same mutants every time)
    others = list(FILES.values())
    path = tmp_path / name
    for number in range(MUTANTS):
        content, other = FILES[name], chance.choice(others)
        if name.endswith(".zip") and number % 2:  # inside the archive, which is sound
            part = chance.choice(list(TINY))
            content = tu_zip(TINY | {part: mutated(chance, TINY[part].encode(), other)})
        elif name.endswith(".gz") and number % 2:
            content = gzip.compress(mutated(chance, gzip.decompress(content), other))
        else:
            content = mutated(chance, content, other)
        path.write_bytes(content)
        labels = {"node_label": "label"} if name.startswith(("a.graphml", "a.gml", "a.json")) else {}
        read_or_refused(path, **labels)


@pytest.mark.parametrize("length", range(0, 700, 37))
def test_archives_cut_off_anywhere_are_refused(tmp_path, length):
    path = tmp_path / "a.zip"
    path.write_bytes(FILES["a.zip"][: min(length, len(FILES["a.zip"]) - 1)])
    assert "not a readable zip" in read_or_refused(path)


ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
HOSTILE = {
    "deep.json": (b"[" * 100_000, "not valid JSON"),
    "deep-label.json": (
        b'{"nodes":[{"id":%s1%s}],"links":[]}' % (b"[" * 5000, b"]" * 5000),
        "not valid JSON",
    ),
    "digits.json": (b'{"nodes":[{"id":%s}],"links":[]}' % (b"9" * 5000), "not valid JSON"),
    "deep.graphml": (b"<graphml>%s%s</graphml>" % (b"<a>" * 50_000, b"</a>" * 50_000), "not valid GraphML"),
    "entities.graphml": (
        b'<!DOCTYPE a [<!ENTITY a "aa">%s]><graphml>&j;</graphml>' % ENTITIES,
        "exhaust memory",
    ),
    "encoding.graphml": (b'<?xml version="1.0" encoding="foo"?><graphml/>', "unknown encoding"),
    "deep.gml": (b"graph [%s%s]" % (b" a [" * 50_000, b"]" * 50_000), "not valid GML"),
    "digits.gml": (b"graph [ node [ id %s ] ]" % (b"9" * 5000), "not valid GML"),
    "cell.csv": (b"smiles,y\nCC,%s\n" % (b"1" * 10**6), "line 2: field larger than field limit"),
    "quote.csv": (b'smiles,y\nCC,"%s' % (b"1\n" * 10**5), "field larger than field limit"),
    "wide.csv": (b"c," * 10**5 + b"\n", "100000 columns, expected two or three in an edge list"),
    "utf-16.csv": ("smiles,y\nCC,1\n".encode("utf-16"), "a binary file (or UTF-16)"),
    "latin-1.csv": ("smiles,y\nCC,M\u00fcller\n".encode("latin-1"), "line 2: not UTF-8 text"),
    "size.g6": (b"~~~~~~~~\n", "68719476735 nodes"),
    "graphs.txt": (b"1\n1000000000 1\n0 0\n", None),  # an edge list, as it happens
    "empty.zip": (b"", "not a readable zip"),
    "empty.csv": (b"", "the file is empty"),
    "blank.json": (b" \n", "the file is empty"),
}


@pytest.mark.parametrize(("name", "content", "problem"), [(name, *case) for name, case in HOSTILE.items()])
def test_what_is_made_to_do_harm_is_refused_in_one_short_line(tmp_path, name, content, problem):
    _skip_without_chemistry(name)
    (tmp_path / name).write_bytes(content)
    message = read_or_refused(tmp_path / name)
    assert (message is None) == (problem is None)
    if problem is not None:
        assert problem in message
        assert "\n" not in message
        assert len(message) < 1000


def test_a_long_molecule_in_a_file_does_not_stop_the_others(tmp_path):
    _skip_without_chemistry("a.smi")
    (tmp_path / "a.smi").write_bytes(b"C" * 10**6 + b" long\nCC ethane\n")
    with pytest.warns(TwinWLWarning, match="the first is line 1: .* 1,000,000 characters"):
        assert load_dataset(tmp_path / "a.smi").names == ("ethane",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["a.g6", "a.csv", "a.zip", "a.sdf", "a.parquet", "a.json", "a.gml"])
def test_a_pipe_is_not_waited_for(tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="needs pyarrow")
    os.mkfifo(tmp_path / name)
    assert "pipe or device" in read_or_refused(tmp_path / name)


def test_links_are_followed_but_not_in_circles(tmp_path):
    (tmp_path / "real.g6").write_text("Bw\n")
    (tmp_path / "link.g6").symlink_to("real.g6")
    (tmp_path / "circle.g6").symlink_to("circle.g6")
    (tmp_path / "dangling.g6").symlink_to("nowhere.g6")
    assert load_dataset(tmp_path / "link.g6").graphs.n_nodes == 3
    for name in ("circle.g6", "dangling.g6"):
        assert re.search("cannot read|symbolic links", read_or_refused(tmp_path / name))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["a.g6", "a.csv", "a.zip", "a.json"])
def test_a_file_that_is_closed_to_us(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    (tmp_path / name).chmod(0)
    assert "ermission denied" in read_or_refused(tmp_path / name)


def _skip_without_chemistry(name):
    if name.startswith(("a.smi", "a.csv", "a.tsv", "a.sdf", "cell.csv", "quote.csv")):
        pytest.importorskip("rdkit", reason="needs RDKit")


def test_errors_about_very_long_values_fit_on_a_screen(tmp_path):
    names = [f"column_{number}_{'x' * 50}" for number in range(500)]
    (tmp_path / "wide.csv").write_text(",".join(["smiles", *names]) + "\n")
    with pytest.raises(TwinWLError) as caught:
        load_dataset(tmp_path / "wide.csv", target="y" * 5000)
    assert len(str(caught.value)) <= 1000
    assert str(caught.value).startswith(f"{tmp_path / 'wide.csv'}: target: got 'yyy")
