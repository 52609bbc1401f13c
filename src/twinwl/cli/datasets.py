"""``twinwl datasets``: the known data sets, which of them are available, and their content.

A data set is available if its zip (or folder, or CSV) is in the folder given by [cyan]--data-dir[/] or
[cyan]TWINWL_DATA[/], or was downloaded before. Other sets of the TU collection are downloaded on first use.

[bold]Reading[/]: the options under "Reading data" are those of every command that reads graphs. Levels of
atom labels (--atoms): {atoms}.

[bold]Examples[/]

$ twinwl datasets

$ twinwl datasets MUTAG --png mutag.png

$ twinwl datasets TWINS:n_pairs=50 --json
"""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import twinwl as tw
from twinwl.cli.options import PICTURES, Json, ReadingAtoms, arg, new_file, opt
from twinwl.cli.output import listed, print_table
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.datasets.catalogue import Entry
    from twinwl.datasets.dataset import Spread, Statistics


def datasets(
    name: Annotated[str | None, arg("NAME", "A data set to describe.")] = None,
    everything: Annotated[bool, opt("List all names of the TU collection.", None, "--all")] = False,
    draw: Annotated[int, opt("Number of graphs to draw.", min=0, max=12)] = 2,
    png: Annotated[
        Path | None, new_file("Draw them into a .png, .svg or .pdf file instead.", *PICTURES)
    ] = None,
    json: Json = False,
    *,
    reading: ReadingAtoms,
) -> None:
    """List the known data sets; with a name, show its card, its statistics and a few of its graphs."""
    if name is None:
        _list(reading.data_dir, everything=everything, json=json)
        return
    from twinwl.datasets.dataset import statistics_of  # noqa: PLC0415
    from twinwl.datasets.source import read_source  # noqa: PLC0415

    data = read_source(name, reading)
    from twinwl.report.picture import example_graphs, save_figure  # noqa: PLC0415  (slow; after the checks)

    figures, examples = statistics_of(data), example_graphs(data, draw)
    if png is not None:
        save_figure(data, examples, png)
    if json:
        spreads = {part: getattr(figures, part)._asdict() for part in ("nodes", "edges", "degree")}
        labels = {part: dict(getattr(figures, part)) for part in ("node_labels", "edge_labels")}
        about = {**data.card.as_dict(), "digest": data.digest, "n_groups": figures.n_groups}
        say(dumps({**about, **spreads, **labels, "examples": examples}, indent=1))
        return
    say(f"{data.name}  {data.card.about}".rstrip())
    print_table(_card(data, figures))
    if png is None:
        _print_graphs(data, examples)
    else:
        say(f"drew {len(examples)} graphs into {png}")


def _list(data_dir: str | Path | None, *, everything: bool, json: bool) -> None:
    from twinwl.datasets.catalogue import TU_NAMES, catalogue, data_folders  # noqa: PLC0415

    entries = catalogue(data_dir, everything=everything)
    if json:
        about = [
            {key: value for key, value in entry.card.as_dict().items() if value is not None}
            | {"source": entry.source, "ready": entry.ready, "where": entry.where}
            for entry in entries
        ]
        say(dumps(about, indent=1))
        return
    rows = [
        (
            entry.name,
            _figure(entry.card.n_graphs),
            _figure(entry.card.n_classes),
            _ready(entry),
            entry.card.about,
        )
        for entry in entries
    ]
    print_table(rows, ["name", "graphs", "classes", "available", "description"], left=(0, 3, 4))
    say(f"searched folders: {', '.join(map(str, data_folders(data_dir)))}")
    n_more = len(set(TU_NAMES) - {entry.name for entry in entries})
    if n_more:
        say(f"and {n_more} more of the TU collection: twinwl datasets --all")


def _ready(entry: Entry) -> str:
    if entry.source == "made in code":
        return "built in"
    return "yes" if entry.where is not None else "download" if entry.source == "TU collection" else "no"


def _card(data: tw.Dataset, figures: Statistics) -> list[tuple[str, str]]:
    card = data.card
    groups = [] if figures.n_groups is None else [("groups", f"{figures.n_groups:,}, each kept in one fold")]
    nodes = f"{_figure(card.n_nodes)}, {_spread(figures.nodes)} per graph; {card.n_isolated:,} isolated"
    return [
        ("graphs", f"{_figure(card.n_graphs)}{_targets(data)}"),
        *groups,
        ("nodes", nodes),
        ("edges", f"{_figure(card.n_edges)}, {_spread(figures.edges)} per graph"),
        ("degree", _spread(figures.degree)),
        ("node labels", listed([f"{label}: {count:,}" for label, count in figures.node_labels])),
        ("edge labels", listed([f"{label}: {count:,}" for label, count in figures.edge_labels])),
        ("digest", data.digest[:16]),
    ]


def _print_graphs(data: tw.Dataset, examples: list[int]) -> None:
    from rich import columns, panel, text  # noqa: PLC0415

    from twinwl.report.drawing import text_drawing  # noqa: PLC0415
    from twinwl.report.picture import title_of  # noqa: PLC0415

    console = new_console()
    width = max(24, min(64, console.width // 2 - 4))
    drawn = [text.Text(text_drawing(data.graphs[graph], width), no_wrap=True) for graph in examples]
    titles = [text.Text(title_of(data, graph)) for graph in examples]
    panels = [panel.Panel(one, title=title, expand=False) for one, title in zip(drawn, titles)]
    console.print(columns.Columns(panels))


def _targets(data: tw.Dataset) -> str:
    if data.y is None:
        return ", without targets"
    if data.card.classes is None:
        return f", targets from {data.y.min():g} to {data.y.max():g}"
    text = ", ".join(f"{value}: {count:,}" for value, count in data.card.classes)
    shown = text if len(text) <= 120 else text[: text.rfind(",", 0, 120)] + ", …"  # noqa: PLR2004
    return f" in {data.card.n_classes} classes ({shown})"


def _figure(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _spread(spread: Spread) -> str:
    return f"{spread.smallest:g} to {spread.largest:,g} (median {spread.median:g}, mean {spread.mean:.2f})"
