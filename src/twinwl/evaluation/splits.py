"""What ``split=`` names, as folds: stratified, by scaffold, by a column of the table, or from a file.

The splits of "A Fair Comparison of Graph Neural Networks" (Errica et al., 2020), as published.

One JSON file per data set: a list of ten folds with ``test`` and ``model_selection``, which is a list with
one object with ``train`` and ``validation``; all are graph numbers from 0. The social networks have two files
with different folds, for nodes without features and for degrees as features. The first is used unless a file
is named.

Splits by scaffold: molecules with the same ring systems and linkers stay together (Bemis and Murcko).

Splits from files: which row of a table belongs to which part.

A JSON file holds ``{"train": [0, 1, …], "valid": […], "test": […]}``, a list of such objects (one per fold),
an object from row to part, or a list of parts, one per row. A table (.csv, .tsv) has a column of parts, and
may have one of rows. A folder holds ``train.csv``, ``valid.csv`` and ``test.csv`` with a row number per line,
as OGB publishes them. Rows are those of the source, from 0; rows that could not be read count.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeGuard

import numpy as np

from twinwl.arguments import PATH, checked, items
from twinwl.arrays import Int64
from twinwl.datasets.catalogue import data_folders
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_columns
from twinwl.datasets.tables import all_cells, csv_table
from twinwl.datasets.targets import is_missing
from twinwl.datasets.text_files import ArchiveMembers, decode, numbered_lines, open_file, read_bytes
from twinwl.errors import GraphInputError, TwinWLError, import_extra, nearest, shown
from twinwl.evaluation.folds import Fold, hold_out_tenth, make_folds

_ARCHIVE = "gnn_comparison_splits.zip"
_ENDING = "_splits.json"
_OTHER_NAMES = {"PROTEINS": "PROTEINS_full"}  # the same graphs with more attributes


def published_folds(data: Dataset, splits: str | Path) -> list[Fold]:
    """Return the published folds of a data set.

    Parameters
    ----------
    data
        A data set whose graphs are in the order of its TU files.
    splits
        ``"gnn-comparison"`` looks for the zip in the data folders; else the path of the zip or a JSON file.

    Raises
    ------
    TwinWLError
        If there are no splits for the data set, or they do not match it.
    """
    where, content = _content(find_splits(splits), data.name)
    try:
        folds = [_fold(entry) for entry in json.loads(content)]
    except (ValueError, TypeError, LookupError) as error:
        raise TwinWLError(f"{where}: not in the format of gnn-comparison ({error}); get it again") from error
    _check(folds, data, where)
    return folds


def find_splits(splits: str | Path, data_dir: str | Path | None = None) -> Path:
    """Return the file of the splits; refuse one that cannot be read."""
    path = _archive(data_dir) if str(splits) == "gnn-comparison" else Path(splits)
    with open_file(path):
        return path


def _archive(data_dir: str | Path | None) -> Path:
    folders = data_folders(data_dir)
    for folder in folders:
        if (folder / _ARCHIVE).is_file():
            return folder / _ARCHIVE
    raise TwinWLError(f"{_ARCHIVE} was not found; put it into {str(folders[0])!r}, or give its path")


def _content(path: Path, name: str) -> tuple[str, bytes]:
    if path.suffix.lower() == ".json":
        return str(path), path.read_bytes()
    with ArchiveMembers(path) as members:
        of_set: dict[str, str] = {}
        for member in members.names:  # sorted, so the files for nodes without features come first
            if member.endswith(_ENDING):
                of_set.setdefault(member.rpartition("/")[2].removesuffix(_ENDING), member)
        if not of_set:
            raise TwinWLError(f"{path}: contains no splits; their files end in {_ENDING!r}")
        wanted = name if name in of_set else _OTHER_NAMES.get(name, name)
        if wanted not in of_set:
            raise TwinWLError(f"{path}: no splits for {name!r}; {nearest(name, of_set)}")
        return f"{path}: {of_set[wanted]}", members.read(of_set[wanted])


def _fold(entry: dict[str, list[int] | list[dict[str, list[int]]]]) -> Fold:
    (inner,) = entry["model_selection"]
    parts = (inner["train"], inner["validation"], entry["test"])  # type: ignore[index]
    return Fold(*(np.sort(np.array(part, dtype=np.int64)) for part in parts))


def _check(folds: list[Fold], data: Dataset, where: str) -> None:
    """Refuse splits of another data set: test parts must cover it, and no graph may be in two parts."""
    tested = np.sort(np.concatenate([fold.test for fold in folds])) if folds else np.empty(0, np.int64)
    if not np.array_equal(tested, np.arange(len(data))):
        raise TwinWLError(
            f"{where}: its test parts have {len(np.unique(tested))} different graphs, the data set "
            f"{data.name} has {len(data)}; these splits belong to another set"
        )
    for number, fold in enumerate(folds):
        together = np.concatenate([fold.train, fold.validation, fold.test])
        if len(np.unique(together)) != len(together) or together.min() < 0 or together.max() >= len(data):
            raise TwinWLError(f"{where}: fold {number} has a graph twice, or one that does not exist")
        if data.groups is not None and _crossed(data.groups, fold):
            raise TwinWLError(
                f"{where}: fold {number} splits groups, so its scores would be misleading; do not pass splits"
            )


def _crossed(groups: Int64, fold: Fold) -> bool:
    return bool(np.isin(groups[fold.test], groups[fold.training_part]).any())


_ROUNDING = 1e-9  # 0.1 of 10 molecules is one


def scaffold_groups(smiles: Sequence[str]) -> Int64:
    """Return the scaffold of each molecule as a number, to be used as ``groups`` of folds.

    Parameters
    ----------
    smiles
        One string per molecule; stereochemistry is left out of account, and all molecules without a ring have
        one and the same, empty scaffold.

    Returns
    -------
    array of int64, shape (n_molecules,)
        Scaffolds are numbered by their first molecule.

    >>> scaffold_groups(["c1ccccc1C", "CCO", "Oc1ccccc1", "CC"]).tolist()
    [0, 1, 0, 1]
    """
    chem = import_extra("rdkit.Chem", "chem")
    murcko = import_extra("rdkit.Chem.Scaffolds.MurckoScaffold", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    number_of_scaffold: dict[str, int] = {}
    groups = np.empty(len(smiles), np.int64)
    with base.BlockLogs():  # the error raised here says all that RDKit would have logged
        for index, text in enumerate(smiles):
            molecule = chem.MolFromSmiles(text)
            if molecule is None:
                raise GraphInputError(f"SMILES {text!r} does not parse; correct it or leave it out", index)
            scaffold = str(murcko.MurckoScaffoldSmiles(mol=molecule, includeChirality=False))
            groups[index] = number_of_scaffold.setdefault(scaffold, len(number_of_scaffold))
    return groups


def scaffold_split(
    smiles: Sequence[str], validation: float = 0.1, test: float = 0.1, seed: int | None = None
) -> Fold:
    """Split molecules by scaffold: common scaffolds to learn from, rare ones to test on.

    The usual split of molecular benchmarks (MoleculeNet, OGB), and a hard one. Nothing in it is random:
    scaffolds are taken from the most common to the rarest (of equals the one whose first molecule comes
    last), and fill training, then validation, then test. With a seed they are taken in random order, and
    fill validation and test first, so that a scaffold too common for either is learnt from.

    Parameters
    ----------
    smiles
        One string per molecule.
    validation, test
        Shares of the molecules, to within the size of a scaffold.
    seed
        Decides the order of the scaffolds; None takes the most common first.

    Returns
    -------
    Fold

    >>> fold = scaffold_split(["c1ccccc1C"] * 8 + ["C1CCCC1", "C1CCCCC1"])
    >>> fold.validation.tolist(), fold.test.tolist()
    ([9], [8])
    """
    return split_groups(scaffold_groups(smiles), validation, test, seed)


def split_groups(groups: Int64, validation: float = 0.1, test: float = 0.1, seed: int | None = None) -> Fold:
    """Split molecules by the scaffolds that `scaffold_groups` found, as `scaffold_split` does."""
    if not (0 <= validation < 1 and 0 < test < 1 and validation + test < 1):
        raise TwinWLError(
            f"got validation={validation} and test={test}, expected shares with a sum below 1, test above 0"
        )
    n_molecules = len(groups)
    first, sizes = np.unique(groups, return_index=True, return_counts=True)[1:]
    parts = _common_first if seed is None else _shuffled
    order = (
        np.lexsort((first, sizes))[::-1]
        if seed is None
        else np.random.default_rng(seed).permutation(len(sizes))
    )
    part_of_scaffold = parts(order.tolist(), sizes.tolist(), validation * n_molecules, test * n_molecules)
    part = part_of_scaffold[groups]
    fold = Fold(*(np.flatnonzero(part == number) for number in range(3)))
    if not len(fold.train) or not len(fold.test):
        raise TwinWLError(
            f"{len(sizes)} scaffolds of {n_molecules} molecules are too few to split by; use stratified folds"
        )
    return fold


def _common_first(order: list[int], sizes: list[int], validation: float, test: float) -> Int64:
    """Fill training, then validation, then test; the bounds are those of MoleculeNet and OGB."""
    n_molecules = sum(sizes)
    part_of_scaffold = np.full(len(sizes), 2, np.int64)
    n_train = n_validation = 0
    for scaffold in order:
        size = sizes[scaffold]
        if n_train + size <= n_molecules - validation - test + _ROUNDING:
            part_of_scaffold[scaffold] = 0
            n_train += size
        elif n_train + n_validation + size <= n_molecules - test + _ROUNDING:
            part_of_scaffold[scaffold] = 1
            n_validation += size
    return part_of_scaffold


def _shuffled(order: list[int], sizes: list[int], validation: float, test: float) -> Int64:
    """Fill validation, then test; what fits into neither is learnt from."""
    part_of_scaffold = np.zeros(len(sizes), np.int64)
    room = [0, validation + _ROUNDING, test + _ROUNDING]
    for scaffold in order:
        part = next((part for part in (1, 2) if sizes[scaffold] <= room[part]), 0)
        part_of_scaffold[scaffold] = part
        room[part] -= sizes[scaffold]
    return part_of_scaffold


_NAMES = {"train": ("train",), "validation": ("valid", "validation", "val", "dev"), "test": ("test",)}
_ROW_COLUMNS = ("row", "index", "idx", "")
_PART_COLUMNS = ("split", "part", "set", "subset", "partition", "fold")


def is_published(split: str | Path) -> bool:
    """Return whether a file has the format of the splits of "A Fair Comparison of Graph Neural Networks"."""
    path = Path(split)
    if str(split) == "gnn-comparison" or path.suffix.lower() == ".zip":
        return True
    if path.suffix.lower() != ".json":
        return False
    content = _json(path)
    return isinstance(content, list) and any(isinstance(e, dict) and "model_selection" in e for e in content)


def read_split(path: Path, data: Dataset) -> list[list[object]]:
    """Return for each fold the part of each graph; None for a graph in no part."""
    if path.is_dir():
        return [_of_graphs(_from_folder(path), path, data)]
    if path.suffix.lower() == ".json":
        content = _json(path)
        folds = [content]
        if isinstance(content, list) and content and all(isinstance(entry, dict) for entry in content):
            folds = content
        return [_of_graphs(_from_json(entry, path), path, data) for entry in folds]
    return [_of_graphs(_from_table(path), path, data)]


def _json(path: Path) -> object:
    try:
        return json.loads(decode(read_bytes(path), str(path)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, TwinWLError):
            raise
        raise TwinWLError(f"{path}: not readable as JSON ({error}); correct it") from error


def _from_json(content: object, path: Path) -> list[tuple[object, object]]:
    if isinstance(content, list):
        return list(enumerate(content))
    if not isinstance(content, dict):
        raise TwinWLError(f'{path}: got {shown(content)}, expected {{"train": [rows], "test": [rows]}}')
    if any(isinstance(rows, list) for rows in content.values()):
        return [
            (row, part)
            for part, rows in content.items()
            for row in (rows if isinstance(rows, list) else [rows])
        ]
    return list(content.items())


def _from_table(path: Path) -> list[tuple[object, object]]:
    columns = all_cells(csv_table(str(path)))
    of_row = next((name for name in columns if name.strip().lower() in _ROW_COLUMNS), None)
    others = [name for name in columns if name != of_row]
    named = others if len(others) == 1 else [name for name in others if name.strip().lower() in _PART_COLUMNS]
    if len(named) != 1:
        raise TwinWLError(
            f"{path}: expected a column 'split' with the part of each row, and optionally 'row' with row "
            f"numbers; got the columns {', '.join(map(repr, columns)) or 'none'}"
        )
    parts = columns[named[0]]
    return list(zip(range(len(parts)) if of_row is None else columns[of_row], parts, strict=True))


def _from_folder(path: Path) -> list[tuple[object, object]]:
    found: list[tuple[object, object]] = []
    for part, names in _NAMES.items():
        files = [path / f"{name}.csv{packed}" for name in names for packed in ("", ".gz")]
        file = next((file for file in files if file.is_file()), None)
        if file is not None:
            found += [(text, part) for _, text in numbered_lines(str(file))]
    if not found:
        raise TwinWLError(f"{path}: there is no train.csv, valid.csv or test.csv in this folder; give a file")
    return found


def _of_graphs(pairs: Iterable[tuple[object, object]], path: Path, data: Dataset) -> list[object]:
    """Look up the part of each graph by its row."""
    n_rows = 1 + max([*data.rows.tolist(), *(error.row for error in data.errors)])
    part_of_row: dict[int, object] = {}
    for given, part in pairs:
        row = _row(given, path)
        if not 0 <= row < n_rows:
            raise TwinWLError(
                f"{path}: row {row} is out of range: {data.name} has the rows 0 to {n_rows - 1}; is this the "
                "split of another table?"
            )
        if row in part_of_row:
            raise TwinWLError(
                f"{path}: row {row} is listed twice, as {part_of_row[row]} and {part}; keep one"
            )
        part_of_row[row] = part
    return [part_of_row.get(row) for row in data.rows.tolist()]


def _row(given: object, path: Path) -> int:
    try:
        number = float(str(given))
        if number.is_integer():
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise TwinWLError(f"{path}: got {shown(given)} for a row, expected an integer of at least 0")


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
    if not isinstance(split, str) or split in WORDS:
        return False
    return not (split.lower().endswith(_FILE_ENDINGS) or Path(checked("split", split, PATH)).exists())


def read_column(source: object, reading: ReadOptions, name: str, argument: str) -> Column:
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
    if split is None or (isinstance(split, str) and split == "stratified"):
        kinds = "stratified " * stratified + "folds" + ", groups kept together" * (data.groups is not None)
        kinds += ", by each graph's rarest class" * (stratified and bool(data.tasks))
        return Split(
            f"{n_folds} folds",
            f"{n_folds} {kinds}",
            lambda seed: make_folds(
                data.targets, data.groups, n_folds=n_folds, seed=seed, stratified=stratified
            ),
        )
    if isinstance(split, str) and split in WORDS[1:3]:
        return _by_scaffold(data, shuffled=split == "scaffold-shuffled", stratified=stratified)
    if isinstance(split, (str, Path)):
        return _from_file(data, split, stratified=stratified)
    what, cells = _cells(split, "split", data)
    return _from_cells(data, cells, what, stratified=stratified)


def _cells(given: Column | Sequence[object], argument: str, data: Dataset) -> tuple[str, list[object]]:
    if isinstance(given, Column):
        what, cells = f"column {given.name!r} of {data.name}", given.of(data)
    else:
        array: object = given
        values = array.tolist() if isinstance(array, np.ndarray) else given
        what, cells = argument, items(argument, values, "a name, a file, or one value per graph")
    if len(cells) != len(data):
        raise TwinWLError(f"{argument}: got {len(cells)} values for {len(data)} graphs; give one per graph")
    return what, [_plain(cell, what) for cell in cells]


def _plain(cell: object, what: str) -> object:
    """Return a cell that can be compared and written; None where it is missing."""
    plain: object = cell.item() if isinstance(cell, np.generic) else cell
    if type(plain) in _PLAIN or isinstance(plain, dt.date):
        return None if is_missing(plain) else plain
    if isinstance(plain, str):
        return str.__str__(plain)
    raise TwinWLError(f"{what}: got {shown(cell)}, expected text, a number or a date for each graph")


def _by_scaffold(data: Dataset, *, shuffled: bool, stratified: bool) -> Split:

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
