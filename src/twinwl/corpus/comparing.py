"""De-duplication of a corpus, and what two corpora have in common.

Groups of equal keys among more graphs than memory holds, in three stages that run on any engine.

1. *Sort* the keys of each shard. Copies within the shard are folded into one entry: key, first row, number.
2. *Group* the entries of a range of keys, over all shards. Ranges share their leading bits; one with more
   entries than fit into memory is halved. Each entry learns the first row of its group.
3. *Gather* by shard: what its rows learnt, in their order.

So a million copies of a graph are one entry per shard, and the result does not depend on the ranges.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinwl.arrays import Int64, UInt64
from twinwl.corpus.building import columns_of
from twinwl.corpus.jobs import Job, Running, Task
from twinwl.corpus.shards import (
    KEYS,
    OWN_COLUMNS,
    Part,
    arrow,
    check_keys,
    digest_of,
    keys_in,
    parts_of,
    read_shard,
    write_shard,
)
from twinwl.errors import TwinWLError
from twinwl.files.atomic import errors_of_writing, written

BYTES_PER_ENTRY = 200  # of a range: the arrays of an entry, a copy in order, and what sorting needs
BYTES_OF_PROCESS = 350 << 20  # Python, its libraries, and one shard
_CHECKED = 64  # graphs of each shard whose keys are computed again
_END = 1 << 64


class Learnt(NamedTuple):
    """What each row of a shard learnt of its group, arrays of shape (n_rows,); -1 where there is nothing."""

    partner: Int64
    copies: Int64


def task_of(part: Part, output: Path, arguments: tuple[object, ...]) -> Task:
    """Return the task that writes a shard of the same name into another folder."""
    name = Path(part.path).name
    return Task(name, part.digest, arguments, part.stop - part.first, output / "shards" / name)


def group_keys(
    job: Job, parts: Sequence[Part], types: Sequence[Mapping[str, str]], split: int | None = None
) -> tuple[list[str], list[dict[str, Any]]]:
    """Run the first two stages; return the files that `learnt_by` reads, and what was counted per range.

    Parameters
    ----------
    job
        The job.
    parts
        Shards, in the order of their rows.
    types
        The columns of the corpus of each.
    split
        None: a row learns the first row of its group. Else rows before this one learn the first row of their
        group from it on, and those of groups without such a row nothing.
    """
    digest = digest_of(*(part.digest for part in parts), str(split))
    files = [job.work(f"sorted-{place:05}.npy") for place in range(len(parts))]
    tasks = [
        Task(file.name, part.digest, (part, str(file), dict(kinds)), part.stop - part.first, file)
        for part, file, kinds in zip(parts, files, types, strict=True)
    ]
    entries = job.run("sort", sort_keys, tasks, (), 3)
    paths = [str(file) for file in files]
    most = max(1, (int(job.running.memory) - BYTES_OF_PROCESS) // BYTES_PER_ENTRY)
    n_rows = [entry["entries"] for entry in entries]
    grouped = []
    tasks = []
    for low, high, count in ranges_of(paths, sum(n_rows), most):
        out = job.work(f"groups-{low:016x}-{high - 1:016x}.npy")
        grouped.append(str(out))
        tasks.append(Task(out.name, digest, (low, high, str(out)), count, out))
    return grouped, job.run("group", group_range, tasks, (paths, split), 1)


def sort_keys(part: Part, out: str, types: Mapping[str, str]) -> dict[str, Any]:
    """Write the keys of a shard in order, shape (4, n): two words, the first row that has it, how many do."""
    table = read_shard(part, OWN_COLUMNS, types)
    keys = keys_in(table)
    n = len(keys)
    if n:
        rows = np.unique(np.linspace(0, n - 1, _CHECKED).astype(np.int64))
        check_keys(part.path, table, rows)
    del table
    order, starts, counts = _runs(keys)
    first = order[starts]  # the sort is stable, so the first of a run is the first row
    found = np.stack(
        [keys[first, 0], keys[first, 1], (first + part.first).view(np.uint64), counts.view(np.uint64)]
    )
    save_array(out, found)
    return {"entries": len(first), "rows": n}


def _runs(keys: UInt64) -> tuple[Int64, Int64, Int64]:
    """Return the order of keys, where each run of equal ones starts in it, and its length."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    return order, starts, np.diff(starts, append=len(keys))


def save_array(path: str, array: np.ndarray[Any, Any]) -> None:
    """Write an array atomically."""
    with written(Path(path)) as stream:
        np.save(stream, array)


def ranges_of(paths: Sequence[str], n_entries: int, most: int) -> list[tuple[int, int, int]]:
    """Return ranges of the first word with at most so many entries, where that can be, and their sizes."""
    bits = max(0, -(-n_entries // most) - 1).bit_length()
    cuts = [place << 64 - bits for place in range((1 << bits) + 1)]
    while True:
        sizes = np.diff(_entries_before(paths, cuts))
        large = [
            place for place in np.flatnonzero(sizes > most).tolist() if cuts[place + 1] - cuts[place] > 1
        ]
        if not large:
            return list(zip(cuts[:-1], cuts[1:], sizes.tolist(), strict=True))
        cuts = sorted({*cuts, *((cuts[place] + cuts[place + 1]) // 2 for place in large)})


def _entries_before(paths: Sequence[str], cuts: Sequence[int]) -> Int64:
    inner = np.array(cuts[1:-1], np.uint64)
    total = np.zeros(len(cuts), np.int64)
    for path in paths:
        words = np.load(path, mmap_mode="r")[0]
        total[1:-1] += np.searchsorted(words, inner)
        total[-1] += len(words)
    return total


def slices_of(paths: Sequence[str], low: int, high: int) -> list[UInt64]:
    """Return the entries of each file whose first word is in a range."""
    slices = []
    for path in paths:
        entries = np.load(path, mmap_mode="r")
        bounds = [0 if low == 0 else int(np.searchsorted(entries[0], np.uint64(low)))]
        bounds.append(entries.shape[1] if high == _END else int(np.searchsorted(entries[0], np.uint64(high))))
        slices.append(np.array(entries[:, bounds[0] : bounds[1]]))
    return slices


def group_range(low: int, high: int, out: str, paths: Sequence[str], split: int | None) -> dict[str, Any]:
    """Group the entries of a range; write row, partner and number of each, shape (3, n), by row."""
    joined = np.concatenate(slices_of(paths, low, high), axis=1)
    order, starts, lengths = _runs(joined[:2].T)  # stable: within a run, entries stay in the order of rows
    rows, counts = joined[2:, order].view(np.int64)
    del joined, order
    group = np.repeat(np.arange(len(starts)), lengths)
    if split is None:
        totals = np.add.reduceat(counts, starts) if len(starts) else np.empty(0, np.int64)
        learnt = np.stack([rows, rows[starts][group], totals[group]])
        told = {"groups": len(starts), "largest": int(totals.max(initial=0))}
    else:
        learnt, told = _across(rows, counts, group, len(starts), split)
    save_array(out, learnt[:, np.argsort(learnt[0])])
    return told


def _across(
    rows: Int64, counts: Int64, group: Int64, n_groups: int, split: int
) -> tuple[Int64, dict[str, Any]]:
    """Tell entries before ``split`` of those from there on; count groups and rows in common."""
    there = rows >= split
    first = np.full(n_groups, -1, np.int64)
    first[group[there][::-1]] = rows[there][::-1] - split  # the last that is written is the first row
    n_there = np.bincount(group[there], counts[there], minlength=n_groups).astype(np.int64)
    n_here = np.bincount(group[~there], counts[~there], minlength=n_groups).astype(np.int64)
    both = (n_here > 0) & (n_there > 0)
    kept = ~there & both[group]
    told = {
        "distinct": int(np.count_nonzero(n_here)),
        "distinct_other": int(np.count_nonzero(n_there)),
        "shared": int(np.count_nonzero(both)),
        "rows_shared": int(n_here[both].sum()),
        "rows_shared_other": int(n_there[both].sum()),
    }
    return np.stack([rows[kept], first[group[kept]], n_there[group[kept]]]), told


def learnt_by(part: Part, keys: UInt64, grouped: Sequence[str]) -> Learnt:
    """Return what the rows of a shard learnt, given its keys and the files of all ranges."""
    order, starts, counts = _runs(keys)
    partner, number = np.full((2, len(keys)), -1, np.int64)
    for path in grouped:
        learnt = np.load(path, mmap_mode="r")
        low, high = np.searchsorted(learnt[0], [part.first, part.stop])
        rows = learnt[0, low:high] - part.first
        partner[rows], number[rows] = learnt[1, low:high], learnt[2, low:high]
    # Entries stand for all copies within the shard.
    first = order[starts]
    of_run = np.repeat(np.arange(len(starts)), counts)
    out = Learnt(np.empty(len(keys), np.int64), np.empty(len(keys), np.int64))
    out.partner[order] = partner[first][of_run]
    out.copies[order] = number[first][of_run]
    return out


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
