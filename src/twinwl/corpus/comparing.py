"""De-duplication of a corpus, and what two corpora have in common."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.corpus.building import columns_of
from twinwl.corpus.jobs import Job
from twinwl.corpus.key_groups import group_keys, learnt_by, task_of
from twinwl.corpus.shards import KEYS, Part, arrow, digest_of, keys_in, parts_of, read_shard, write_shard
from twinwl.errors import TwinWLError
from twinwl.files.atomic import errors_of_writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.corpus.running import Running


COPIES = "n_copies"


class Overlap(NamedTuple):
    """What two corpora have in common, up to isomorphism.

    Attributes
    ----------
    graphs, other_graphs : int
        Number of graphs of the first and of the second corpus.
    distinct, other_distinct : int
        Number of distinct ones.
    shared : int
        Number of distinct graphs that both have.
    graphs_shared, other_graphs_shared : int
        Number of graphs, with copies, that the other corpus has too.
    """

    graphs: int
    other_graphs: int
    distinct: int
    other_distinct: int
    shared: int
    graphs_shared: int
    other_graphs_shared: int


def dedup_corpus(folder: Path, manifest: Mapping[str, Any], output: Path, running: Running) -> dict[str, Any]:
    """Write a corpus with the first graph of each group, and a table of groups; return the manifest."""
    parts = parts_of(folder, manifest)
    source = digest_of(*(part.digest for part in parts))
    with Job(output, "dedup", {**manifest["settings"], "of": source}, running) as job:
        if job.finished is not None:
            return job.finish(job.finished["shards"])
        grouped, told = group_keys(job, parts, [manifest["columns"]] * len(parts))
        for name in ("shards", "groups"):
            with errors_of_writing(output):
                (output / name).mkdir(exist_ok=True)
        tasks = [
            task_of(part, output, (part, entry, str(output)))
            for part, entry in zip(parts, manifest["shards"], strict=True)
        ]
        entries = job.run("dedup", gather_groups, tasks, (grouped, manifest["columns"]), 5)
        counts = {
            name: sum(entry[name] for entry in entries) for name in ("rows", "errors", "nodes", "edges")
        }
        return job.finish(
            entries,
            columns=columns_of(output, entries),
            **counts,
            graphs=sum(part.stop - part.first for part in parts),
            groups=sum(entry["groups"] for entry in told),
            largest_group=max(entry["largest"] for entry in told),
        )


def gather_groups(
    part: Part, entry: Mapping[str, Any], output: str, grouped: Sequence[str], columns: Mapping[str, str]
) -> dict[str, Any]:
    """Write the representatives of a shard, and the group of each of its rows."""
    pa = arrow()
    path = Path(part.path)
    table = read_shard(part, None, columns)
    learnt = learnt_by(part, keys_in(table), grouped)
    groups = pa.table({"id": table.column("id"), "representative": learnt.partner, COPIES: learnt.copies})
    write_shard(Path(output, "groups", path.name), groups)
    rows = (learnt.partner == range(part.first, part.stop)).nonzero()[0]
    kept = table.take(pa.array(rows))
    name = COPIES
    while name in kept.column_names:
        name += ".1"
    kept = kept.append_column(name, pa.array(learnt.copies[rows]))
    digest = write_shard(Path(output, "shards", path.name), kept)
    sizes = kept.column("n_nodes").to_numpy()
    noted = {name: entry[name] for name in ("source", "first_row", "node_labels", "edge_labels")}
    return noted | {
        "rows": kept.num_rows,
        "errors": 0,
        "nodes": int(sizes.sum()),
        "edges": len(kept.column("ends").combine_chunks().flatten()) // 2,
        "largest": int(sizes.max(initial=0)),
        "digest": digest,
    }


def overlap_of(
    folders: tuple[Path, Path],
    manifests: tuple[Mapping[str, Any], Mapping[str, Any]],
    output: Path | None,
    running: Running,
) -> Overlap:
    """Count what two corpora have in common; with ``output``, write the rows of the first that are."""
    _check_alike(folders, manifests)
    if output is None:
        with tempfile.TemporaryDirectory() as folder:
            return overlap_of(folders, manifests, Path(folder, "overlap"), running)
    ours = parts_of(folders[0], manifests[0])
    split = ours[-1].stop
    parts = [*ours, *parts_of(folders[1], manifests[1], split)]
    settings = {"of": digest_of(*(part.digest for part in parts)), "shards": len(ours)}
    with Job(output, "overlap", settings, running) as job:
        if job.finished is not None:
            job.finish(job.finished["shards"])
            with contextlib.suppress(TypeError):
                return Overlap(**job.finished["overlap"])
            raise TwinWLError(f"{output}: its manifest is damaged; give another folder")
        types = [manifests[0]["columns"]] * len(ours) + [manifests[1]["columns"]] * (len(parts) - len(ours))
        grouped, told = group_keys(job, parts, types, split)
        with errors_of_writing(output):
            (output / "shards").mkdir(exist_ok=True)
        tasks = [task_of(part, output, (part, str(output))) for part in ours]
        entries = job.run("overlap", gather_overlap, tasks, (grouped, manifests[0]["columns"]), 2)
        counted = {
            name: sum(entry[name] for entry in told) for name in told[0] if name not in {"name", "input"}
        }
        found = Overlap(
            graphs=split,
            other_graphs=parts[-1].stop - split,
            distinct=counted["distinct"],
            other_distinct=counted["distinct_other"],
            shared=counted["shared"],
            graphs_shared=counted["rows_shared"],
            other_graphs_shared=counted["rows_shared_other"],
        )
        job.finish(entries, overlap=found._asdict())
        return found


def gather_overlap(
    part: Part, output: str, grouped: Sequence[str], columns: Mapping[str, str]
) -> dict[str, Any]:
    """Write the rows of a shard that the other corpus has too, and which of its rows that is."""
    pa = arrow()
    path = Path(part.path)
    table = read_shard(part, ("id", *KEYS), columns)
    learnt = learnt_by(part, keys_in(table), grouped)
    rows = (learnt.partner >= 0).nonzero()[0]
    shared = {
        "id": table.column("id").take(pa.array(rows)),
        "row": rows + part.first,
        "other_row": learnt.partner[rows],
        "n_other": learnt.copies[rows],
    }
    return {"rows": len(rows), "digest": write_shard(Path(output, "shards", path.name), pa.table(shared))}


def _check_alike(folders: tuple[Path, Path], manifests: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    """Refuse corpora whose graphs never have the same keys."""
    for name in ("kind", "atoms", "directed"):
        here, there = (manifest["settings"].get(name) for manifest in manifests)
        if here != there and not (name == "kind" and {here, there} == {"graph6", "edges"}):
            raise TwinWLError(
                f"{folders[0]} and {folders[1]} cannot be compared: {name} is {here!r} there and {there!r} "
                "here; build one of them again with the settings of the other"
            )
