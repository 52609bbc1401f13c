"""Self-contained HTML pages: templates filled in with their styles and scripts, each written to one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from twinwl import __version__
from twinwl.files.atomic import written

_FOLDER = files("twinwl.report") / "templates"
# Control characters of labels and names as Unicode's pictures of them, which are valid in text, JSON and SVG.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def templates(**options: Any) -> jinja2.Environment:  # noqa: ANN401  (as in Jinja)
    """Return the environment of the page templates."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, **options
    )


def rendered(template: jinja2.Template, styles: Sequence[str], script: str = "", **values: object) -> str:
    """Fill in a template.

    Parameters
    ----------
    template
        From `templates`.
    styles, script
        Names of files next to the templates.
    values
        Further variables of the template.
    """
    code = _asset(script) if script else ""
    page = template.render(
        version=__version__,
        style=Markup("\n".join(map(_asset, styles))),  # noqa: S704  (our own files)
        script=Markup(code),  # noqa: S704  (our own file)
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        **values,
    )
    return page.translate(_PICTURES)


def write_page(path: Path, page: str) -> None:
    """Write a page to a file, atomically.

    Raises
    ------
    TwinWLError
        If the file cannot be written.
    """
    with written(path) as stream:
        stream.write(page.encode("utf-8", "replace"))  # labels may hold lone surrogates


def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
