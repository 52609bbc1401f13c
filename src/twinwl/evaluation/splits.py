"""Splits of a data set into training, validation and test graphs.

``split=`` names one: stratified folds, a split by scaffold (molecules with the same ring systems and linkers
stay together: Bemis and Murcko), a column of the table (parts, numbers of folds, or years), or a file. In
Python it is also a splitter of scikit-learn, or a list of pairs ``(train, test)`` of graph indices.

A JSON file holds ``{"train": [0, 1, …], "valid": […], "test": […]}``, a list of such objects (one per fold),
an object from row to part, or a list of parts, one per row. A table (.csv, .tsv) has a column of parts, and
may have one of rows. A folder holds ``train.csv``, ``valid.csv`` and ``test.csv`` with a row number per line,
as OGB publishes them. Rows are those of the source, from 0; rows that could not be read count. The splits of
"A Fair Comparison of Graph Neural Networks" (Errica et al., 2020) are read as published: a zip of JSON files,
or one of these. Social networks have two files there, for nodes without features and for degrees as features;
the first is used unless a file is named.
"""

import datetime as dt
import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from twinwl.arguments import PATH, checked, foreign_array, integer, items
from twinwl.arrays import Int64, Values
from twinwl.datasets.catalogue import data_folders
from twinwl.datasets.dataset import Dataset, is_missing
from twinwl.datasets.formats import ArchiveMembers, ReadOptions, decode, numbered_lines, open_file, read_bytes
from twinwl.datasets.source import read_columns
from twinwl.errors import GraphInputError, TwinWLError, import_extra, nearest, shown
from twinwl.models.calibration import hold_out, rarest_classes
from twinwl.models.targets import read_targets
from twinwl.terminal import counted

WORDS = ("stratified", "scaffold", "scaffold-shuffled", "gnn-comparison")
HELD_OUT = 0.1  # share of the training part that chooses epoch and configuration
_PART_OF_NAME = {
    "train": 0, "training": 0, "valid": 1, "validation": 1, "val": 1, "dev": 1, "test": 2, "testing": 2,
}  # fmt: skip
_ROW_COLUMNS = ("row", "index", "idx", "")
_PART_COLUMNS = ("split", "part", "set", "subset", "partition", "fold")
_FILE_ENDINGS = (".json", ".csv", ".tsv", ".zip", ".gz", ".parquet")
_ARCHIVE, _PUBLISHED = "gnn_comparison_splits.zip", "_splits.json"
_OTHER_NAMES = {"PROTEINS": "PROTEINS_full"}  # the same graphs with more attributes
_YEARS = range(1500, 2501)
_SHARE = 0.1  # of the graphs, the latest to test on, and those before them to choose by
_ROUNDING = 1e-9  # 0.1 of 10 molecules is one
_LISTED = 5
_Pairs = list[tuple[object, object]]  # a row and its part


@dataclass(frozen=True, eq=False, slots=True)
class Fold:
    """Indices of graphs, sorted and disjoint.

    Attributes
    ----------
    train : array of int64
        The training graphs.
    validation : array of int64
        Held out of the training part, to choose epoch and configuration.
    test : array of int64
        The test graphs.

    >>> Fold(np.array([0, 1]), np.array([2]), np.array([3])).training_part.tolist()
    [0, 1, 2]
    """

    train: Int64
    validation: Int64
    test: Int64

    @property
    def training_part(self) -> Int64:
        """All graphs that are not test graphs, sorted."""
        return np.sort(np.concatenate([self.train, self.validation]))

    def __str__(self) -> str:
        return f"train {len(self.train):,}, validation {len(self.validation):,}, test {len(self.test):,}"


def make_folds(
    y: Values, groups: Int64 | None = None, *, n_folds: int = 10, seed: int = 0, stratified: bool = True
) -> list[Fold]:
    """Split graphs into stratified folds that keep groups together.

    Parameters
    ----------
    y : array, shape (n_graphs,) or (n_graphs, n_tasks)
        Classes; of several tasks, graphs are stratified by the rarest class that they have.
    groups : array of int64, shape (n_graphs,), optional
        Graphs of one group stay in one fold, and on one side of the inner hold-out.
    n_folds
        Each graph is in the test part of exactly one of them.
    seed
        Seed of the folds and the hold-outs.
    stratified
        False if the targets are numbers; the folds are then not stratified.

    Returns
    -------
    list of Fold
        A tenth of each training part is held out as ``validation``.

    >>> folds = make_folds(np.array([0, 1] * 20), n_folds=4)
    >>> sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(40))
    True
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # noqa: PLC0415

    checked("n_folds", n_folds, integer(2))
    y = np.asarray(y)
    several = y.ndim > 1
    classes, codes = np.unique(_strata(y) if stratified else np.zeros(len(y)), return_inverse=True)
    if several:  # a class too rare for that many folds is not worth an error: other tasks can do without it
        counts = np.bincount(codes)
        rare_joined = np.where(counts[codes] < n_folds, counts.argmax(), codes)
        classes, codes = np.unique(rare_joined, return_inverse=True)
    elif stratified and len(classes) < 2:  # noqa: PLR2004
        raise TwinWLError(f"there is only one class, {classes.tolist()}; at least two are needed")
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units = np.bincount(np.unique(np.stack([codes, units]), axis=1)[0])
    rarest = int(n_units.argmin())
    if n_units[rarest] < n_folds:
        whose = f"class {classes.tolist()[rarest]!r} has" if stratified and not several else "the data have"
        result = counted(int(n_units[rarest]), "graph" if groups is None else "group")
        fewer = "" if n_units[rarest] < 2 else "use fewer folds, or "  # noqa: PLR2004
        raise TwinWLError(f"{whose} {result}, too few for {n_folds} folds; {fewer}give more of them")
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(n_splits=n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it warns of was checked above
        parts = enumerate(list(splitter.split(np.zeros(len(y)), codes, units)))
    return [_held_out(training, test, codes, groups, seed, number) for number, (training, test) in parts]


def _strata(y: Values) -> Values:
    """Return what to stratify by: the classes, or of several tasks each graph's rarest class."""
    if y.ndim == 1:
        return y
    tasks = read_targets(y, len(y), empty=True)
    codes = [np.unique(column, return_inverse=True)[1] for column in tasks.columns]
    return rarest_classes(np.where(tasks.known, np.stack(codes, axis=1), -1))


def _held_out(
    training: Int64, test: Int64, codes: Int64, groups: Int64 | None, seed: int, number: int
) -> Fold:
    # Each fold has its own seed; otherwise the same places would be held out in all folds.
    own_seed = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
    here = np.unique(codes[training], return_inverse=True)[1]
    groups_here = None if groups is None else np.unique(groups[training], return_inverse=True)[1]
    remedy = "give more graphs: these are all that a fold has to train on"
    train, validation = hold_out(here, HELD_OUT, own_seed, groups_here, remedy)
    return Fold(training[train], training[validation], np.asarray(test, dtype=np.int64))


def scaffold_groups(smiles: Sequence[str]) -> Int64:
    """Return the scaffold of each molecule as a number, to be used as ``groups`` of folds.

    Parameters
    ----------
    smiles
        One string per molecule; stereochemistry is ignored, and all molecules without a ring have the same,
        empty scaffold.

    Returns
    -------
    array of int64, shape (n_molecules,)
        Scaffolds are numbered by their first molecule.

    >>> scaffold_groups(["c1ccccc1C", "CCO", "Oc1ccccc1", "CC"]).tolist()
    [0, 1, 0, 1]
    """
    chem = import_extra("rdkit.Chem", "chem")
    murcko = import_extra("rdkit.Chem.Scaffolds.MurckoScaffold", "chem")
    number_of_scaffold: dict[str, int] = {}
    groups = np.empty(len(smiles), np.int64)
    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # the error says all that RDKit would have logged
        for index, text in enumerate(smiles):
            molecule = chem.MolFromSmiles(text)
            if molecule is None:
                raise GraphInputError(f"SMILES {text!r} does not parse; correct it or leave it out", index)
            scaffold = str(murcko.MurckoScaffoldSmiles(mol=molecule, includeChirality=False))
            groups[index] = number_of_scaffold.setdefault(scaffold, len(number_of_scaffold))
    return groups


def split_groups(groups: Int64, validation: float = 0.1, test: float = 0.1, seed: int | None = None) -> Fold:
    """Split molecules by scaffold: common scaffolds to learn from, rare ones to test on.

    The usual split of molecular benchmarks (MoleculeNet, OGB), and a hard one. Nothing in it is random:
    scaffolds are taken from the most common to the rarest (of equals the one whose first molecule comes
    last), and fill training, then validation, then test. With a seed they are taken in random order, and
    fill validation and test first, so that a scaffold too common for either is learnt from.

    Parameters
    ----------
    groups
        The scaffold of each molecule, from `scaffold_groups`.
    validation, test
        Shares of the molecules, to within the size of a scaffold.
    seed
        Decides the order of the scaffolds; None takes the most common first.

    >>> fold = split_groups(scaffold_groups(["c1ccccc1C"] * 8 + ["C1CCCC1", "C1CCCCC1"]))
    >>> fold.validation.tolist(), fold.test.tolist()
    ([9], [8])
    """
    n = len(groups)
    first, sizes = np.unique(groups, return_index=True, return_counts=True)[1:]
    # A scaffold goes into the first part, in the order of `parts`, whose bound it keeps.
    if seed is None:  # as MoleculeNet and OGB: the bound is on this part and all before it together
        order, parts = np.lexsort((first, sizes))[::-1], (0, 1, 2)
        bounds = (n - n * (validation + test), n - n * test, np.inf)
    else:  # the bound is on the part alone
        order, parts = np.random.default_rng(seed).permutation(len(sizes)), (1, 2, 0)
        bounds = (np.inf, n * validation, n * test)
    part_of_scaffold, filled = np.zeros(len(sizes), np.int64), np.zeros(3)
    for scaffold in order.tolist():
        for part in parts:
            before = filled[: part + 1].sum() if seed is None else filled[part]
            if before + sizes[scaffold] <= bounds[part] + _ROUNDING:
                part_of_scaffold[scaffold] = part
                filled[part] += sizes[scaffold]
                break
    fold = Fold(*(np.flatnonzero(part_of_scaffold[groups] == number) for number in range(3)))
    if not len(fold.train) or not len(fold.test):
        raise TwinWLError(
            f"{len(sizes)} scaffolds of {n} molecules are too few to split by; use stratified folds"
        )
    return fold


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
        missing = " (there is no such file" + (")" if columns else ", and the data have no columns)")
        raise TwinWLError(
            f"{argument}: got {name!r}; {nearest(name, [*words, *columns])}{missing if words else ''}"
        )
    if f"{name}.1" in columns:  # what a second column of that name is called
        raise TwinWLError(f"{argument}: got {name!r}, and 2 columns are called so; rename one")
    return Column(name, columns[name])


def find_splits(splits: str | Path, data_dir: str | Path | None = None) -> Path:
    """Return the file of splits; refuse one that cannot be read."""
    path = Path(splits)
    if str(splits) == "gnn-comparison":
        folders = data_folders(data_dir)
        result = [folder / _ARCHIVE for folder in folders if (folder / _ARCHIVE).is_file()]
        if not result:
            raise TwinWLError(f"{_ARCHIVE} was not found; put it into {str(folders[0])!r}, or give its path")
        path = result[0]
    with open_file(path):
        return path


def opened_split(source: object, reading: ReadOptions, split: str) -> Column | str | Path:
    """Read the column that a split names, or look for its file, before any work."""
    if is_column(split):
        return read_column(source, reading, split, "split")
    if split in WORDS[:3] or Path(split).is_dir():
        return split
    result = find_splits(split, reading.data_dir)
    return split if reading.data_dir is None else result


def groups_of(groups: Column | Sequence[object], data: Dataset) -> Int64:
    """Return a number for each graph's group, from a column or from one value per graph."""
    what, cells = _cells(groups, "groups", data)
    _check_known(what, cells, data, "the same value for graphs that must stay together")
    kinds = [f"{type(cell).__name__} {cell}" for cell in cells]
    return np.unique(kinds, return_inverse=True)[1].astype(np.int64)


def split_of(data: Dataset, split: object, n_folds: int, task: str) -> Split:
    """Understand what ``split=`` says.

    Parameters
    ----------
    data
        The data set.
    split
        A word of `WORDS`, a file, a `Column`, one value per graph, pairs of indices, or a splitter of
        scikit-learn; None is ``"stratified"``.
    n_folds
        Of stratified folds.
    task
        ``"classification"`` requires every class among the graphs to learn from.
    """
    stratified, targets = task == "classification", data.targets
    if not stratified:  # every split of numbers is one of graphs of a single class
        data = replace(data, y=np.zeros(len(data)), tasks=())
    if split is None or (isinstance(split, str) and split == "stratified"):
        together = ", groups kept together" * (data.groups is not None)
        rarest = ", by each graph's rarest class" * bool(data.tasks)

        def folds(seed: int) -> list[Fold]:
            return make_folds(data.targets, data.groups, n_folds=n_folds, seed=seed, stratified=stratified)

        text = f"{n_folds} {'stratified ' * stratified}folds{together}{rarest}"
        return Split(f"{n_folds} folds", text, folds)
    if isinstance(split, str) and split in WORDS[1:3]:
        return _by_scaffold(data, split)
    if isinstance(split, str | Path):
        return _from_file(data, Path(split))
    if callable(getattr(split, "split", None)):
        return _from_splitter(data, split, targets if targets.ndim == 1 else _strata(data.targets))
    listed = split if isinstance(split, Column) else _listed(split, "split")
    if isinstance(listed, list) and isinstance((listed or [()])[0], list | tuple):
        return _from_pairs(data, "split", listed)
    return _from_cells(data, *_cells(listed, "split", data))


def _from_splitter(data: Dataset, splitter: Any, y: Values) -> Split:  # noqa: ANN401  (of scikit-learn)
    """Split as a splitter of scikit-learn does; it is asked once, so that all methods have the same folds."""
    try:
        pairs = list(splitter.split(data.graphs, y, data.groups))
    except Exception as error:  # whatever a foreign class raises
        raise TwinWLError(f"split: {shown(splitter)} cannot split {data.name} ({error})") from error
    return _from_pairs(data, type(splitter).__name__, pairs)


def _from_pairs(data: Dataset, what: str, pairs: Sequence[object]) -> Split:
    """Split by pairs of the indices of training and test graphs, one pair per fold."""
    if not pairs:
        raise TwinWLError(f"{what}: got no folds, expected at least one pair (train, test)")
    marked = []
    for number, pair in enumerate(pairs):
        where = f"{what}, fold {number}"
        parts = [foreign_array(where, part) for part in items(where, pair, "a pair (train, test)")]
        sound = [part.ndim == 1 and part.size > 0 and part.dtype.kind in "iu" for part in parts]
        if sound != [True, True]:
            raise TwinWLError(
                f"{where}: got {shown(pair)}, expected a pair (train, test) of graph indices, none empty"
            )
        train, test = (np.sort(part).astype(np.int64) for part in parts)
        listed = np.sort(np.concatenate([train, test]))
        if listed[0] < 0 or listed[-1] >= len(data):
            odd = listed[0] if listed[0] < 0 else listed[-1]
            raise TwinWLError(
                f"{where}: graph {odd} is out of range: {data.name} has the graphs 0 to {len(data) - 1}"
            )
        if len(twice := listed[1:][listed[1:] == listed[:-1]]):
            raise TwinWLError(f"{where}: graph {twice[0]} is listed twice; train and test must not overlap")
        marked.append(Fold(train, np.empty(0, np.int64), test))

    def folds(seed: int) -> list[Fold]:
        return [
            _complete(fold, data, f"{what}, fold {number}", seed, number)
            for number, fold in enumerate(marked)
        ]

    indices = [[len(fold.train), *fold.train, *fold.test] for fold in marked]
    kind = f"{what.rpartition('/')[2]} {_digest(np.concatenate(indices))}"
    return Split(kind, f"{what}: {counted(len(marked), 'fold')}", folds)


def _by_scaffold(data: Dataset, word: str) -> Split:
    if data.smiles is None:
        raise TwinWLError(
            f"split: {data.name} has no SMILES, so its graphs have no scaffolds; give a table of molecules, "
            "or use stratified folds"
        )
    scaffolds, shuffled = scaffold_groups(data.smiles), word == "scaffold-shuffled"

    def folds(seed: int) -> list[Fold]:
        fold = split_groups(scaffolds, seed=seed if shuffled else None)
        return [_complete(fold, data, f"split: {word}", seed)]

    order = "in random order" if shuffled else f"the most common ones to learn from; {folds(0)[0]}"
    text = f"{word}: {scaffolds.max() + 1:,} scaffolds, {order}"
    return Split(f"{word} {_digest(scaffolds)}", text, folds)


def _from_file(data: Dataset, path: Path) -> Split:
    published = False
    if path.is_dir():
        folds = [_from_folder(path)]
    elif (file := find_splits(path)).suffix.lower() in {".json", ".zip"}:
        published, folds = _from_json(_read_json(file, data.name), file)
    else:
        folds = [_from_table(file)]
    parts = [_from_cells(data, str(path), _of_graphs(pairs, path, data)) for pairs in folds]
    kind, text = path.name, f"published in {path.name}"
    if not published:
        kinds = "".join(part.kind for part in parts).encode()
        kind = f"{path.name} {_digest(np.frombuffer(kinds, np.uint8))}"
        text = parts[0].text if len(parts) == 1 else f"{len(parts)} splits in {path}"
    return Split(kind, text, lambda seed: [fold for part in parts for fold in part.folds(seed)])


def _from_folder(path: Path) -> _Pairs:
    files = [(name, path / f"{name}{end}") for name in _PART_OF_NAME for end in (".csv", ".csv.gz")]
    result: _Pairs = [
        (row, name) for name, file in files if file.is_file() for _, row in numbered_lines(str(file))
    ]
    if not result:
        raise TwinWLError(f"{path}: there is no train.csv, valid.csv or test.csv in this folder; give a file")
    return result


def _read_json(path: Path, name: str) -> object:
    """Read a JSON file, or the one of a data set in an archive of published splits."""
    where, content = str(path), b""
    if path.suffix.lower() == ".json":
        content = read_bytes(path)
    else:
        with ArchiveMembers(path) as members:
            member_of_set: dict[str, str] = {}
            for member in members.names:  # sorted, so the files for nodes without features come first
                if member.endswith(_PUBLISHED):
                    member_of_set.setdefault(member.rpartition("/")[2].removesuffix(_PUBLISHED), member)
            wanted = name if name in member_of_set else _OTHER_NAMES.get(name, name)
            if wanted not in member_of_set:
                raise TwinWLError(f"{path}: no splits for {name!r}; {nearest(name, member_of_set)}")
            where, content = f"{path}: {member_of_set[wanted]}", members.read(member_of_set[wanted])
    text = decode(content, where)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TwinWLError(f"{where}: not readable as JSON ({error}); correct it") from error


def _from_json(content: object, path: Path) -> tuple[bool, list[_Pairs]]:
    """Return whether JSON has the form of published splits, and the part of each row, fold by fold."""
    several = isinstance(content, list) and content and all(isinstance(entry, dict) for entry in content)
    published = False
    folds: list[_Pairs] = []
    for fold in content if several else [content]:  # type: ignore[attr-defined]
        match fold:
            case list():
                folds.append(list(enumerate(fold)))
                continue
            case {"model_selection": [{**inner}, *_], "test": test}:
                published, parts = True, {**inner, "test": test}
            case dict():
                parts = fold
            case _:
                raise TwinWLError(f'{path}: got {shown(fold)}, expected {{"train": [rows], "test": [rows]}}')
        if any(isinstance(rows, list) for rows in parts.values()):  # rows by part, else the part of each row
            listed = [(rows if isinstance(rows, list) else [rows], part) for part, rows in parts.items()]
            folds.append([(row, part) for rows, part in listed for row in rows])
        else:
            folds.append(list(parts.items()))
    return published, folds


def _from_table(path: Path) -> _Pairs:
    columns = read_columns(path, ReadOptions(kind="table"))
    of_row = next((name for name in columns if name.strip().lower() in _ROW_COLUMNS), None)
    others = [name for name in columns if name != of_row]
    named = others if len(others) == 1 else [name for name in others if name.strip().lower() in _PART_COLUMNS]
    if len(named) != 1:
        raise TwinWLError(
            f"{path}: expected a column 'split' with the part of each row, and optionally 'row' with row "
            f"numbers; got the columns {', '.join(map(repr, columns)) or 'none'}"
        )
    parts = columns[named[0]]
    return list(zip(range(len(parts)) if of_row is None else columns[of_row], parts))


def _of_graphs(pairs: _Pairs, path: Path, data: Dataset) -> list[object]:
    """Look up the part of each graph by its row; None for a graph in no part."""
    n_rows = 1 + max([*data.rows.tolist(), *(error.row for error in data.errors)])
    part_of_row: dict[int, object] = {}
    for cell, part in pairs:
        text = str(cell).strip().removesuffix(".0")
        if not text.isdecimal():
            raise TwinWLError(f"{path}: got {shown(cell)} for a row, expected an integer of at least 0")
        if (row := int(text)) >= n_rows:
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


def _cells(values: Column | Sequence[object], argument: str, data: Dataset) -> tuple[str, list[object]]:
    """Return what to call the values in messages, and one for each graph."""
    if isinstance(values, Column):
        return f"column {values.name!r} of {data.name}", [values.cells[row] for row in data.rows.tolist()]
    cells = _listed(values, argument)
    if len(cells) != len(data):
        raise TwinWLError(f"{argument}: got {len(cells)} values for {len(data)} graphs; give one per graph")
    return argument, cells


def _listed(values: object, argument: str) -> list[object]:
    return items(
        argument, getattr(values, "tolist", lambda: values)(), "a name, a file, or one value per graph"
    )


def _check_known(what: str, cells: list[object], data: Dataset, expected: str) -> None:
    """Refuse graphs without a value."""
    missing = [str(row) for row, cell in zip(data.rows, cells) if is_missing(cell)]
    if missing:
        listed = ", ".join(missing[:_LISTED]) + ", …" * (len(missing) > _LISTED)
        raise TwinWLError(
            f"{what}: {len(missing):,} of {len(cells):,} graphs have no value (rows {listed}); expected "
            f"{expected} for each"
        )


def _from_cells(data: Dataset, what: str, cells: list[object]) -> Split:
    """Split by one value per graph: the name of its part, the number of its fold, or its year."""
    _check_known(what, cells, data, "train, validation or test, the number of a fold, or a year")
    names = [_PART_OF_NAME.get(str(cell).strip().lower()) for cell in cells]
    times = [_time(cell) for cell in cells]
    about = ""
    if None not in names:
        part = np.array(names)
    elif None not in times:
        part, about = _by_time(times, what)
    elif None not in (numbers := [_fold_number(cell) for cell in cells]):
        fold_of_graph = np.array(numbers)
        tested = [fold_of_graph == number for number in np.unique(fold_of_graph) if number >= 0]
        return _from_pairs(data, what, [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tested])
    else:
        odd = [place for place, pair in enumerate(zip(names, times)) if pair == (None, None)]
        place = odd[0] if odd else names.index(None)
        raise TwinWLError(
            f"{what}: row {data.rows[place]} holds {shown(cells[place])}, expected train, validation or test "
            "everywhere, the number of a fold everywhere, or a year (or a date) everywhere; graphs that must "
            "stay together are named by groups"
        )
    marked = Fold(*(np.flatnonzero(part == number) for number in range(3)))
    for name in ("train", "test"):
        if not len(getattr(marked, name)):
            raise TwinWLError(
                f"{what}: no graph is marked {name!r} ({marked}); mark some, or use another split"
            )

    def folds(seed: int) -> list[Fold]:
        return [_complete(marked, data, what, seed)]

    text = f"{what}{about}; {folds(0)[0]}"
    return Split(f"{what.rpartition('/')[2]} {_digest(part)}", text, folds)


def _by_time(times: list[str | None], what: str) -> tuple[Int64, str]:
    """Test on the latest tenth, choose by the tenth before it; graphs of one time stay together."""
    distinct, codes = np.unique(np.array(times, str), return_inverse=True)

    def first_of_last_tenth(codes: Int64) -> int:
        n_since = np.cumsum(np.bincount(codes)[::-1])[::-1]  # graphs of each time and later
        return int(np.flatnonzero(n_since >= _SHARE * len(times)).max(initial=0))

    first_test = first_of_last_tenth(codes)
    since, until = distinct[first_test], distinct[max(0, first_test - 1)]
    if first_test == 0:
        raise TwinWLError(
            f"{what}: less than a tenth of the graphs are later than {until}, too few to test on; use "
            "another split"
        )
    # Where the whole rest would be held out, nothing is: a tenth of it is then drawn as for other splits.
    first_held = first_of_last_tenth(codes[codes < first_test]) or first_test
    part = (codes >= first_test).astype(np.int64) + (codes >= first_held)
    return part, f", by time: tested on {since} and later, the rest is up to {until}"


def _fold_number(cell: object) -> int | None:
    """Read the number of the fold that tests on a graph; -1 for none, as scikit-learn's PredefinedSplit."""
    text = str(cell).strip().removesuffix(".0")
    result = int(text) if text.removeprefix("-").isdecimal() else None
    return result if result is not None and -1 <= result < _YEARS.start else None


def _time(cell: object) -> str | None:
    """Read a year, or a date, as text that sorts by time."""
    if isinstance(cell, dt.date):
        return cell.isoformat()
    text = str(cell).strip().removesuffix(".0")
    if text.isdecimal():
        return text if int(text) in _YEARS else None
    try:
        return dt.datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return None


def _complete(fold: Fold, data: Dataset, what: str, seed: int, number: int = 0) -> Fold:
    """Refuse a split that hides a class or tears groups apart; hold a tenth out where nothing is."""
    y, groups = data.targets, data.groups
    for place, column in enumerate(y.T if y.ndim > 1 else [y]):
        hidden = np.setdiff1d(column, column[fold.train])
        hidden = hidden[hidden == hidden]  # noqa: PLR0124  (NaN is not a class)
        if len(hidden):
            of = f" of task {data.tasks[place]!r}" if data.tasks else ""
            raise TwinWLError(
                f"{what}: class {shown(hidden.tolist()[0])}{of} has no graph among those to learn from "
                f"({fold}); use another split"
            )
    if groups is not None and np.isin(groups[fold.test], groups[fold.training_part]).any():
        raise TwinWLError(
            f"{what}: graphs of one group are on both sides, so its figures would mislead; leave groups or "
            "split out"
        )
    if len(fold.validation):
        return fold
    codes = np.unique(_strata(y), return_inverse=True)[1].astype(np.int64)
    return _held_out(fold.train, fold.test, codes, groups, seed, number)


def _digest(values: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values, "<i8").tobytes(), digest_size=4).hexdigest()
