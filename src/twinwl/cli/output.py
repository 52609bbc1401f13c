"""Output of commands, and models: files are checked before any work is done, and never half-written.

The ending of the name decides the format; an ending whose format the command does not write is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import twinwl as tw
from twinwl.errors import TwinWLError, import_extra
from twinwl.files.storage import TABLE_ENDINGS, open_to_write, table_bytes
from twinwl.terminal import new_console, say

TABLES = TABLE_ENDINGS
PAGES = (".html", ".htm")
PICTURES = (".png", ".svg", ".pdf")
MODELS = (".twinwl",)
STORES = (".jsonl", ".json")
_ARRAYS = (".npz",)
_TEXTS_SHOWN = 8
_OF_OTHERS = (".bz2", ".gz", ".npy", ".pickle", ".pkl", ".pt", ".xls", ".xlsx", ".zip")
_KNOWN = {*TABLE_ENDINGS, *PAGES, *PICTURES, *MODELS, *STORES, *_ARRAYS, *_OF_OTHERS}


def check_output(
    path: Path | None,
    endings: tuple[str, ...],
    *,
    inputs: Iterable[str | Path | None] = (),
    or_unknown: bool = False,
) -> None:
    """Check that a file can be written, before any work is done.

    Parameters
    ----------
    path
        The file; None is fine.
    endings
        Endings of the formats that the command writes.
    inputs
        What the command reads; ``data.csv#3`` reads ``data.csv``.
    or_unknown
        Also accept names whose ending is not a known format, such as ``model`` or ``results.v2``.

    >>> check_output(Path("predictions.csv"), TABLE_ENDINGS)

    Raises
    ------
    TwinWLError
        If the folder does not exist or is not writable, the ending is not one of ``endings``, the file is one
        of the inputs, or the package that writes the format is not installed.
    """
    check_ending(path, endings, or_unknown=or_unknown)
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: its folder does not exist; create it first")
    if path.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: that is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise TwinWLError(f"cannot write {str(path)!r}: its folder is not writable")
    for given in filter(None, inputs):
        if any(_same_file(path, name) for name in (str(given), str(given).rpartition("#")[0])):
            raise TwinWLError(f"cannot write {str(path)!r}: that is the input; name another file")


def _same_file(path: Path, name: str) -> bool:
    try:
        return bool(name) and path.samefile(name)
    except (OSError, ValueError):  # one of them does not exist, or is not a name of a file
        return False


def check_ending(path: Path | None, endings: tuple[str, ...], *, or_unknown: bool = False) -> None:
    """Check only the ending of a name, and that the package for its format is installed.

    >>> check_ending(Path("new_folder/results.jsonl"), STORES)
    """
    ending = "" if path is None else path.suffix.lower()
    if path is None or (or_unknown and ending not in _KNOWN):
        return
    if ending not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise TwinWLError(f"cannot write {str(path)!r}: its name must end in {listed}")
    if ending == ".parquet":
        import_extra("pyarrow.parquet", extra="parquet")


def say_ids(data: tw.Dataset, given: str | None) -> None:
    """Say which column of a table has the ids, unless it was given."""
    if given is None and data.id is not None:
        say(f"{data.name}: ids from the column {data.id!r} (--id names another)", error=True)


def write_table(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    """Write a table in the format given by the ending of the name."""
    with open_to_write(path) as stream:
        stream.write(table_bytes(columns, path.suffix.lower()))


def write_records(path: Path, records: Sequence[Mapping[str, Any]], names: Iterable[str]) -> None:
    """Write a table with these columns of the records of a result."""
    write_table(path, {name: [record[name] for record in records] for name in names})


def publish(
    found: Any,  # noqa: ANN401  (has to_records)
    names: Sequence[str],
    json: str | None,
    output: Path | None,
    html: Path | None,
) -> None:
    """Write the records of a result to a table, and print it as JSON or text; ``html`` is written already."""
    if output is not None:
        write_records(output, found.to_records(), names)
    say(json or str(found))
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


def save_model(model: Any, path: Path, **about: str | None) -> None:  # noqa: ANN401
    """Write a model to a file, and print its size; ``about`` as in `twinwl.save`."""
    tw.save(model, path, **about)
    say(f"Model written to {path} ({path.stat().st_size / 1e3:,.0f} kB)")


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
