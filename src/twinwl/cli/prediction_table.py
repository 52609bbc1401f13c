"""The table that ``twinwl predict`` writes: all rows and columns of the source, then the predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.datasets.dataset import Dataset

__all__ = ["prediction_table"]


def prediction_table(
    data: Dataset, source: Mapping[str, list[Any]], answers: Mapping[str, Sequence[Any]]
) -> dict[str, list[Any]]:
    """Join the predictions to the rows of the source.

    Parameters
    ----------
    data
        The graphs, and the rows that could not be read: these are kept, with the reason in ``error``.
    source
        All columns of the table that the graphs come from, as returned by
        `twinwl.datasets.source.read_columns`; if there are none, the table has the names of the graphs.
    answers
        Columns with one value per graph. If the source has a column ``name`` too, it becomes ``twinwl_name``.

    >>> from twinwl import load_dataset
    >>> data = load_dataset("graph6:Bw")
    >>> prediction_table(data, {}, {"prediction": [1]})
    {'index': [0], 'name': ['graph6:Bw'], 'prediction': [1], 'error': [None]}
    """
    graph_of_row: dict[int, int] = {row: graph for graph, row in enumerate(data.rows.tolist())}
    reason_of_row = {error.row: error.reason for error in data.errors}
    rows = sorted({*graph_of_row, *reason_of_row})
    columns: dict[str, list[Any]] = {"index": rows}
    if source:
        columns |= {name: [cells[row] for row in rows] for name, cells in source.items()}
    else:
        columns["name"] = [data.names[graph_of_row[row]] if row in graph_of_row else None for row in rows]
    for name, values in answers.items():
        cells = [values[graph_of_row[row]] if row in graph_of_row else None for row in rows]
        columns[f"twinwl_{name}" if name in columns else name] = cells
    columns["twinwl_error" if "error" in columns else "error"] = [reason_of_row.get(row) for row in rows]
    return columns
