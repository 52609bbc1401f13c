"""Two pages of results: all tables of the paper, and what the demonstration has just run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from twinwl.paper.case_study_figure import case_pictures
from twinwl.paper.example_figures import round_pictures
from twinwl.paper.measured_sections import case_section, growth_section, runtime_section
from twinwl.paper.sections import (
    accuracy_section,
    closeness_section,
    copies_section,
    cost_section,
    protocol_section,
    significance_section,
)
from twinwl.paper.summary import findings_of
from twinwl.paper.tables import DEMO_PAIRS, TABLES
from twinwl.report.drawing.molecule_picture import MoleculePicture, on_equal_canvases
from twinwl.report.results.blocks import Drawings, Page, Paragraph, Section
from twinwl.report.wording import counted, enumerated, facts_of

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.datasets.dataset import Dataset
    from twinwl.report.results.cells import Results

__all__ = ["demo_page", "paper_page", "read_benchmark"]

_MADE_BY = "Every figure on this page was written by the program that ran it; nothing was typed in by hand."


def paper_page(
    results: Results, mutagenicity: Dataset | None = None, benchmark: dict[str, object] | None = None
) -> Page:
    """Put the page of the whole paper together.

    Parameters
    ----------
    results
        What the stores hold.
    mutagenicity
        For the drawing of the case study; left out without it.
    benchmark
        Of `read_benchmark`: how runtime grows.

    Examples
    --------
    >>> from twinwl.report.results.cells import Results
    >>> [section.anchor for section in paper_page(Results([])).sections]
    ['table1', 'table2']
    """
    table1, table2 = TABLES["table1"], TABLES["table2"]
    pictures = [] if mutagenicity is None else case_pictures(mutagenicity)
    sections = [
        significance_section(results, [*table1.datasets, *table2.datasets]),
        protocol_section(results, [table1, table2]),
        closeness_section(results),
        accuracy_section(table1, results),
        accuracy_section(table2, results),
        runtime_section(results),
        cost_section(results, table1),
        copies_section(results, table1),
        case_section(results, pictures),
        growth_section(benchmark),
    ]
    lede = (
        "Twin Weisfeiler-Lehman passes node identities along with node labels; 1-WL passes labels alone. "
        "These are the experiments of its paper, run again: every figure beside the reported one, and with "
        "the protocol it was read by."
    )
    found = findings_of(results)
    return Page(
        "The Twin-WL paper, run again",
        [lede],
        [(finding.figure, finding.caption) for finding in found if finding.figure],
        [part for part in sections if part],
        _made_by(results),
        [finding.sentence for finding in found],
    )


def demo_page(results: Results, twins: Dataset) -> Page:
    """Put the page of the demonstration together: the worked example, and what was just run.

    Parameters
    ----------
    results
        What was run.
    twins
        TWINS, of which a pair is drawn.
    """
    table = TABLES["demo"]
    datasets = [name for name in table.datasets if any(results.cell(name, row.method) for row in table.rows)]
    highlights = []
    for row in table.rows:
        cell = results.cell("TWINS", row.method)
        if cell is not None:
            highlights.append((f"{100 * cell.readings['fair'].mean:.1f} %", f"{row.title} on TWINS, fair"))
    example = Drawings(
        round_pictures(),
        "The worked example of the paper. Fill: the colour of a node in 1-WL. Number: how many nodes it "
        "reaches in h steps. 1-WL counts nodes by colour and never sees a difference; STwin adds up the "
        "numbers and does.",
    )
    what = (
        "TWINS is made of pairs of molecule-like graphs, one with the rings of decalin, one with those of "
        "bicyclopentyl. 1-WL cannot tell the two apart, so a method bounded by it scores exactly 50 % when "
        "pairs stay in one fold."
    )
    sections = [
        Section("example", "What 1-WL cannot see", [example]),
        Section("twins", "Molecules that are twins to 1-WL", [Paragraph(what), _pair(twins)]),
        accuracy_section(table, results, datasets),
        significance_section(results, datasets, DEMO_PAIRS),
        protocol_section(results, [table._replace(datasets=tuple(datasets))]),
    ]
    lede = (
        "A Twin-GNN passes identities along with labels, so it sees what a neural network bounded by 1-WL "
        f"cannot. This is what it makes of {enumerated(datasets)}, run on this machine just now."
    )
    next_step = "All tables of the paper: twinwl reproduce all. Help: twinwl --help."
    made_by = [*_made_by(results), next_step]
    return Page(
        "Two messages see more than one", [lede], highlights, [part for part in sections if part], made_by
    )


def _pair(twins: Dataset) -> Drawings:
    """Draw the smallest pair of TWINS."""
    sizes = twins.graphs.nodes_per_graph
    pair = np.flatnonzero(twins.groups == twins.groups[int(sizes.argmin())])  # type: ignore[index]
    pictures = []
    for graph in sorted(pair.tolist(), key=lambda graph: -int(twins.targets[graph])):
        one = twins.graphs[graph]
        core = "decalin" if twins.targets[graph] else "bicyclopentyl"
        letters = [str(label) for label in one.labels_of_nodes()]
        caption = f"the rings of {core}, {facts_of(one)}"
        pictures.append(
            MoleculePicture(one, letters, f"Graph {graph}, class {twins.targets[graph]}", caption)
        )
    text = "A pair of TWINS: the same atoms with the same neighbours, however far 1-WL looks."
    return Drawings(on_equal_canvases(pictures), text, size="medium")


def read_benchmark(path: Path) -> dict[str, object] | None:
    """Read what ``benchmarks/refinement.py`` wrote; None where it has not been run.

    >>> from pathlib import Path
    >>> read_benchmark(Path("no-such-file.json")) is None
    True
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _made_by(results: Results) -> list[str]:
    versions = sorted({_written(row["versions"]) for row in results.rows if "versions" in row})
    lines = [_MADE_BY]
    if versions:
        lines.append(
            f"{counted(len(results.rows), 'result')} in the store, made with {'; or '.join(versions)}."
        )
    return lines


def _written(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
