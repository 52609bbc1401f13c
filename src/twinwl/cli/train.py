"""``twinwl train``: fit a classifier or regressor and save it to a file.

[bold]DATA[/] is a known name (MUTAG), a TU zip or folder, a table with columns of SMILES and of targets
(.csv, .tsv, .parquet), an .sdf, or a folder of files (a subfolder for each class, or a labels.csv with the
columns file and class). Rows that cannot be used are listed in a .skipped.csv beside the model.

[bold]Methods[/]: [cyan]stwin-svc[/] is a support vector machine on the kernel of STwin features, approximated
for more than 10,000 graphs; [cyan]stwin[/] a network on these features; [cyan]ntwin[/] a network on every
rooted subgraph.

[bold]The task[/]: text and two integers are classes; numbers that are not all integers, and integers that
rarely repeat, are measurements (regression). One model learns several targets (--target a,b,c, or all for
every column of numbers); cells may be empty.

[bold]The choice[/] of rounds and C (stwin-svc) or of the epoch (networks) goes by --scoring: for classes
{scorings of classes}; for numbers {scorings of numbers}. If one class is rare, choose by roc-auc.

[bold]The figures[/] are those of held-out graphs, which also chose, so they are a little optimistic;
[cyan]twinwl evaluate[/] gives figures to publish. Of molecules, whole scaffolds (ring systems and linkers)
are held out: rare ones by networks, all in turn by stwin-svc. --split scaffold holds out common ones too;
--split stratified holds out molecules at random.

[bold]Examples[/]

$ twinwl train MUTAG -o model.twinwl

$ twinwl train BBBP.csv -o bbbp.twinwl --edge-labels

$ twinwl train solubility.csv -o solubility.twinwl --target logS

$ twinwl train tox21.csv -o tox21.twinwl --target all

$ twinwl train NCI1 -o nci1.twinwl --method ntwin --set layers=3 --set hops=3
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import MODELS, PAGES, check_output, choice, new_file, opt
from twinwl.cli.output import write_table
from twinwl.errors import TwinWLError
from twinwl.terminal import counted, say

if TYPE_CHECKING:
    from twinwl.arrays import Values


def train(
    data: o.Data,
    output: o.NewModelFile,
    method: Annotated[str, opt("See twinwl methods.", "NAME")] = "stwin-svc",
    task: o.Task = "auto",
    split: Annotated[str | None, choice("split", "Hold out at random, or whole scaffolds.")] = None,
    scoring: o.Scoring = None,
    positive: o.Positive = None,
    extra_features: o.ExtraFeatures = None,
    seed: o.SeedOfModel = 0,
    html: Annotated[Path | None, new_file("Also write the report as a page, with plots.", *PAGES)] = None,
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
    metric = None if scoring is None else known_metrics([scoring], "--scoring")[0]
    how = trainable(method).with_settings(settings)
    reading = replace(reading, not_targets=tuple((extra_features or "").split(",")))
    dataset = read_source(data, reading, "needed")
    if extra_features is not None:
        dataset = with_extra_features(dataset, extra_features, data, reading)
    if split == "scaffold" or (split == "stratified" and dataset.smiles is not None):
        dataset = _group(dataset, data, split)
    chosen = task_of(dataset.targets, task, dataset.target, dataset.tasks)
    model = how.model(chosen, seed, metric)
    check_positive(dataset, chosen, positive, metric)
    say(_describe(dataset, chosen.name))
    say(f"Task: {chosen}")
    if dataset.smiles is not None:
        say(f"Atom labels: {reading.level} (--atoms)")
    if dataset.graphs.extra is not None:
        say(f"Extra features: {len(dataset.graphs.extra.names)} (--extra-features)")
    start = perf_counter()
    model.fit(dataset.graphs, dataset.named_targets, groups=dataset.groups)
    report = model.report_.about(positive)
    say(f"{report}, in {perf_counter() - start:.1f} s")
    if html is not None:
        report.save_page(html)
    save_model(model, output, target=dataset.target or None, positive=positive)
    if dataset.errors:
        skipped = output.with_suffix(".skipped.csv")
        names = ("row", "line", "kind", "reason")
        write_table(skipped, {name: [getattr(row, name) for row in dataset.errors] for name in names})
        say(f"{counted(len(dataset.errors), 'row')} left out: see {skipped}")


def _group(dataset: tw.Dataset, data: str, split: str) -> tw.Dataset:
    """Make each scaffold a group, which stays together in every hold-out; or each molecule."""
    if dataset.smiles is None:
        raise TwinWLError(f"--split scaffold is for molecules, and {data} holds none; leave it out")
    if split == "stratified":
        return replace(dataset, groups=dataset.rows)  # each is a group of its own
    from twinwl.evaluation.splits import scaffold_groups  # noqa: PLC0415

    return replace(dataset, groups=scaffold_groups(dataset.smiles))


def _describe(data: tw.Dataset, task: str) -> str:
    """Describe the training data.

    >>> from twinwl.datasets.dataset import Dataset
    >>> data = Dataset.from_graphs([[(0, 1)], [(0, 1), (1, 2)]], [1, 2], name="tiny")
    >>> _describe(data, "classification")
    'tiny: 2 graphs, 5 nodes, 3 edges; classes: 1 (1), 2 (1)'
    >>> _describe(data, "regression")
    'tiny: 2 graphs, 5 nodes, 3 edges; targets: from 1 to 2, mean 1.5'
    """
    graphs = data.graphs
    edges = "arcs" if graphs.directed else "edges"
    head = f"{data.name}: {len(graphs):,} graphs, {graphs.n_nodes:,} nodes, {graphs.n_edges:,} {edges}"
    if not data.tasks:
        noun = data.target or {"classification": "classes", "regression": "targets"}[task]
        return f"{head}; {noun}: {_list_targets(data.targets, task)}"
    lines = [f"{head}; {len(data.tasks)} targets:"]
    for name, column in data.named_targets.items():
        known = column == column  # noqa: PLR0124  (NaN is not equal to itself)
        missing = f"; {(~known).sum():,} missing" * (not known.all())
        lines.append(f"  {name}: {_list_targets(column[known], task)}{missing}")
    return "\n".join(lines)


def _list_targets(y: Values, task: str) -> str:
    if task == "regression":
        numbers = y.astype(float)
        return f"from {numbers.min():.4g} to {numbers.max():.4g}, mean {numbers.mean():.4g}"
    counts = sorted(Counter(y.tolist()).items())
    return ", ".join(
        f"{f'{name:g}' if isinstance(name, float) else name} ({count:,})" for name, count in counts
    )


def save_model(model: Any, path: Path, **about: str | None) -> None:  # noqa: ANN401
    """Write a model to a file, and print its size; ``about`` as in `twinwl.save`."""
    tw.save(model, path, **about)
    say(f"Model written to {path} ({path.stat().st_size / 1e3:,.0f} kB)")
