"""``twinwl explain`` for several graphs: the patterns that recur, as a table, a page and a file."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from twinwl.errors import TwinWLError, TwinWLWarning
from twinwl.terminal import new_console

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from twinwl.datasets.dataset import Dataset
    from twinwl.estimators.explanation import Explanation
    from twinwl.graphs.batch import GraphBatch
    from twinwl.report.explain.environments import Environment
    from twinwl.report.explain.gallery import Answers
    from twinwl.report.explain.patterns import ExplainedGraphs


def explain_data(model: Any, data: Dataset, top: int) -> ExplainedGraphs:  # noqa: ANN401
    """Explain all graphs, with a progress bar."""
    from twinwl.progress import ProgressBar  # noqa: PLC0415
    from twinwl.report.explain.patterns import explain_all, explained  # noqa: PLC0415

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
    from twinwl.cli.model_files import unseen_shares  # noqa: PLC0415
    from twinwl.report.explain.gallery import Answers  # noqa: PLC0415

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
    from twinwl.report.explain.patterns import classes_named  # noqa: PLC0415

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
    from twinwl.cli.model_files import alphabet_of  # noqa: PLC0415
    from twinwl.report.explain.gallery import gallery_page  # noqa: PLC0415
    from twinwl.report.html import write_page  # noqa: PLC0415

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
    from twinwl.cli.model_files import alphabet_of  # noqa: PLC0415
    from twinwl.report.explain.page_data import columns_shown  # noqa: PLC0415

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
    from twinwl.report.explain.patterns import side_of  # noqa: PLC0415

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

    from twinwl.report.explain.page_data import signed  # noqa: PLC0415
    from twinwl.report.wording import counted  # noqa: PLC0415

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
