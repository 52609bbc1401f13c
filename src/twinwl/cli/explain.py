"""``twinwl explain``: why a trained model predicts what it does, for one graph or for a whole file.

The share of a node is its contribution to the decision; the shares and the intercept sum to the decision.
Positive shares, in red, are for the positive one of two classes (as in twinwl predict), for the predicted one
of several, or for a higher number; negative ones, in blue, are for the other side. A column is a pattern that
the model counts: a node and its neighbourhood, as a tree.

[bold]DATA[/] is a data set or file, one graph of it, counted from 0 ([cyan]MUTAG#17[/],
[cyan]molecules.csv#3[/]), or a graph given directly ([cyan]smiles:CCO[/]).

For several graphs the command lists the patterns that recur: those with the largest sum of absolute
contributions over all graphs, the number of graphs that have them, and their mean contribution; patterns of
molecules also as SMARTS, whose first atom is the centre, as it is in one of the molecules. --html writes
one page with these patterns and a gallery of the graphs, -o a table with one row per graph and pattern.

--train shows the nearest training graph, with its similarity: from 0, nothing in common, to 1, the same (as
in twinwl predict).

[bold]Examples[/]

$ twinwl explain bbbp.twinwl 'smiles:CC(C)NCC(O)COc1cccc2ccccc12' --html page.html

$ twinwl explain bbbp.twinwl BBBP.csv#3 --png picture.png --top 5

$ twinwl explain tox21.twinwl 'smiles:CC(=O)Oc1ccccc1C(=O)O' --for-task NR-AR

$ twinwl explain bbbp.twinwl new_molecules.csv --html gallery.html -o patterns.csv
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import opt
from twinwl.cli.output import load_predictor, print_table, write_table
from twinwl.errors import TwinWLError
from twinwl.graphs.atom_labels import FIRST_ATOMS
from twinwl.terminal import ProgressBar, counted, say

if TYPE_CHECKING:
    from twinwl.evaluation.neighbours import Neighbours
    from twinwl.report.explain import ExplainedGraphs


def explain(
    model: o.ModelFile,
    data: o.Data,
    html: o.Html = None,
    png: Annotated[
        Path | None, o.new_file("Also write a picture of one graph: .png, .svg or .pdf.", *o.PICTURES)
    ] = None,
    output: o.TableFile = None,
    train: o.Training = None,
    top: Annotated[int, opt("Number of columns (patterns) to show.", min=0)] = 10,
    most: Annotated[int, opt("Number of graphs to draw on the page.", min=0)] = 60,
    for_task: Annotated[str | None, opt("The target to explain, of a model of several.", "NAME")] = None,
    *,
    reading: o.Reading,
) -> None:
    """Show which nodes and patterns led to the prediction for a graph, or for many."""
    from twinwl.datasets.source import open_source, read_source, read_with_targets, with_extra_features  # noqa: PLC0415

    o.check_output(output, o.TABLES, inputs=(data, train))
    open_source(data, reading, "given")
    open_source(train or data, replace(reading, target=None, shared=train is not None), "given")
    loaded = load_predictor(model, for_task, several=False)
    reading = replace(reading, usual_atoms=loaded.atoms_ or FIRST_ATOMS)
    named, truth = read_with_targets(data, reading)
    named = with_extra_features(named, getattr(loaded, "extra_names_", None), data, reading)
    target = getattr(loaded, "target_", reading.target if isinstance(reading.target, str) else None)
    alone = len(named) == 1 and not named.errors
    if png is not None and not alone:
        raise TwinWLError(
            f"--png draws one graph, and {data} has {len(named) + len(named.errors):,}; choose one, "
            f"such as '{data}#0', or use --html"
        )
    from twinwl.evaluation.neighbours import search  # noqa: PLC0415  (slow; only after the checks)
    from twinwl.report.explain import explain_all, gallery_page  # noqa: PLC0415
    from twinwl.report.page import write_page  # noqa: PLC0415

    o.say_ids(named, reading.id)
    others = replace(reading, target=None, shared=True)
    near = None if train is None else search(named, read_source(train, others, "none"), 1, reading)
    if alone:
        _explain_one(loaded, named, top, target, near, html, png)
    if output is not None or not alone:
        result = explain_all(loaded, named, top)
    if output is not None:
        write_table(output, result.table(named))
    if not alone:
        if html is not None:
            page = gallery_page(named, result, loaded, truth=truth, nearest=near, target=target, most=most)
            write_page(html, page)
        _print_patterns(named, result.named(target))
    for what, path in (("page", html), ("picture", png), ("table", output)):
        if path is not None:
            say(f"\nThe {what} is in {path}")


def _explain_one(
    model: Any,  # noqa: ANN401
    named: tw.Dataset,
    top: int,
    target: str | None,
    near: Neighbours | None,
    html: Path | None,
    png: Path | None,
) -> None:
    from twinwl.report.explain import classes_named, explain_page, explained, headline, probabilities_of  # noqa: PLC0415
    from twinwl.report.page import facts_of, write_page  # noqa: PLC0415

    with ProgressBar("explaining"):
        result = replace(explained(model, named.graphs, top), target=target)
        probabilities = probabilities_of(model, named.graphs, [result])
    result, probability = classes_named(result, target), None if probabilities is None else probabilities[0]
    if html is not None:
        write_page(html, explain_page(named, result, model, probability=probability, nearest=near))
    if png is not None:
        from twinwl.report.picture import draw_explanation  # noqa: PLC0415

        smiles = named.smiles[0] if named.smiles else None
        draw_explanation(result, png, smiles, name=named.names[0], probability=probability, model=model)
    say(f"{named.names[0]}  {facts_of(named.graphs, molecule=named.smiles is not None)}\n")
    say(headline(result, probability))
    say(f"Positive shares are for {result.sides[0]}, negative ones for {result.sides[1]}.\n\n{result}")
    if near is not None:
        sentence = near.matches[0].sentence
        say(f"\n{sentence[0].upper()}{sentence[1:]}")


def _print_patterns(data: tw.Dataset, explained_graphs: ExplainedGraphs) -> None:
    from twinwl.report.page import signed  # noqa: PLC0415

    noun = "graph" if data.smiles is None else "molecule"
    say(f"{data.name}  {counted(len(data), noun)}")
    if explained_graphs.explanations[0].against is not None:
        counts = Counter(one.predicted for one in explained_graphs.explanations).most_common()
        say("Predicted " + ", ".join(f"{name}: {count:,}" for name, count in counts))
    rows = [
        (
            signed(pattern.mean),
            pattern.side,
            f"{len(pattern.occurrences):,}",
            f"{pattern.total:.3g}",
            "\n".join([pattern.column.name, str(pattern.column.tree), *filter(None, [pattern.smarts])]),
        )
        for pattern in explained_graphs.patterns
    ]
    if rows:
        say("\nPatterns that recur, largest total contribution first")
        print_table(rows, ["mean share", "for", f"{noun}s", "total", "pattern"], left=(1, 4))
