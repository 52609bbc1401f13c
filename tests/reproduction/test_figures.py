from __future__ import annotations

import re

import pytest
from reproduction.charts import (
    as_svg,
    case_figure,
    difference_charts,
    rounds_figure,
    strangers,
    trees_figure,
)
from reproduction.results import TwinAgainstWL

import twinwl as tw
from twinwl.research import compare_scores


def texts(figure):
    return "\n".join(re.findall(r"<text[^>]*>([^<]*)</text>", as_svg(figure)))


def test_the_worked_example_shows_the_vectors_of_the_paper():
    written = re.findall(r"1-WL (.*), STwin (.*)", texts(rounds_figure()))
    sums = ["[4, 2]", "[4, 2]", "[12, 8]", "[12, 8]", "[20, 12]", "[16, 12]"]  # of G1 and G2, round by round
    assert written == [("[4, 2]", each) for each in sums]


def test_the_identity_trees_reach_five_and_four_nodes():
    written = texts(trees_figure())
    assert "5 nodes: [1, 2, 3, 4, 5]" in written
    assert "4 nodes: [1, 2, 3, 4]" in written


def test_every_node_of_a_label_tree_has_the_fill_of_its_label():
    figure = trees_figure()
    for axis in figure.axes[2:4]:
        drawn = [part for part in axis.collections if len(part.get_offsets()) == len(axis.texts)]
        fills = {
            tuple(xy): tuple(fill) for xy, fill in zip(drawn[-1].get_offsets(), drawn[-1].get_facecolors())
        }
        fill_of_label = {(text.get_text(), fills.get(text.get_position())) for text in axis.texts}
        assert len(fill_of_label) == 2
        assert {label for label, _ in fill_of_label} == {"1", "2"}


def test_the_case_study_is_shaded_where_the_molecules_differ(tu_zip):
    data = tw.load_dataset("Mutagenicity", data_dir=tu_zip("Mutagenicity").parent)
    first, second = strangers(data)
    labels = [data.graphs[graph].labels_of_nodes() for graph in (207, 1102)]
    assert sorted(labels[0][node] for node in first) == [1, 1, 4, 4, 4]  # O, O, N, N, N
    assert sorted(labels[1][node] for node in second) == [0, 1, 4]  # C, O, N
    assert "Graph 208: mutagen, 20 atoms" in texts(case_figure(data))


def against(dataset, points, twin="STwin"):
    ours, theirs = [0.5 + points / 100, 0.501 + points / 100, 0.5 + points / 100], [0.5] * 3
    return TwinAgainstWL(dataset, compare_scores(ours, theirs, (twin, "1-WL")))


def test_a_large_difference_is_an_arrow_and_the_others_have_room():
    found = [against("TWINS", 49.7), against("MUTAG", 0.5), against("NCI1", -0.5)]
    figure = difference_charts(found)
    (axis,) = figure.axes
    low, high = axis.get_xlim()
    for each in found[1:]:
        assert low < each.points - each.half_width
        assert each.points + each.half_width < high
    assert [line.get_marker() for line in axis.lines].count(">") == 1
    assert high < 3
    assert "+49.73" in texts(figure)


def test_charts_have_the_same_axis():
    figure = difference_charts([against("MUTAG", 0.5), against("MUTAG", 2.5, "NTwin")])
    assert len({axis.get_xlim() for axis in figure.axes}) == 1


@pytest.mark.parametrize(
    "figure", [rounds_figure(), trees_figure(), difference_charts([against("MUTAG", 0.5)])]
)
def test_nothing_written_is_cut_off(figure):
    figure.draw_without_rendering()
    page = figure.bbox
    for axis in figure.axes:
        ticks = [*axis.get_yticklabels(), axis.xaxis.label] if axis.axison else []
        for text in (*axis.texts, axis.title, *ticks):
            box = text.get_window_extent()
            assert page.x0 <= box.x0 <= box.x1 <= page.x1
            assert page.y0 <= box.y0 <= box.y1 <= page.y1
