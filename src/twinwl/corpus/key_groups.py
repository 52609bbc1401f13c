"""Groups of equal keys among more graphs than memory holds, in three stages that run on any engine.

1. *Sort* the keys of each shard. Copies within the shard are folded into one entry: key, first row, number.
2. *Group* the entries of a range of keys, over all shards. Ranges share their leading bits; one with more
   entries than fit into memory is halved. Each entry learns the first row of its group.
3. *Gather* by shard: what its rows learnt, in their order.

So a million copies of a graph are one entry per shard, and the result does not depend on the ranges.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.corpus.jobs import Job, Task
from twinwl.corpus.shards import OWN_COLUMNS, Part, check_keys, digest_of, keys_in, read_shard
from twinwl.files.atomic import written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twinwl.arrays import Int64, UInt64


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
