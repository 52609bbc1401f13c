"""``twinwl predict``: what a trained model says about graphs, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twinwl.cli.options import ModelFile, reads_data
from twinwl.terminal import say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.opening import Reading

__all__ = ["predict", "register"]

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
One row per graph: its place in DATA from 0 (rows that were skipped count), its name or SMILES, and the \
predicted class; with --proba the probability of each class; and the true class where DATA says it.

In .csv and .tsv files a text that a spreadsheet would run as a formula (= + - @ in front) has a single \
quote in front of it. .parquet needs [cyan]pip install 'twinwl\\[parquet]'[/].

What else there is to know goes to standard error: accuracy where the classes are known, and how much of the \
graphs the model has never seen. The more, the less its word counts.

[bold]Examples[/]

$ twinwl predict model.twinwl new_molecules.csv --proba -o predictions.csv

$ twinwl predict model.twinwl smiles:CC(=O)Oc1ccccc1C(=O)O --proba
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reads_data(predict))


def predict(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A known name, a TU zip or folder, a table with SMILES, a folder of files, other files.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the table here, not to the screen: .csv, .tsv, .json, .jsonl or .parquet.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    *,
    reading: Reading,
) -> None:
    """Predict the class of each graph."""
    from twinwl.cli.model_files import answers_of, load_classifier, unseen_share  # noqa: PLC0415  (help)
    from twinwl.cli.output_files import check_output, write_table  # noqa: PLC0415
    from twinwl.datasets.source import check_source, read_source  # noqa: PLC0415
    from twinwl.files.tables import TABLE_ENDINGS, table_bytes  # noqa: PLC0415
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    check_output(output, TABLE_ENDINGS)
    check_source(data, reading, "given")
    classifier = load_classifier(model)
    found = read_source(data, reading, "given")
    with ProgressBar("predicting"):
        unseen = unseen_share(classifier, found.graphs)
        classes, shares = answers_of(classifier, found.graphs)
    predictions = classes.tolist()
    shares_of_class = dict(zip(classifier.classes_.tolist(), shares.T.tolist(), strict=True)) if proba else {}
    table = _table(found, predictions, shares_of_class)
    if output is None:
        say(table_bytes(table, ".csv").decode(), end="")
    else:
        write_table(output, table)
        say(f"{len(predictions):,} predictions in {output}", error=True)
    if found.y is not None:
        right = sum(str(one) == str(two) for one, two in zip(predictions, found.y.tolist(), strict=True))
        say(f"accuracy {right / len(predictions):.1%} ({right:,} of {len(predictions):,})", error=True)
    if unseen is not None:
        hint = "; do the labels mean the same there?" if unseen == 1 else ""
        say(f"unseen: {unseen:.1%} of the node colours occur in no training graph{hint}", error=True)


def _table(
    data: Dataset, predictions: list[object], shares_of_class: dict[object, list[float]]
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "index": data.rows.tolist(),
        "name": list(data.names),
        "prediction": predictions,
    }
    for name, shares in shares_of_class.items():
        columns[f"p_{name}"] = [float(f"{share:.6g}") for share in shares]
    if data.y is not None:
        columns["target"] = data.y.tolist()
    return columns
