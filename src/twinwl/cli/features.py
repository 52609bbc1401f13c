"""``twinwl features``: graphs as a sparse matrix of features.

[bold]DATA[/] is a known name (MUTAG), a TU zip or folder, a .csv with SMILES, a folder of GraphML, or a
file of graphs (.smi .g6 .json …). If DATA has classes, they are written as y.

[bold]Parameters[/] of the features are set by --set: n_iter (rounds), features (size: sums of rooted sizes
by colour; count: plain WL; joint: counts by colour and readout), readout ({readouts}), initial (label,
degree or ring), min_df and max_features; [cyan]twinwl methods features[/] lists their defaults. The name of
a column is its round and pattern, 2: C(C,O), and the beginning of the value's content key, which is the same
on every machine: rooted-wl=09a5b3f3c6d0e8a1.

[bold]The .npz[/] can be read with [cyan]scipy.sparse.load_npz[/]; [cyan]numpy.load[/] also returns
feature_names, graph_names and y. It contains no pickled objects.

[bold]The .parquet[/] has one row per graph: its name, y, and its nonzero entries, as a list of columns and
a list of values. The feature names are in the metadata of the schema, under twinwl.feature_names.

[bold]Examples[/]

$ twinwl features MUTAG.zip -o X.npz

$ twinwl features molecules.csv -o X.npz --set features=joint --set min_df=5 --edge-labels --parquet

$ twinwl features molecules.csv -o X.npz --set readout=canonical
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import twinwl as tw
from twinwl.cli.options import OUTPUT, Data, ReadingAtoms, Settings, check_output, opt
from twinwl.errors import import_extra
from twinwl.files.storage import open_to_write
from twinwl.terminal import ProgressBar, say

if TYPE_CHECKING:
    from scipy import sparse

_PARQUET = ".parquet"


def features(
    data: Data,
    output: Annotated[Path, opt("The .npz (or .parquet) file to write.", *OUTPUT)],
    parquet: Annotated[bool, opt("Also write a .parquet of the same name.", None, "--parquet")] = False,
    *,
    settings: Settings,
    reading: ReadingAtoms,
) -> None:
    """Turn graphs into a sparse matrix of STwin features."""
    from twinwl.datasets.source import read_source  # noqa: PLC0415  (keeps --help fast)

    files = [output, output.with_suffix(_PARQUET)] if parquet and output.suffix != _PARQUET else [output]
    for file in files:
        check_output(file, (".npz", _PARQUET))
    from twinwl.evaluation.methods import VECTORIZER  # noqa: PLC0415

    chosen = VECTORIZER.with_settings(settings)
    dataset = read_source(data, reading)
    with ProgressBar("encoding"):
        vectorizer = chosen.build({}, 0)
        matrix = vectorizer.fit_transform(dataset.graphs)
        names = vectorizer.get_feature_names_out().tolist()
        for file in files:
            with open_to_write(file) as stream:
                (_write_parquet if file.suffix.lower() == _PARQUET else _write_npz)(
                    stream, matrix, names, dataset
                )
    share = f"{matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1]):.2%}"
    say(f"{matrix.shape[0]:,} graphs × {matrix.shape[1]:,} columns, {share} of the entries nonzero")
    if dataset.y is not None:
        say(f"y: {dataset.target or 'the classes of ' + dataset.name}")
    say(f"written: {', '.join(map(str, files))}")


def _write_npz(stream: Any, matrix: sparse.csr_matrix, names: list[str], data: tw.Dataset) -> None:  # noqa: ANN401
    """Write the arrays that `scipy.sparse.load_npz` reads, and further arrays, which it ignores."""
    import numpy as np  # noqa: PLC0415

    parts = {part: getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    classes = {} if data.y is None else {"y": data.y}
    texts = {"feature_names": np.array(names, np.str_), "graph_names": np.array(data.names, np.str_)}
    np.savez_compressed(stream, allow_pickle=False, format=np.array(b"csr"), **parts, **texts, **classes)


def _write_parquet(stream: Any, matrix: sparse.csr_matrix, names: list[str], data: tw.Dataset) -> None:  # noqa: ANN401
    """Write one row per graph; one column per feature would be too many for most readers."""
    arrow = import_extra("pyarrow", extra="parquet")
    columns = {"graph": arrow.array(data.names, arrow.string())}
    if data.y is not None:
        columns["y"] = arrow.array(data.y)
    starts = arrow.array(matrix.indptr, arrow.int64())
    columns["columns"] = arrow.LargeListArray.from_arrays(starts, arrow.array(matrix.indices, arrow.int32()))
    columns["values"] = arrow.LargeListArray.from_arrays(starts, arrow.array(matrix.data, arrow.float64()))
    table = arrow.table(columns).replace_schema_metadata(
        {b"twinwl.feature_names": json.dumps(names).encode()}
    )
    import_extra("pyarrow.parquet", extra="parquet").write_table(table, stream, compression="zstd")
