"""How the site is built (`make docs`): Sphinx, the PyData theme, and examples that are run."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src"))  # the code beside these pages, installed or not
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

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
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "**/*.py", "**/GALLERY_HEADER.rst"]
default_role = "py:obj"  # `name` in docstrings is a link
highlight_language = "none"
smartquotes = False  # "--option" stays as it is
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
(HERE / "generated/pages").mkdir(parents=True, exist_ok=True)
html_extra_path = ["generated/pages"]
html_sidebars = {"index": [], "get_started": [], "changelog": []}
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
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
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


def is_left_out(_app: Sphinx, _what: str, name: str, obj: object, *_: object) -> bool | None:
    """Leave out members that scikit-learn and torch have put into a class."""
    member = inspect.unwrap(getattr(obj, "fget", None) or obj)
    home = getattr(member, "__module__", None) or ""
    return True if name.startswith("_") or not home.startswith("twinwl") else None


def write_out(_app: Sphinx, what: str, _name: str, obj: object, _options: object, lines: list[str]) -> None:
    """Write out the parameters that another class describes."""
    if what == "class":
        lines[:] = generate.written_out(lines, obj)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the redirects."""
    if error is None:
        generate.write_redirects(Path(app.outdir))


def setup(app: Sphinx) -> None:
    """Connect the steps above."""
    app.connect("builder-inited", lambda _: generate.write(HERE), priority=100)
    app.connect("autodoc-process-docstring", write_out, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("build-finished", finish)
