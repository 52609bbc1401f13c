"""The results page in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

from functools import partial

import pytest

from tests.browser import OUT_OF_PLACE
from tests.paper.stored_results import BENCHMARK, measured_rows, table_rows
from twinwl.paper.figures import write_figures
from twinwl.paper.markdown import write_results
from twinwl.paper.pages import paper_page
from twinwl.paper.result_cells import Results

pytestmark = pytest.mark.exhaustive

DESKTOP, PHONE = {"width": 1240, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = paper_page(
        Results([*table_rows("table1"), *table_rows("table2"), *measured_rows()]), None, BENCHMARK
    )
    written = tmp_path_factory.mktemp("page") / "report.html"
    write_results(page, written)
    return written


@pytest.fixture
def opened(open_page, path):
    return partial(open_page, path)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_is_never_wider_than_the_screen(opened, viewport):
    page = opened(viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_a_wide_table_scrolls_inside_its_own_frame_on_a_phone(opened):
    page = opened(PHONE)
    wide, frame = page.eval_on_selector("#table1 .scroll", "box => [box.scrollWidth, box.clientWidth]")
    assert wide > frame
    page.eval_on_selector("#table1 .scroll", "box => box.scrollTo(600, 500)")
    for selector in (".method .name", "tbody .reading"):  # whose figure it is stays in sight
        assert page.locator(f"#table1 {selector}").first.bounding_box()["x"] >= 0
    box, head = (page.locator(f"#table1 {name}").first.bounding_box() for name in (".scroll", "thead th"))
    assert head["y"] == pytest.approx(box["y"], abs=1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, scheme):
    page = opened(color_scheme=scheme)
    for selector in (".lede", "section p", ".accuracies .std", ".accuracies tr.paper td b", "figcaption"):
        assert contrast(page, selector) >= 4.5, selector


def contrast(page, selector):
    """Return the WCAG contrast of an element's text with the card or page behind it."""
    colours = page.eval_on_selector(
        selector,
        """element => {
          const style = one => getComputedStyle(one);
          let ground = element;
          while (style(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
          return [style(element).color, style(ground).backgroundColor];
        }""",
    )
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_findings_are_on_the_first_screen(opened):
    box = opened().locator("header .findings").bounding_box()
    assert box["y"] + box["height"] < DESKTOP["height"]


def test_texts_in_charts_cover_neither_each_other_nor_stick_out(opened):
    page = opened()
    assert page.locator(".panel svg").count() > 10
    assert page.eval_on_selector_all(".panel svg", OUT_OF_PLACE) == []


def test_texts_in_figures_cover_neither_each_other_nor_stick_out(open_page, tmp_path):
    pictures = [path.read_text(encoding="utf-8") for path in write_figures(tmp_path)]
    (tmp_path / "figures.html").write_text("".join(pictures), encoding="utf-8")
    page = open_page(tmp_path / "figures.html")
    assert page.eval_on_selector_all("svg", OUT_OF_PLACE) == []


def test_the_data_sets_stay_in_sight_while_a_long_table_is_read(opened):
    page = opened()
    page.evaluate("scrollTo({top: document.querySelector('#table1').offsetTop + 700, behavior: 'instant'})")
    assert page.locator("#table1 thead th").last.bounding_box()["y"] == pytest.approx(0, abs=2)


def test_the_links_lead_to_sections(opened):
    page = opened()
    for anchor in page.eval_on_selector_all("nav a", "all => all.map(a => a.getAttribute('href'))"):
        assert page.locator(f"section{anchor}").count() == 1


def test_figures_behind_a_chart_can_be_opened(opened):
    page = opened()
    table = page.locator("#protocols details table")
    assert not table.is_visible()
    page.click("#protocols summary")
    assert table.is_visible()
    assert "STwin-GNN" in table.inner_text()


def test_paper_gets_light_colours_and_no_navigation(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.pdf().startswith(b"%PDF")
