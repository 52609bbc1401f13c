"""A real browser for the pages: Chromium without a window, driven by Playwright.

Pages are looked at in DejaVu Sans, the widest of the common sans-serifs, whatever fonts the machine has:
what fits there fits everywhere. FONTCONFIG_FILE chooses others.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from matplotlib import get_data_path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
DESKTOP = {"width": 1240, "height": 900}
ONLY_THESE_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""
# Texts in pictures that stick out of them, or out of the box that they stand in, or cover each other.
OUT_OF_PLACE = """svgs => svgs.flatMap(svg => {
  const place_of = shape => shape.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, place_of(text)]);
  const frames = [svg, ...svg.querySelectorAll('rect.box')].map(place_of);
  const middle = box => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const holds = (frame, [x, y]) => frame.left < x && x < frame.right && frame.top < y && y < frame.bottom;
  const clash = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.flatMap(([name, box], place) => [
    ...frames.filter(frame => frame === frames[0] || holds(frame, middle(box)))
      .filter(frame => box.left < frame.left - 2 || box.right > frame.right + 2
        || box.bottom > frame.bottom + 2)
      .map(() => name + ' sticks out'),
    ...boxes.slice(place + 1).filter(([, other]) => clash(box, other)).map(([other]) => name + ' / ' + other),
  ]);
})"""


@pytest.fixture(scope="session")
def fonts(tmp_path_factory):
    """Return the file that tells a browser which fonts there are: matplotlib's copy of DejaVu Sans."""
    if chosen := os.environ.get("FONTCONFIG_FILE"):
        return chosen
    folder = tmp_path_factory.mktemp("fonts")
    for font in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        shutil.copy(Path(get_data_path(), "fonts", "ttf", font), folder)
    (folder / "fonts.conf").write_text(ONLY_THESE_FONTS.format(folder=folder), encoding="utf-8")
    return str(folder / "fonts.conf")


@pytest.fixture(scope="module")
def browser(fonts):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        environment = {**os.environ, "FONTCONFIG_FILE": fonts}
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, env=environment)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser):
    """Open pages; in the end nothing may have gone to the network or been complained about."""
    contexts, trouble = [], []

    def open_path(path, viewport=None, **options):
        context = browser.new_context(viewport=viewport or DESKTOP, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:")) or trouble.append(f"request: {request.url}")
            ),
        )
        page.goto(path.as_uri())
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert trouble == []
