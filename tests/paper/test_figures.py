from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import twinwl as tw
from twinwl.errors import TwinWLError
from twinwl.paper.figures import (
    case_figure,
    case_pictures,
    rounds_figure,
    strangers,
    trees_figure,
    write_figures,
)


def texts(markup):
    return [element.text for element in ET.fromstring(markup).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314


def test_figures_are_sound_files_that_need_nothing_else(tmp_path):
    paths = write_figures(tmp_path / "figures")
    assert [path.name[:8] for path in paths] == ["figure-1", "figure-2", "figure-3"]
    for path in paths:
        root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314
        assert root.get("width")
        assert "prefers-color-scheme" in root.find("{*}style").text
        assert "http" not in path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_worked_example_shows_the_vectors_of_the_paper():
    written = texts(rounds_figure().markup())
    assert written.count("(4, 2) = (4, 2)") == 4
    assert "(12, 8) = (12, 8)" in written
    assert "(20, 12) ≠ (16, 12)" in written


def test_the_identity_trees_reach_five_and_four_nodes():
    written = texts(trees_figure().markup())
    assert "{1, 2, 3, 4, 5}: 5 nodes" in written
    assert "{1, 2, 3, 4}: 4 nodes" in written


def test_the_case_study_is_shaded_where_the_molecules_differ(tu_zip):
    data = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    first, second = strangers(data)
    labels = [data.graphs[graph].labels_of_nodes() for graph in (207, 1102)]
    assert sorted(labels[0][node] for node in first) == [1, 1, 4, 4, 4]  # O, O, N, N, N
    assert sorted(labels[1][node] for node in second) == [0, 1, 4]  # C, O, N
    pictures = case_pictures(data)
    assert "mutagen, 20 atoms" in texts(pictures[0].markup())
    assert pictures[0].markup().count('class="bond"') == 20  # 19 bonds, one of them double
    assert pictures[0].width == pictures[1].width


def test_the_case_study_alone_says_its_cosines(tu_zip):
    data = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    assert " ".join(texts(case_figure(data).markup())).endswith("1-WL 0.9472, STwin 0.7577.")


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(TwinWLError, match="cannot write "):
        write_figures(tmp_path / "taken")
