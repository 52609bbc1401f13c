"""``twinwl explain``: why a trained model predicts what it does, for one graph or for a whole file.

The share of a node is its contribution to the decision; the shares and the intercept sum to the decision.
Positive shares, in red, are for the second of two classes in sorted order, for the predicted one of
several, or for a higher number; negative ones, in blue, are for the other side. A column is a pattern that
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

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from twinwl.cli.options import OUTPUT, ModelFile, file_option, long_help, reads_data
from twinwl.errors import TwinWLError, TwinWLWarning
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.formats import ReadOptions
    from twinwl.evaluation.predictions import Nearest
    from twinwl.graphs.batch import GraphBatch
    from twinwl.models.explanation import Explanation
    from twinwl.report.explain import Environment, ExplainedGraphs
    from twinwl.report.gallery import Answers


def explain_data(model: Any, data: Dataset, top: int) -> ExplainedGraphs:  # noqa: ANN401
    """Explain all graphs, with a progress bar."""
    from twinwl.report.explain import explain_all, explained  # noqa: PLC0415
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    model.predict(data.graphs)  # warns of unknown labels once, with the number of graphs
    with ProgressBar("explaining", len(data)) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinWLWarning)

        def explain(graph: GraphBatch, n_columns: int) -> Explanation:
            bar.advance()
            return replace(explained(model, graph, n_columns), target=getattr(model, "target_", None))

        return explain_all(explain, data.graphs, top)


def answers_about(
    model: Any,  # noqa: ANN401
    data: Dataset,
    found: ExplainedGraphs,
    truth: Sequence[object] | None,
) -> Answers:
    """Return classes, probabilities and shares of unseen colours, and the targets in the data."""
    from twinwl.evaluation.predictions import unseen_shares  # noqa: PLC0415
    from twinwl.report.gallery import Answers  # noqa: PLC0415

    probabilities = None
    classes = getattr(model, "classes_", None)
    if classes is not None:
        rows = model.predict_proba(data.graphs)
        code_of = {str(name): code for code, name in enumerate(classes.tolist())}
        codes = [code_of[str(one.prediction)] for one in found.explanations]
        probabilities = [float(row[code]) for row, code in zip(rows, codes, strict=True)]
    unseen = unseen_shares(model, data.graphs)
    return Answers(
        () if classes is None else classes.tolist(),
        probabilities,
        None if unseen is None else unseen.mean(axis=0),
        truth,
    )


def named_after(
    target: str | None, found: ExplainedGraphs, answers: Answers
) -> tuple[ExplainedGraphs, Answers]:
    """Name classes that are numbers after the target, ``p_np = 1``, for people to read."""
    from twinwl.report.explain import classes_named  # noqa: PLC0415

    if target is None or not answers.classes or isinstance(answers.classes[0], str):
        return found, answers

    def name(label: object) -> str:
        return f"{target} = {label}"

    truth = answers.truth
    return found._replace(
        explanations=tuple(classes_named(one, target) for one in found.explanations),
        patterns=tuple(pattern._replace(side=name(pattern.side)) for pattern in found.patterns),
    ), answers._replace(
        classes=[name(label) for label in answers.classes],
        truth=None if truth is None else [None if label is None else name(label) for label in truth],
    )


def write_gallery(
    path: Path,
    model: Any,  # noqa: ANN401
    data: Dataset,
    found: ExplainedGraphs,
    answers: Answers,
    most: int,
) -> None:
    """Write the page with the patterns and the drawings."""
    from twinwl.evaluation.predictions import alphabet_of  # noqa: PLC0415
    from twinwl.report.gallery import gallery_page  # noqa: PLC0415
    from twinwl.report.page import write_page  # noqa: PLC0415

    page = gallery_page(
        data,
        found,
        answers,
        alphabet=alphabet_of(model),
        atoms=model.atoms_ or "skeleton",
        edge_labels=bool(model.edge_labels),
        most=most,
    )
    write_page(path, page)


def environments(model: Any, data: Dataset, found: ExplainedGraphs) -> list[Environment | None]:  # noqa: ANN401
    """Return each pattern in its example as SMARTS and SMILES; None if the graphs are not molecules."""
    from twinwl.evaluation.predictions import alphabet_of  # noqa: PLC0415
    from twinwl.report.explain import columns_shown  # noqa: PLC0415

    if data.smiles is None:
        return [None] * len(found.patterns)
    alphabet, atoms = alphabet_of(model), model.atoms_ or "skeleton"
    shown = []
    for pattern in found.patterns:
        example = replace(found.explanations[pattern.example], columns=(pattern.column,))
        molecule = data.smiles[pattern.example]
        column = columns_shown(example.graph, example, alphabet, None, molecule, atoms)[0]
        shown.append(column.environment)
    return shown


def pattern_rows(
    data: Dataset, found: ExplainedGraphs, shown: Sequence[Environment | None]
) -> dict[str, list[Any]]:
    """Return the table of ``-o``: one row per graph and pattern that it has, strongest pattern first."""
    from twinwl.report.explain import side_of  # noqa: PLC0415

    rows = [
        {
            "pattern": pattern.column.name,
            "index": int(data.rows[place.graph]),
            "name": data.names[place.graph],
            "prediction": found.explanations[place.graph].prediction,
            "share": float(f"{place.share:.6g}"),
            "for": side_of(found.explanations[place.graph], place.share),
            "value": place.value,
            "tree": str(pattern.column.tree),
            **({} if data.smiles is None else {"smarts": environment and environment.smarts}),
        }
        for pattern, environment in zip(found.patterns, shown, strict=True)
        for place in pattern.occurrences
    ]
    if not rows:
        raise TwinWLError("there is no pattern to write: the model counts none, or --top is 0")
    return {name: [row[name] for row in rows] for name in rows[0]}


def tell_patterns(data: Dataset, found: ExplainedGraphs, shown: Sequence[Environment | None]) -> None:
    """Print what is predicted, and a table of the patterns."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.report.explain import signed  # noqa: PLC0415
    from twinwl.report.page import counted  # noqa: PLC0415

    console = new_console()
    noun = "graph" if data.smiles is None else "molecule"
    console.print(Text.assemble((data.name, "bold"), "  ", (counted(len(data), noun), "dim")))
    if found.explanations[0].against is not None:
        counts = Counter(one.predicted for one in found.explanations).most_common()
        console.print(Text("Predicted " + ", ".join(f"{name}: {count:,}" for name, count in counts)))
    if not found.patterns:
        return
    table = Table(title="\nPatterns that recur, largest total contribution first", title_justify="left")
    for column in ("mean share", "for", f"{noun}s", "total", "pattern"):
        justify: Literal["left", "right"] = "left" if column in {"for", "pattern"} else "right"
        table.add_column(column, justify=justify, overflow="fold")  # a SMARTS must not be cut off
    for pattern, environment in zip(found.patterns, shown, strict=True):
        table.add_row(
            signed(pattern.mean),
            Text(pattern.side),
            f"{len(pattern.occurrences):,}",
            f"{pattern.total:.3g}",
            Text(
                f"{pattern.column.name}\n{pattern.column.tree}"
                + (f"\n{environment.smarts}" if environment else "")
            ),
        )
    console.print(table)


_NODES_LISTED = 10
_BAR = 18


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=long_help(__doc__))(reads_data(explain))


def explain(
    model: ModelFile,
    data: Annotated[str, typer.Argument(metavar="DATA", help="One graph, or several.", show_default=False)],
    html: Annotated[Path | None, file_option("Also write an HTML page, in one file.")] = None,
    png: Annotated[Path | None, file_option("Also write a picture of one graph: .png, .svg or .pdf.")] = None,
    output: Annotated[
        Path | None,
        file_option(
            "Also write one row per graph and pattern: .csv, .tsv, .json, .jsonl or .parquet.", *OUTPUT
        ),
    ] = None,
    train: Annotated[
        str | None, typer.Option(metavar="DATA", help="The training data: shows the nearest training graph.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of columns (patterns) to show.")] = 10,
    most: Annotated[int, typer.Option(min=0, help="Number of graphs to draw on the page.")] = 60,
    for_task: Annotated[
        str | None, typer.Option(metavar="NAME", help="The target to explain, if the model predicts several.")
    ] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Show which nodes and patterns led to the prediction for a graph, or for many."""
    from twinwl.cli.model_files import load_predictor, model_of_task  # noqa: PLC0415
    from twinwl.cli.output_files import PAGES, PICTURES, check_output, write_table  # noqa: PLC0415
    from twinwl.datasets.source import check_source, read_with_targets  # noqa: PLC0415
    from twinwl.files.tables import TABLE_ENDINGS  # noqa: PLC0415

    check_output(html, PAGES)
    check_output(png, PICTURES)
    check_output(output, TABLE_ENDINGS, inputs=(data, train))
    check_source(data, reading, "given")
    check_source(train or data, replace(reading, target=None), "given")
    loaded = model_of_task(load_predictor(model), model, for_task)
    reading = replace(reading, usual_atoms=loaded.atoms_ or "skeleton")
    named, truth = read_with_targets(data, reading)
    target = getattr(loaded, "target_", reading.target if isinstance(reading.target, str) else None)
    alone = len(named) == 1 and not named.errors
    if png is not None and not alone:
        raise TwinWLError(
            f"--png draws one graph, and {data} has {len(named) + len(named.errors):,}; choose one, "
            f"such as '{data}#0', or use --html"
        )
    near = None if train is None else _nearest(named, train, reading)
    if alone:
        _explain_one(loaded, _without_folder(named, data), html, png, top, target, near)
    if output is not None or not alone:
        found = explain_data(loaded, named, top)
        shown = environments(loaded, named, found)
        if output is not None:
            write_table(output, pattern_rows(named, found, shown))
        if not alone:
            answers = answers_about(loaded, named, found, truth)
            answers = answers._replace(nearest=near and [near.text(place) for place in range(len(named))])
            found, answers = named_after(target, found, answers)
            if html is not None:
                write_gallery(html, loaded, named, found, answers, most)
            tell_patterns(named, found, shown)
    for what, path in (("page", html), ("picture", png), ("table", output)):
        if path is not None:
            say(f"\nThe {what} is in {path}")


def _explain_one(
    loaded: Any,  # noqa: ANN401
    named: Dataset,
    html: Path | None,
    png: Path | None,
    top: int,
    target: str | None,
    near: Nearest | None,
) -> None:
    """Write page and picture of one graph, then print its explanation."""
    from twinwl.evaluation.predictions import alphabet_of, predicts_classes  # noqa: PLC0415
    from twinwl.report.explain import classes_named, explained  # noqa: PLC0415
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    with ProgressBar("explaining"):
        found: Explanation = replace(explained(loaded, named.graphs, top), target=target)
        probability = None
        if predicts_classes(loaded):
            code = [str(name) for name in loaded.classes_.tolist()].index(str(found.prediction))
            probability = float(loaded.predict_proba(named.graphs)[0, code])
        found = classes_named(found, target)
        if html is not None:
            from twinwl.report.explain import explain_page  # noqa: PLC0415
            from twinwl.report.page import write_page  # noqa: PLC0415

            page = explain_page(
                named,
                found,
                alphabet=alphabet_of(loaded),
                probability=probability,
                atoms=loaded.atoms_ or "skeleton",
                edge_labels=bool(loaded.edge_labels),
                nearest=None if near is None else near.at(0),
            )
            write_page(html, page)
        if png is not None:
            from twinwl.report.picture import draw_explanation  # noqa: PLC0415

            molecule = named.smiles[0] if named.smiles else None
            draw_explanation(
                found,
                png,
                molecule,
                name=named.names[0],
                probability=probability,
                alphabet=alphabet_of(loaded),
            )
    _tell(named, found, probability)
    if near is not None:
        text = near.text(0)
        say(f"\n{text[0].upper()}{text[1:]}")


def _nearest(named: Dataset, train: str, reading: ReadOptions) -> Nearest:
    from twinwl.datasets.source import read_source  # noqa: PLC0415
    from twinwl.evaluation.predictions import Nearest  # noqa: PLC0415

    return Nearest.found(named, read_source(train, replace(reading, target=None), "none"))


def _without_folder(named: Dataset, spec: str) -> Dataset:
    """Reduce a name that is a path to the file name; the slashes of a SMILES are not folders."""
    by_path = named.names[0] == spec and not named.smiles
    return replace(named, names=(Path(spec).name,)) if by_path else named


def _tell(named: Dataset, found: Explanation, probability: float | None) -> None:
    import numpy as np  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.models.explanation import shown  # noqa: PLC0415
    from twinwl.report.explain import percent, signed  # noqa: PLC0415
    from twinwl.report.page import facts_of  # noqa: PLC0415

    console = new_console(soft_wrap=True)
    facts = facts_of(named.graphs, molecule=named.smiles is not None)
    console.print(Text.assemble((named.names[0], "bold"), "  ", (facts, "dim")))
    sure = "" if probability is None else f" ({percent(probability)})"
    against = found.verdict.removeprefix(found.predicted)
    console.print(Text.assemble("\nPredicted ", found.subject, (found.predicted + sure, "bold"), against))
    console.print(f"decision {signed(found.decision)}, intercept {signed(found.intercept)}")
    console.print(Text(f"shares: {found.method}", "dim"))
    largest = float(np.abs(found.node_shares).max(initial=0.0)) or 1.0
    order = np.argsort(-np.abs(found.node_shares), kind="stable")[:_NODES_LISTED].tolist()
    more = "" if len(order) == named.graphs.n_nodes else f", the {len(order)} with the largest shares"
    console.print(Text(f"\n{'Nodes' if named.smiles is None else 'Atoms'}{more}", "bold"))
    labels = named.graphs.labels_of_nodes()
    for node in order:
        share = float(found.node_shares[node])
        bar = "█" * max(int(share != 0), round(_BAR * abs(share) / largest))
        console.print(
            Text.assemble(
                f"  {signed(share):>7}  ",
                (f"{bar:<{_BAR}}", "red" if share > 0 else "blue"),
                f"  {node} {shown(labels[node])}",
            )
        )
    if found.columns:
        console.print(Text("\nColumns", "bold"))
    for column in found.columns:
        style = "red" if column.share > 0 else "blue"
        side = found.sides[column.share <= 0]
        about = f"  for {side}, {column.name} = {column.value:g}"
        console.print(Text.assemble("  ", (f"{signed(column.share):>7}", style), about))
        for line in str(column.tree).splitlines():
            console.print(Text(f"           {line}"))
