"""The page that explains a model's prediction for a graph: one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import itertools
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from twinwl import __version__
from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write
from twinwl.report.compare.page_data import LARGEST_DRAWN
from twinwl.report.explain.page_data import STRONGEST, columns_shown, drawing_of, nodes_shown, percent, signed
from twinwl.report.wording import counted, facts_of

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.datasets.dataset import Dataset
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet
    from twinwl.report.explain.page_data import ShownNode

__all__ = ["drawn_for_the_eye", "explain_page", "rendered", "write_explain_page", "write_page"]

_TEMPLATES = files("twinwl.report") / "templates"


def explain_page(
    named: Dataset,
    explanation: Explanation,
    *,
    alphabet: Alphabet | None = None,
    probability: float | None = None,
    atoms: str = "skeleton",
    edge_labels: bool = True,
) -> str:
    """Return the page of an explanation as HTML.

    Parameters
    ----------
    named
        One graph with its name, and its SMILES if it is a molecule.
    explanation
        The result of a classifier's ``explain`` for this graph.
    alphabet
        Alphabet of the model, to find the nodes that a column counts; without it they are not shown.
    probability
        Probability of the predicted class.
    atoms
        What the model's atom labels contain, as in `GraphBatch.from_smiles`.
    edge_labels
        Whether the model sees edge labels; if not, the page says that they are drawn for the eye only.

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinSVC
    >>> from twinwl import load_dataset
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    >>> model = STwinSVC().fit(GraphBatch.from_edges([triangle, path] * 5), ["ring", "chain"] * 5)
    >>> named = load_dataset("graph6:Bw")
    >>> page = explain_page(named, model.explain(named.graphs), alphabet=model.space_.alphabet)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    molecule = named.smiles[0] if named.smiles else None
    drawing = drawing_of(named.graphs, molecule)
    nodes = nodes_shown(explanation, drawing, molecule, alphabet)
    columns = columns_shown(named.graphs, explanation, alphabet, drawing, molecule, atoms)
    noun = "node" if molecule is None else "atom"
    script = _asset("explain.js")
    return rendered(
        "explain.html.jinja",
        name=named.names[0],
        facts=facts_of(named.graphs, molecule=molecule is not None),
        noun=noun,
        eye=drawn_for_the_eye(named.graphs, molecule=molecule is not None, edge_labels=edge_labels),
        any_unseen=any(node.unseen is not None for node in nodes),
        arrows=named.graphs.directed,
        is_molecule=bool(named.smiles),
        explanation=explanation,
        wanted=explanation.sides[0],
        other=explanation.sides[1],
        probability=None if probability is None else percent(probability),
        parts=_parts(explanation),
        drawing=drawing,
        nodes=nodes,
        listed=_by_weight(nodes),
        n_listed=counted(len(nodes), noun),
        columns=columns,
        largest=max([abs(node.share) for node in nodes], default=0.0),
        strongest=100 * STRONGEST,
        notice=f"A graph of more than {LARGEST_DRAWN} nodes is not drawn. The shares below are complete.",
        script=Markup(script),  # noqa: S704  (our own file)
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def write_explain_page(
    path: Path,
    named: Dataset,
    explanation: Explanation,
    *,
    alphabet: Alphabet | None = None,
    probability: float | None = None,
    atoms: str = "skeleton",
    edge_labels: bool = True,
) -> None:
    """Write the page to a file, atomically.

    Raises
    ------
    TwinWLError
        If the file cannot be written.
    """
    page = explain_page(
        named, explanation, alphabet=alphabet, probability=probability, atoms=atoms, edge_labels=edge_labels
    )
    write_page(path, page)


def drawn_for_the_eye(graphs: GraphBatch, *, molecule: bool, edge_labels: bool) -> str:
    """Return a sentence if edge labels are drawn that the model does not see, otherwise nothing."""
    if edge_labels or graphs.edge_labels is None:
        return ""
    what = "Bond orders" if molecule else "Edge labels"
    return f"{what} are drawn for the eye; this model does not see them."


def rendered(template: str, **values: object) -> str:
    """Fill in a template, with the style that all pages about explanations share."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["signed"] = signed
    style = Markup(_asset("compare.css") + _asset("explain.css"))  # noqa: S704  (our own files)
    return environment.get_template(template).render(version=__version__, style=style, **values)


def write_page(path: Path, page: str) -> None:
    """Write a page to a file, atomically.

    Raises
    ------
    TwinWLError
        If the file cannot be written.
    """
    try:
        with atomic_write(path) as stream:
            stream.write(page.encode("utf-8", "replace"))  # labels may hold lone surrogates
    except OSError as error:
        raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def _parts(explanation: Explanation) -> list[dict[str, object]]:
    """Return the terms of the decision as bars, each starting where the previous one ends."""
    shares = explanation.node_shares
    steps = [
        ("Intercept", explanation.intercept),
        (f"Shares for {explanation.sides[0]}", float(shares[shares > 0].sum())),
        (f"Shares for {explanation.sides[1]}", float(shares[shares < 0].sum())),
    ]
    starts = [0.0]
    for _, step in steps:
        starts.append(starts[-1] + step)
    spans = [*itertools.pairwise(starts), (0.0, starts[-1])]
    low, high = min(0.0, *starts), max(0.0, *starts)
    scale = 100 / ((high - low) or 1.0)
    titled = [*steps, ("Decision", starts[-1])]
    return [
        {
            "title": title,
            "value": value,
            "left": (min(span) - low) * scale,
            "width": (max(span) - min(span)) * scale,
            "zero": -low * scale,
        }
        for (title, value), span in zip(titled, spans, strict=True)
    ]


def _by_weight(nodes: list[ShownNode]) -> list[ShownNode]:
    return sorted(nodes, key=lambda node: -abs(node.share))


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
