r"""``twinwl predict``: the predictions of a trained model as a table.

The table has one row per row of DATA, in the same order, with all columns of DATA. These columns are added:
the prediction, a class or, for a regressor, a number; with --proba the probability of each class (fitted to
held-out graphs; near 0.5 it may favour the other class than the decision does); unseen, the share of the
graph's node colours that occur in no training graph (the higher it is, the less reliable the prediction);
and error, the reason why a row could not be read. Such a row has no prediction.

--confidence 0.9 adds, for a classifier, set: the classes that cannot be ruled out, joined by | (several
where the model is unsure, none where the graph is unlike all classes); for a regressor, low and high. If
the rows are like the training graphs, or molecules with new scaffolds, 90 % of the sets (of each class) and
ranges contain the truth; if they differ more (another laboratory, many unseen colours), fewer do. Each
class is compared with training graphs of that class only, so if one is rare, the set may not contain the
predicted class. The ranges are equally wide for all rows.

A model of several targets adds these columns for each of them: prediction_a, p_1_a, …, prediction_b.
--target all compares with every column of DATA that has the name of a target of the model.

--train adds the nearest training graph of each row: its name, its row, and its similarity (twin kernel,
minmax, two rounds; from 0, nothing in common, to 1, the same).

--threshold and PR-AUC are about the positive class, which the output names: the one chosen by [cyan]twinwl
train --positive[/], or by --positive here.

In .csv and .tsv files, text that a spreadsheet would run as a formula (it begins with = + - @) is preceded
by a single quote. .parquet needs [cyan]pip install 'twinwl\[parquet]'[/].

If DATA has targets (name the column with --target), metrics of the predictions are printed to standard
error: accuracy, the accuracy of always predicting the most common class, ROC-AUC, PR-AUC, balanced
accuracy, MCC and Brier; for a regressor RMSE, MAE, R² and Spearman; with --confidence also how many sets or
ranges contain the truth.

[bold]Examples[/]

$ twinwl predict model.twinwl new_molecules.csv --proba -o predictions.csv

$ twinwl predict model.twinwl new_molecules.csv --threshold 0.2 --train train.csv -o predictions.parquet

$ twinwl predict solubility.twinwl measured.csv --target logS --confidence 0.9 -o predictions.csv

$ twinwl predict tox21.twinwl new_molecules.csv --target all --proba -o predictions.csv

$ twinwl predict model.twinwl 'smiles:CC(=O)Oc1ccccc1C(=O)O' --proba
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from twinwl.cli import options as o
from twinwl.cli.options import OUTPUT, opt
from twinwl.cli.output import cells_for, load_predictor, write_table
from twinwl.graphs.atom_labels import FIRST_ATOMS
from twinwl.terminal import ProgressBar, say

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
    from twinwl.evaluation.neighbours import Neighbour

_MUCH_UNSEEN = 0.05  # share from which coverage may fall: docs/benchmarks/trust.md


def predict(
    model: o.ModelFile,
    data: o.Data,
    output: Annotated[Path | None, opt("Write the table to a file. \\[default: print CSV]", *OUTPUT)] = None,
    proba: o.Proba = False,
    threshold: Annotated[
        float | None, opt("Predict the positive class if its probability is at least P.", "P")
    ] = None,
    positive: o.Positive = None,
    confidence: Annotated[
        float | None, opt("Add the classes, or the range, that contain the truth with probability P.", "P")
    ] = None,
    train: o.Training = None,
    by_round: Annotated[bool, opt("Add the unseen share of each round.", None, "--by-round")] = False,
    device: o.Device = None,
    *,
    reading: o.Reading,
) -> None:
    """Predict the class, or the number, of each graph."""
    from twinwl.arguments import checked, number  # noqa: PLC0415  (keeps --help fast)
    from twinwl.datasets import source as sources  # noqa: PLC0415
    from twinwl.files.storage import table_bytes  # noqa: PLC0415

    checked("--threshold", threshold, number(0, 1), None)
    checked("--confidence", confidence, number(0, 1, above=True, below=True), None)
    o.check_output(output, o.TABLES, inputs=(model, data, train))
    others = replace(reading, target=None, shared=True)
    sources.open_source(data, replace(reading, target=None), "given")
    if train is not None:
        sources.open_source(train, others, "given")
    loaded = load_predictor(model, device=device)
    from twinwl.evaluation import predictions  # noqa: PLC0415  (slow; a missing model shows before)
    from twinwl.evaluation.neighbours import search  # noqa: PLC0415

    positive = getattr(loaded, "positive_", None) if positive is None else positive
    request = predictions.Request(proba, threshold, confidence, positive)
    request.check(loaded, model)
    reading = replace(reading, usual_atoms=loaded.atoms_ or FIRST_ATOMS)
    without_targets = replace(reading, target=None)
    columns = sources.read_columns(data, without_targets)
    several = loaded.tasks_ is not None
    dataset, truth = sources.read_with_targets(data, without_targets if several else reading)
    truths = (
        predictions.truths_of(loaded, reading.target, columns, dataset)
        if several
        else {str(reading.target): truth}
    )
    o.say_ids(dataset, reading.id)
    dataset = sources.with_extra_features(dataset, getattr(loaded, "extra_names_", None), data, reading)
    with ProgressBar("predicting"):
        unseen = predictions.unseen_shares(loaded, dataset.graphs)
        answers, lines = predictions.answers_about(loaded, dataset, truths, request)
    if unseen is not None:
        answers |= _unseen_columns(unseen, by_round=by_round)
    if train is not None:
        training = sources.read_source(train, replace(others, usual_atoms=reading.usual_atoms), "none")
        answers |= _nearest_columns(search(dataset, training, 1, reading).matches)
    if truth is not None and not columns:
        answers["target"] = truth
    source = columns if output is None else cells_for(output, columns)
    table = predictions.prediction_table(dataset, source, answers)
    if output is None:
        say(table_bytes(table, ".csv").decode(), end="")
    else:
        write_table(output, table)
        left = f" for {len(table['index']):,} rows" if dataset.errors else ""
        why = f"; the column {list(table)[-1]!r} says why the others have none" if dataset.errors else ""
        of = f" of {len(loaded.tasks_)} targets" if several else ""
        say(f"{len(dataset):,} predictions{of}{left} in {output}{why}", error=True)
    for line in lines:
        say(line, error=True)
    if unseen is not None and dataset.graphs.n_nodes:
        _print_unseen(unseen, dataset.graphs.nodes_per_graph, promised=confidence is not None)


def _nearest_columns(nearest: list[Neighbour]) -> dict[str, Sequence[Any]]:
    return {
        "nearest": [one.name if one.similarity else None for one in nearest],
        "nearest_row": [one.row if one.similarity else None for one in nearest],
        "similarity": [round(one.similarity, 4) for one in nearest],
    }


def _print_unseen(unseen: Float64, n_nodes: Int64, *, promised: bool) -> None:
    n_strange = int((unseen.mean(axis=0) > _MUCH_UNSEEN).sum())
    if promised and n_strange:
        say(
            f"{n_strange:,} of {len(n_nodes):,} rows have more than {_MUCH_UNSEEN:.0%} unseen: their sets or "
            "ranges may contain the truth less often than --confidence says",
            error=True,
        )
    share = float((unseen @ n_nodes).mean() / n_nodes.sum())
    hint = "; check that the labels mean the same in both" if share == 1 else ""
    say(f"unseen: {100 * share:.1f} % of the node colours occur in no training graph{hint}", error=True)


def _unseen_columns(unseen: Float64, *, by_round: bool) -> dict[str, Sequence[Any]]:
    columns: dict[str, Sequence[Any]] = {"unseen": unseen.mean(axis=0).round(4).tolist()}
    if by_round:
        columns |= {f"unseen_{h}": share.round(4).tolist() for h, share in enumerate(unseen)}
    return columns
