"""``twinwl ceiling``: the best score that any function of what 1-WL or a readout sees could have on data.

Graphs that look alike but differ in class cannot all be right. The command groups the graphs by what 1-WL
sees, by what each readout sees, and by isomorphism, and adds up the most frequent class of each group
(numbers: the lowest possible RMSE). Nothing is trained. If 1-WL has the ceiling of isomorphism, telling more
graphs apart cannot help on this data; a high ceiling does not mean that it can be learnt.

[bold]Examples[/]

$ twinwl ceiling MUTAG

$ twinwl ceiling EXP --readout size --readout rooted-wl --n-iter 3

$ twinwl ceiling molecules.csv --target logS --json
"""

import twinwl as tw
from twinwl.cli import options as o
from twinwl.terminal import say


def ceiling(
    data: o.Data,
    readout: o.Readouts = None,
    n_iter: o.MostRounds = None,
    task: o.Task = "auto",
    edge_labels: o.EdgeLabels = None,
    ignore_attributes: o.IgnoreAttributes = False,
    json: o.Json = False,
    *,
    reading: o.ReadingAtoms,
) -> None:
    """Compute how well any model could do on a data set, given what it can tell apart."""
    from twinwl.datasets.source import read_source  # noqa: PLC0415  (keeps --help fast)

    dataset = read_source(data, reading, "needed")
    result = tw.research.ceiling(
        dataset.graphs,
        dataset.targets,
        readout or ["size"],
        n_iter,
        task=task,
        edge_labels=edge_labels,
        ignore_features=ignore_attributes,
    )
    say(result.to_json() if json else f"{dataset.name}\n{result}")
