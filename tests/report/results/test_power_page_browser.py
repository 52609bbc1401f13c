"""The page of `power` in a real browser: each category once, nothing wider than the screen."""

from __future__ import annotations

import re

import pytest

from twinwl.datasets.generators import BREC_PARTS
from twinwl.evaluation.power import PairScore, Power
from twinwl.isomorphism.readouts import READOUTS
from twinwl.report.audit_page import power_page
from twinwl.report.page import write_page

pytestmark = pytest.mark.exhaustive

DESKTOP, PHONE = {"width": 1240, "height": 900}, {"width": 390, "height": 844}
TOTALS = [79, 160, 202, 223, 251, 280, 378, 390, 400, 400]  # many of them close together
SECONDS = [0.4, 1.3, 1.4, 2, 3.3, 3.5, 30, 5, 35, 2]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    numbered = [(name, pair) for name, part in BREC_PARTS.items() for pair in range(part.n_pairs)]
    names = list(READOUTS)[: len(TOTALS)]
    scores = [
        PairScore(
            scored, name, place, f"{name} {pair}", "separated" if place < total else "same", 1.0, 0.0, 1,
            seconds / 400, "",
        )
        for scored, total, seconds in zip(names, TOTALS, SECONDS, strict=False)
        for place, (name, pair) in enumerate(numbered)
    ]  # fmt: skip
    found = Power("brec", {name: part.n_pairs for name, part in BREC_PARTS.items()}, 16, tuple(names), scores)
    written = tmp_path_factory.mktemp("page") / "power.html"
    write_page(written, power_page(found))
    return written


def test_no_category_has_the_name_of_another(path):
    text = path.read_text(encoding="utf-8")
    assert len(re.findall(r"<th[^>]*>\s*regular\b", text)) == 1
    assert len(re.findall(r"<th[^>]*>\s*all regular\s*<", text)) == 1


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_is_never_wider_than_the_screen(open_page, path, viewport):
    page = open_page(path, viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
