"""Which method stands for which row of the paper's tables, and which rows we add to be fair to it.

What the paper reports, figure by figure: set beside ours, never mixed with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from twinwl.errors import TwinWLError, nearest


class Reported(NamedTuple):
    """A reported mean and its standard deviation: per cent in tables 1 and 2, seconds in table 3."""

    mean: float
    std: float


def _row(*cells: tuple[float, float] | None) -> dict[str, Reported]:
    """Name the cells of a row of table 1 by their data sets; the paper leaves some out."""
    sets = ("MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109")
    return {name: Reported(*cell) for name, cell in zip(sets, cells, strict=True) if cell is not None}


TABLE_1: dict[str, dict[str, Reported]] = {
    "SP kernel": _row((87.28, 0.55), (58.24, 2.44), (71.63, 2.19), (73.47, 0.21), (73.07, 0.11)),
    "WL kernel": _row((82.05, 0.36), (57.97, 0.49), None, (82.19, 0.18), (82.46, 0.24)),
    "DGK": _row((87.44, 2.72), (60.08, 2.55), None, (73.55, 0.51), (73.26, 0.26)),
    "GCN": _row((78.69, 6.56), (66.73, 4.65), (80.84, 1.35), (78.39, 1.79), (77.57, 1.79)),
    "GIN": _row((81.51, 8.47), (54.09, 6.20), (77.70, 2.50), (80.0, 1.40), (70.20, 3.21)),
    "DiffPool": _row((80.00, 6.98), (57.14, 7.11), (80.55, 1.98), (78.88, 3.05), (76.76, 2.38)),
    "SortPool": _row((85.83, 1.66), (58.59, 2.47), (80.41, 1.02), (74.44, 0.47), None),
    "1-2-3-GNN": _row((86.10, 0.0), (60.9, 0.0), None, (76.2, 0.0), None),
    "3-hop GNN": _row((87.56, 0.72), None, None, (80.61, 0.34), None),
    "Nested GIN": _row((87.9, 8.2), (54.1, 7.7), (82.4, 2.0), (78.60, 2.30), (77.2, 2.9)),
    "STwin-GNN": _row((90.00, 3.89), (70.33, 5.32), (84.32, 1.48), (84.45, 0.66), (85.37, 0.81)),
    "NTwin-GNN": _row((88.89, 3.74), (72.22, 5.36), (84.63, 3.74), (85.55, 0.97), (85.64, 0.83)),
}
"""Accuracy in per cent by row and data set."""

TABLE_2: dict[str, dict[str, Reported]] = {
    name: {"EXP": Reported(mean, std)}
    for name, mean, std in [
        ("GCN", 50.0, 0.0),
        ("GIN", 50.0, 0.0),
        ("PPGN", 50.0, 0.0),
        ("GCN-RNI", 98.0, 1.85),
        ("STwin-GNN", 99.50, 0.70),
        ("NTwin-GNN", 99.33, 0.93),
    ]
}
"""Accuracy in per cent on EXP."""

TABLE_3: dict[str, dict[str, Reported]] = {
    "STwin": {
        "Mutagenicity": Reported(4.99, 0.22),
        "NCI1": Reported(4.81, 0.20),
        "NCI109": Reported(4.96, 0.20),
    },
    "1-WL": {
        "Mutagenicity": Reported(4.90, 0.23),
        "NCI1": Reported(4.69, 0.16),
        "NCI109": Reported(4.73, 0.20),
    },
}
"""Seconds to represent all graphs of a set."""

RUNTIME_P_VALUE = 0.1722
CASE_COSINES = {"1-WL": 0.9472, "STwin": 0.7577}
"""Of graphs 208 and 1103 of Mutagenicity after two rounds; computed beforehand, the paper prints none."""


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
