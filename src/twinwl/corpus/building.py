"""Building a corpus: input files are parsed once, piece by piece, into shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twinwl.corpus.jobs import Job, Running, Task
from twinwl.corpus.pieces import (
    Piece,
    Source,
    edge_columns_of,
    find_sources,
    header_of,
    parquet_file,
    pieces_of,
    shard_of,
    unpack,
)
from twinwl.corpus.shards import (
    OWN_COLUMNS,
    arrow,
    counts_in,
    free_name,
    summary_of,
    types_of,
    vocabularies_of,
    write_shard,
)
from twinwl.datasets.tables import choose_smiles, smiles_column_of
from twinwl.datasets.text_files import open_file
from twinwl.errors import GraphInputError, TwinWLError, import_extra, nearest, setting
from twinwl.files.model_files import to_json
from twinwl.graphs.batch import GraphBatch


def build_corpus(inputs: object, folder: Path, wanted: Mapping[str, Any], running: Running) -> dict[str, Any]:
    """Build a corpus, or go on with one; return its manifest.

    Parameters
    ----------
    inputs
        Paths or patterns.
    folder
        Where the corpus goes.
    wanted
        The options of `twinwl.Corpus.build` by name.
    running
        As in `twinwl.corpus.jobs.Job`.
    """
    arrow()
    has_columns = any(wanted[name] is not None for name in ("smiles_column", "id_column", "edges_column"))
    sources = find_sources(inputs, wanted["kind"], has_columns=has_columns)
    settings = settings_for(sources, wanted)
    with Job(folder, "build", settings, running) as job:
        ready = [
            unpack(source, job.work(f"input-{place:05}")) if source.name.lower().endswith(".gz") else source
            for place, source in enumerate(sources)
        ]
        job.subfolder("shards")
        job.subfolder("errors")
        tasks: list[Task] = []
        for source in ready:
            try:
                for piece in pieces_of(source, wanted["rows_per_shard"]):
                    name = f"part-{len(tasks):05}.parquet"
                    output = folder / "shards" / name
                    tasks.append(Task(name, piece.digest, (piece, name, str(folder)), piece.n_rows, output))
            except GraphInputError as error:
                named = str(error) if source.name in str(error) else f"{source.name}, {error}"
                raise GraphInputError(named) from error
        if not tasks:
            raise GraphInputError(f"{sources[0].name}: there is no graph in it")
        if job.finished is not None and len(tasks) < len(job.finished["shards"]):
            raise TwinWLError(
                f"{folder} has {len(job.finished['shards'])} shards, these inputs make {len(tasks)}; give "
                f"another folder, or start again with {setting(fresh=True)}"
            )
        microseconds = 250 if settings["kind"] == "molecules" else 20
        entries = job.run("build", build_piece, tasks, (settings,), microseconds)
        if not any(entry["rows"] for entry in entries):
            reason = entries[0].get("first_error", "")
            raise GraphInputError(f"{sources[0].name}: none of its rows can be used; the first: {reason}")
        return job.finish(entries, **summary_of(folder, entries))


def build_piece(piece: Piece, name: str, folder: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Read a piece and write its shard, and one of its errors if there are any; return what is noted."""
    shard, errors = shard_of(piece, settings)
    if errors.num_rows:
        write_shard(Path(folder, "errors", name), errors)
    digest = write_shard(Path(folder, "shards", name), shard)
    nodes, edges, _ = vocabularies_of(shard)
    noted = {
        "source": piece.source.name,
        "first_row": piece.row,
        **counts_in(shard),
        "errors": errors.num_rows,
        "node_labels": to_json(list(nodes), {}, "labels"),
        "edge_labels": to_json(list(edges or ()), {}, "labels"),
        "digest": digest,
    }
    if errors.num_rows:
        noted["first_error"] = errors.column("reason")[0].as_py()
    return noted


def settings_for(sources: Sequence[Source], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that shards depend on besides the rows: the same for all files, or an error."""
    found: dict[str, Any] | None = None
    for source in sources:
        here = _settings_of(source, wanted)
        if found is not None and here != found:
            name = next(name for name in found if here.get(name) != found[name])
            raise GraphInputError(
                f"{source.name} differs from {sources[0].name} in {name.replace('_', ' ')} "
                f"({here.get(name)} against {found[name]}); build a corpus of each"
            )
        found = found or here
    # Named only where they are dropped: corpora of earlier versions can then be continued.
    dropped = {} if wanted["edge_labels"] else {"edge_labels": False}
    return {**(found or {}), "rows_per_shard": wanted["rows_per_shard"], **dropped}


def _settings_of(source: Source, wanted: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"kind": "molecules", "atoms": wanted["atoms"] or "constitution"}
    settings |= {"directed": False, "smiles_column": None, "id_column": None, "columns": {}, "types": {}}
    if source.kind == "graph6":
        return {**settings, "kind": "graph6", "atoms": None, "directed": _is_directed(source)}
    if source.kind == "parquet":
        with parquet_file(source) as file:
            types = types_of(file.schema_arrow)
            if b"twinwl" in (file.schema_arrow.metadata or {}):
                raise GraphInputError(
                    f"{source.name} is a shard of a corpus; open that with tw.Corpus, or copy its inputs"
                )
        is_edges = wanted["edges_column"] is not None or (
            wanted["smiles_column"] is None and smiles_column_of(list(types)) is None
        )
        if is_edges:
            chosen = edge_columns_of(types, wanted["edges_column"], source.name)
            settings |= {"kind": "edges", "atoms": None, "directed": wanted["directed"], **chosen}
            others = [name for name in types if name not in chosen.values()]
            return _with_columns(settings, source, wanted, others, types)
    else:
        types = dict.fromkeys(header_of(source), "string")
    import_extra("rdkit.Chem", "chem")
    if source.kind in {"table", "parquet"}:
        header = list(types) if source.kind == "parquet" else header_of(source)
        column = choose_smiles(header, source.name, wanted["smiles_column"])
        return _with_columns({**settings, "smiles_column": column}, source, wanted, header, types)
    if source.kind == "sdf":
        names = ["smiles", *(name for name in types if name != "smiles")]
        return _with_columns(settings, source, wanted, names, {"smiles": "string", **types})
    return settings


def _with_columns(
    settings: dict[str, Any],
    source: Source,
    wanted: Mapping[str, Any],
    names: Sequence[str],
    types: Mapping[str, str],
) -> dict[str, Any]:
    """Add the columns to keep, under names that are not taken, and the one with the ids."""
    chosen = wanted["id_column"]
    if chosen is None:
        chosen = next((name for name in names if name.lower() == "id"), None)
    elif chosen not in types:
        raise GraphInputError(f"{source.name}: id_column: got {chosen!r}; {nearest(chosen, types)}")
    columns: dict[str, str] = {}
    for name in dict.fromkeys(names):
        if name == chosen or not name:
            continue
        columns[name] = free_name(name, {*OWN_COLUMNS, *columns.values()})
    kept = {new: types[old] for old, new in columns.items()}
    return {**settings, "id_column": chosen, "columns": columns, "types": kept}


def _is_directed(source: Source) -> bool:
    """Tell from its first line whether a file holds digraph6."""
    with open_file(Path(source.path)) as stream:
        for line in stream:
            text = line.strip().removeprefix(b"\xef\xbb\xbf").removeprefix(b">>digraph6<<")
            if text:
                try:
                    return GraphBatch.from_graph6([text]).directed
                except GraphInputError:
                    return text.startswith(b"&")
    return False
