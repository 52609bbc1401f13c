"""``twinwl corpus``: graphs beyond memory, as a folder of Parquet shards, and models of them."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import typer

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import CHOICES, MODELS, Group, add, arg, check_output, choice, opt
from twinwl.cli.output import listed, print_table
from twinwl.cli.train import save_model
from twinwl.terminal import aligned, counted, one_line, say

Folder = Annotated[Path, arg("DIR", "A corpus.")]
Output = Annotated[Path, opt("Folder for the result.", "OUT", "--output", "-o")]
Memory = Annotated[str, opt("Memory of each process.", "SIZE")]

_WIDEST = 48  # characters of a cell


@dataclass
class _RunFlags:
    """The options of every job."""

    json: Annotated[bool, opt("Print one JSON object per line: events, and the end.", None, "--json")] = False
    fresh: Annotated[bool, opt("Delete an earlier result, and start again.", None, "--fresh")] = False
    engine: o.EngineName = "local"
    workers: Annotated[
        int | None, opt("Tasks at the same time. \\[default: all processors]", None, "--jobs", min=1)
    ] = None
    address: o.Address = None
    memory: Memory = "1GiB"

    def value(self) -> dict[str, Any]:
        """Return them as the methods of `Corpus` take them."""
        result = vars(self)
        if result.pop("json"):
            result |= {"verbose": False, "on_event": lambda event: say(dumps(event))}
        return result


Running = Annotated[dict[str, Any], _RunFlags]


def register(app: typer.Typer, panel: str) -> None:
    """Add the subcommands to the command line."""
    about = "Build, de-duplicate and compare collections of graphs that are larger than memory."
    corpus = typer.Typer(cls=Group, help=about, no_args_is_help=True)
    for command in (build, dedup, overlap, info, features, train, predict):
        add(corpus, command)
    app.add_typer(corpus, name="corpus", rich_help_panel=panel)


def build(
    inputs: Annotated[
        list[str], arg("IN…", "Files or patterns: .g6, .smi, .csv, .sdf (also .gz), .parquet.")
    ],
    output: Output,
    same: Annotated[
        str | None,
        choice(
            "same",
            f"Differences of molecules that count: {', '.join(CHOICES['same'])}. \\[default: constitution]",
            "LEVEL",
        ),
    ] = None,
    smiles_column: Annotated[str | None, opt("Column of SMILES.", "COL")] = None,
    id_column: Annotated[str | None, opt("Column of ids.", "COL")] = None,
    edges_column: Annotated[str | None, opt("Column of edges of a Parquet file.", "COL")] = None,
    directed: Annotated[bool, opt("Edges of that column are arcs.", None, "--directed")] = False,
    kind: Annotated[str | None, opt("Format: graph6, smiles, table or sdf.", "KIND")] = None,
    edge_labels: o.EdgeLabels = None,
    rows_per_shard: Annotated[int | None, opt("Rows of a shard.", min=1)] = None,
    *,
    running: Running,
) -> None:
    """Parse files once into shards with an exact key for each graph.

    Rows that cannot be read are set aside in OUT/errors, with file, row and reason. A build that was stopped
    resumes when the same command is given again.

    [bold]Examples[/]

    $ twinwl corpus build 'library-*.smi.gz' -o library

    $ twinwl corpus build graphs.g6 -o graphs --jobs 4 --memory 2GiB

    [dim]a Parquet file with a column of edges, u0, v0, u1, v1, …[/]

    $ twinwl corpus build programs.parquet -o programs --edges-column ends
    """
    corpus = tw.Corpus.build(
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
    if "on_event" not in running:
        say(f"{len(corpus):,} graphs in {counted(len(corpus.shards), 'shard')}: {output}")
        errors = corpus.manifest["errors"]
        if errors:
            say(f"{counted(errors, 'row')} set aside: {output / 'errors'}")


def dedup(folder: Folder, output: Output, *, running: Running) -> None:
    """Keep one graph of each group of isomorphic ones.

    OUT is a corpus with the first graph of each group and its n_copies; OUT/groups has the row of the
    representative of each graph. Graphs are the same if they are isomorphic, including their labels; a corpus
    built with --no-edge-labels has no labels of edges.

    [bold]Example[/]

    $ twinwl corpus dedup library -o distinct
    """
    corpus = tw.Corpus(folder)
    distinct = corpus.dedup(output, **running)
    if "on_event" not in running:
        spare = len(corpus) - len(distinct)
        say(f"{len(corpus):,} graphs, {len(distinct):,} distinct, {spare:,} duplicates: {output}")
        say(f"graphs in the largest group: {distinct.manifest['largest_group']:,}")


def overlap(
    first: Annotated[Path, arg("A", "A corpus.")],
    second: Annotated[Path, arg("B", "Another corpus.")],
    output: Annotated[Path | None, opt("Folder for what A shares.", "OUT", "--output", "-o")] = None,
    *,
    running: Running,
) -> None:
    """Count the graphs that two corpora have in common."""
    shared = tw.Corpus(first).overlap(tw.Corpus(second), output, **running)
    if "on_event" in running:
        return
    counts = [
        (first, shared.graphs, shared.distinct, shared.graphs_shared),
        (second, shared.other_graphs, shared.other_distinct, shared.other_graphs_shared),
    ]
    rows = [[str(name), *(f"{number:,}" for number in numbers)] for name, *numbers in counts]
    say(aligned([["", "graphs", "distinct", "in the other"], *rows]))
    say(f"{shared.shared:,} distinct graphs in common" + (f": {output}" if output else ""))


def info(
    folder: Folder,
    rows: Annotated[int, opt("Show the first N graphs instead, with their hashes.", "N", min=0)] = 0,
    seed: Annotated[int | None, opt("Choose them at random, with this seed.", min=0)] = None,
    json: o.Json = False,
) -> None:
    """Show sizes, labels, and how fast a corpus was made, or some of its graphs."""
    corpus = tw.Corpus(folder)
    if rows:
        _show(corpus, corpus.head(rows) if seed is None else corpus.sample(rows, seed), json=json)
        return
    result = corpus.info()
    if json:
        say(dumps(result, indent=1))
        return
    graphs = max(result["graphs"], 1)
    labels = {name: result[name] for name in ("node_labels", "edge_labels")}
    nodes, edges = (f"{result[name]:,}, {result[name] / graphs:.1f} per graph" for name in ("nodes", "edges"))
    size = f"{result['shards']:,} shards, {result['bytes'] / 2**20:,.1f} MiB"
    speed = f"{result['seconds']:,.1f} s, {result['rows_per_second'] or 0:,.0f} rows per second"
    print_table(
        [
            ("graphs", f"{result['graphs']:,} in {size}"),
            ("set aside", f"{result['errors']:,} rows"),
            ("nodes", f"{nodes}, at most {result['largest']:,}"),
            ("edges", edges),
            *((name.replace("_", " "), listed(known)) for name, known in labels.items()),
            ("columns", ", ".join(result["columns"])),
            ("made by", f"{result['made_by']} in {speed}"),
        ]
    )


def _show(corpus: tw.Corpus, data: tw.Dataset, *, json: bool) -> None:
    """Print rows of a corpus: ids, sizes, hashes, and the columns of the input."""
    from twinwl.corpus.shards import OWN_COLUMNS  # noqa: PLC0415
    from twinwl.errors import TwinWLError, first_line  # noqa: PLC0415

    try:
        result = corpus.table(data.rows).to_pylist()
    except (ValueError, OverflowError) as error:  # such as a date after the year 9999
        raise TwinWLError(f"a value of these rows cannot be shown ({first_line(error)})") from error
    hashes = tw.graph_hashes(data.graphs)
    rows = [
        {"id": row["id"], "nodes": row["n_nodes"], "edges": len(row["ends"]) // 2, "hash": digest}
        | {name: row[name] for name in row if name not in OWN_COLUMNS}
        for row, digest in zip(result, hashes)
    ]
    if json:
        say("\n".join(dumps(row, default=str) for row in rows))
        return
    cells = [list(rows[0]), *([one_line(str(value)) for value in row.values()] for row in rows)]
    say(aligned([[shorten(cell, _WIDEST, placeholder="…") for cell in row] for row in cells]))


def features(
    folder: Folder,
    output: Output,
    *,
    settings: o.Settings,
    running: Running,
) -> None:
    """Turn graphs into sparse STwin features, with one vocabulary.

    OUT/shards has one Parquet file per shard, with id, all other columns, and the nonzero entries of each
    graph as two lists, columns and values. OUT/vocabulary.twinwl is the vectorizer:
    [cyan]tw.STwinVectorizer.from_vocabulary[/] encodes other graphs with it.

    [bold]Example[/]

    $ twinwl corpus features library -o features --set min_df=10 --set features=joint
    """
    from twinwl.evaluation.methods import VECTORIZER  # noqa: PLC0415  (keeps --help fast)

    corpus = tw.Corpus(folder)
    fitted = corpus.features(output, VECTORIZER.with_settings(settings).build({}, 0), **running)
    if "on_event" not in running:
        say(f"{len(corpus):,} graphs × {fitted.n_features_out_:,} columns: {output}")


def train(
    folder: Folder,
    output: o.NewModelFile,
    target: Annotated[str, opt("Column to predict; several: a,b,c.", "COL", show_default=False)],
    task: o.Task = "auto",
    seed: o.SeedOfModel = 0,
    memory: Memory = "1GiB",
    *,
    settings: o.Settings,
) -> None:
    """Train a classifier or regressor on a corpus and write it to a file.

    A network on STwin features, as [cyan]twinwl train[/] trains it, from mini-batches of the shards. Rows
    without a target are left out. A tenth of the graphs is held out to choose the epoch, of molecules rare
    scaffolds as a whole; copies of a graph are on the same side. --target a,b,c trains one model of several
    targets.

    [bold]Example[/]

    $ twinwl corpus train library -o model.twinwl --target active --set min_df=5
    """
    from twinwl.corpus.models import targets_in  # noqa: PLC0415
    from twinwl.evaluation.methods import resolve  # noqa: PLC0415
    from twinwl.models.targets import task_of  # noqa: PLC0415

    check_output(output, MODELS, or_unknown=True)
    how = resolve("stwin").with_settings(settings)
    corpus = tw.Corpus(folder)
    names = [target] if target in corpus.manifest["columns"] else target.split(",")
    result = targets_in(corpus, names)
    chosen = task_of(result.y, task, target, names if len(names) > 1 else ())
    say(f"{len(result.rows):,} of {len(corpus):,} graphs have a target")
    say(f"Task: {chosen}")
    model = how.model(chosen, seed)
    corpus.train(model, names, memory=memory)
    say(str(model.report_))
    save_model(model, output)


def predict(
    model: o.ModelFile,
    folder: Folder,
    output: Output,
    proba: o.Proba = False,
    *,
    running: Running,
) -> None:
    """Predict the class, or the number, of each graph of a corpus.

    OUT/shards has one Parquet file per shard, with id, all other columns, and the prediction. Rows that were
    set aside when the corpus was built are not in it.

    [bold]Example[/]

    $ twinwl corpus predict model.twinwl library -o predictions --proba
    """
    corpus = tw.Corpus(folder)
    corpus.predict(model, output, proba=proba, **running)
    if "on_event" not in running:
        say(f"{len(corpus):,} predictions, one file per shard in {output / 'shards'}")
