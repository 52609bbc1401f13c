"""``twinwl evaluate``: cross-validated scores of methods on a data set, with the protocol named.

[bold]Methods[/]: stwin-svc, stwin, stwin-joint, ntwin; without identities: wl (as stwin), wl-svc,
wl-encoder (as ntwin); and the other methods of the paper, from gcn to ppgn. Name any other scikit-learn
estimator that takes graphs by its import path, [cyan]package.module:Class[/].

[bold]Parameters[/] of the methods are set by --set; [cyan]twinwl methods NAME[/] lists them. --set readout
lets stwin, stwin-joint and stwin-svc count nodes by colour and readout: {readouts} (exact). A parameter
that changes results becomes part of the method's name.

[bold]Protocols[/]: [cyan]fair[/] chooses configuration and epoch on a tenth of each training part and uses
each test fold once. [cyan]best-epoch[/] and [cyan]best-fold-epoch[/] choose by test accuracy; they are
optimistic and marked as such. All three come from the same run.

[bold]Splits[/]: [cyan]stratified[/] draws --folds folds from --seed. [cyan]scaffold[/] splits molecules
once by their ring systems and linkers (Bemis-Murcko): the most common scaffolds for training, a tenth of
the molecules for validation and a tenth for testing, as in MoleculeNet and OGB. [cyan]scaffold-shuffled[/]
takes the scaffolds in random order, with another seed for each of --repeats. A [cyan]column[/] of DATA
contains train, valid and test, or the number of a fold, or a year; the latest tenth is then the test part. A
[cyan]file[/] maps rows
(from 0) to parts: .json, .csv, OGB's folder with train.csv.gz and so on, or gnn_comparison_splits.zip.
--groups keeps rows with the same value together. All methods use the same folds.

[bold]Metrics[/] for classes: {metrics of classes}; for numbers: {metrics of numbers}. The majority is the
accuracy of always predicting the most common class; average-precision is also called PR-AUC. All metrics
that a method supports are shown; --metric selects some of them, with accuracy or RMSE after them. With more
than two classes, ranking metrics are computed one class against the rest. If all test graphs of a fold have
the same class, its ROC-AUC is undefined and not included in the mean.

[bold]The task[/] is classification or regression. It follows from the method or, if the method supports
both, from the targets; the result reports which was chosen and why. --scoring is the metric that chooses
among configurations, rounds and C of stwin-svc, and the epoch of networks.

[bold]Several targets[/]: --target a,b,c, or --target all for every column of numbers that --split and
--groups do not name; cells may be empty. Each metric is computed for each target, on the graphs where it is
known; the main figures are means over the targets, without those that lack a class among the test graphs of
a fold, which the result names.

[bold]Inputs[/]: every result says which of node labels, edge labels and node attributes the method used.
Models ignore edge labels without --edge-labels; methods that cannot use them are then refused. Continuous
attributes are used by networks on graphs and ignored by methods on labels (stwin, wl, …);
--ignore-attributes leaves them out for all, so that methods are compared on the same inputs.

[bold]The store[/] keeps every finished fold: an interrupted run continues where it stopped, on any
--engine.

[bold]Several methods[/] are compared on the same folds, every two of them, by a corrected resampled t-test
(p-values after Holm's correction) and a Bayesian correlated t-test: the probability that they are practically
equal, which means that they differ by less than --rope (0.01 is one point of accuracy, 1 % of RMSE or MAE).

[bold]Examples[/]

$ twinwl evaluate TWINS --method stwin

$ twinwl evaluate MUTAG --method stwin --method wl --grid compact --store results.jsonl --jobs 2

$ twinwl evaluate BBBP.csv --target BBBP --method stwin-svc

$ twinwl evaluate EXP --method stwin-svc --set readout=rooted-wl

$ twinwl evaluate BACE.csv --target Class --method stwin-svc --split scaffold --metric roc-auc

$ twinwl evaluate assay.csv --target active --split year -o figures.tex

$ twinwl evaluate NCI1 --grid compact --store results.jsonl --engine ray --address 10.0.0.5:6379

$ twinwl evaluate NCI1 --method stwin-svc --split gnn_comparison_splits.zip --json
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import OUTPUT, ReadingAtomsFlags, opt
from twinwl.cli.output import write_records
from twinwl.files.storage import open_to_write
from twinwl.terminal import say


@dataclass
class _Flags(ReadingAtomsFlags):
    """The same processes read molecules and run folds."""

    n_jobs: Annotated[
        int | None, opt("Folds at the same time. \\[default: 1; with Ray, all]", None, "--jobs", min=1)
    ] = None


@dataclass
class _EvaluationFlags:
    """The options that are parameters of `twinwl.evaluate`, under the same names."""

    protocol: Annotated[str, opt("Protocol of the main figure.", "NAME")] = "fair"
    grid: Annotated[str | None, opt("Search a grid: compact or paper. \\[default: none]", "NAME")] = None
    n_folds: Annotated[int, opt("Number of folds.", None, "--folds", min=2)] = 10
    repeats: Annotated[int, opt("Number of draws of the folds.", min=1)] = 1
    seed: Annotated[int, opt("Seed of the folds and the training.", min=0)] = 0
    task: o.Task = "auto"
    metrics: Annotated[list[str] | None, opt("Metric to show; may be repeated.", "NAME", "--metric")] = None
    scoring: o.Scoring = None
    positive: o.Positive = None
    rope: Annotated[float, opt("Largest difference of practically equal methods.", "SHARE", min=0)] = 0.01
    ignore_node_attributes: o.IgnoreAttributes = False
    engine: o.EngineName = "local"
    address: o.Address = None
    store: Annotated[Path | None, opt("File of finished folds; these are not run again.", "FILE")] = None

    def value(self) -> dict[str, Any]:
        """Return them as keyword arguments."""
        return {**vars(self), "metrics": self.metrics or None}


def evaluate(
    data: o.Data,
    method: Annotated[
        list[str] | None, opt("Method; may be repeated. \\[default: stwin-svc]", "NAME")
    ] = None,
    split: Annotated[str, opt("How to split; see below.", "stratified|scaffold|FILE|COL")] = "stratified",
    groups: Annotated[str | None, opt("Column of groups that are kept in one part.", "COL")] = None,
    extra_features: o.ExtraFeatures = None,
    output: Annotated[Path | None, opt("Also write the figures to a table, or to a .tex.", *OUTPUT)] = None,
    json: o.Json = False,
    *,
    how: Annotated[dict[str, Any], _EvaluationFlags],
    settings: o.Settings,
    reading: Annotated[Any, _Flags],  # noqa: ANN401  (`ReadOptions`, which is slow to load)
) -> None:
    """Evaluate methods by cross-validation; every figure names its protocol."""
    from twinwl.datasets.source import read_source, with_extra_features  # noqa: PLC0415  (keeps --help fast)

    reading = replace(
        reading, not_targets=tuple(filter(None, (split, groups, *(extra_features or "").split(","))))
    )
    o.check_ending(how["store"], o.STORES, or_unknown=True)
    o.check_output(output, (*o.TABLES, ".tex"), inputs=(data, split))
    from twinwl.evaluation.methods import resolve  # noqa: PLC0415
    from twinwl.evaluation.result import check_protocol  # noqa: PLC0415
    from twinwl.evaluation.splits import groups_of, opened_split, read_column  # noqa: PLC0415
    from twinwl.models.metrics import known_metrics  # noqa: PLC0415

    check_protocol(how["protocol"])
    known_metrics(how["metrics"] or [])
    known_metrics([how["scoring"]] if how["scoring"] else [], "scoring")
    edge_labels = settings.pop("edge_labels", None)
    methods = [resolve(name).with_settings(settings) for name in method or ["stwin-svc"]]
    for each in methods:  # a typo shows before an hour of work
        each.configs(how["grid"])
    by = opened_split(data, reading, split)
    of_groups = None if groups is None else read_column(data, reading, groups, "groups")
    dataset = with_extra_features(read_source(data, reading, "needed"), extra_features, data, reading)
    if of_groups is not None:
        dataset = replace(dataset, groups=groups_of(of_groups, dataset))
    try:
        result = tw.evaluate(
            methods, dataset, split=by, edge_labels=edge_labels, n_jobs=reading.n_jobs, **how
        )
    except KeyboardInterrupt:
        store = how["store"]
        hint = f"; finished folds are in {store}; run the same command to continue" if store else ""
        say(f"interrupted{hint}", error=True)
        raise typer.Exit(130) from None
    if output is not None:
        records = result.to_records()
        if output.suffix.lower() == ".tex":
            with open_to_write(output) as stream:
                stream.write(result.to_latex().encode())
        else:
            write_records(output, records, records[0])
        say(f"{len(records)} figures in {output}", error=True)
    say(dumps(result.to_dict()["methods"], indent=1) if json else str(result))
