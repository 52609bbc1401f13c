"""``twinwl demo --example``: the paper's worked example, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.terminal import new_console

if TYPE_CHECKING:
    from rich.table import Table

    from twinwl.arrays import Int64

_ROUNDS = 2
_DRAWINGS = {
    "G1": "1 --- 2\n|     |\n3 --- 4\n|     |\n5 --- 6",
    "G2": "1         5\n| \\     / |\n|  3 - 4  |\n| /     \\ |\n2         6",
}
_STORY = (
    "The first colour of a node is its degree. In each round, 1-WL gives every node a new colour for its own "
    "and its neighbours' colours, and counts the nodes of each colour. Twin-WL also passes identities: for "
    "each colour, STwin sums how many nodes its nodes have reached."
)


class _Vectors(NamedTuple):
    """The vectors of both methods: one array per round, with one row per graph and one column per colour."""

    wl: list[Int64]
    stwin: list[Int64]
    stable: bool


def show_worked_example() -> None:
    """Print the paper's worked example: two graphs that Twin-WL tells apart and 1-WL cannot."""
    from rich.columns import Columns  # noqa: PLC0415  (keeps --help fast)
    from rich.panel import Panel  # noqa: PLC0415

    vectors = _refined(_ROUNDS)
    console = new_console(markup=True)
    console.print("[bold]Twin Weisfeiler-Lehman: the worked example of the paper[/]\n")
    console.print(Columns([Panel(art, title=name, padding=(0, 3)) for name, art in _DRAWINGS.items()]))
    console.print(_STORY)
    console.print(_table(vectors))
    console.print(f"[bold]{'1-WL':>7}[/]  {_wl_verdict(vectors)}", soft_wrap=True)
    console.print(f"[bold]{'Twin-WL':>7}[/]  {_twin_verdict(vectors)}", soft_wrap=True)


def _refined(n_iter: int) -> _Vectors:
    """Refine the worked example; count nodes and sum rooted sizes by colour."""
    import numpy as np  # noqa: PLC0415

    from twinwl.datasets.generators.worked_example import worked_example  # noqa: PLC0415
    from twinwl.refinement.colours import refine  # noqa: PLC0415
    from twinwl.stwin.features import stwin_features  # noqa: PLC0415

    batch = worked_example()
    found = [stwin_features(batch, n_iter, kind) for kind in ("count", "size")]
    cuts = np.cumsum(found[0].space.columns_per_round)[:-1]
    wl, stwin = (np.split(one.matrix.toarray().astype(np.int64), cuts, axis=1) for one in found)
    return _Vectors(wl, stwin, stable=refine(batch, None).n_iter <= n_iter)


def _table(vectors: _Vectors) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("round", justify="right")
    for method in ("1-WL", "STwin"):
        for name in _DRAWINGS:
            table.add_column(f"{method} {name}", justify="right", min_width=10)
    for h, (counts, sums) in enumerate(zip(vectors.wl, vectors.stwin, strict=True)):
        table.add_row(str(h), *_row(counts), *_row(sums))
    return table


def _row(of_graphs: Int64) -> list[str]:
    """Format the vectors of both graphs, in colour where they differ."""
    texts = [_written(vector.tolist()) for vector in of_graphs]
    return texts if len(set(texts)) == 1 else [f"[bold green]{text}[/]" for text in texts]


def _wl_verdict(vectors: _Vectors) -> str:
    parted = _parted(vectors.wl)
    if parted is not None:
        return f"[bold green]tells G1 and G2 apart[/] in round {parted}"
    ending = "its colours are stable" if vectors.stable else f"not within {_ROUNDS} rounds"
    return f"[bold red]cannot tell G1 and G2 apart[/]: {ending}"


def _twin_verdict(vectors: _Vectors) -> str:
    parted = _parted(vectors.stwin)
    if parted is None:
        return "[bold red]cannot tell G1 and G2 apart[/]"
    first, second = (
        _written([value for of_graphs in vectors.stwin for value in of_graphs[graph].tolist()])
        for graph in (0, 1)
    )
    return f"[bold green]tells G1 and G2 apart[/] in round {parted}: {first} is not {second}"


def _parted(rounds: list[Int64]) -> int | None:
    """Return the first round in which the vectors of the two graphs differ."""
    return next((h for h, (first, second) in enumerate(rounds) if (first != second).any()), None)


def _written(values: list[int]) -> str:
    return f"({', '.join(map(str, values))})"
