"""The page of an explanation in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

from functools import partial

import pytest

from twinwl.datasets.source import load_dataset
from twinwl.graphs.batch import GraphBatch
from twinwl.models.svc import STwinSVC
from twinwl.report.explain import explain_page
from twinwl.report.page import write_page

pytest.importorskip("rdkit", reason="needs RDKit")

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of butanol, for a model that tells alcohols from alkanes."""
    alcohols, alkanes = ["CO", "CCO", "CCCO", "CC(C)O"], ["C", "CC", "CCC", "CC(C)C"]
    graphs = GraphBatch.from_smiles((alcohols + alkanes) * 2, atoms="skeleton")
    model = STwinSVC(n_iter=2, C=1.0).fit(graphs, (["alcohol"] * 4 + ["alkane"] * 4) * 2)
    named = load_dataset("smiles:CCCCO", atoms="skeleton")
    path = tmp_path_factory.mktemp("pages") / "butanol.html"
    write_page(path, explain_page(named, model.explain(named.graphs), model))
    return path


@pytest.fixture
def opened(open_page, path):
    return partial(open_page, path)


def test_pointing_at_an_atom_tells_its_share(opened):
    page = opened()
    page.hover('.atom[data-node="4"]')
    assert page.inner_text("#inspector").startswith("Atom 4 · O·share +")
    page.keyboard.press("Escape")
    assert page.inner_text("#inspector") == "Point at an atom to see its share."


def test_atoms_can_be_reached_by_keyboard(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.inner_text("#inspector").startswith("Atom 0 · C")
    page.keyboard.press("Tab")
    assert page.inner_text("#inspector").startswith("Atom 1 · C")


def test_pointing_at_a_card_lights_its_nodes(opened):
    page = opened()
    card = page.locator(".cards li").first
    card.hover()
    lit = page.eval_on_selector_all("svg.graph .atom.in", "all => all.map(a => a.dataset.node)")
    assert lit == card.get_attribute("data-nodes").split()
    page.hover("h1")
    assert page.locator("svg.graph.lit").count() == 0


def test_the_oxygen_is_red_in_light_and_in_dark(opened):
    for scheme in ("light", "dark"):
        page = opened(color_scheme=scheme)
        fill = page.eval_on_selector('.halo[data-node="4"]', "e => getComputedStyle(e).fill")
        red, _, blue = [float(part) for part in fill.partition("(")[2].rstrip(")").split()[-3:]]
        assert red > 2 * blue, fill


def test_nothing_sticks_out_of_a_narrow_screen(opened):
    page = opened()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
