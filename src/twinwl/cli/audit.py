"""``twinwl audit``: what data sets share, and which copies contradict each other."""

from __future__ import annotations

import json as json_format
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import OUTPUT, EdgeLabels, Json, file_option, reads_data
from twinwl.terminal import say

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
Give the training data first. For every later data set the command counts the graphs that an earlier one has \
too (exactly) and those that are nearly the same (twin kernel, minmax, two rounds, \
found through an inverted index). Molecules are compared at each level: skeleton (elements and bonds), \
constitution (and charge, hydrogens, radicals), isotope, stereo. Copies of one graph with different targets \
are listed as contradictions, within a set and between sets that both have the column --target.

With --predictions, the table that [cyan]twinwl predict[/] wrote for the last data set, the scores are \
computed on all of its graphs, without those an earlier set has too, and without those nearly the same.

[bold]Examples[/]

$ twinwl audit train.csv test.csv --target active --html audit.html

$ twinwl audit train.csv test.csv --target active --predictions predictions.csv

$ twinwl audit HIV.csv tox21.csv --near 0.8 -o overlap.csv
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reads_data(audit))


def audit(
    data: Annotated[
        list[str], typer.Argument(metavar="TRAIN [TEST]…", help="Data sets, training data first.")
    ],
    near: Annotated[
        float, typer.Option(metavar="S", help="Graphs of this similarity or more are nearly the same.")
    ] = 0.9,
    same: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Level at which copies with different targets are counted. "
            "\\[default for molecules: constitution]",
        ),
    ] = None,
    predictions: Annotated[
        Path | None, file_option("Predictions for the last data set, as twinwl predict writes them.")
    ] = None,
    output: Annotated[
        Path | None, file_option("Write one row per match: .csv, .tsv, .json, .jsonl or .parquet.", *OUTPUT)
    ] = None,
    html: Annotated[Path | None, file_option("Write an HTML page of the results.")] = None,
    edge_labels: EdgeLabels = None,
    json: Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """Find what data sets share: the same graphs, nearly the same ones, and contradicting targets."""
    from twinwl.arguments import checked, number  # noqa: PLC0415  (not for the help)
    from twinwl.cli.output_files import PAGES, check_output, write_table  # noqa: PLC0415
    from twinwl.datasets.formats import ReadOptions  # noqa: PLC0415
    from twinwl.datasets.source import check_source, read_columns  # noqa: PLC0415
    from twinwl.files.tables import TABLE_ENDINGS  # noqa: PLC0415

    checked("--near", near, number(0, 1, above=True))
    check_output(output, TABLE_ENDINGS, inputs=(*data, predictions))
    check_output(html, PAGES, inputs=data)
    for source in data:
        check_source(source, replace(reading, target=None), "given")
    from twinwl.evaluation.audit import (  # noqa: PLC0415
        Match,
        audit_sets,
        read_audited,
        scores_without_overlap,
    )

    sets = read_audited(data, reading)
    found = audit_sets(sets, near, same, edge_labels=edge_labels is not False)
    if predictions is not None:
        last = list(found.sizes)[-1]
        tested = sets[-1]._replace(data=replace(sets[-1].data, name=last))
        columns = read_columns(predictions, ReadOptions(kind="table"))
        found = replace(found, scores=scores_without_overlap(found, tested, columns))
    if output is not None:
        records = found.to_records()
        write_table(output, {name: [record[name] for record in records] for name in Match._fields})
    if html is not None:
        from twinwl.report.audit_page import audit_page  # noqa: PLC0415
        from twinwl.report.page import write_page  # noqa: PLC0415

        write_page(html, audit_page(found, [one.data for one in sets], list(found.scores)))
    if json:
        say(json_format.dumps(found.to_dict()))
    else:
        say(str(found))
        for path in filter(None, (output, html)):
            say(f"Written to {path}")
