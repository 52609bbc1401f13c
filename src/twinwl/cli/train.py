"""``twinwl train``: fit a classifier or regressor and save it to a file.

[bold]DATA[/] is a known name (MUTAG), a TU zip or folder, a table with a column of SMILES and one of
targets (.csv, .tsv, .parquet), an .sdf with a property of targets, or a folder of files (a subfolder for
each class, or a labels.csv with the columns file and class).

[bold]Methods[/]: [cyan]stwin-svc[/] is a support vector machine on the kernel of STwin features, approximated
for more than 10,000 graphs; [cyan]stwin[/] a network on these features; [cyan]ntwin[/] a network on every
rooted subgraph. [cyan]twinwl methods NAME[/] lists the parameters for --set, such as readout={readouts}.

[bold]The task[/]: text and two integers are classes (classification); numbers that are not all integers, and
integers that rarely repeat, are measurements (regression). The output says which was chosen and why. One
model learns several targets (--target a,b,c, or all for every column of numbers); cells may be empty.

[bold]The choice[/] of rounds and C (stwin-svc) or of the epoch (networks) goes by --scoring: for classes one
of {scorings of classes}, for numbers one of {scorings of numbers}. If one class is rare, choose by roc-auc
or average-precision.

[bold]The figures[/] are those of held-out graphs, which also chose, so they are a little optimistic;
[cyan]twinwl evaluate[/] gives figures to publish. Compare an accuracy with that of the majority class, an
RMSE with that of always predicting the mean. Of molecules, whole scaffolds (ring systems and linkers) are
held out: by networks rare ones, by stwin-svc to choose rounds and C and for the errors of predict
--confidence. --split scaffold holds out common ones too; --split stratified holds out molecules at random.

Rows that cannot be used are listed in a .skipped.csv beside the model.

[bold]Examples[/]

$ twinwl train MUTAG -o model.twinwl

$ twinwl train BBBP.csv -o bbbp.twinwl --edge-labels

$ twinwl train solubility.csv -o solubility.twinwl --target logS

$ twinwl train MUTAG -o exact.twinwl --set readout=canonical

$ twinwl train tox21.csv -o tox21.twinwl --target all

$ twinwl train NCI1 -o nci1.twinwl --method ntwin --set layers=3 --set hops=3
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import choice, opt
from twinwl.cli.output import MODELS, PAGES, check_output, save_model, write_table
from twinwl.errors import TwinWLError
from twinwl.terminal import counted, say


def train(
    data: o.Data,
    output: o.NewModelFile,
    method: Annotated[str, opt("Method, as listed by twinwl methods.", "NAME")] = "stwin-svc",
    task: o.Task = "auto",
    edge_labels: o.EdgeLabels = None,
    split: Annotated[
        str | None, choice("split", "Hold out graphs at random, or whole scaffolds. \\[default: see below]")
    ] = None,
    scoring: o.Scoring = None,
    positive: o.Positive = None,
    extra_features: o.ExtraFeatures = None,
    seed: o.SeedOfModel = 0,
    html: Annotated[Path | None, opt("Also write the report as a page, with plots.", "FILE")] = None,
    *,
    settings: o.Settings,
    reading: o.ReadingAtoms,
) -> None:
    """Train a graph classifier or regressor and write it to a file."""
    from twinwl.datasets.source import read_source, with_extra_features  # noqa: PLC0415  (keeps --help fast)
    from twinwl.evaluation.methods import trainable  # noqa: PLC0415
    from twinwl.models.metrics import check_positive, known_metrics  # noqa: PLC0415
    from twinwl.models.targets import task_of  # noqa: PLC0415

    check_output(output, MODELS, inputs=(data,), or_unknown=True)
    check_output(html, PAGES)
    metric = None if scoring is None else known_metrics([scoring], "--scoring")[0]
    if edge_labels is not None:
        settings["edge_labels"] = edge_labels
    how = trainable(method).with_settings(settings)
    reading = replace(reading, not_targets=tuple((extra_features or "").split(",")))
    found = with_extra_features(read_source(data, reading, "needed"), extra_features, data, reading)
    from twinwl.evaluation.predictions import fit, new_model, summary_of  # noqa: PLC0415  (slow)

    if split == "scaffold" or (split == "stratified" and found.smiles is not None):
        found = _group(found, data, split)
    chosen = task_of(found.targets, task, found.target, found.tasks)
    model = new_model(how, chosen, scoring=metric, seed=seed)
    check_positive(found, chosen, positive, metric)
    say(summary_of(found, chosen.name))
    say(f"Task: {chosen}")
    if found.smiles is not None:
        say(f"Atom labels: {reading.level} (--atoms)")
    if found.graphs.extra is not None:
        say(f"Extra features: {len(found.graphs.extra.names)} (--extra-features)")
    start = perf_counter()
    report = fit(model, found).report_.about(positive)
    say(f"{report}, in {perf_counter() - start:.1f} s")
    if html is not None:
        report.save_page(html)
    save_model(model, output, target=found.target or None, positive=positive)
    if found.errors:
        skipped = output.with_suffix(".skipped.csv")
        names = ("row", "line", "kind", "reason")
        write_table(skipped, {name: [getattr(row, name) for row in found.errors] for name in names})
        say(f"{counted(len(found.errors), 'row')} left out: see {skipped}")


def _group(found: tw.Dataset, data: str, split: str) -> tw.Dataset:
    """Make each scaffold a group, which stays together in every hold-out; or each molecule."""
    import numpy as np  # noqa: PLC0415

    from twinwl.evaluation.splits import scaffold_groups  # noqa: PLC0415

    if found.smiles is None:
        raise TwinWLError(f"--split scaffold is for molecules, and {data} holds none; leave it out")
    groups = scaffold_groups(found.smiles) if split == "scaffold" else np.arange(len(found))
    return replace(found, groups=groups)
