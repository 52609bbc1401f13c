"""Which method stands for which row of the paper's tables, and which rows we add to be fair to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.errors import TwinWLError, nearest
from twinwl.paper.reported import TABLE_1, TABLE_2, Reported

if TYPE_CHECKING:
    from collections.abc import Sequence


class TableRow(NamedTuple):
    """A row of a table: what it is called, and the method of ours that stands for it."""

    title: str
    method: str
    in_paper: bool = True


class PaperTable(NamedTuple):
    """A table of accuracies: its rows in the paper's order, then ours, and its data sets."""

    name: str
    title: str
    rows: tuple[TableRow, ...]
    datasets: tuple[str, ...]
    reported: dict[str, dict[str, Reported]]


class Cell(NamedTuple):
    """One method on one data set."""

    dataset: str
    method: str


# 1-WL under the very classifier of each Twin, and under a support vector machine: only beside these does a
# difference say something about identities rather than about classifiers.
_OURS = (
    TableRow("1-WL, STwin's MLP", "wl", in_paper=False),
    TableRow("1-WL, NTwin's network", "wl-encoder", in_paper=False),
    TableRow("STwin, joint counts", "stwin-joint", in_paper=False),
    TableRow("1-WL, SVM", "wl-svc", in_paper=False),
    TableRow("STwin, SVM", "stwin-svc", in_paper=False),
)

TABLES: dict[str, PaperTable] = {
    "table1": PaperTable(
        "table1",
        "Accuracy on five molecule sets",
        (
            TableRow("SP kernel", "sp-kernel"),
            TableRow("WL kernel", "wl-kernel"),
            TableRow("DGK", "dgk"),
            TableRow("GCN", "gcn"),
            TableRow("GIN", "gin"),
            TableRow("DiffPool", "diffpool"),
            TableRow("SortPool", "sortpool"),
            TableRow("SAGPool", "sagpool", in_paper=False),
            TableRow("1-2-3-GNN", "123-gnn"),
            TableRow("3-hop GNN", "3-hop-gnn"),
            TableRow("Nested GIN", "nested-gin"),
            TableRow("STwin-GNN", "stwin"),
            TableRow("NTwin-GNN", "ntwin"),
            *_OURS,
        ),
        ("MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109"),
        TABLE_1,
    ),
    "table2": PaperTable(
        "table2",
        "Expressive power on EXP",
        (
            TableRow("GCN", "gcn"),
            TableRow("GIN", "gin"),
            TableRow("PPGN", "ppgn"),
            TableRow("GCN-RNI", "gcn-rni"),
            TableRow("STwin-GNN", "stwin"),
            TableRow("NTwin-GNN", "ntwin"),
            *_OURS,
        ),
        ("EXP",),
        TABLE_2,
    ),
}

TITLES: dict[str, str] = {row.method: row.title for table in reversed(TABLES.values()) for row in table.rows}
"""What a method is called in text."""

PAIRS = (("stwin", "wl"), ("stwin-joint", "wl"), ("ntwin", "wl-encoder"), ("stwin-svc", "wl-svc"))
"""A Twin method and 1-WL under the same classifier."""


def cells_of(
    table: PaperTable, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None
) -> list[Cell]:
    """Return the cells of a table, all of them or those of some methods and data sets.

    Parameters
    ----------
    table
        One of `TABLES`.
    methods, datasets
        Names to keep; None keeps all.

    Raises
    ------
    TwinWLError
        If a name is not in any table, with the nearest one.

    >>> cells_of(TABLES["table2"], methods=["stwin"])
    [Cell(dataset='EXP', method='stwin')]
    """
    for what, asked, known in (
        ("method", methods, {row.method for each in TABLES.values() for row in each.rows}),
        ("data set", datasets, {name for each in TABLES.values() for name in each.datasets}),
    ):
        for name in asked or ():
            if name not in known:
                raise TwinWLError(f"no table has the {what} {name!r}: {nearest(name, known)}")
    return [
        Cell(dataset, row.method)
        for row in table.rows
        for dataset in table.datasets
        if (methods is None or row.method in methods) and (datasets is None or dataset in datasets)
    ]
