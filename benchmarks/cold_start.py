"""What the first use costs: processor time of a command with an empty kernel cache, and what was compiled.

Run as ``python benchmarks/cold_start.py``. Each command runs in a fresh process, first with an empty cache
and then with the cache it left behind; the difference is the price of compiling. ``--detail`` lists every
kernel that was compiled, the slowest first. Results go to results/cold_start.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

COMMANDS = {
    "hash": ["hash", "smiles:CCO"],
    "compare, apart at once": ["compare", "smiles:CCO", "smiles:CCN"],
    "compare, apart by identities": ["compare", "graph6:EhEG", "graph6:EwCW"],
    "compare, never apart": ["compare", "smiles:CCO", "smiles:OCC"],
    "dedup": ["dedup", "-"],
}
INPUTS = {"dedup": "EhEG\nEwCW\nEhEG\n"}
OUT = Path(__file__).parent / "results" / "cold_start.json"
console = Console(width=120)

# What numba compiles of its own (sorts, slices, messages of errors) counts for the kernel that asked for it;
# a kernel that another one calls counts for itself.
TRACED = """
import json, sys, time
from numba.core import event
class Listener(event.Listener):
    stack, rows = [], []
    def on_start(self, e):
        ours = e.data["dispatcher"].py_func.__module__.startswith("twinwl")
        self.stack.append([ours, time.process_time(), 0.0])
    def on_end(self, e):
        ours, begin, inner = self.stack.pop()
        seconds = time.process_time() - begin
        if self.stack:
            self.stack[-1][2] += seconds if ours else inner
        if ours:
            function = e.data["dispatcher"].py_func
            types = ", ".join(map(str, e.data["args"]))
            self.rows.append([f"{function.__module__}.{function.__qualname__}", types, seconds - inner])
event.register("numba:compile", Listener())
from twinwl.cli.app import main
sys.argv[0] = "twinwl"
try:
    main()
finally:
    with open(%r, "w") as file:
        json.dump(Listener.rows, file)
"""
PLAIN = "from twinwl.cli.app import main; main()"


def main() -> None:
    """Print the table and write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--detail", action="store_true", help="list the specialisations that were compiled")
    options = parser.parse_args()
    rows = [_measured(name) for name in COMMANDS]
    table = Table(
        "command", "cold [s]", "warm [s]", "kernels compiled", title="processor time of one command"
    )
    for row in rows:
        table.add_row(row["command"], f"{row['cold']:.1f}", f"{row['warm']:.1f}", str(len(row["compiled"])))
        for kernel, types, seconds in sorted(row["compiled"], key=lambda entry: -entry[2]):
            if options.detail:
                console.print(f"{row['command']}: {seconds:.2f} s {kernel}({types})", soft_wrap=True)
    console.print(table)
    for row in rows:
        row["compiled"] = len(row["compiled"])
    OUT.write_text(json.dumps({"cpu_count": os.cpu_count(), "commands": rows}, indent=1) + "\n")


def _measured(name: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        seconds = [_seconds(PLAIN, name, environment) for _ in range(2)]
        traced = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/traced"}
        _seconds(TRACED % f"{folder}/rows.json", name, traced)
        compiled = json.loads(Path(folder, "rows.json").read_text())
    return {"command": name, "cold": seconds[0], "warm": seconds[1], "compiled": compiled}


def _seconds(code: str, name: str, environment: dict[str, str]) -> float:
    """Run a command in a fresh process; return the processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, *COMMANDS[name]],
        env=environment,
        input=INPUTS.get(name, "").encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # compare ends with 1 where the graphs differ
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
