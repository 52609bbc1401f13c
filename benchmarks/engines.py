"""What Ray costs against processes on this machine: start, an empty task, and the same work on two workers.

Runs alternate, so that whatever else the machine does meets both. The processor time of the tasks themselves
is measured within them; what is beyond it is the engine's.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from twinwl.engines import engine_of
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.deduplication import deduplicate

WORKERS = 2
TASKS = 12
GRAPHS = 4_000
EMPTY = 300
TURNS = 3


def work(seed: int) -> float:
    """De-duplicate random graphs of ten nodes; return the processor seconds."""
    begin = time.process_time()
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, 10, (GRAPHS, 15, 2))).tolist()
    deduplicate(GraphBatch.from_edges([{(u, v) for u, v in graph if u != v} for graph in ends]))
    return time.process_time() - begin


def nothing(number: int) -> int:
    """Return at once."""
    return number


def main() -> None:
    """Print medians for both engines."""
    figures: dict[str, dict[str, list[float]]] = {name: {} for name in ("local", "ray")}
    for _ in range(TURNS):
        for name, found in figures.items():
            begin = time.perf_counter()
            with engine_of(name, WORKERS) as engine:
                list(engine.run(work, [(seed,) for seed in range(WORKERS)]))
                marks = [begin, time.perf_counter()]
                list(engine.run(nothing, ((number,) for number in range(EMPTY))))
                marks.append(time.perf_counter())
                seconds = sum(spent for _, spent in engine.run(work, ((seed,) for seed in range(TASKS))))
                marks.append(time.perf_counter())
            start, empty, whole = np.diff(marks)
            found.setdefault("start and first tasks, s", []).append(start)
            found.setdefault("an empty task, ms", []).append(1000 * empty / EMPTY)
            found.setdefault("the work, s", []).append(whole)
            found.setdefault("processor time within tasks, s", []).append(seconds)
    print(f"{WORKERS} workers, {TASKS} tasks of {GRAPHS:,} graphs, median of {TURNS} alternating runs")
    for title in figures["local"]:
        local, ray = (statistics.median(figures[name][title]) for name in figures)
        print(f"{title:32} local {local:8.2f}   ray {ray:8.2f}   ratio {ray / local:.2f}")


if __name__ == "__main__":
    main()
