"""The page in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import networkx as nx
import pytest

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import load_dataset
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.comparison import compare
from twinwl.report.compare import compare_page
from twinwl.report.page import write_page


@pytest.fixture(scope="module")
def decalin(tmp_path_factory):
    """The page of decalin and bicyclopentyl, which part in round 3 by their rooted sizes."""
    pytest.importorskip("rdkit", reason="needs RDKit")
    path = tmp_path_factory.mktemp("pages") / "decalin.html"
    first, second = (
        load_dataset("smiles:C1CCC2CCCCC2C1", atoms="skeleton"),
        load_dataset("smiles:C1CCCC1C1CCCC1", atoms="skeleton"),
    )
    write_page(path, compare_page(first, second, compare(first.graphs, second.graphs)))
    return path, (first, second)


def numbers(page, letter):
    """Return the text in the nodes of one graph."""
    return page.eval_on_selector_all(
        f"#panel-{letter} .node > text:first-of-type", "all => all.map(t => t.textContent)"
    )


def lit(page, letter):
    """Return the nodes of one graph that are lit up."""
    return set(page.eval_on_selector_all(f"#panel-{letter} .node.in", "all => all.map(n => +n.dataset.node)"))


def set_round(page, h):
    page.eval_on_selector(
        "#round", "(slider, h) => { slider.value = h; slider.dispatchEvent(new Event('input')); }", h
    )


def ball(batch, node, h):
    graph = nx.Graph()
    graph.add_nodes_from(range(batch.n_nodes))
    sources, targets = batch.arcs()
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    return set(nx.single_source_shortest_path_length(graph, node, cutoff=h))


def test_opens_at_the_round_in_which_they_part(open_page, decalin):
    page = open_page(decalin[0])
    assert page.input_value("#round") == "3"
    assert "Twin-WL tells them apart in round 3" in page.inner_text("h1")
    assert "Rooted sizes differ" in page.inner_text("#state")
    assert page.locator(".node.marked").count() == 16


@pytest.mark.exhaustive
def test_the_slider_changes_the_numbers_in_the_nodes(open_page, decalin):
    path, graphs = decalin
    page = open_page(path)
    for h in (0, 1, 2, 3):
        set_round(page, h)
        for letter, named in zip("ab", graphs, strict=True):
            assert numbers(page, letter) == [str(len(ball(named.graphs, v, h))) for v in range(10)]


@pytest.mark.exhaustive
def test_arrow_keys_move_the_slider(open_page, decalin):
    page = open_page(decalin[0])
    page.focus("#round")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#round") == "2"
    assert set(numbers(page, "a")) == {"5", "6", "8"}
    assert page.inner_text("#vectors-h") == "2"
    page.keyboard.press("Home")
    assert set(numbers(page, "a")) == {"1"}
    assert "No difference yet" in page.inner_text("#state")


@pytest.mark.exhaustive
@pytest.mark.parametrize("h", [0, 1, 2, 3])
def test_hovering_lights_up_exactly_the_identity_set(open_page, decalin, h):
    path, graphs = decalin
    page = open_page(path)
    set_round(page, h)
    for letter, named in zip("ab", graphs, strict=True):
        for node in (0, 3, 9):
            page.hover(f"#{letter}-{node} .disc")
            expected = ball(named.graphs, node, h)
            assert lit(page, letter) == expected
            assert lit(page, "ba"["ab".index(letter)]) == set()
            text = page.inner_text("#inspector")
            assert f"Node {node} of {letter.upper()}" in text
            assert "label C" in text
            assert f"rooted size {len(expected)}" in text
            assert "{" + ", ".join(map(str, sorted(expected))) + "}" in text
    page.mouse.move(5, 5)
    assert lit(page, "a") == lit(page, "b") == set()


@pytest.mark.exhaustive
def test_tab_walks_through_nodes_arrows_change_the_round_and_escape_clears(open_page, decalin):
    path, graphs = decalin
    page = open_page(path)
    page.focus("#round")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "a-0"
    assert lit(page, "a") == ball(graphs[0].graphs, 0, 3)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "a-1"
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#round") == "2"
    assert lit(page, "a") == ball(graphs[0].graphs, 1, 2)
    assert "rooted size" in page.get_attribute("#a-1", "aria-label")
    page.keyboard.press("Escape")
    assert lit(page, "a") == set()
    assert "Point at a node" in page.inner_text("#inspector")


@pytest.mark.exhaustive
def test_the_vectors_mark_what_differs(open_page, decalin):
    page = open_page(decalin[0])
    assert page.locator("#phi .diff").all_inner_texts() == ["28", "36", "24", "32"]
    assert page.locator("#rows tr.differs").count() == 2
    assert page.locator("#rows td.sign").all_inner_texts() == ["≠", "", "≠"]
    set_round(page, 2)
    assert page.locator("#phi .diff").count() == 0
    assert page.locator("#rows tr.differs").count() == 0


@pytest.mark.exhaustive
def test_nodes_of_each_size_are_counted_in_words(open_page, decalin):
    page = open_page(decalin[0])
    set_round(page, 1)
    cells = page.locator("#rows td.sizes").all_inner_texts()
    assert set(cells) == {"8 of size 3", "2 of size 4"}


@pytest.mark.exhaustive
def test_pointing_at_a_row_lights_up_its_colour_in_both_graphs(open_page, decalin):
    page = open_page(decalin[0])
    page.hover("#rows tr:nth-child(2)")
    assert len(lit(page, "a")) == len(lit(page, "b")) == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(open_page, decalin, scheme):
    page = open_page(decalin[0], color_scheme=scheme)
    contrast = page.evaluate(
        """() => {
          const curve = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
          const channel = (v) => curve(v / 255);
          const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
            return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
          const paper = light(getComputedStyle(document.querySelector('.stage')).backgroundColor);
          return ['h1', '.lede', '#state strong', 'th', '.facts', '#rows td', '.colophon'].map((place) => {
            const ink = light(getComputedStyle(document.querySelector(place)).color);
            return [place, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
          });
        }"""
    )
    assert [place for place, ratio in contrast if ratio < 4.5] == []
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [360, 768, 1240])
def test_nothing_sticks_out_sideways(open_page, decalin, width):
    page = open_page(decalin[0])
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    panels = [page.locator(f"#panel-{letter}").bounding_box() for letter in "ab"]
    assert (panels[1]["y"] > panels[0]["y"]) == (width < 760)


@pytest.mark.exhaustive
def test_hostile_labels_do_nothing(open_page, tmp_path):
    text = "</script><script>alert(1)</script><img src=https://example.org/x onerror=alert(2)>'\"\u202e"
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, text, "l")
    named = Dataset("g", GraphBatch.from_networkx([graph], node_label="l"), names=(text,))
    path = tmp_path / "hostile.html"
    write_page(path, compare_page(named, named, compare(named.graphs, named.graphs)))
    page = open_page(path)
    page.hover("#a-0 .disc")
    assert text in page.text_content("#inspector")
    assert page.text_content("#panel-a .name") == text
    assert page.locator("img").count() == 0


@pytest.mark.exhaustive
def test_directed_identity_sets_follow_the_arcs(open_page, tmp_path):
    named = Dataset("g", GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=True), names=("chain",))
    path = tmp_path / "directed.html"
    write_page(path, compare_page(named, named, compare(named.graphs, named.graphs)))
    page = open_page(path)
    set_round(page, 1)
    page.hover("#a-1 .disc")
    assert lit(page, "a") == {1, 2}


@pytest.mark.exhaustive
def test_large_graphs_show_the_tables(open_page, tmp_path):
    graphs = [
        Dataset("g", GraphBatch.from_networkx([nx.gnp_random_graph(450, 0.01, seed=s)]), names=("g",))
        for s in (1, 2)
    ]
    path = tmp_path / "large.html"
    write_page(path, compare_page(*graphs, compare(graphs[0].graphs, graphs[1].graphs)))
    page = open_page(path)
    assert page.locator("#rows tr").count() > 3
    page.focus("#round")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#vectors-h") == "2"
