"""Shards: Parquet files of graphs, one row per graph, each of which can be read by itself.

=============== ============= ==========================================================================
``id``          string        what the input calls the graph, else ``FILE#row``
``n_nodes``     int32
``ends``        list<int32>   u0, v0, u1, v1, …; an undirected edge once, with u < v
``node_labels`` list<int32>   codes, in the order of nodes; null without labels
``edge_labels`` list<int32>   codes, in the order of edges; null without labels
``key_high``    uint64        the exact key: equal for isomorphic graphs, and for no others but by chance
``key_low``     uint64        (2⁻¹²⁸); the same in every shard and on every machine
other columns                 as they are in the input
=============== ============= ==========================================================================

The metadata of a shard has the labels that its codes stand for, so that shards are written without asking one
another. Keys depend on labels, never on codes. The same table always gives the same bytes.
"""

import contextlib
import hashlib
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import checked, instance, owners, pointer
from twinwl.arrays import Fields, Int32, Int64, UInt64
from twinwl.errors import GraphInputError, first_line, import_extra, prefix_errors, shown
from twinwl.files.model_files import from_json, to_json
from twinwl.files.storage import open_to_write
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build
from twinwl.graphs.exporters import edges_of
from twinwl.graphs.labels import Coded, Vocabulary, label_token, normalise_label
from twinwl.graphs.molecules import AtomLevel
from twinwl.isomorphism.canonical import exact_keys

KEYS = ("key_high", "key_low")
OWN_TYPES = {"id": "string", "n_nodes": "int32"}
OWN_TYPES |= dict.fromkeys(("ends", "node_labels", "edge_labels"), "list<item: int32>")
OWN_TYPES |= dict.fromkeys(KEYS, "uint64")
OWN_COLUMNS = tuple(OWN_TYPES)
_NEVER_NULL = {"id", "n_nodes", "ends", *KEYS}
METADATA = b"twinwl"
_FORMAT = 1
_LIST = instance(list)


class Part(NamedTuple):
    """A shard as a part of one numbering of rows.

    Attributes
    ----------
    path : str
    first, stop : int
        Its rows, numbered over all shards.
    digest : str
        Of its content.
    types : dict
        The type of each column, as all shards of the corpus have it.
    """

    path: str
    first: int
    stop: int
    digest: str
    types: Mapping[str, str]

    def read(self, columns: Sequence[str] | None = None) -> Any:  # noqa: ANN401
        """Read the shard, or some columns of it.

        Raises
        ------
        GraphInputError
            If the file is missing, damaged, or has other columns or another number of rows than the corpus.
        """
        with open_shard(self.path) as file:
            types = types_of(file.schema_arrow)
            if types != self.types or len(file.schema_arrow) > len(types):
                raise GraphInputError(
                    f"its columns are {shown(types)}, those of the corpus {shown(self.types)}"
                )
            table = file.read(columns=None if columns is None else list(columns)).combine_chunks()
            table.validate(full=True)
            n_rows = self.stop - self.first
            if table.num_rows != n_rows:
                raise GraphInputError(f"got {table.num_rows:,} rows, expected {n_rows:,} as in the manifest")
            for name in _NEVER_NULL.intersection(table.column_names):
                if table.column(name).null_count:
                    raise GraphInputError(f"a value of {name!r} is missing")
            return table

    def read_rows(self, rows: Int64 | None, columns: Sequence[str] | None = None) -> Any:  # noqa: ANN401
        """Return a table of those of some rows, numbered over all shards and increasing, that are in a shard.

        All of its rows if ``rows`` is None. A shard without any is not read; the answer is then None.
        """
        if rows is None:
            return self.read(columns) if self.stop > self.first else None
        first, last = np.searchsorted(rows, [self.first, self.stop])
        here = arrow().array(rows[first:last] - self.first)
        return self.read(columns).take(here) if first < last else None

    def check_keys(self, table: Any, rows: Int64) -> None:  # noqa: ANN401
        """Compute the keys of some graphs of a shard again.

        Raises
        ------
        GraphInputError
            If the key column does not match its graphs.
        """
        some = table.take(rows)
        wrong = (exact_keys(graphs_in(some, self.path)) != keys_in(some)).any(axis=1)
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            name = some.column("id")[place].as_py()
            raise GraphInputError(
                f"{self.path}, row {rows[place]} ({shown(name)}): its key does not match its graph; {_REMEDY}"
            )


def arrow() -> ModuleType:
    """Return pyarrow, or raise the error that names its extra."""
    import_extra("pyarrow.compute", "parquet")  # not loaded by pyarrow itself
    return import_extra("pyarrow", "parquet")


def graph_table(
    graphs: GraphBatch,
    ids: Any,  # noqa: ANN401  (pyarrow has no types)
    others: Fields,
) -> Any:  # noqa: ANN401
    """Return graphs as an Arrow table with the columns of a shard.

    Parameters
    ----------
    graphs
        One graph per row; without node features.
    ids
        Arrow array or list of strings.
    others
        Further columns, in order.
    """
    pa = arrow()
    keys = exact_keys(graphs)
    sizes = graphs.nodes_per_graph
    ends, codes = edges_of(graphs)
    graph_of_edge = owners(sizes)[ends[:, 0]]
    ends -= graphs.graph_ptr[graph_of_edge][:, None]
    counts = np.bincount(graph_of_edge, minlength=len(graphs))
    columns = {
        "id": ids,
        "n_nodes": sizes.astype(np.int32),
        "ends": _lists(2 * counts, ends.astype(np.int32).ravel()),
    }
    columns |= dict.fromkeys(("node_labels", "edge_labels"), pa.nulls(len(graphs), pa.list_(pa.int32())))
    metadata: dict[str, object] = {"format": _FORMAT, "directed": graphs.directed}
    metadata |= {"node_labels": None, "edge_labels": None}
    if graphs.has_node_labels:
        columns["node_labels"] = _lists(sizes, graphs.node_labels)
        metadata["node_labels"] = to_json(list(graphs.node_vocabulary), {}, "labels")
    if graphs.edge_labels is not None:
        columns["edge_labels"] = _lists(counts, codes)
        metadata["edge_labels"] = to_json(list(graphs.edge_vocabulary), {}, "labels")
    columns |= {name: np.ascontiguousarray(words) for name, words in zip(KEYS, keys.T)}
    return pa.table(columns | others).replace_schema_metadata({METADATA: json.dumps(metadata)})


def _lists(lengths: Int64, values: Int32) -> Any:  # noqa: ANN401
    pa = arrow()
    return pa.ListArray.from_arrays(pa.array(pointer(lengths).astype(np.int32)), pa.array(values))


def write_shard(path: Path, table: Any) -> str:  # noqa: ANN401
    """Write a table atomically, always as the same bytes; return their digest."""
    parquet = import_extra("pyarrow.parquet", "parquet")
    stream = io.BytesIO()
    parquet.write_table(
        table,
        stream,
        version="2.6",
        compression="zstd",
        compression_level=1,
        row_group_size=max(1, table.num_rows),
        write_statistics=False,
        write_page_checksum=True,
        use_dictionary=[name for name in table.column_names if name not in {"id", *KEYS}],
    )
    # Not a view of the stream: an error of writing would hold both, and CPython 3.12.0 and 3.12.1 crash when
    # they collect such a pair (gh-111049).
    content = stream.getvalue()
    with open_to_write(path) as file:
        file.write(content)
    return digest_of(content)


def digest_of(*parts: bytes | str) -> str:
    """Return 32 hexadecimal digits for some bytes or texts.

    >>> digest_of("a", b"b") == digest_of("ab")
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def counts_in(table: Any) -> dict[str, int]:  # noqa: ANN401
    """Return what the manifest says about the size of a shard."""
    sizes = table.column("n_nodes").to_numpy()
    return {
        "rows": table.num_rows,
        "nodes": int(sizes.sum(dtype=np.int64)),
        "edges": len(table.column("ends").combine_chunks().flatten()) // 2,
        "largest": int(sizes.max(initial=0)),
    }


def summary_of(folder: Path, entries: Sequence[Fields]) -> Fields:
    """Return what a manifest says about all its shards: their columns, and sums."""
    with open_shard(folder / "shards" / entries[0]["name"]) as file:
        columns = types_of(file.schema_arrow)
    counts = {name: sum(entry[name] for entry in entries) for name in ("rows", "errors", "nodes", "edges")}
    return {"columns": columns, **counts}


def other_columns(table: Any) -> Fields:  # noqa: ANN401
    """Return the ids of a shard and the columns of the input, which results keep."""
    return {name: table.column(name) for name in table.column_names if name not in OWN_COLUMNS[1:]}


def free_name(name: str, names: Collection[str]) -> str:
    """Return a name for a column that no other has.

    >>> free_name("id", {"id", "id.1"})
    'id.1.1'
    """
    while name in names:
        name += ".1"
    return name


@contextlib.contextmanager
def open_shard(path: str | Path) -> Iterator[Any]:
    """Open a shard; whatever goes wrong while it is read is a `GraphInputError` that names the file."""
    parquet = import_extra("pyarrow.parquet", "parquet")
    try:
        if not Path(path).is_file():  # a pipe would be waited for
            raise GraphInputError("it is missing")  # noqa: TRY301
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except MemoryError:
        raise
    except Exception as error:  # Arrow has many kinds of them
        raise GraphInputError(f"{path}: the shard cannot be read ({first_line(error)}); {_REMEDY}") from error


_REMEDY = "delete it and build the corpus again with the same command: only what is missing is built"


def types_of(schema: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the type of each column of an Arrow schema, as text."""
    return {field.name: str(field.type).replace("element:", "item:") for field in schema}


def _metadata_of(table: Any) -> Fields:  # noqa: ANN401
    """Return whether graphs are directed, and the labels that codes stand for, None without labels."""
    try:
        metadata: Fields = json.loads((table.schema.metadata or {})[METADATA])
        if metadata["format"] != _FORMAT or not isinstance(metadata["directed"], bool):
            raise GraphInputError("it is of another format")
        for name in ("node_labels", "edge_labels"):
            metadata[name] = None if metadata[name] is None else labels_in(metadata[name])
        return metadata  # noqa: TRY300
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise GraphInputError(f"it has no metadata of a shard ({first_line(error)}); {_REMEDY}") from error


def labels_in(stored: object) -> Vocabulary:
    """Return labels that are stored as a JSON list, of which no two may be the same."""
    labels = tuple(normalise_label(from_json(label, {})) for label in checked("labels", stored, _LIST))
    if len({label_token(label) for label in labels}) < len(labels):
        raise GraphInputError("a label is there twice")
    return labels


def lists_in(column: Any) -> tuple[Int64, Any]:  # noqa: ANN401
    """Return the lengths of the lists of an Arrow column and the Arrow array of all their entries."""
    pa = arrow()
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    lengths = pa.compute.list_value_length(array).fill_null(0)
    return lengths.to_numpy(zero_copy_only=False).astype(np.int64), array.flatten()


def graphs_in(table: Any, name: str = "the shard", atoms: AtomLevel | None = None) -> GraphBatch:  # noqa: ANN401
    """Return the graphs of a table with the columns of a shard; molecules were read with ``atoms``.

    Raises
    ------
    GraphInputError
        If its lists do not describe graphs; the message starts with ``name``.
    """
    with prefix_errors(name):
        metadata = _metadata_of(table)
        node_counts = table.column("n_nodes").to_numpy().astype(np.int64)
        end_counts, flat = lists_in(table.column("ends"))
        wrong = (node_counts < 0) | (end_counts % 2 > 0)
        if wrong.any() or flat.null_count:
            graph = int(np.argmax(wrong))
            raise GraphInputError("its number of nodes is negative, or its ends are no pairs", graph)
        return build(
            node_counts,
            end_counts // 2,
            *flat.to_numpy().astype(np.int64).reshape(-1, 2).T,
            nodes=_encode_column(table, metadata, "node_labels", node_counts),
            edges=_encode_column(table, metadata, "edge_labels", end_counts // 2),
            directed=metadata["directed"],
            atoms=atoms,
        )


def _encode_column(table: Any, metadata: Fields, name: str, counts: Int64) -> Coded | None:  # noqa: ANN401
    """Return the labels of a column; None if the graphs have none of the kind."""
    vocabulary = metadata[name]
    if vocabulary is None:
        return None
    lengths, codes = lists_in(table.column(name))
    own_codes = codes.fill_null(-1).to_numpy().astype(np.int32)
    if (lengths != counts).any():
        graph = int(np.flatnonzero(lengths != counts)[0])
        raise GraphInputError(f"got {lengths[graph]} labels, expected {counts[graph]}", graph)
    if len(own_codes) and not 0 <= own_codes.min() <= own_codes.max() < len(vocabulary):
        raise GraphInputError("a code of a label is not in the metadata of the shard")
    return Coded(own_codes, vocabulary)


def keys_in(table: Any) -> UInt64:  # noqa: ANN401
    """Return the keys of a table, shape (n_graphs, 2)."""
    return np.column_stack([table.column(name).to_numpy() for name in KEYS]).astype(np.uint64, copy=False)
