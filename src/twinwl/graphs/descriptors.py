"""Extra features: numbers about whole graphs, which a batch carries so that they stay with their graphs.

They are measurements or descriptors, such as RDKit's for molecules. NaN stands for a value that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import foreign_array, items
from twinwl.arrays import Float64, Ints, Names
from twinwl.errors import GraphInputError, import_extra, nearest, shown

RDKIT = "rdkit"
"""Stands for all of RDKit's 2D descriptors, whose names begin with it."""


class Extra(NamedTuple):
    """Extra features of some graphs.

    ``names`` are those of the columns of ``values``, shape (n_graphs, n_features).
    """

    names: Names
    values: Float64

    def of(self, graphs: Ints | slice) -> Extra:
        """Return those of some of the graphs."""
        return Extra(self.names, self.values[graphs])

    def select(self, names: Sequence[str]) -> Extra:
        """Return some of the features, in this order.

        >>> Extra(("a", "b"), np.array([[1.0, 2.0]])).select(["b"]).values
        array([[2.]])
        """
        for name in names:
            if name not in self.names:
                raise GraphInputError(
                    f"extra features: {shown(name)} is missing; {nearest(name, self.names)}"
                )
        return Extra(tuple(names), self.values[:, [self.names.index(name) for name in names]])

    @classmethod
    def read(cls, values: Any, n_graphs: int) -> Extra:  # noqa: ANN401
        """Read an array of shape (n_graphs, n_features), a DataFrame, or a dictionary of columns.

        >>> Extra.read({"mass": [1, None]}, 2)
        Extra(names=('mass',), values=array([[ 1.],
               [nan]]))
        """
        if hasattr(values, "columns"):
            values = {str(name): values[name].to_list() for name in values.columns}
        if not isinstance(values, Mapping):
            array = foreign_array("extra features", values)
            if array.ndim != 2:  # noqa: PLR2004
                raise GraphInputError(
                    f"extra features: got shape {array.shape}, expected (n_graphs, n_features)"
                )
            values = {f"x{place}": column.tolist() for place, column in enumerate(array.T)}
        if not values:
            raise GraphInputError("extra features: got no column, expected at least one")
        columns = [_numbers(str(name), cells, n_graphs) for name, cells in values.items()]
        return cls(tuple(map(str, values)), np.stack(columns, axis=1))


def _numbers(name: str, cells: Iterable[Any], n_graphs: int) -> Float64:
    listed = items(f"extra feature {name!r}", cells, "one number per graph")
    if len(listed) != n_graphs:
        raise GraphInputError(
            f"extra feature {name!r} has {len(listed)} values for {n_graphs} graphs; give one per graph"
        )
    out = np.full(n_graphs, np.nan)
    for graph, cell in enumerate(listed):
        try:
            out[graph] = np.nan if cell is None or cell == "" else float(cell)
        except (TypeError, ValueError, OverflowError) as error:
            raise GraphInputError(
                f"extra feature {name!r} is {shown(cell)}, expected a number; correct it, or leave it empty",
                graph,
            ) from error
        if math.isinf(out[graph]):
            raise GraphInputError(
                f"extra feature {name!r} is infinite; correct it, or set it to NaN where it is unknown", graph
            )
    if np.isnan(out).all() and n_graphs:
        raise GraphInputError(f"extra feature {name!r} has no value at all; leave it out")
    return out


def rdkit_descriptors(smiles: Sequence[str]) -> dict[str, Float64]:
    """Compute RDKit's 2D descriptors of molecules.

    Parameters
    ----------
    smiles
        One string per molecule.

    Returns
    -------
    dict
        An array of shape (n_molecules,) by name, ``rdkit:MolWt``; NaN where RDKit has no finite value. Give
        it to `GraphBatch.with_extra`.

    >>> rdkit_descriptors(["CCO"])["rdkit:MolWt"].round(1)
    array([46.1])
    """
    chem = import_extra("rdkit.Chem", "chem")
    descriptors = import_extra("rdkit.Chem.Descriptors", "chem")
    functions = dict(descriptors.descList)
    table = np.empty((len(smiles), len(functions)))
    with import_extra("rdkit.rdBase", "chem").BlockLogs():
        for graph, text in enumerate(smiles):
            molecule = chem.MolFromSmiles(text)
            if molecule is None:
                raise GraphInputError(f"SMILES {shown(text)} cannot be read; correct it or drop it", graph)
            table[graph] = [_finite(function, molecule) for function in functions.values()]
    columns = {f"{RDKIT}:{name}": column for name, column in zip(functions, table.T)}
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def _finite(function: Any, molecule: Any) -> float:  # noqa: ANN401
    try:
        value = float(function(molecule))
    except (ValueError, ZeroDivisionError, OverflowError, RuntimeError):  # of an odd molecule
        return math.nan
    return value if math.isfinite(value) else math.nan
