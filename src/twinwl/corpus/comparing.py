"""De-duplication of a corpus, and what two corpora have in common.

Groups of equal keys among more graphs than memory holds, in three stages that run on any engine.

1. *Sort* the keys of each shard. Copies within the shard are folded into one entry: key, first row, number.
2. *Group* the entries of a range of keys, over all shards. A range is all keys with the same leading bits, as
   many of them as it takes for a range to fit into memory. Each entry gets the first row of its group.
3. *Gather* by shard: the groups of its rows, in their order.

So a million copies of a graph are one entry per shard, and the result does not depend on the ranges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arrays import Fields, Int64, UInt64
from twinwl.corpus import shards
from twinwl.corpus.jobs import Job, Running, Task, part_task
from twinwl.corpus.shards import KEYS, OWN_COLUMNS, Part, arrow, digest_of, keys_in, write_shard
from twinwl.errors import TwinWLError
from twinwl.files.storage import open_to_write

if TYPE_CHECKING:
    from twinwl.corpus.corpus import Corpus

BYTES_PER_ENTRY = 200  # of a range: the arrays of an entry, a copy in order, and what sorting needs
_BYTES_OF_PROCESS = 350 << 20  # Python, its libraries, and one shard
_CHECKED = 64  # graphs of each shard whose keys are computed again, as docs/scaling.md says
_END = 1 << 64
_NO_ROW = np.iinfo(np.int64).max


def group_keys(job: Job, parts: Sequence[Part], split: int = 0) -> tuple[list[str], list[Fields]]:
    """Run the first two stages; return the files that `groups_of` reads, and the counts of each range.

    Parameters
    ----------
    job
        The job.
    parts
        Shards, in the order of their rows.
    split
        As in `group_range`.
    """
    digest = digest_of(*(part.digest for part in parts), str(split or None))
    paths, n_entries = sorted_entries(job, "sort", sort_keys, parts)
    tasks = range_tasks(job, "groups", digest, n_entries)
    return [str(task.output) for task in tasks], job.run("group", group_range, tasks, (paths, split))


def sorted_entries(
    job: Job, stage: str, function: Callable[..., Fields], parts: Sequence[Part], *shared: object
) -> tuple[list[str], int]:
    """Run a stage that writes the sorted entries of each shard; return the files and how many these are."""
    files = [job.work(f"{stage}-{place:05}.npy") for place in range(len(parts))]
    entries = job.run(stage, function, list(map(part_task, parts, files)), shared)
    return [str(file) for file in files], sum(entry["entries"] for entry in entries)


def range_tasks(job: Job, name: str, digest: str, n_entries: int) -> list[Task]:
    """Return one task for each range of keys, such that the entries of a range fit into memory.

    Keys are hashes, so ranges of equal width have about equally many entries; the mean is half of what fits.
    """
    most = max(1, (int(job.running.memory) - _BYTES_OF_PROCESS) // (2 * BYTES_PER_ENTRY))
    bits = max(0, -(-n_entries // most) - 1).bit_length()
    width = 1 << 64 - bits
    tasks = []
    for low in range(0, 1 << 64, width):
        out = job.work(f"{name}-{low:016x}-{low + width - 1:016x}.npy")
        tasks.append(Task(out.name, digest, (low, low + width, str(out)), n_entries >> bits, out))
    return tasks


def sort_keys(part: Part, out: str) -> Fields:
    """Write the keys of a shard in order, shape (4, n): two words, the first row that has it, how many do."""
    table = part.read(OWN_COLUMNS)
    keys = keys_in(table)
    if len(keys):
        part.check_keys(table, np.unique(np.linspace(0, len(keys) - 1, _CHECKED).astype(np.int64)))
    del table
    order, starts, counts = _runs(keys)
    first = order[starts]  # the sort is stable, so the first of a run is the first row
    entries = np.stack(
        [keys[first, 0], keys[first, 1], (first + part.first).view(np.uint64), counts.view(np.uint64)]
    )
    save_array(out, entries)
    return {"entries": len(first), "rows": len(keys)}


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
    with open_to_write(Path(path)) as stream:
        np.save(stream, array)


def slices_of(paths: Sequence[str], low: int, high: int) -> list[UInt64]:
    """Return the entries of each file whose first word is in a range."""
    slices = []
    for path in paths:
        entries = np.load(path, mmap_mode="r")
        bounds = [0 if low == 0 else int(np.searchsorted(entries[0], np.uint64(low)))]
        bounds.append(entries.shape[1] if high == _END else int(np.searchsorted(entries[0], np.uint64(high))))
        slices.append(np.array(entries[:, bounds[0] : bounds[1]]))
    return slices


def group_range(low: int, high: int, out: str, paths: Sequence[str], split: int) -> Fields:
    """Group the entries of a range; write row, partner and number of copies, shape (3, n), by row.

    The partner of a row is the first row of its group from ``split`` on, counted from there; rows without one
    are not written. Rows before ``split`` and from it on are those of two corpora; if it is 0 there is one.
    """
    entries = np.concatenate(slices_of(paths, low, high), axis=1)
    order, starts, lengths = _runs(entries[:2].T)
    rows, counts = entries[2:, order].view(np.int64)
    del entries, order
    there = rows >= split
    first = np.minimum.reduceat(np.where(there, rows - split, _NO_ROW), starts)
    n_here, n_there = (np.add.reduceat(np.where(side, counts, 0), starts) for side in (~there, there))
    groups = np.stack([rows, *np.repeat([first, n_there], lengths, axis=1)])
    groups = groups[:, groups[1] < _NO_ROW]
    save_array(out, groups[:, np.argsort(groups[0])])
    both = (n_here > 0) & (n_there > 0)
    return {
        "groups": len(starts),
        "largest": int(n_there.max(initial=0)),
        "distinct": int(np.count_nonzero(n_here)),
        "other_distinct": int(np.count_nonzero(n_there)),
        "shared": int(np.count_nonzero(both)),
        "graphs_shared": int(n_here[both].sum()),
        "other_graphs_shared": int(n_there[both].sum()),
    }


def groups_of(part: Part, keys: UInt64, grouped: Sequence[str]) -> tuple[Int64, Int64]:
    """Return for each row of a shard its partner and number of copies; -1 where there are none.

    ``keys`` are those of the shard, ``grouped`` the files of all ranges.
    """
    order, starts, counts = _runs(keys)
    of_first = np.full((2, len(keys)), -1, np.int64)
    for path in grouped:
        groups = np.load(path, mmap_mode="r")
        low, high = np.searchsorted(groups[0], [part.first, part.stop])
        of_first[:, groups[0, low:high] - part.first] = groups[1:, low:high]
    # Only the first copy within the shard has an entry; it stands for all.
    partner, copies = np.empty_like(of_first)
    partner[order], copies[order] = np.repeat(of_first[:, order[starts]], counts, axis=1)
    return partner, copies


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


def dedup_corpus(corpus: Corpus, output: Path, running: Running) -> None:
    """Write a corpus with the first graph of each group, and a table of groups."""
    settings = {**corpus.manifest["settings"], "of": corpus.digest}
    with Job(output, "dedup", settings, running) as job:
        if job.finished is not None:
            job.finish(job.finished["shards"])
            return
        parts = corpus.parts()
        grouped, counts = group_keys(job, parts)
        groups = str(job.subfolder("groups"))
        entries = job.run_shards(gather_groups, parts, (groups, grouped))
        for entry, before in zip(entries, corpus.manifest["shards"]):
            entry |= {name: before[name] for name in ("source", "first_row", "node_labels", "edge_labels")}
        job.finish(
            entries,
            **shards.summary_of(output, entries),
            graphs=len(corpus),
            groups=sum(entry["groups"] for entry in counts),
            largest_group=max(entry["largest"] for entry in counts),
        )


def gather_groups(part: Part, output: str, groups: str, grouped: Sequence[str]) -> Fields:
    """Write the representatives of a shard, and the group of each of its rows."""
    pa = arrow()
    table = part.read()
    partner, copies = groups_of(part, keys_in(table), grouped)
    of_rows = pa.table({"id": table.column("id"), "representative": partner, "n_copies": copies})
    write_shard(Path(groups, Path(output).name), of_rows)
    rows = np.flatnonzero(partner == np.arange(part.first, part.stop))
    representatives = table.take(pa.array(rows))
    representatives = representatives.append_column(
        shards.free_name("n_copies", representatives.column_names), pa.array(copies[rows])
    )
    return {
        **shards.counts_in(representatives),
        "errors": 0,
        "digest": write_shard(Path(output), representatives),
    }


def overlap_of(first: Corpus, second: Corpus, output: Path | None, running: Running) -> Overlap:
    """Count what two corpora have in common; with ``output``, write the rows of the first that are."""
    for name in ("kind", "atoms", "directed"):
        here, there = (corpus.manifest["settings"].get(name) for corpus in (first, second))
        if here != there and {here, there} != {"graph6", "edges"}:  # keys would never be equal
            raise TwinWLError(
                f"{first.folder} and {second.folder} cannot be compared: {name} is {here!r} there and "
                f"{there!r} here; build one of them again with the settings of the other"
            )
    if output is None:
        with tempfile.TemporaryDirectory() as folder:
            return overlap_of(first, second, Path(folder, "overlap"), running)
    ours, split = first.parts(), len(first)
    parts = [*ours, *second.parts(split)]
    settings = {"of": digest_of(*(part.digest for part in parts)), "shards": len(ours)}
    with Job(output, "overlap", settings, running) as job:
        if job.finished is None:
            grouped, counts = group_keys(job, parts, split)
            sums = {name: sum(entry[name] for entry in counts) for name in Overlap._fields[2:]}
            entries = job.run_shards(gather_overlap, ours, (grouped,))
            job.finish(entries, overlap={"graphs": split, "other_graphs": len(second), **sums})
        else:
            job.finish(job.finished["shards"])
        return Overlap(**job.finished["overlap"])  # type: ignore[index]


def gather_overlap(part: Part, output: str, grouped: Sequence[str]) -> Fields:
    """Write the rows of a shard that the other corpus has too, and which of its rows that is."""
    pa = arrow()
    table = part.read(("id", *KEYS))
    partner, copies = groups_of(part, keys_in(table), grouped)
    rows = np.flatnonzero(partner >= 0)
    shared = {
        "id": table.column("id").take(pa.array(rows)),
        "row": rows + part.first,
        "other_row": partner[rows],
        "n_other": copies[rows],
    }
    return {"rows": len(rows), "digest": write_shard(Path(output), pa.table(shared))}
