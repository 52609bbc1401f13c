"""``twinwl features``: graphs as a sparse matrix of features.

[bold]DATA[/] is a known name (MUTAG), a TU zip or folder, a .csv with SMILES, a folder of GraphML, or a
file of graphs (.smi .g6 .json …). If DATA has classes, they are written as y.

[bold]Readouts[/]: size, edges, degrees, wl, rooted-wl, marked-wl-1 … marked-wl-9, rooted-fwl2, canonical
(exact). The name of a column ends in the beginning of the value's content key, which is the same on every
machine: h2:c17:rooted-wl=09a5b3f3c6d0e8a1.

[bold]The .npz[/] can be read with [cyan]scipy.sparse.load_npz[/]; [cyan]numpy.load[/] also returns
feature_names, graph_names and y. It contains no pickled objects.

[bold]The .parquet[/] has one row per graph: its name, y, and its nonzero entries, as a list of columns and
a list of values. The feature names are in the metadata of the schema, under twinwl.feature_names.

[bold]Examples[/]

$ twinwl features MUTAG.zip -o X.npz

$ twinwl features molecules.csv -o X.npz --features joint --edge-labels --min-df 5 --parquet

$ twinwl features molecules.csv -o X.npz --features joint --readout canonical
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twinwl.cli.options import OUTPUT, encodes, file_option, long_help, reads_data
from twinwl.terminal import say

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=long_help(__doc__))(reads_data(encodes(features), "atoms"))


def features(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The graphs.", show_default=False)],
    output: Annotated[Path, file_option("The .npz (or .parquet) file to write.", *OUTPUT)],
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Also write a .parquet of the same name; needs pyarrow.")
    ] = False,
    *,
    encoding: dict[str, Any],
    reading: ReadOptions,
) -> None:
    """Turn graphs into a sparse matrix of STwin features."""
    from twinwl.cli.feature_files import files_to_write, write_features  # noqa: PLC0415  (keeps --help fast)
    from twinwl.datasets.source import check_source, read_source  # noqa: PLC0415
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    files = files_to_write(output, parquet=parquet)
    check_source(data, reading)
    found = read_source(data, reading)
    with ProgressBar("encoding"):
        from twinwl.models.vectorizer import STwinVectorizer  # noqa: PLC0415

        vectorizer = STwinVectorizer(**encoding)
        matrix = vectorizer.fit_transform(found.graphs)
        write_features(files, matrix, vectorizer.get_feature_names_out(), found)
    share = f"{matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1]):.2%}"
    say(f"{matrix.shape[0]:,} graphs × {matrix.shape[1]:,} columns, {share} of the entries nonzero")
    if found.y is not None:
        say(f"y: {found.target or 'the classes of ' + found.name}")
    say(f"written: {', '.join(map(str, files))}")
