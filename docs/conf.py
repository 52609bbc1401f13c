"""How the site is built (`make docs`): Sphinx, the PyData theme, and examples that are run."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src"))  # the code beside these pages, installed or not
sys.path.insert(0, str(HERE))

import twinwl  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "twinwl"
author = "The twinwl developers"
copyright = author  # noqa: A001  (Sphinx's name)
version = release = twinwl.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "start/*.ipynb", "**/*.py", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the order of examples is a class, which cannot be stored

autosummary_generate = True
autodoc_typehints = "none"  # numpy docstrings say what is accepted; signatures with types are hard to read
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = f"twinwl {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "project/changelog": []}
html_theme_options = {
    "logo": {"text": "twinwl"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "default",
    "pygments_dark_style": "monokai",
}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/start", "../examples/gallery"],
    "gallery_dirs": ["start", "gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "reset_modules": ("plot_style.apply",),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "doc_module": ("twinwl",),
    "reference_url": {"twinwl": None},
    "backreferences_dir": "generated/uses",
}

# Files of the repository that are pages of the site too: copied before the site is built, links adapted.
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "RESULTS.md": "results.md",
    "results/README.md": "project/stored_results.md",
    "SECURITY.md": "project/security.md",
}
# Files that other pages show.
SHOWN = {"README.md": "index.md", "docs/hash_reference.py": "hash_reference.md"}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s:#]+)(#[^)\s]*)?\)")


def with_links_of_the_site(text: str, file: str, page: str) -> str:
    """Return Markdown with links as they are on the site: to pages where there is one, else to the file."""

    def moved(link: re.Match[str]) -> str:
        target = (ROOT / file).parent.joinpath(link[2]).resolve()
        known = (PAGES | SHOWN).get(os.path.relpath(target, ROOT))
        target = HERE / known if known else target
        return f"{link[1]}{os.path.relpath(target, (HERE / page).parent)}{link[3] or ''})"

    return LINK.sub(moved, text)


def copy_pages(_: Sphinx) -> None:
    """Write the pages that are files of the repository; leave alone those that have not changed."""
    for file, page in PAGES.items():
        text = with_links_of_the_site((ROOT / file).read_text(encoding="utf-8"), file, page)
        path = HERE / page
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def adapt_links(app: Sphinx, page: str, source: list[str]) -> None:
    """Adapt the links of pages that lie in docs/, which are read on other hosts too."""
    path = Path(app.env.doc2path(page))
    name = f"{page}.md"
    if path.suffix == ".md" and name not in PAGES.values():
        source[0] = with_links_of_the_site(source[0], f"docs/{name}", name)


def is_left_out(_app: Sphinx, _what: str, name: str, obj: object, *_: object) -> bool | None:
    """Leave out members that scikit-learn and torch have put into a class."""
    member = inspect.unwrap(getattr(obj, "fget", None) or obj)
    home = getattr(member, "__module__", None) or ""
    return True if name.startswith("_") or not home.startswith("twinwl") else None


def setup(app: Sphinx) -> None:
    """Connect the steps above."""
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("source-read", adapt_links)
    app.connect("autodoc-skip-member", is_left_out)
