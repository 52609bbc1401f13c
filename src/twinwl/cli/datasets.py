"""``twinwl datasets``: the known data sets, which of them are available, and their content.

A data set is available if its zip (or folder, or CSV) is in the folder given by [cyan]--data-dir[/] or
[cyan]TWINWL_DATA[/], or was downloaded before. Other sets of the TU collection are downloaded on first use.

[bold]Examples[/]

$ twinwl datasets

$ twinwl datasets MUTAG --png mutag.png

$ twinwl datasets TWINS:n_pairs=50 --json
"""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import Json, file_option, long_help, reads_data
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from twinwl.datasets.catalogue import Card
    from twinwl.datasets.dataset import Dataset, Spread, Statistics
    from twinwl.datasets.formats import ReadOptions
    from twinwl.datasets.known import Entry


_LABELS_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=long_help(__doc__))(reads_data(datasets))


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A data set to describe.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="List all names of the TU collection.")] = False,
    draw: Annotated[int, typer.Option(min=0, max=12, help="Number of graphs to draw.")] = 2,
    png: Annotated[Path | None, file_option("Draw them into a .png, .svg or .pdf file instead.")] = None,
    json: Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """List the known data sets; with a name, show its card, its statistics and a few of its graphs."""
    from twinwl.cli.output_files import PICTURES, check_output  # noqa: PLC0415  (keeps --help fast)

    if name is None:
        _list(reading.data_dir, everything=everything, json=json)
        return
    check_output(png, PICTURES)
    from twinwl.datasets.source import read_source  # noqa: PLC0415

    data = read_source(name, reading)
    _show(data, draw, png, json=json)


def _list(data_dir: str | Path | None, *, everything: bool, json: bool) -> None:
    from twinwl.datasets.catalogue import (  # noqa: PLC0415
        TU_NAMES,
        data_folders,
    )
    from twinwl.datasets.known import catalogue  # noqa: PLC0415

    entries = catalogue(data_dir, everything=everything)
    if json:
        say(json_format.dumps([_entry_as_json(entry) for entry in entries], indent=1))
        return
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("name", no_wrap=True)
    table.add_column("graphs", justify="right", no_wrap=True)
    table.add_column("classes", justify="right", no_wrap=True)
    table.add_column("available", no_wrap=True)
    table.add_column("description", no_wrap=True, overflow="ellipsis", ratio=1)
    for entry in entries:
        card = entry.card
        figures = (_figure(card.n_graphs), _figure(card.n_classes))
        table.add_row(entry.name, *figures, _at_hand(entry), card.about)
    console = new_console()
    console.print(table)
    console.print(f"searched folders: {', '.join(map(str, data_folders(data_dir)))}", soft_wrap=True)
    n_more = len(set(TU_NAMES) - {entry.name for entry in entries})
    if n_more:
        console.print(f"and {n_more} more of the TU collection: twinwl datasets --all", soft_wrap=True)


def _at_hand(entry: Entry) -> Text:
    from rich.text import Text  # noqa: PLC0415

    if entry.source == "made in code":
        return Text("built in", "green")
    if entry.where is not None:
        return Text("yes", "green")
    return Text("download" if entry.source == "TU collection" else "no", "dim")


def _show(data: Dataset, n_graphs: int, picture: Path | None, *, json: bool) -> None:
    from twinwl.datasets.dataset import statistics_of  # noqa: PLC0415
    from twinwl.report.dataset_figure import example_graphs, save_figure  # noqa: PLC0415

    figures = statistics_of(data)
    examples = example_graphs(data, n_graphs)
    if picture is not None:
        save_figure(data, examples, picture)
    if json:
        say(json_format.dumps(_as_json(data, figures, examples), indent=1))
        return
    console = new_console()
    _print_card(console, data, figures)
    if picture is None:
        _print_graphs(console, data, examples)
    else:
        console.print(f"drew {len(examples)} graphs into {picture}", soft_wrap=True)


def _print_card(console: Console, data: Dataset, figures: Statistics) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    card = data.card
    console.print(Text.assemble((data.name, "bold"), f"  {card.about}".rstrip()), soft_wrap=True)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("graphs", f"{_figure(card.n_graphs)}{_targets(data)}")
    if figures.n_groups is not None:
        table.add_row("groups", f"{figures.n_groups:,}, each kept in one fold")
    table.add_row(
        "nodes", f"{_figure(card.n_nodes)}, {_spread(figures.nodes)} per graph; {card.n_isolated:,} isolated"
    )
    table.add_row("edges", f"{_figure(card.n_edges)}, {_spread(figures.edges)} per graph")
    table.add_row("degree", _spread(figures.degree))
    table.add_row("node labels", _labels(figures.node_labels))
    table.add_row("edge labels", _labels(figures.edge_labels))
    table.add_row("digest", data.digest[:16])
    console.print(table)


def _print_graphs(console: Console, data: Dataset, examples: list[int]) -> None:
    from rich.columns import Columns  # noqa: PLC0415
    from rich.panel import Panel  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.report.dataset_figure import title_of  # noqa: PLC0415
    from twinwl.report.graph_drawing import text_drawing  # noqa: PLC0415

    width = max(24, min(64, console.width // 2 - 4))
    panels = [
        Panel(
            Text(text_drawing(data.graphs[graph], width=width), no_wrap=True),
            title=Text(title_of(data, graph)),
            expand=False,
        )
        for graph in examples
    ]
    console.print(Columns(panels))


def _entry_as_json(entry: Entry) -> dict[str, object]:
    known = {key: value for key, value in entry.card.as_dict().items() if value is not None}
    return {**known, "source": entry.source, "ready": entry.ready, "where": entry.where}


def _as_json(data: Dataset, figures: Statistics, examples: list[int]) -> dict[str, object]:
    card: Card = data.card
    return {
        **card.as_dict(),
        "digest": data.digest,
        "n_groups": figures.n_groups,
        "nodes": figures.nodes._asdict(),
        "edges": figures.edges._asdict(),
        "degree": figures.degree._asdict(),
        "node_labels": dict(figures.node_labels),
        "edge_labels": dict(figures.edge_labels),
        "examples": examples,
    }


def _targets(data: Dataset) -> str:
    if data.y is None:
        return ", without targets"
    if data.card.classes is None:
        return f", targets from {data.y.min():g} to {data.y.max():g}"
    classes = ", ".join(f"{value}: {count:,}" for value, count in data.card.classes)
    return f" in {data.card.n_classes} classes ({_shortened(classes)})"


def _figure(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _spread(spread: Spread) -> str:
    return f"{spread.smallest:g} to {spread.largest:,g} (median {spread.median:g}, mean {spread.mean:.2f})"


def _labels(labels: list[tuple[str, int]]) -> str:
    if not labels:
        return "none"
    shown = ", ".join(f"{label}: {count:,}" for label, count in labels[:_LABELS_SHOWN])
    more = f", and {len(labels) - _LABELS_SHOWN} more" if len(labels) > _LABELS_SHOWN else ""
    return f"{len(labels)}: {shown}{more}"


def _shortened(text: str, length: int = 120) -> str:
    return text if len(text) <= length else text[: text.rfind(",", 0, length)] + ", …"
