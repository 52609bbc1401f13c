"""``twinwl predict``: the predictions of a trained model as a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twinwl.cli.options import ModelFile, reads_data
from twinwl.errors import TwinWLError
from twinwl.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.opening import Reading
    from twinwl.graphs.batch import GraphBatch

__all__ = ["predict", "register"]

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
The table has one row per row of DATA, in the same order, with all columns of DATA. These columns are \
added: the prediction; with --proba the probability of each class; unseen, the share of the graph's node \
colours that occur in no training graph (the higher it is, the less reliable the prediction); and error, \
the reason why a row could not be read. Such a row has no prediction.

--train adds the nearest training graph of each row: its name, its row, and its similarity (twin kernel, \
minmax, two rounds; from 0, nothing in common, to 1, the same).

In .csv and .tsv files, text that a spreadsheet would run as a formula (it begins with = + - @) is \
preceded by a single quote. .parquet needs [cyan]pip install 'twinwl\\[parquet]'[/].

If DATA has targets (name the column with --target), metrics of the predictions are printed to standard \
error: accuracy, the accuracy of always predicting the most common class, ROC-AUC, PR-AUC, balanced \
accuracy, MCC and Brier.

[bold]Examples[/]

$ twinwl predict model.twinwl new_molecules.csv --proba -o predictions.csv

$ twinwl predict model.twinwl new_molecules.csv --threshold 0.2 --train train.csv -o predictions.parquet

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
            help="Write the table to a file: .csv, .tsv, .json, .jsonl or .parquet. \\[default: print CSV]",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Predict the second of two classes if its probability is at least P.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="The training data: adds the nearest training graph of each row."),
    ] = None,
    by_round: Annotated[
        bool, typer.Option("--by-round", help="Add the unseen share of each round: unseen_0, unseen_1, …")
    ] = False,
    *,
    reading: Reading,
) -> None:
    """Predict the class, or the number, of each graph."""
    from twinwl.arguments import checked, number  # noqa: PLC0415  (keeps --help fast)
    from twinwl.cli.model_files import load_predictor, unseen_shares  # noqa: PLC0415
    from twinwl.cli.output_files import check_output, write_table  # noqa: PLC0415
    from twinwl.cli.prediction_table import prediction_table  # noqa: PLC0415
    from twinwl.datasets.source import (  # noqa: PLC0415
        check_source,
        read_columns,
        read_source,
        read_with_targets,
    )
    from twinwl.files.tables import TABLE_ENDINGS, table_bytes  # noqa: PLC0415
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    checked("--threshold", threshold, number(0, 1), None)
    check_output(output, TABLE_ENDINGS)
    check_source(data, reading, "given")
    if train is not None:
        check_source(train, replace(reading, target=None), "given")
    classifier = load_predictor(model)
    reading = replace(reading, usual_atoms=getattr(classifier, "atoms_", "skeleton"))
    columns = read_columns(data, reading)
    found, truth = read_with_targets(data, reading)
    with ProgressBar("predicting"):
        unseen = unseen_shares(classifier, found.graphs)
        classes, shares = _answers(classifier, found.graphs, threshold, proba=proba)
    answers: dict[str, Sequence[Any]] = {"prediction": classes.tolist()}
    if proba and shares is not None:
        for name, share in zip(classifier.classes_.tolist(), shares.T.tolist(), strict=True):
            answers[f"p_{name}"] = [float(f"{value:.6g}") for value in share]
    if unseen is not None:
        answers |= _unseen_columns(unseen, by_round=by_round)
    if train is not None:
        answers |= _nearest(found, read_source(train, replace(reading, target=None), "none"))
    if truth is not None and not columns:
        answers["target"] = truth
    table = prediction_table(found, columns, answers)
    if output is None:
        say(table_bytes(table, ".csv").decode(), end="")
    else:
        write_table(output, table)
        left = f" for {len(table['index']):,} rows" if found.errors else ""
        say(f"{len(classes):,} predictions{left} in {output}", error=True)
    if truth is not None:
        _tell_figures(getattr(classifier, "classes_", None), classes, shares, truth)
    if unseen is not None and found.graphs.n_nodes:
        _tell_unseen(float((unseen @ found.graphs.nodes_per_graph).mean() / found.graphs.n_nodes))


def _answers(
    model: Any,  # noqa: ANN401
    graphs: GraphBatch,
    threshold: float | None,
    *,
    proba: bool,
) -> tuple[NDArray[np.generic], Float64 | None]:
    """Return predictions and the probability of each class; a model of numbers has none of the latter."""
    from twinwl.cli.model_files import answers_of  # noqa: PLC0415

    if hasattr(model, "classes_"):
        return answers_of(model, graphs, threshold)
    for flag, given in (("--proba", proba), ("--threshold", threshold is not None)):
        if given:
            raise TwinWLError(f"{flag} needs a model of classes; this one predicts numbers; leave it out")
    return model.predict(graphs), None


def _tell_figures(
    classes: NDArray[np.generic] | None,
    predictions: NDArray[np.generic],
    shares: Float64 | None,
    truth: Sequence[Any],
) -> None:
    """Print the metrics of the predictions over the rows with a known target."""
    import numpy as np  # noqa: PLC0415

    from twinwl.evaluation.metrics import Answers, figures, measure, names_for  # noqa: PLC0415

    known = np.array([value is not None for value in truth], bool)
    if not known.any():
        say("accuracy unknown (0 of 0)", error=True)
        return
    if classes is None or shares is None:
        names = names_for("regression")
        numbers = np.array([value for value in truth if value is not None])
        if numbers.dtype.kind not in "iuf":
            say(f"the model predicts numbers, and the target is {numbers[0]!r}: not compared", error=True)
            return
        say(figures(measure(Answers(numbers, predictions[known]), names), names), error=True)
        return
    # Compared as text: one file may have numbers where another has strings.
    y, predicted, columns = (
        np.array([str(value) for value in values if value is not None])
        for values in (truth, predictions[known].tolist(), classes.tolist())
    )
    accuracy, *others = names_for("classification")
    scores = measure(Answers(y, predicted, shares[known], columns), [accuracy, *others])
    right = int((y == predicted).sum())
    text = f"accuracy {scores[accuracy]:.1%} ({right:,} of {len(y):,})"
    say(f"{text}, {figures(scores, others)}", error=True)


def _tell_unseen(share: float) -> None:
    hint = "; check that the labels mean the same in both" if share == 1 else ""
    say(f"unseen: {share:.1%} of the node colours occur in no training graph{hint}", error=True)


def _unseen_columns(unseen: Float64, *, by_round: bool) -> dict[str, Sequence[Any]]:
    columns: dict[str, Sequence[Any]] = {"unseen": unseen.mean(axis=0).round(4).tolist()}
    if by_round:
        columns |= {f"unseen_{h}": share.round(4).tolist() for h, share in enumerate(unseen)}
    return columns


def _nearest(data: Dataset, training: Dataset) -> dict[str, Sequence[Any]]:
    from twinwl.stwin.near_graphs import NearGraphs  # noqa: PLC0415

    index, similarity = NearGraphs(training.graphs).nearest(data.graphs)
    places: list[int] = index.tolist()
    return {
        "nearest": [None if place < 0 else training.names[place] for place in places],
        "nearest_row": [None if place < 0 else int(training.rows[place]) for place in places],
        "similarity": similarity.round(4).tolist(),
    }
