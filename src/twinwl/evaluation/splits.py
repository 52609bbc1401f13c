"""What ``split=`` names, as folds: stratified, by scaffold, by a column of the table, or from a file."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from twinwl.arguments import PATH, checked, is_a, items
from twinwl.datasets.source import read_columns
from twinwl.datasets.target_cells import is_missing
from twinwl.errors import TwinWLError, nearest, shown
from twinwl.evaluation.folds import Fold, hold_out_tenth, make_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.reading import Reading

WORDS = ("stratified", "scaffold", "scaffold-shuffled", "gnn-comparison")
_PARTS = ("train", "validation", "test")
_PART_OF_NAME = {
    "train": 0, "training": 0, "valid": 1, "validation": 1, "val": 1, "dev": 1, "test": 2, "testing": 2,
}  # fmt: skip
_FILE_ENDINGS = (".json", ".csv", ".tsv", ".zip", ".gz", ".parquet")
_YEARS = range(1500, 2501)
_SHARE = 0.1  # of the graphs, the latest to test on, and those before them to choose by
_LISTED = 5
_PLAIN = (str, int, float, bool, type(None))


class Split(NamedTuple):
    """A way to split a data set.

    Attributes
    ----------
    kind : str
        What results are filed under.
    text : str
        What is done, in words.
    folds : function from a seed to a list of Fold
    """

    kind: str
    text: str
    folds: Callable[[int], list[Fold]]


class Column(NamedTuple):
    """A column of a table: its name, and one cell per row, rows that cannot be read included."""

    name: str
    cells: Sequence[object]

    def of(self, data: Dataset) -> list[object]:
        """Return the cell of each graph."""
        return [self.cells[row] for row in data.rows.tolist()]


def is_column(split: object) -> TypeGuard[str]:
    """Say whether ``split`` or ``groups`` can only be the name of a column: neither a known word nor a file.

    >>> is_column("year"), is_column("scaffold"), is_column("parts.csv")
    (True, False, False)
    """
    if not is_a(split, str) or split in WORDS:
        return False
    return not (split.lower().endswith(_FILE_ENDINGS) or Path(checked("split", split, PATH)).exists())


def read_column(source: object, reading: Reading, name: str, argument: str) -> Column:
    """Read one column of a table, or one property of an SD file.

    Raises
    ------
    TwinWLError
        If the source has no such column (the nearest is named), or two of them.
    """
    columns = read_columns(source, reading)
    if name not in columns:
        words = WORDS if argument == "split" else ()
        missing = "there is no such file" + ("" if columns else ", and the data have no columns")
        raise TwinWLError(
            f"{argument}: got {name!r}; {nearest(name, [*words, *columns])}"
            + (f" ({missing})" if argument == "split" else "")
        )
    if f"{name}.1" in columns:  # what a second column of that name is called
        raise TwinWLError(f"{argument}: got {name!r}, and 2 columns are called so; rename one")
    return Column(name, columns[name])


def groups_of(groups: Column | Sequence[object], data: Dataset) -> Int64:
    """Return a number for each graph's group, from a column or from one value per graph."""
    what, cells = _cells(groups, "groups", data)
    _refuse_missing(cells, what, data, "the same value for graphs that must stay together")
    return np.unique([f"{type(cell).__name__} {cell}" for cell in cells], return_inverse=True)[1].astype(
        np.int64
    )


def split_of(
    data: Dataset, split: str | Path | Column | Sequence[object] | None, n_folds: int, task: str
) -> Split:
    """Understand what ``split=`` says.

    Parameters
    ----------
    data
        The data set.
    split
        A word of `WORDS`, a file, a `Column`, or one value per graph; None is ``"stratified"``.
    n_folds
        Of stratified folds.
    task
        ``"classification"`` wants every class among the graphs to learn from.
    """
    stratified = task == "classification"
    if split is None or (is_a(split, str) and split == "stratified"):
        kinds = "stratified " * stratified + "folds" + ", groups kept together" * (data.groups is not None)
        kinds += ", by each graph's rarest class" * (stratified and bool(data.tasks))
        return Split(
            f"{n_folds} folds",
            f"{n_folds} {kinds}",
            lambda seed: make_folds(
                data.targets, data.groups, n_folds=n_folds, seed=seed, stratified=stratified
            ),
        )
    if is_a(split, str) and split in WORDS[1:3]:
        return _by_scaffold(data, shuffled=split == "scaffold-shuffled", stratified=stratified)
    if is_a(split, str) or is_a(split, Path):
        return _from_file(data, split, stratified=stratified)
    what, cells = _cells(split, "split", data)
    return _from_cells(data, cells, what, stratified=stratified)


def _cells(given: Column | Sequence[object], argument: str, data: Dataset) -> tuple[str, list[object]]:
    if is_a(given, Column):
        what, cells = f"column {given.name!r} of {data.name}", given.of(data)
    else:
        array: object = given
        values = array.tolist() if is_a(array, np.ndarray) else given
        what, cells = argument, items(argument, values, "a name, a file, or one value per graph")
    if len(cells) != len(data):
        raise TwinWLError(f"{argument}: got {len(cells)} values for {len(data)} graphs; give one per graph")
    return what, [_plain(cell, what) for cell in cells]


def _plain(cell: object, what: str) -> object:
    """Return a cell that can be compared and written; None where it is missing."""
    plain: object = cell.item() if is_a(cell, np.generic) else cell  # type: ignore[type-abstract]
    if type(plain) in _PLAIN or is_a(plain, dt.date):
        return None if is_missing(plain) else plain
    if is_a(plain, str):
        return str.__str__(plain)
    raise TwinWLError(f"{what}: got {shown(cell)}, expected text, a number or a date for each graph")


def _by_scaffold(data: Dataset, *, shuffled: bool, stratified: bool) -> Split:
    from twinwl.evaluation.scaffold import scaffold_groups, split_groups  # noqa: PLC0415  (RDKit)

    if data.smiles is None:
        raise TwinWLError(
            f"split: {data.name} has no SMILES, so its graphs have no scaffolds; give a table of molecules, "
            "or use stratified folds"
        )
    scaffolds = scaffold_groups(data.smiles)
    word = "scaffold-shuffled" if shuffled else "scaffold"

    def folds(seed: int) -> list[Fold]:
        fold = split_groups(scaffolds, seed=seed if shuffled else None)
        return [_completed(fold, data, f"split: {word}", seed, stratified=stratified)]

    order = "in random order" if shuffled else "the most common ones to learn from"
    text = f"{word}: {scaffolds.max() + 1:,} scaffolds, {order}"
    return Split(
        f"{word} {_digest(scaffolds)}", text if shuffled else f"{text}; {_sizes(folds(0)[0])}", folds
    )


def _from_file(data: Dataset, split: str | Path, *, stratified: bool) -> Split:
    from twinwl.evaluation.published_splits import published_folds  # noqa: PLC0415
    from twinwl.evaluation.split_files import is_published, read_split  # noqa: PLC0415

    if is_published(split):
        found = published_folds(data, split)
        return Split(Path(split).name, f"published in {Path(split).name}", lambda _seed: found)
    path = Path(split)
    parts = [
        _from_cells(data, [_plain(cell, str(path)) for cell in cells], str(path), stratified=stratified)
        for cells in read_split(path, data)
    ]
    digest = _digest(np.frombuffer("".join(part.kind for part in parts).encode(), np.uint8))
    text = parts[0].text if len(parts) == 1 else f"{len(parts)} splits in {path}"
    return Split(
        f"{path.name} {digest}", text, lambda seed: [fold for part in parts for fold in part.folds(seed)]
    )


def _from_cells(data: Dataset, cells: list[object], what: str, *, stratified: bool) -> Split:
    """Split by one value per graph: the name of its part, or its year."""
    _refuse_missing(cells, what, data, "train, validation or test, or a year")
    distinct = list(dict.fromkeys(cells))
    if len(distinct) == 1:
        raise TwinWLError(
            f"{what}: all {len(cells):,} graphs have the value {shown(distinct[0])}, so there is nothing to "
            "test on; name another column, or use scaffold or stratified"
        )
    names = [_PART_OF_NAME.get(str(cell).strip().lower()) for cell in cells]
    times = [_time(cell) for cell in cells]
    if None not in names:
        part, about = np.array(names), ""
    elif None not in times:
        part, about = _by_time([time for time in times if time is not None], what)
    else:
        odd = [place for place, pair in enumerate(zip(names, times, strict=True)) if pair == (None, None)]
        place = odd[0] if odd else names.index(None)
        raise TwinWLError(
            f"{what}: row {data.rows[place]} holds {shown(cells[place])}, expected train, validation or test "
            "everywhere, or a year (or a date) everywhere; graphs that must stay together are named by groups"
        )
    parts = [np.flatnonzero(part == number) for number in range(3)]
    for number in (0, 2):
        if not len(parts[number]):
            held = ", ".join(f"{name} {len(rows):,}" for name, rows in zip(_PARTS, parts, strict=True))
            raise TwinWLError(
                f"{what}: no graph is marked {_PARTS[number]!r} ({held}); mark some, or use another split"
            )

    def folds(seed: int) -> list[Fold]:
        return [_completed(Fold(*parts), data, what, seed, stratified=stratified)]

    text = f"{what}{about}; {_sizes(folds(0)[0])}"
    return Split(f"{what.rpartition('/')[2]} {_digest(part)}", text, folds)


def _by_time(times: list[tuple[int, ...]], what: str) -> tuple[Int64, str]:
    """Test on the latest tenth, choose by the tenth before it; graphs of one time stay together."""
    distinct = sorted(set(times))
    code_of_time = {time: code for code, time in enumerate(distinct)}
    codes = np.array([code_of_time[time] for time in times])
    n_since = np.cumsum(np.bincount(codes)[::-1])[::-1]  # graphs of each time and later
    first_test = int(np.flatnonzero(n_since >= _SHARE * len(times))[-1])
    if first_test == 0:
        raise TwinWLError(
            f"{what}: less than a tenth of the graphs are later than {_text(distinct[0])}, too few to test "
            "on; use another split"
        )
    later = n_since[:first_test] - n_since[first_test] >= _SHARE * len(times)
    first_held = int(np.flatnonzero(later)[-1]) if later.any() else 0
    part = np.where(codes >= first_test, 2, np.where((codes >= first_held) & (first_held > 0), 1, 0))
    since, until = (_text(distinct[code]) for code in (first_test, first_test - 1))
    return part, f", by time: tested on {since} and later, the rest is up to {until}"


def _text(time: tuple[int, ...]) -> str:
    return "-".join(f"{field:02}" for field in time)


def _time(cell: object) -> tuple[int, ...] | None:
    """Read a year, or a date, as numbers that sort."""
    if isinstance(cell, dt.date):
        return cell.timetuple()[:6] if isinstance(cell, dt.datetime) else cell.timetuple()[:3]
    text = str(cell).strip().removesuffix(".0")
    if text.isdecimal():
        return (int(text),) if int(text) in _YEARS else None
    try:
        return dt.datetime.fromisoformat(text).timetuple()[:3]
    except ValueError:
        return None


def _refuse_missing(cells: list[object], what: str, data: Dataset, expected: str) -> None:
    missing = [int(row) for row, cell in zip(data.rows, cells, strict=True) if cell is None]
    if missing:
        listed = ", ".join(map(str, missing[:_LISTED])) + ", …" * (len(missing) > _LISTED)
        raise TwinWLError(
            f"{what}: {len(missing):,} of {len(cells):,} graphs have no value (rows {listed}); expected "
            f"{expected} for each"
        )


def _completed(fold: Fold, data: Dataset, what: str, seed: int, *, stratified: bool) -> Fold:
    """Refuse a split that hides a class or tears groups apart; hold a tenth out where nothing is."""
    if stratified:
        _refuse_hidden_classes(fold, data, what)
    if data.groups is not None and np.isin(data.groups[fold.test], data.groups[fold.training_part]).any():
        raise TwinWLError(
            f"{what}: graphs of one group are on both sides, so its figures would mislead; leave groups or "
            "split out"
        )
    if not len(fold.validation):
        return hold_out_tenth(fold.train, fold.test, data.targets, data.groups, seed, stratified=stratified)
    return fold


def _refuse_hidden_classes(fold: Fold, data: Dataset, what: str) -> None:
    """Refuse a split that leaves no graph of a class to learn from."""
    y = data.targets
    for place, column in enumerate(y.T if y.ndim > 1 else [y]):
        hidden = np.setdiff1d(column, column[fold.train])
        hidden = hidden[hidden == hidden]  # noqa: PLR0124  (NaN, which is no class)
        if len(hidden):
            of = f" of task {data.tasks[place]!r}" if data.tasks else ""
            raise TwinWLError(
                f"{what}: class {shown(hidden.tolist()[0])}{of} has no graph among those to learn from "
                f"({_sizes(fold)}); use another split"
            )


def _sizes(fold: Fold) -> str:
    return f"train {len(fold.train):,}, validation {len(fold.validation):,}, test {len(fold.test):,}"


def _digest(values: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values, "<i8").tobytes(), digest_size=4).hexdigest()
