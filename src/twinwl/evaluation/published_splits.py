"""The splits of "A Fair Comparison of Graph Neural Networks" (Errica et al., 2020), as published.

One JSON file per data set: a list of ten folds with ``test`` and ``model_selection``, which is a list with
one object with ``train`` and ``validation``; all are graph numbers from 0. The social networks have two files
with different folds, for nodes without features and for degrees as features. The first is used unless a file
is named.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.catalogue.locations import data_folders
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.datasets.formats.text_files import open_file
from twinwl.errors import TwinWLError, nearest
from twinwl.evaluation.folds import Fold

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset

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
