"""Extra features for the graphs of a data set: columns of its table, or descriptors of its molecules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from twinwl.datasets.dataset import Dataset, is_missing, named_column
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_columns
from twinwl.errors import TwinWLError
from twinwl.graphs.descriptors import RDKIT, rdkit_descriptors


def with_extra_features(
    data: Dataset,
    wanted: Any,  # noqa: ANN401
    source: object = None,
    reading: ReadOptions | None = None,
) -> Dataset:
    """Return the data set whose graphs carry extra features.

    Parameters
    ----------
    data
        The graphs.
    wanted
        Names of columns, in a list or joined by commas; ``"rdkit"`` stands for RDKit's 2D descriptors, and
        ``"rdkit:MolWt"`` for one of them. Or an array, DataFrame or dictionary with one row per graph. None
        adds nothing.
    source, reading
        Where the graphs come from, and the options with which it was read.

    >>> import pandas
    >>> from twinwl import load_dataset
    >>> table = pandas.DataFrame({"smiles": ["CC", "CO"], "active": [0, 1], "mass": ["2", ""]})
    >>> data = load_dataset(table, target="active")
    >>> with_extra_features(data, "mass", table).graphs.extra.values.tolist()
    [[2.0], [nan]]
    """
    if wanted is None:
        return data
    if isinstance(wanted, str):
        wanted = [name.strip() for name in wanted.split(",")]
    if (
        not isinstance(wanted, list | tuple)
        or not all(isinstance(name, str) for name in wanted)
        or not wanted
    ):
        return replace(data, graphs=data.graphs.with_extra(wanted))
    of_rdkit = [name for name in wanted if name.split(":")[0] == RDKIT]
    found: dict[str, Any] = {}
    if of_rdkit:
        if data.smiles is None:
            raise TwinWLError(f"extra features: {RDKIT!r} is for molecules, and {data.name} holds none")
        found = dict(rdkit_descriptors(data.smiles))
        if RDKIT not in of_rdkit:
            found = {
                name: found[named_column(list(found), name, "extra features", RDKIT)] for name in of_rdkit
            }
    others = [name for name in wanted if name not in of_rdkit]
    table = read_columns(source, replace(reading or ReadOptions(), target=None)) if others else {}
    for name in others:
        cells = table[named_column(list(table), name, "extra features", data.name)]
        found[name] = [None if is_missing(cells[row]) else cells[row] for row in data.rows.tolist()]
    return replace(data, graphs=data.graphs.with_extra(found))
