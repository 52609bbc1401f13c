"""The output of ``twinwl features``: a sparse matrix with names and classes, as .npz and as .parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twinwl.cli.output_files import check_output
from twinwl.errors import import_extra
from twinwl.files.atomic import written

if TYPE_CHECKING:
    from scipy import sparse

    from twinwl.arrays import Values
    from twinwl.datasets.dataset import Dataset

NAMES_KEY = b"twinwl.feature_names"
_PARQUET = ".parquet"


def files_to_write(output: Path, *, parquet: bool) -> list[Path]:
    """Return the files to write, after checking that they can be written.

    >>> [path.name for path in files_to_write(Path("X.npz"), parquet=False)]
    ['X.npz']
    """
    files = [output, output.with_suffix(_PARQUET)] if parquet and output.suffix != _PARQUET else [output]
    for file in files:
        check_output(file, (".npz", _PARQUET))
    return files


def write_features(
    files: list[Path], matrix: sparse.csr_matrix, feature_names: NDArray[np.object_], data: Dataset
) -> None:
    """Write the matrix to each file, in the format given by its ending."""
    for file in files:
        if file.suffix.lower() == _PARQUET:
            _write_parquet(file, matrix, feature_names, data)
        else:
            _write_npz(file, matrix, feature_names, data)


def _write_npz(
    file: Path, matrix: sparse.csr_matrix, feature_names: NDArray[np.object_], data: Dataset
) -> None:
    """Write the arrays that `scipy.sparse.load_npz` reads, and further arrays, which it ignores."""
    arrays: dict[str, Values] = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "feature_names": feature_names.astype(np.str_),
        "graph_names": np.array(data.names, dtype=np.str_),
    }
    if data.y is not None:
        arrays["y"] = data.y
    with written(file) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def _write_parquet(
    file: Path, matrix: sparse.csr_matrix, feature_names: NDArray[np.object_], data: Dataset
) -> None:
    """Write one row per graph; one column per feature would be too many for most readers."""
    arrow = import_extra("pyarrow", extra="parquet")
    tables = import_extra("pyarrow.parquet", extra="parquet")
    columns = {"graph": arrow.array(data.names, arrow.string())}
    if data.y is not None:
        columns["y"] = arrow.array(data.y)
    starts = arrow.array(matrix.indptr, arrow.int64())
    columns["columns"] = arrow.LargeListArray.from_arrays(starts, arrow.array(matrix.indices, arrow.int32()))
    columns["values"] = arrow.LargeListArray.from_arrays(starts, arrow.array(matrix.data, arrow.float64()))
    about = {NAMES_KEY: json.dumps(feature_names.tolist()).encode()}
    with written(file) as stream:
        tables.write_table(arrow.table(columns).replace_schema_metadata(about), stream, compression="zstd")
