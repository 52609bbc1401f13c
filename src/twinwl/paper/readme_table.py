"""What a README says of the results: kept between two marks, written from the store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write
from twinwl.paper.summary import findings_of
from twinwl.paper.tables import TABLES, TITLES
from twinwl.report.results.markdown import markdown_list

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.report.results.cells import Results

__all__ = ["headline_table", "update_readme"]

_METHODS = ("wl", "stwin", "wl-encoder", "ntwin", "wl-svc", "stwin-svc")
_BEGIN, _END = "<!-- figures:start -->", "<!-- figures:end -->"


def headline_table(results: Results) -> str:
    """Return fair accuracies of 1-WL and the Twins on all data sets of the paper, as Markdown.

    >>> from twinwl.report.results.cells import Results
    >>> headline_table(Results([])).splitlines()[2]
    "| 1-WL, STwin's MLP | not run | not run | not run | not run | not run | not run |"
    """
    datasets = [*TABLES["table1"].datasets, *TABLES["table2"].datasets]
    lines = [["fair accuracy, %", *datasets], ["---", *["---:"] * len(datasets)]]
    for method in _METHODS:
        cells = []
        for dataset in datasets:
            cell = results.cell(dataset, method)
            if cell is None:
                cells.append("not run")
                continue
            fair = cell.readings["fair"]
            part = f" ({cell.n_runs} of {cell.n_folds} folds)" if cell.partial else ""
            cells.append(f"{100 * fair.mean:.1f} ± {100 * fair.std:.1f}{part}")
        lines.append([TITLES[method], *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def update_readme(path: Path, results: Results) -> None:
    """Write what was found, and the table, between the marks of a file.

    Raises
    ------
    TwinWLError
        If the file cannot be read or written, or has no marks.
    """
    try:
        text = path.read_text(encoding="utf-8")
        marked = re.compile(f"({re.escape(_BEGIN)}\n).*?({re.escape(_END)})", re.DOTALL)
        if not marked.search(text):
            raise TwinWLError(
                f"{str(path)!r} has no place for results; put the lines {_BEGIN} and {_END} into it"
            )
        findings = markdown_list([finding.sentence for finding in findings_of(results)])
        between = f"{findings}\n\n{headline_table(results)}"
        written = marked.sub(lambda found: f"{found[1]}\n{between}\n\n{found[2]}", text)
        with atomic_write(path) as stream:
            stream.write(written.encode())
    except OSError as error:
        raise TwinWLError(f"cannot update {str(path)!r}: {error.strerror or error}") from error
