"""``twinwl audit``: what data sets share, and which copies contradict each other.

Give the training data first. For every later data set the command counts the graphs that an earlier one has
too (exactly) and those that are nearly the same (twin kernel, minmax, two rounds, found through an inverted
index). Molecules are compared at each level: skeleton (elements and bonds), constitution (and charge,
hydrogens, radicals), isotope, stereo. Copies of one graph with different targets are listed as
contradictions, within a set and between sets that both have the column --target.

With --predictions, the table that [cyan]twinwl predict[/] wrote for the last data set, the scores are
computed on all of its graphs, without those an earlier set has too, and without those nearly the same.

[bold]Examples[/]

$ twinwl audit train.csv test.csv --target active --html audit.html

$ twinwl audit train.csv test.csv --target active --predictions predictions.csv

$ twinwl audit HIV.csv tox21.csv --near 0.8 -o overlap.csv
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from twinwl.cli.options import (
    TABLES,
    EdgeLabels,
    Html,
    Json,
    Reading,
    TableFile,
    arg,
    check_output,
    opt,
    say_ids,
)
from twinwl.cli.output import publish


def audit(
    data: Annotated[list[str], arg("TRAIN [TEST]…", "Data sets, training data first.")],
    near: Annotated[float, opt("Graphs of this similarity or more are nearly the same.", "S")] = 0.9,
    level: Annotated[
        str | None,
        opt("Level of copies with different targets. \\[default: constitution]", "LEVEL", "--same"),
    ] = None,
    predictions: Annotated[Path | None, opt("Table of twinwl predict for the last data set.", "FILE")] = None,
    output: TableFile = None,
    html: Html = None,
    edge_labels: EdgeLabels = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Find what data sets share: the same graphs, nearly the same ones, and contradicting targets."""
    from twinwl.arguments import checked, number  # noqa: PLC0415  (not for the help)
    from twinwl.datasets.source import open_source, read_columns  # noqa: PLC0415

    checked("--near", near, number(0, 1, above=True))
    check_output(output, TABLES, inputs=(*data, predictions))
    for source in data:
        open_source(source, replace(reading, target=None, shared=True), "given")
    from twinwl.evaluation import audit as library  # noqa: PLC0415  (slow; only after the checks)

    sets = library.read_audited(data, reading)
    for one in sets:
        say_ids(one.data, reading.id)
    table = replace(reading, kind="table", target=None, id=None)
    scored = None if predictions is None else read_columns(predictions, table)
    result = library.audit_sets(sets, near, level, edge_labels=edge_labels is not False, predictions=scored)
    publish(result, library.Match._fields, output, html, json=json)
