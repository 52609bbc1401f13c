"""``twinwl corpus``: graphs beyond memory, as a folder of Parquet shards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from twinwl.cli.options import CHOICES, EdgeLabels, Json, choice, gathered
from twinwl.terminal import aligned, new_console, one_line, say

if TYPE_CHECKING:
    from collections.abc import Callable


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
    from twinwl.cli.corpus_models import register as register_models  # noqa: PLC0415  (it needs what is here)

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
    from twinwl.report.wording import counted  # noqa: PLC0415

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
    shards = corpus.hash(output, **running)
    if not json:
        say(f"{len(corpus):,} hashes in {len(shards):,} shards: {output}")


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
