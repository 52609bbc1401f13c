"""The page that shows why two graphs are told apart, or not: one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from twinwl import __version__
from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write
from twinwl.graphs.batch import concatenate
from twinwl.report.compare.page_data import LARGEST_DRAWN, page_data, script_safe_json, side_of_page
from twinwl.report.compare.rounds import rounds_of_pair, rounds_to_show
from twinwl.report.compare.verdict_text import caption, verdict_of
from twinwl.report.drawing.graph_drawing import draw, on_one_canvas

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.datasets.dataset import Dataset
    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.verdict import Comparison
    from twinwl.report.compare.rounds import Round

__all__ = ["compare_page", "write_compare_page"]

_TEMPLATES = files("twinwl.report") / "templates"


def compare_page(first: Dataset, second: Dataset, comparison: Comparison, n_iter: int | None = None) -> str:
    """Return the page of two graphs as HTML.

    Parameters
    ----------
    first, second
        One graph each, with its name.
    comparison
        The result of `twinwl.compare`.
    n_iter
        Last round to show; None shows as many as are needed.

    Examples
    --------
    >>> from twinwl.isomorphism.comparison import compare
    >>> from twinwl import load_dataset
    >>> hexagon, triangles = load_dataset("graph6:EhEG"), load_dataset("graph6:EwCW")
    >>> page = compare_page(hexagon, triangles, compare(hexagon.graphs, triangles.graphs))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    pair = concatenate([part.graphs.without_features() for part in (first, second)])
    rounds = _rounds(pair, comparison, n_iter)
    last = len(rounds) - 1
    start = last if comparison.iteration is None else comparison.iteration
    drawn = int(pair.nodes_per_graph.max(initial=0)) <= LARGEST_DRAWN
    drawings = (
        on_one_canvas(
            [draw(part.graphs, part.smiles[0] if part.smiles else None) for part in (first, second)]
        )
        if drawn
        else [None, None]
    )
    captions = [caption(h, found, comparison) for h, found in enumerate(rounds)]
    script = _asset("compare.js")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _asset("compare.html.jinja")
    )
    return template.render(
        version=__version__,
        verdict=verdict_of(pair, comparison),
        sides=[
            side_of_page(side, (first, second)[side], drawings[side], pair, rounds[start]) for side in (0, 1)
        ],
        rounds=[
            {"difference": found.difference, "caption": " ".join(text)}
            for found, text in zip(rounds, captions, strict=True)
        ],
        n_iter=last,
        start=start,
        drawn=drawn,
        by_readout=any(found.by_readout for found in rounds),
        notice=f"Graphs of more than {LARGEST_DRAWN} nodes are not drawn. The vectors below are complete.",
        style=Markup(_asset("compare.css")),  # noqa: S704  (our own file)
        script=Markup(script),  # noqa: S704  (our own file)
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=script_safe_json(page_data(pair, rounds, captions, start, drawn=drawn)),
    )


def write_compare_page(
    path: Path, first: Dataset, second: Dataset, comparison: Comparison, n_iter: int | None = None
) -> None:
    """Write the page to a file, atomically.

    Raises
    ------
    TwinWLError
        If the file cannot be written.
    """
    # Labels may hold lone surrogates, which no UTF-8 file can.
    content = compare_page(first, second, comparison, n_iter).encode("utf-8", "replace")
    try:
        with atomic_write(path) as stream:
            stream.write(content)
    except OSError as error:
        raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def _rounds(pair: GraphBatch, comparison: Comparison, n_iter: int | None) -> list[Round]:
    rounds = rounds_of_pair(pair, rounds_to_show(pair, comparison.iteration, n_iter))
    witness = comparison.witness
    if witness is not None:
        first_of_second = int(pair.graph_ptr[1])
        nodes = [*witness.nodes[0], *(first_of_second + node for node in witness.nodes[1])]
        rounds[witness.iteration] = rounds[witness.iteration].with_witness(nodes)
    return rounds


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
