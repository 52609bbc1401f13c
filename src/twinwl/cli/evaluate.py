"""``twinwl evaluate``: how good a method is on a data set, under a protocol that is named."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import reads_data
from twinwl.terminal import say

if TYPE_CHECKING:
    from twinwl.datasets.opening import Reading
    from twinwl.evaluation.evaluate import Evaluation

__all__ = ["evaluate", "register"]

EPILOG = """
[bold]Methods[/]: stwin, stwin-joint, stwin-svc, ntwin; without identities: wl (as stwin), wl-svc, \
wl-encoder (as ntwin); and the other rows of the paper, from gcn to ppgn. Any scikit-learn estimator that \
takes graphs is evaluated by its import path, [cyan]package.module:Class[/].

[bold]Protocols[/]: [cyan]fair[/] lets a tenth of each training part choose configuration and epoch and \
looks at each test fold once. [cyan]best-epoch[/] and [cyan]best-fold-epoch[/] choose by test accuracy: \
optimistic, and marked so. All three come from the same run.

[bold]The store[/] keeps every finished fold: a run that was stopped goes on where it stopped. Methods named \
together are compared over the same folds.

[bold]Examples[/]

$ twinwl evaluate TWINS --method stwin

$ twinwl evaluate MUTAG --method stwin --method wl --grid compact --store results.jsonl --jobs 2

$ twinwl evaluate BBBP.csv --target BBBP --method stwin-svc

$ twinwl evaluate NCI1 --method stwin-svc --splits gnn_comparison_splits.zip --json
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reads_data(evaluate))


def evaluate(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Graphs with their classes.", show_default=False)
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What to evaluate; repeat it to compare. \\[default: stwin]"),
    ] = None,
    protocol: Annotated[str, typer.Option(metavar="NAME", help="Which reading is the headline.")] = "fair",
    grid: Annotated[
        str | None, typer.Option(metavar="NAME", help="Search a grid: compact or paper. \\[default: none]")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Times all folds are drawn anew.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Decides the folds and the training.")] = 0,
    splits: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Published splits in place of seeded folds.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="accuracy, balanced-accuracy, roc-auc, average-precision; repeatable."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep results here, and do not repeat what it holds.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    *,
    reading: Reading,
) -> None:
    """Evaluate methods by cross-validation, honestly: every figure names its protocol."""
    from twinwl.cli.output_files import STORES, check_ending  # noqa: PLC0415  (the help page must not pay for these)
    from twinwl.datasets.source import check_source, read_source  # noqa: PLC0415

    check_ending(store, STORES, or_unknown=True)
    check_source(data, reading, "needed")  # a column that is not there shows before scikit-learn is loaded
    from twinwl.evaluation.methods import resolve  # noqa: PLC0415
    from twinwl.evaluation.metrics import check_metrics  # noqa: PLC0415
    from twinwl.evaluation.protocols import check_protocol  # noqa: PLC0415
    from twinwl.evaluation.published_splits import find_splits  # noqa: PLC0415

    check_protocol(protocol)
    metrics = check_metrics(metric or ["accuracy"])
    methods = [resolve(name) for name in method or ["stwin"]]  # a typo shows before an hour of work
    for chosen in methods:
        chosen.configs(grid)
    if splits is not None:
        find_splits(splits)
    from twinwl.evaluation.evaluate import evaluate as run  # noqa: PLC0415

    dataset = read_source(data, reading, "needed")
    try:
        results = [
            run(
                chosen,
                dataset,
                protocol,
                grid=grid,
                n_folds=folds,
                repeats=repeats,
                seed=seed,
                splits=splits,
                metrics=metrics,
                n_jobs=jobs,
                store=store,
            )
            for chosen in methods
        ]
    except KeyboardInterrupt:
        kept = f"; finished folds are in {store}, the same command goes on from there" if store else ""
        say(f"interrupted{kept}", error=True)
        raise typer.Exit(130) from None
    if json:
        say(json_format.dumps([_as_json(result) for result in results], indent=1))
    else:
        _print(results)


def _print(results: list[Evaluation]) -> None:
    for result in results:
        say(str(result))
    first = results[0]
    for other in results[1:]:
        from twinwl.evaluation.significance import compare_scores  # noqa: PLC0415

        say(str(compare_scores(first.fold_scores, other.fold_scores, (first.method, other.method))))


def _as_json(result: Evaluation) -> dict[str, object]:
    from twinwl.evaluation.protocols import PROTOCOLS  # noqa: PLC0415

    readings = {}
    for protocol in PROTOCOLS:
        summary = result.summary(protocol, result.metric if protocol == "fair" else "accuracy")
        readings[protocol] = summary and {
            "metric": summary.metric,
            "mean": summary.mean,
            "std": summary.std,
            "folds": summary.fold_scores,
            "configs": summary.configs,
            "optimistic": summary.optimistic,
        }
    return {
        "dataset": result.dataset,
        "method": result.method,
        "headline": result.protocol,
        "n_leaked": result.n_leaked,
        "fair": {name: result.summary("fair", name).mean for name in result.metrics},  # type: ignore[union-attr]
        "protocols": readings,
    }
