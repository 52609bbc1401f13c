"""Fair ten-fold accuracy of every baseline, through the same evaluation as everything else.

Run as ``python benchmarks/accuracy_baselines.py [MUTAG] [--method gin ...]``. Finished folds go to the store
and are not run again. Seconds are those of all ten folds together, in one process: by the clock, and of the
processor, which differ where other work shares it (the latter counts only folds that were run now).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from twinwl.evaluation.evaluate import Evaluation, evaluate

ROWS = [
    "sp-kernel",
    "wl-kernel",
    "wl-oa",
    "dgk",
    "gcn",
    "gin",
    "diffpool",
    "sortpool",
    "sagpool",
    "123-gnn",
    "3-hop-gnn",
    "nested-gin",
    "ppgn",
    "gcn-rni",
    "id-gnn",
    "id-gnn-fast",
]
STORE = Path(__file__).parent.parent / "results" / "baselines.jsonl"


def main() -> None:
    """Evaluate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["MUTAG"], help="data sets by name")
    parser.add_argument("--method", action="append", help="a row; all of them by default")
    parser.add_argument("--grid", help="compact or paper; the defaults where not given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args()
    for data in options.data:
        print(f"{data}, fair, 10 folds, seed {options.seed}, grid {options.grid or 'none'}\n")
        print("| row | accuracy | seconds | of the processor |\n| --- | ---: | ---: | ---: |", flush=True)
        for name in options.method or ROWS:
            began = time.process_time()
            result = evaluate(
                name, data, grid=options.grid, seed=options.seed, store=options.store, progress=False
            )
            print(line(name, result, time.process_time() - began), flush=True)


def line(name: str, result: Evaluation, processor: float) -> str:
    """Return a row of the table."""
    seconds = sum(row["seconds"] for row in result.rows)
    return f"| {name} | {100 * result.mean:.1f} ± {100 * result.std:.1f} | {seconds:.0f} | {processor:.0f} |"


if __name__ == "__main__":
    main()
