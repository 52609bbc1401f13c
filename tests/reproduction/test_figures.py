from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from reproduction.charts import (
    as_svg,
    case_figure,
    difference_charts,
    rounds_figure,
    strangers,
    trees_figure,
    write_figures,
)
from reproduction.results import TwinAgainstWL

import twinwl as tw


def texts(figure):
    return "\n".join(re.findall(r"<text[^>]*>([^<]*)</text>", as_svg(figure)))


def test_figures_are_sound_files_that_need_nothing_else(tmp_path):
    paths = write_figures(tmp_path / "figures")
    assert [path.name[:8] for path in paths] == ["figure-1", "figure-2"]
    for path in paths:
        assert ET.parse(path).getroot().get("width")  # noqa: S314  (our own)


def test_the_worked_example_shows_the_vectors_of_the_paper():
    written = texts(rounds_figure())
    assert written.count("(4, 2) = (4, 2)") == 4
    assert "(12, 8) = (12, 8)" in written
    assert "(20, 12) ≠ (16, 12)" in written


def test_the_identity_trees_reach_five_and_four_nodes():
    written = texts(trees_figure())
    assert "{1, 2, 3, 4, 5}: 5 nodes" in written
    assert "{1, 2, 3, 4}: 4 nodes" in written


def test_every_node_of_a_label_tree_has_the_fill_of_its_label():
    figure = trees_figure()
    for axis in (figure.axes[1], figure.axes[4]):
        drawn = [part for part in axis.collections if len(part.get_offsets()) == len(axis.texts) - 1]
        fills = {
            tuple(xy): tuple(fill) for xy, fill in zip(drawn[-1].get_offsets(), drawn[-1].get_facecolors())
        }
        fill_of_label = {(text.get_text(), fills.get(text.get_position())) for text in axis.texts[:-1]}
        assert len(fill_of_label) == 2
        assert {label for label, _ in fill_of_label} == {"1", "2"}


def test_the_case_study_is_shaded_where_the_molecules_differ(tu_zip):
    data = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    first, second = strangers(data)
    labels = [data.graphs[graph].labels_of_nodes() for graph in (207, 1102)]
    assert sorted(labels[0][node] for node in first) == [1, 1, 4, 4, 4]  # O, O, N, N, N
    assert sorted(labels[1][node] for node in second) == [0, 1, 4]  # C, O, N
    written = texts(case_figure(data, with_cosines=True))
    assert "Graph 208: mutagen, 20 atoms" in written
    assert "1-WL 0.9472, STwin 0.7577." in written


def against(dataset, points, twin="stwin"):
    ours, theirs = [0.5 + points / 100, 0.501 + points / 100, 0.5], [0.5] * 3
    return TwinAgainstWL.on_folds(dataset, (twin, "wl"), ours, theirs, 3)


def test_a_large_difference_has_an_axis_of_its_own():
    found = [against("TWINS", 49.7), against("MUTAG", 0.5), against("NCI1", -0.5)]
    figure = difference_charts(found)
    large, small = figure.axes
    assert small.get_xlim()[1] < large.get_xlim()[1]
    assert "the others, enlarged" in texts(figure)
    for axis, shown in ((large, found[:1]), (small, found[1:])):
        for each in shown:
            assert axis.get_xlim()[0] < each.points - each.half_width
            assert each.points + each.half_width < axis.get_xlim()[1]


def test_charts_side_by_side_have_the_same_axes():
    figure = difference_charts([against("MUTAG", 0.5), against("MUTAG", 2.5, "stwin-joint")])
    assert len({axis.get_xlim() for axis in figure.axes}) == 1
