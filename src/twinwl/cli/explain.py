"""``twinwl explain``: why a trained model predicts a class for a graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import ModelFile, reads_data
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.opening import Reading
    from twinwl.estimators.explanation import Explanation

__all__ = ["explain", "register"]

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
The share of a node is its contribution to the decision; the shares and the intercept sum to the \
decision. A column is a pattern that the model counts: a node and its neighbourhood, as a tree.

[bold]GRAPH[/] is a file, one graph of a data set, counted from 0 ([cyan]MUTAG#17[/], \
[cyan]molecules.csv#3[/]), or given directly ([cyan]smiles:CCO[/]).

[bold]Examples[/]

$ twinwl explain bbbp.twinwl smiles:CC(C)NCC(O)COc1cccc2ccccc12 --html page.html

$ twinwl explain bbbp.twinwl BBBP.csv#3 --png picture.png --top 5
"""

_NODES_LISTED = 10
_BAR = 18


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reads_data(explain))


def explain(
    model: ModelFile,
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="One graph.", show_default=False)],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page, in one file.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a picture: .png, .svg or .pdf.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of columns to show.")] = 10,
    *,
    reading: Reading,
) -> None:
    """Show which nodes and patterns led to a prediction."""
    from twinwl.cli.model_files import alphabet_of, load_classifier  # noqa: PLC0415  (keeps --help fast)
    from twinwl.cli.output_files import PAGES, PICTURES, check_output  # noqa: PLC0415
    from twinwl.datasets.source import check_source, read_one  # noqa: PLC0415
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    check_output(html, PAGES)
    check_output(png, PICTURES)
    check_source(graph, reading, "given")
    classifier = load_classifier(model)
    reading = replace(reading, usual_atoms=getattr(classifier, "atoms_", "skeleton"))
    named = _without_folder(read_one(graph, reading), graph)
    with ProgressBar("explaining"):
        found: Explanation = classifier.explain(named.graphs, top)
        classes = [str(name) for name in classifier.classes_.tolist()]
        code = classes.index(str(found.prediction))
        probability = float(classifier.predict_proba(named.graphs)[0, code])
        if html is not None:
            from twinwl.report.explain.page import write_explain_page  # noqa: PLC0415

            alphabet = alphabet_of(classifier)
            write_explain_page(html, named, found, alphabet=alphabet, probability=probability)
        if png is not None:
            from twinwl.report.explain.picture import draw_explanation  # noqa: PLC0415

            molecule = named.smiles[0] if named.smiles else None
            draw_explanation(found, png, molecule, name=named.names[0], probability=probability)
    _tell(named, found, probability)
    for what, path in (("page", html), ("picture", png)):
        if path is not None:
            say(f"\nThe {what} is in {path}")


def _without_folder(named: Dataset, spec: str) -> Dataset:
    """Reduce a name that is a path to the file name; the slashes of a SMILES are not folders."""
    by_path = named.names[0] == spec and not named.smiles
    return replace(named, names=(Path(spec).name,)) if by_path else named


def _tell(named: Dataset, found: Explanation, probability: float) -> None:
    import numpy as np  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.estimators.trees import shown  # noqa: PLC0415
    from twinwl.report.explain.page_data import percent, signed  # noqa: PLC0415
    from twinwl.report.wording import facts_of  # noqa: PLC0415

    console = new_console(soft_wrap=True)
    console.print(Text.assemble((named.names[0], "bold"), "  ", (facts_of(named.graphs), "dim")))
    predicted = f"{found.prediction} ({percent(probability)})"
    console.print(Text.assemble("\nPredicted ", (predicted, "bold"), f" rather than {found.against}"))
    console.print(f"decision {signed(found.decision)}, intercept {signed(found.intercept)}")
    console.print(Text(f"shares: {found.method}", "dim"))
    largest = float(np.abs(found.node_shares).max(initial=0.0)) or 1.0
    order = np.argsort(-np.abs(found.node_shares), kind="stable")[:_NODES_LISTED].tolist()
    more = "" if len(order) == named.graphs.n_nodes else f", the {len(order)} weightiest"
    console.print(Text(f"\nNodes{more}", "bold"))
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
        side = found.prediction if column.share > 0 else found.against
        about = f"  for {side}, {column.name} = {column.value:g}"
        console.print(Text.assemble("  ", (f"{signed(column.share):>7}", style), about))
        for line in str(column.tree).splitlines():
            console.print(Text(f"           {line}"))
