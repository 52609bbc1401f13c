"""``twinwl predict``: what a trained model says about graphs, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twinwl.cli.options import DataDir, EdgeLabel, ModelFile, NodeLabel, OnError, SmilesColumn, Target

if TYPE_CHECKING:
    from twinwl.cli.data_argument import Data

__all__ = ["predict", "register"]

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
One row a graph: its place in DATA from 0 (rows that were skipped count), its name or SMILES, and the \
predicted class; with --proba the probability of each class; and the true class where DATA says it.

What else there is to know goes to standard error: accuracy where the classes are known, and how much of the \
graphs the model has never seen. The more, the less its word counts.

[bold]Examples[/]

$ twinwl predict model.twinwl new_molecules.csv --proba -o predictions.csv

$ twinwl predict model.twinwl smiles:CC(=O)Oc1ccccc1C(=O)O --proba
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(predict)


def predict(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A known name, a TU zip or folder, a .csv with SMILES, a folder of GraphML, other files.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the table here, not to the screen."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    target: Target = None,
    smiles_column: SmilesColumn = None,
    on_error: OnError = "fail",
    node_label: NodeLabel = None,
    edge_label: EdgeLabel = None,
    data_dir: DataDir = None,
) -> None:
    """Predict the class of each graph."""
    from twinwl.cli.data_argument import Reading, read_data  # noqa: PLC0415  (the help must not pay for these)
    from twinwl.cli.model_files import answers_of, load_classifier, unseen_share  # noqa: PLC0415
    from twinwl.cli.notices import warnings_as_lines  # noqa: PLC0415
    from twinwl.cli.output_files import check_output, written  # noqa: PLC0415
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    check_output(output)
    with warnings_as_lines():
        classifier = load_classifier(model)
        reading = Reading(target, smiles_column, on_error, node_label, edge_label, data_dir)
        found = read_data(data, reading, classes="given")
        with ProgressBar("predicting"):
            unseen = unseen_share(classifier, found.graphs)
            classes, shares = answers_of(classifier, found.graphs)
    predictions = classes.tolist()
    shares_of_class = dict(zip(classifier.classes_.tolist(), shares.T.tolist(), strict=True)) if proba else {}
    table = _table(found, predictions, shares_of_class)
    if output is None:
        typer.echo(table, nl=False)
    else:
        with written(output) as stream:
            stream.write(table.encode("utf-8", "replace"))
        typer.echo(f"{len(predictions):,} predictions in {output}", err=True)
    if found.y is not None:
        right = sum(str(one) == str(two) for one, two in zip(predictions, found.y.tolist(), strict=True))
        typer.echo(f"accuracy {right / len(predictions):.1%} ({right:,} of {len(predictions):,})", err=True)
    if unseen is not None:
        hint = "; do the labels mean the same there?" if unseen == 1 else ""
        typer.echo(f"unseen: {unseen:.1%} of the node colours occur in no training graph{hint}", err=True)


def _table(data: Data, predictions: list[object], shares_of_class: dict[object, list[float]]) -> str:
    import csv  # noqa: PLC0415
    import io  # noqa: PLC0415

    columns: dict[str, list[Any]] = {
        "index": data.rows.tolist(),
        "name": list(data.names),
        "prediction": predictions,
    }
    for name, shares in shares_of_class.items():
        columns[f"p_{name}"] = [f"{share:.6g}" for share in shares]
    if data.y is not None:
        columns["target"] = data.y.tolist()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
