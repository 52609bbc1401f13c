"""Output of commands, tables and models, and the models that they load."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import twinwl as tw
from twinwl.errors import TwinWLError
from twinwl.files.storage import open_to_write, table_bytes
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.models.metrics import Rendered

_TEXTS_SHOWN = 8
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def cells_for(path: Path, columns: Mapping[str, list[Any]]) -> Mapping[str, list[Any]]:
    """Return the columns of a text file, with numbers if the format of a path has numbers."""
    if path.suffix.lower() in {".csv", ".tsv"}:
        return columns
    return {name: _as_numbers(cells) for name, cells in columns.items()}


def _as_numbers(cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a text file as numbers if all are, None where empty, for formats that have numbers.

    Identifiers such as 007 stay text.

    >>> _as_numbers(["1", "", "-2"]), _as_numbers(["0.5", "3"]), _as_numbers(["007", "1"])
    ([1, None, -2], [0.5, 3.0], ['007', '1'])
    """
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return list(cells)
    texts = [cell.strip() for cell in cells if cell is not None and cell.strip()]
    kind: Callable[[str], float] = int if all(map(_INTEGER.fullmatch, texts)) else float
    if not texts or not all(_NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in texts):
        return list(cells)
    return [kind(cell) if cell is not None and cell.strip() else None for cell in cells]


def write_table(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    """Write a table in the format given by the ending of the name."""
    with open_to_write(path) as stream:
        stream.write(table_bytes(columns, path.suffix.lower()))


def write_records(path: Path, records: Sequence[Mapping[str, Any]], names: Iterable[str]) -> None:
    """Write a table with these columns of the records of a result."""
    write_table(path, {name: [record[name] for record in records] for name in names})


def publish(
    result: Rendered, columns: Sequence[str], output: Path | None, html: Path | None, *, json: bool
) -> None:
    """Write the records of a result to a table and its page to a file, and print it as JSON or text."""
    if html is not None:
        result.save_page(html)
    if output is not None:
        write_records(output, result.to_records(), columns)
    say(result.to_json() if json else str(result))
    for path in filter(None, () if json else (output, html)):
        say(f"Written to {path}")


def print_table(
    rows: Iterable[Sequence[Any]], header: Sequence[str] = (), *, left: Iterable[int] = (0,)
) -> None:
    """Print rows of text; with a header, columns are aligned right but for those in ``left``."""
    from rich import box, table, text  # noqa: PLC0415  (keeps --help fast)

    rows = list(rows)
    printed = table.Table(show_header=bool(header), box=box.SIMPLE_HEAD if header else None, pad_edge=False)
    for column, name in enumerate(header or [""] * len(rows[0])):
        right = header and column not in left
        printed.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        printed.add_row(*(text.Text(str(cell)) for cell in row))
    new_console().print(printed)


def listed(texts: Sequence[str]) -> str:
    """Return how many texts there are, and the first of them.

    >>> listed(["C", "O"])
    '2: C, O'
    """
    more = f", and {len(texts) - _TEXTS_SHOWN} more" if len(texts) > _TEXTS_SHOWN else ""
    return f"{len(texts):,}: {', '.join(texts[:_TEXTS_SHOWN])}{more}" if texts else "none"


def load_predictor(
    path: Path, task: str | None = None, *, several: bool = True, device: str | None = None
) -> Any:  # noqa: ANN401
    """Load a model that predicts classes or numbers; one target, unless ``several`` are fine; on a device.

    Raises
    ------
    TwinWLError
        If it is not a model file, or the model does not predict, or not that target.
    """
    model: Any = tw.load(path)
    if hasattr(model, "steps"):  # a pipeline: what comes before the model reads SMILES, as commands do
        model = model.steps[-1][1]
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path}: contains a {type(model).__name__}, expected a classifier or regressor written by "
            "twinwl train"
        )
    if device is not None:
        if not hasattr(model, "device"):
            raise TwinWLError(f"--device is for networks; the model is of {type(model).__name__}")
        from twinwl.neural.training import device_of  # noqa: PLC0415  (loads torch)

        model.device = device_of(device).type
    tasks = model.tasks_
    if several or (tasks is None and task is None):
        return model
    known = tasks or tuple(filter(None, [getattr(model, "target_", None)]))
    if task is None:
        raise TwinWLError(
            f"{path}: predicts {len(known)} targets; name one with --for-task: {', '.join(known)}"
        )
    if task not in known:
        names = ", ".join(map(repr, known))
        what = f"predicts {names}" if tasks else f"was trained on one target, {names}; leave it out"
        raise TwinWLError(f"--for-task: got {task!r}, but {path} {what}")
    return model.for_task(task)
