"""``twinwl corpus``: graphs beyond memory, as a folder of Parquet shards.

``twinwl corpus features``, ``train`` and ``predict``: models of graphs beyond memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from twinwl.cli.options import (
    CHOICES,
    Balanced,
    EdgeLabels,
    Json,
    ModelFile,
    NewModelFile,
    SeedOfModel,
    Task,
    choice,
    encodes,
    gathered,
)
from twinwl.terminal import aligned, new_console, one_line, say

EPILOG_OF_FEATURES = """
OUT/shards has one Parquet file per shard, with id, all other columns, and the nonzero entries of each \
graph as two lists, columns and values. OUT/vocabulary.twinwl is the vectorizer: \
[cyan]tw.STwinVectorizer.from_vocabulary[/] encodes other graphs with it.

[bold]Example[/]

$ twinwl corpus features library -o features --min-df 10 --features joint
"""
EPILOG_OF_TRAIN = """
A network on STwin features, as [cyan]twinwl train[/] trains it, from mini-batches of the shards. Rows \
without a target are left out. A tenth of the graphs is held out to choose the epoch, by a hash of their \
keys, so that copies of a graph are on the same side. --target a,b,c trains one model of several targets.

[bold]Example[/]

$ twinwl corpus train library -o model.twinwl --target active --min-df 5
"""
EPILOG_OF_PREDICT = """
OUT/shards has one Parquet file per shard, with id, all other columns, and the prediction. Rows that were \
set aside when the corpus was built are not in it.

[bold]Example[/]

$ twinwl corpus predict model.twinwl library -o predictions --proba
"""


def register_models(app: typer.Typer) -> None:
    """Add the subcommands to ``twinwl corpus``."""
    app.command(epilog=EPILOG_OF_FEATURES)(runs_job(encodes(features)))
    app.command(epilog=EPILOG_OF_TRAIN)(encodes(train))
    app.command(epilog=EPILOG_OF_PREDICT)(runs_job(predict))


def features(
    folder: Folder,
    output: Output,
    json: Events = False,
    *,
    encoding: dict[str, Any],
    running: dict[str, Any],
) -> None:
    """Turn graphs into sparse STwin features, with one vocabulary."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415  (keeps --help fast)
    from twinwl.models.vectorizer import STwinVectorizer  # noqa: PLC0415

    wanted = STwinVectorizer(**encoding)
    corpus = Corpus(folder)
    fitted = corpus.features(output, wanted, **running)
    if not json:
        say(f"{len(corpus):,} graphs × {fitted.n_features_out_:,} columns: {output}")


def train(
    folder: Folder,
    output: NewModelFile,
    target: Annotated[
        str, typer.Option(metavar="COL", help="Column to predict; several: a,b,c.", show_default=False)
    ],
    task: Task = "auto",
    balanced: Balanced = False,
    epochs: Annotated[int, typer.Option(min=1, help="Largest number of epochs.")] = 100,
    seed: SeedOfModel = 0,
    memory: Memory = "1GiB",
    *,
    encoding: dict[str, Any],
) -> None:
    """Train a classifier or regressor on a corpus and write it to a file."""
    from twinwl.cli.output_files import MODELS, check_output  # noqa: PLC0415
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415
    from twinwl.corpus.models import targets_in  # noqa: PLC0415
    from twinwl.errors import TwinWLError  # noqa: PLC0415
    from twinwl.evaluation.metrics import task_of  # noqa: PLC0415

    check_output(output, MODELS, or_unknown=True)
    corpus = Corpus(folder)
    names = [target] if target in corpus.manifest["columns"] else target.split(",")
    found = targets_in(corpus, names)
    chosen = task_of(found.y, task, target, names if len(names) > 1 else ())
    say(f"{len(found.rows):,} of {len(corpus):,} graphs have a target")
    say(f"Task: {chosen}")
    if balanced and chosen.name == "regression":
        raise TwinWLError("--balanced is for classes, and the model predicts numbers; leave it out")
    from twinwl.files.model_files import save  # noqa: PLC0415
    from twinwl.neural.stwin import (  # noqa: PLC0415
        STwinClassifier,
        STwinRegressor,
    )

    parameters: dict[str, Any] = {**encoding, "max_epochs": epochs, "random_state": seed}
    model = (
        STwinRegressor(**parameters)
        if chosen.name == "regression"
        else STwinClassifier(**parameters, class_weight="balanced" if balanced else None)
    )
    corpus.train(model, names, memory=memory)
    save(model, output)
    history = model.history_
    held = 0 if model.held_out_ is None else len(model.held_out_)
    figures = ", ".join(history.figures())
    say(f"{held:,} graphs held out; after {len(history.train_loss)} epochs: {figures}")
    say(f"Model written to {output} ({output.stat().st_size / 1e3:,.0f} kB)")


def predict(
    model: ModelFile,
    folder: Folder,
    output: Output,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class (classifiers).")
    ] = False,
    json: Events = False,
    *,
    running: dict[str, Any],
) -> None:
    """Predict the class, or the number, of each graph of a corpus."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    corpus = Corpus(folder)
    corpus.predict(model, output, proba=proba, **running)
    if not json:
        say(f"{len(corpus):,} predictions, one file per shard in {output / 'shards'}")


EPILOG_OF_BUILD = """
Rows that cannot be read are set aside in OUT/errors, with file, row and reason. \
A build that was stopped goes on when the same command is given again.

[bold]Examples[/]

$ twinwl corpus build 'library-*.smi.gz' -o library

$ twinwl corpus build graphs.g6 -o graphs --workers 4 --memory 2GiB

[dim]a Parquet file with a column of edges, u0, v0, u1, v1, …[/]

$ twinwl corpus build programs.parquet -o programs --edges-column ends
"""
EPILOG_OF_DEDUP = """
OUT is a corpus with the first graph of each group and its n_copies; OUT/groups has the row of the \
representative of each graph. Graphs are the same if they are isomorphic, including their labels; a corpus \
built with --no-edge-labels has no labels of edges.

[bold]Example[/]

$ twinwl corpus dedup library -o distinct
"""

Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus.", show_default=False)]
Output: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for the result.", show_default=False)
]
Fresh: TypeAlias = Annotated[
    bool, typer.Option("--fresh", help="Delete what an earlier run left in the folder, and start again.")
]
Events: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object per line: an event after each task, and the end."),
]
_PANEL = "Running"
_LABELS_SHOWN = 12
_WIDEST = 48  # characters of a cell
Engine: TypeAlias = Annotated[
    str, choice("engine", "Where to run: processes on this machine, or a Ray cluster.", panel=_PANEL)
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of tasks that run at the same time. \\[default: all processors]",
        rich_help_panel=_PANEL,
    ),
]
Address: TypeAlias = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Running Ray cluster.", rich_help_panel=_PANEL)
]
Memory: TypeAlias = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory of each process.", rich_help_panel=_PANEL)
]

_app = typer.Typer(
    help="Build, de-duplicate and compare collections of graphs that are larger than memory.",
    no_args_is_help=True,
)


_RUNNING: dict[str, tuple[Any, Any]] = {
    "fresh": (Fresh, False),
    "engine": (Engine, "local"),
    "workers": (Workers, None),
    "address": (Address, None),
    "memory": (Memory, "1GiB"),
}


def runs_job(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of running to a command, which receives them as one parameter, ``running``.

    They are arguments of the methods of `Corpus`; the command has an option ``json`` of its own.
    """

    def make(asked: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        silent = {"progress": False, "on_event": _printer()} if own["json"] else {}
        return asked | silent

    return gathered(command, "running", _RUNNING, make)


def register(app: typer.Typer) -> None:
    """Add the subcommands to the command line."""
    register_models(_app)
    app.add_typer(_app, name="corpus")


@_app.command(epilog=EPILOG_OF_BUILD)
@runs_job
def build(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN…",
            help="Files or patterns: graph6, .smi, .csv, .sdf (also as .gz), .parquet.",
            show_default=False,
        ),
    ],
    output: Output,
    same: Annotated[
        str | None,
        choice(
            "same",
            f"Which differences between molecules count: {', '.join(CHOICES['same'])}. "
            "\\[default: constitution]",
            metavar="LEVEL",
        ),
    ] = None,
    smiles_column: Annotated[str | None, typer.Option(metavar="COL", help="Column of SMILES.")] = None,
    id_column: Annotated[str | None, typer.Option(metavar="COL", help="Column of ids.")] = None,
    edges_column: Annotated[
        str | None, typer.Option(metavar="COL", help="Column of edges of a Parquet file.")
    ] = None,
    directed: Annotated[bool, typer.Option("--directed", help="Edges of that column are arcs.")] = False,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Format, if endings do not tell: graph6, smiles, table, sdf."),
    ] = None,
    edge_labels: EdgeLabels = None,
    rows_per_shard: Annotated[int | None, typer.Option(min=1, help="Rows of a shard.")] = None,
    json: Events = False,
    *,
    running: dict[str, Any],
) -> None:
    """Parse files once into shards with an exact key for each graph."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415  (keeps --help fast)

    found = Corpus.build(
        inputs,
        output,
        kind=kind,
        atoms=same,
        smiles_column=smiles_column,
        id_column=id_column,
        edges_column=edges_column,
        directed=directed,
        edge_labels=edge_labels is not False,
        rows_per_shard=rows_per_shard,
        **running,
    )
    if json:
        return
    shards = len(found.shards)
    say(f"{len(found):,} graphs in {shards:,} {'shard' if shards == 1 else 'shards'}: {output}")
    errors = found.manifest["errors"]
    if errors:
        say(f"{errors:,} {'row' if errors == 1 else 'rows'} set aside: {output / 'errors'}")


@_app.command(epilog=EPILOG_OF_DEDUP)
@runs_job
def dedup(folder: Folder, output: Output, json: Events = False, *, running: dict[str, Any]) -> None:
    """Keep one graph of each group of isomorphic ones."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415
    from twinwl.report.page import counted  # noqa: PLC0415

    corpus = Corpus(folder)
    found = corpus.dedup(output, **running)
    if not json:
        spare = len(corpus) - len(found)
        say(f"{len(corpus):,} graphs, {len(found):,} distinct, {spare:,} duplicates: {output}")
        say(f"largest group: {counted(found.manifest['largest_group'], 'graph')}")


@_app.command()
@runs_job
def overlap(
    first: Annotated[Path, typer.Argument(metavar="A", help="A corpus.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another corpus.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Folder for a table of the graphs of A that are in B."
        ),
    ] = None,
    json: Events = False,
    *,
    running: dict[str, Any],
) -> None:
    """Count the graphs that two corpora have in common."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    found = Corpus(first).overlap(Corpus(second), output, **running)
    if json:
        return
    table = [
        ["", "graphs", "distinct", "in the other"],
        [str(first), f"{found.graphs:,}", f"{found.distinct:,}", f"{found.graphs_shared:,}"],
        [
            str(second),
            f"{found.other_graphs:,}",
            f"{found.other_distinct:,}",
            f"{found.other_graphs_shared:,}",
        ],
    ]
    say(aligned(table))
    say(f"{found.shared:,} distinct graphs in common" + (f": {output}" if output else ""))


@_app.command("hash")
@runs_job
def hash_graphs(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Folder for Parquet shards; else lines are printed."
        ),
    ] = None,
    json: Events = False,
    *,
    running: dict[str, Any],
) -> None:
    """Hash each graph, as twinwl hash does."""
    from json import dumps  # noqa: PLC0415

    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    corpus = Corpus(folder)
    if output is None:
        for name, digest in corpus.hashes():
            say(dumps({"hash": digest, "name": name}) if json else f"{digest}  {one_line(name)}")
        return
    del running  # hashes are printed only; keys are in the shards of the corpus
    raise typer.BadParameter("corpus hash -o is gone; redirect the printed hashes to a file")


@_app.command()
def head(
    folder: Folder,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of graphs.")] = 5,
    json: Json = False,
) -> None:
    """Show the first graphs."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    corpus = Corpus(folder)
    _show(corpus.table(range(min(n, len(corpus)))), json=json)


@_app.command()
def sample(
    folder: Folder,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of graphs.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice.")] = 0,
    json: Json = False,
) -> None:
    """Show some graphs, chosen at random."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    corpus = Corpus(folder)
    _show(corpus.table(corpus.random_rows(n, seed)), json=json)


@_app.command()
def info(folder: Folder, json: Json = False) -> None:
    """Show sizes, labels, and how fast a corpus was made."""
    from json import dumps  # noqa: PLC0415

    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    found = Corpus(folder).info()
    if json:
        say(dumps(found, indent=1))
        return
    from rich.table import Table  # noqa: PLC0415

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    graphs = max(found["graphs"], 1)
    table.add_row(
        "graphs", f"{found['graphs']:,} in {found['shards']:,} shards, {found['bytes'] / 2**20:,.1f} MiB"
    )
    table.add_row("set aside", f"{found['errors']:,} rows")
    table.add_row(
        "nodes", f"{found['nodes']:,}, {found['nodes'] / graphs:.1f} per graph, at most {found['largest']:,}"
    )
    table.add_row("edges", f"{found['edges']:,}, {found['edges'] / graphs:.1f} per graph")
    for name in ("node_labels", "edge_labels"):
        labels = found[name]
        more = ", …" if len(labels) > _LABELS_SHOWN else ""
        shown = ", ".join(labels[:_LABELS_SHOWN]) + more
        table.add_row(name.replace("_", " "), f"{len(labels):,}: {shown}" if labels else "none")
    table.add_row("columns", ", ".join(found["columns"]))
    rate = found["rows_per_second"]
    table.add_row(
        "made by", f"{found['made_by']} in {found['seconds']:,.1f} s, {rate or 0:,.0f} rows per second"
    )
    new_console().print(table)


def _printer() -> Callable[[dict[str, Any]], object]:
    from json import dumps  # noqa: PLC0415

    return lambda event: say(dumps(event))


def _show(table: Any, *, json: bool) -> None:  # noqa: ANN401
    """Print rows of a corpus: ids, sizes, keys, and the columns of the input."""
    from json import dumps  # noqa: PLC0415

    from twinwl.corpus.shards import OWN_COLUMNS  # noqa: PLC0415
    from twinwl.errors import TwinWLError, first_line  # noqa: PLC0415

    rows = []
    try:
        found = table.to_pylist()
    except (ValueError, OverflowError) as error:  # such as a date after the year 9999
        raise TwinWLError(f"a value of these rows cannot be shown ({first_line(error)})") from error
    for row in found:
        own = {"id": row["id"], "nodes": row["n_nodes"], "edges": len(row["ends"]) // 2}
        key = f"{row['key_high']:016x}{row['key_low']:016x}"
        others = {name: row[name] for name in row if name not in OWN_COLUMNS}
        rows.append({**own, "key": key, **others})
    if json:
        for row in rows:
            say(dumps(row, default=str))
        return
    cells = [list(rows[0])] + [[one_line(str(value)) for value in row.values()] for row in rows]
    say(
        aligned(
            [[cell if len(cell) <= _WIDEST else cell[: _WIDEST - 1] + "…" for cell in row] for row in cells]
        )
    )
