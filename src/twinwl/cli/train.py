"""``twinwl train``: fit a classifier or regressor and save it to a file.

[bold]DATA[/] is a known name (MUTAG), a TU zip or folder, a table with a column of SMILES and one of
targets (.csv, .tsv, .parquet), an .sdf with a property of targets, or a folder of files (a subfolder for
each class, or a labels.csv with the columns file and class).

[bold]Methods[/]: [cyan]stwin[/] is a network on STwin features; [cyan]stwin-svc[/] a support vector machine
on their kernel, good for small data sets; [cyan]ntwin[/] a network on every rooted subgraph.

[bold]Readouts[/] of --features joint: {readouts} (exact).

[bold]The task[/]: --target names the column to predict. Text and two integers are classes (classification);
numbers that are not all integers, be it only two such as 0.5 and 1.5, and integers that rarely repeat, are
measurements (regression). The output says which was chosen and why; --task overrides it. A regressor
predicts a number for each graph, with the same methods.

[bold]Several targets[/]: --target a,b,c, or --target all for every column of numbers, trains one model for
all of them; cells may be empty. All methods compute the features once; stwin-svc chooses rounds and C for
each target, networks share all but their last layer. Metrics are printed for each target, and their mean.

[bold]The choice[/] of the epoch (stwin, ntwin) or of rounds and C (stwin-svc) goes by --scoring. For
classes it is one of {scorings of classes}, for numbers one of {scorings of numbers}. If one class is rare,
choose by roc-auc or average-precision.

The figures shown are those of held-out graphs, which also chose the epoch (or C), so they are a little
optimistic; with --refit they are those of the network before it learnt from these graphs too. Of molecules,
networks hold out rare scaffolds (ring systems and linkers) as a whole, and stwin-svc holds out scaffolds to
choose rounds and C, and for the errors of predict --confidence, so that both fit new chemistry. --split
scaffold holds out common scaffolds too; --split stratified holds out molecules at random. There is no test
part: the model learns from all the rest. [cyan]twinwl evaluate[/] gives figures to publish, by every kind
of split. Compare an accuracy with that of the majority class: if one class is rare, look at ROC-AUC, PR-AUC
and MCC. Compare an RMSE with that of always predicting the mean, which is shown with it.

[bold]Examples[/]

$ twinwl train MUTAG -o model.twinwl

$ twinwl train BBBP.csv -o bbbp.twinwl --method stwin-svc --edge-labels

$ twinwl train solubility.csv -o solubility.twinwl --target logS --method stwin-svc

$ twinwl train MUTAG -o exact.twinwl --method stwin-svc --features joint --readout canonical

$ twinwl train tox21.csv -o tox21.twinwl --target all --method stwin-svc

$ twinwl train NCI1 -o nci1.twinwl --method ntwin --layers 3 --hops 3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Any

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import checked_readouts, choice, number_or, opt
from twinwl.cli.output import MODELS, check_output, save_model
from twinwl.errors import TwinWLError, nearest
from twinwl.terminal import say

_OF_STWIN = ("n_iter", "features", "readout", "initial")
METHODS = {
    "stwin": (*_OF_STWIN, "hidden", "device", "refit"),
    "stwin-svc": (*_OF_STWIN, "kernel_approximation", "average_rounds", "pairs"),
    "ntwin": ("layers", "hops", "hidden", "root_mark", "subgraph_network", "device", "refit"),
}
_STWIN, _NTWIN = "STwin", "NTwin"  # panels of the help


@dataclass
class _MethodFlags:
    """Parameters of the estimators; None means the estimator's default."""

    n_iter: Annotated[
        int | None, opt("Number of rounds. \\[default: 3; chosen by stwin-svc]", min=0, panel=_STWIN)
    ] = None
    features: Annotated[
        str | None, choice("features", "\\[default: joint for stwin-svc, else size]", panel=_STWIN)
    ] = None
    readout: o.ReadoutsOfFeatures = None
    initial: Annotated[str | None, choice("initial", "Colours of round 0.", panel=_STWIN)] = None
    kernel_approximation: Annotated[
        str | None,
        choice("kernel_approximation", "Compare with 1,000 graphs instead of all (stwin-svc).", panel=_STWIN),
    ] = None
    average_rounds: Annotated[
        bool | None,
        opt("Average the kernels of all rounds; only C is chosen.", None, "--average-rounds", panel=_STWIN),
    ] = None
    pairs: Annotated[
        int | None, opt("Also count pairs of labels up to this distance (stwin-svc).", min=1, panel=_STWIN)
    ] = None
    layers: Annotated[int | None, opt("Number of layers. \\[default: 3]", min=1, panel=_NTWIN)] = None
    hops: Annotated[
        str | None,
        opt(
            "Radius of rooted subgraphs: k in layer k, or N. \\[default: growing]",
            "growing|N",
            panel=_NTWIN,
            callback=number_or("--hops", "growing", 1),
        ),
    ] = None
    hidden: Annotated[int | None, opt("Width of the layers. \\[default: 64]", min=1, panel=_NTWIN)] = None
    root_mark: Annotated[
        str | None, choice("root_mark", "Mark the root, or each node's distance to it.", panel=_NTWIN)
    ] = None
    subgraph_network: o.Network = None

    def value(self) -> dict[str, Any]:
        readouts = checked_readouts(self.readout, self.features) if self.readout else None
        return vars(self) | {"readout": readouts}


def train(  # noqa: PLR0917  (the options of a command)
    data: o.Data,
    output: o.NewModelFile,
    method: Annotated[str, opt(f"Method: {', '.join(METHODS)}.", "NAME")] = "stwin",
    task: o.Task = "auto",
    edge_labels: o.EdgeLabels = None,
    balanced: o.Balanced = False,
    split: Annotated[
        str | None, choice("split", "Hold out graphs at random, or whole scaffolds. \\[default: see below]")
    ] = None,
    scoring: o.Scoring = None,
    positive: o.Positive = None,
    extra_features: o.ExtraFeatures = None,
    refit: o.Refit = False,
    seed: o.SeedOfModel = 0,
    device: o.Device = None,
    *,
    parameters: Annotated[dict[str, Any], _MethodFlags],
    reading: o.ReadingAtoms,
) -> None:
    """Train a graph classifier or regressor and write it to a file."""
    from twinwl.datasets.extra import with_extra_features  # noqa: PLC0415
    from twinwl.datasets.source import read_source  # noqa: PLC0415  (keeps --help fast)
    from twinwl.models.metrics import check_positive, known_metrics  # noqa: PLC0415
    from twinwl.models.targets import task_of  # noqa: PLC0415

    check_output(output, MODELS, inputs=(data,), or_unknown=True)
    metric = None if scoring is None else known_metrics([scoring], "--scoring")[0]
    parameters = check_options(method, parameters | {"device": device, "refit": refit or None})
    if edge_labels is not None:
        parameters["edge_labels"] = edge_labels
    if balanced:
        parameters["class_weight"] = "balanced"
    reading = replace(reading, not_targets=tuple((extra_features or "").split(",")))
    found = with_extra_features(read_source(data, reading, "needed"), extra_features, data, reading)
    from twinwl.evaluation.predictions import fit, new_model, summary_of  # noqa: PLC0415  (slow)

    if split == "scaffold" or (split == "stratified" and found.smiles is not None):
        found = _grouped(found, data, split)
    chosen = task_of(found.targets, task, found.target, found.tasks)
    model = new_model(method, chosen, parameters, scoring=metric, seed=seed)
    check_positive(found, chosen, positive, metric)
    say(summary_of(found, chosen.name))
    say(f"Task: {chosen}")
    if found.smiles is not None:
        say(f"Atom labels: {reading.level} (--atoms)")
    if found.graphs.extra is not None:
        say(f"Extra features: {len(found.graphs.extra.names)} (--extra-features)")
    start = perf_counter()
    report = fit(model, found, positive)
    say(f"{report}, in {perf_counter() - start:.1f} s")
    save_model(model, output, target=found.target or None, positive=positive)


def _grouped(found: tw.Dataset, data: str, split: str) -> tw.Dataset:
    """Make each scaffold a group, which stays together in every hold-out; or each molecule."""
    import numpy as np  # noqa: PLC0415

    from twinwl.evaluation.splits import scaffold_groups  # noqa: PLC0415

    if found.smiles is None:
        raise TwinWLError(f"--split scaffold is for molecules, and {data} holds none; leave it out")
    groups = scaffold_groups(found.smiles) if split == "scaffold" else np.arange(len(found))
    return replace(found, groups=groups)


def check_options(method: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that are given, as parameters of the method's estimators.

    Parameters
    ----------
    method
        One of `METHODS`.
    options
        Parameters of the estimator by name; None means the estimator's default.

    Raises
    ------
    TwinWLError
        If the method is unknown, or does not have the option.

    >>> check_options("ntwin", {"hops": 2, "hidden": None})
    {'hops': 2}
    """
    if method not in METHODS:
        raise TwinWLError(f"--method is {method!r}; {nearest(method, METHODS)}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in METHODS[method]:
            owners = [other for other, known in METHODS.items() if name in known]
            flag = "--" + name.replace("_", "-")
            raise TwinWLError(
                f"{flag} cannot be used with --method {method}, only with {' and '.join(owners)}"
            )
    if "subgraph_network" in given:
        given["readout"] = given.pop("subgraph_network")  # as the estimators call it
    return given
