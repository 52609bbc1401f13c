"""The gallery of explanations in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import pytest

from tests.browser import OUT_OF_PLACE
from tests.report.explain.test_gallery import model, page_of  # noqa: F401  (a fixture)
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import load_dataset
from twinwl.evaluation.neighbours import search
from twinwl.report.page import write_page

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):  # noqa: F811
    data = load_dataset(["CCCO", "CCCCCCCCCCCC", "CC(C)(C)CN"], kind="smiles", atoms="skeleton")
    path = tmp_path_factory.mktemp("pages") / "gallery.html"
    training = Dataset("training", data.graphs[:1], names=("C" * 150,))
    write_page(path, page_of(model, data, nearest=search(data, training, 1, ReadOptions())))
    return path


def test_every_molecule_is_visible_and_nothing_covers_anything(open_page, path):
    page = open_page(path)
    boxes = [tile.bounding_box() for tile in page.locator(".tile svg").all()]
    assert len(boxes) == 3
    assert all(box["width"] > 100 and box["height"] > 50 for box in boxes)
    assert page.eval_on_selector_all(".tile svg", OUT_OF_PLACE) == []


def test_long_names_stay_in_their_tile(open_page, path):
    page = open_page(path)
    beyond = "tiles => tiles.filter(tile => tile.scrollWidth > tile.clientWidth).length"
    assert page.eval_on_selector_all(".tile", beyond) == 0


def test_unseen_atoms_are_outlined_and_say_since_when(open_page, path):
    page = open_page(path)
    outlines = page.locator(".tile .unseen")
    assert outlines.count() > 0
    assert outlines.first.evaluate("e => getComputedStyle(e).strokeDasharray") != "none"
    titles = page.locator(".tile .atom title").all_text_contents()
    assert any(title.endswith("unseen from round 0 on") for title in titles)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_of_a_narrow_screen(open_page, path, scheme):
    page = open_page(path, {"width": 360, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    tiles = [
        (tile.locator(part).bounding_box())
        for tile in page.locator(".tile").all()
        for part in (".name", "svg")
    ]
    for name, drawing in zip(tiles[::2], tiles[1::2], strict=True):
        assert drawing["height"] == 190
        assert drawing["y"] - (name["y"] + name["height"]) < 10  # no gap above the drawing
