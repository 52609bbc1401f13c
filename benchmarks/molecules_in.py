"""The cost of turning SMILES into graphs, compared with RDKit's parsing alone.

Run as ``python benchmarks/molecules_in.py`` (needs TWINWL_DATA with MoleculeNet's HIV, and RDKit). One core:
processor time of every eighth molecule, of which the least of ten runs counts for each 500 molecules, so that
other processes disturb little. Two processes: the processor time of both and of the one that they serve, for
all molecules, and for comparison that of one process; the rest of the time is shared by two cores.
Results go to results/molecules_in.json.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from joblib.externals.loky import get_reusable_executor
from rdkit import Chem, rdBase
from rich.console import Console
from rich.table import Table

from twinwl.datasets.source import Reading, read_columns
from twinwl.graphs.atom_labels import ATOM_LEVELS
from twinwl.graphs.from_smiles import read_smiles

if TYPE_CHECKING:
    from collections.abc import Callable

STRIDE = 8
BLOCK = 500
OUT = Path(__file__).parent / "results" / "molecules_in.json"


def main() -> None:
    """Print the table and write it as JSON."""
    folder = os.environ.get("TWINWL_DATA") or sys.exit("set TWINWL_DATA to the folder with the data")
    smiles = [str(cell) for cell in read_columns("HIV", Reading(data_dir=folder))["smiles"]]
    quiet = rdBase.BlockLogs()
    steps: dict[str, Callable[[list[str]], object]] = {"RDKit's parse alone": _parsed}
    for atoms in ATOM_LEVELS:
        steps[f"from_smiles, {atoms}"] = functools.partial(read_smiles, on_error="skip", atoms=atoms)
    seconds = dict.fromkeys(steps, 0.0)
    some = smiles[::STRIDE]
    for start in range(0, len(some), BLOCK):
        least = dict.fromkeys(steps, float("inf"))
        for name, step in [*steps.items()] * 10:
            least[name] = min(least[name], _timed(step, some[start : start + BLOCK]))
        seconds = {name: value + least[name] for name, value in seconds.items()}
    for n_jobs in (1, 2):
        before = _all_processes()
        read_smiles(smiles, on_error="skip", n_jobs=n_jobs)
        get_reusable_executor().shutdown(wait=True)  # the time of a process counts once it has ended
        seconds[f"all, skeleton, {n_jobs} process{'es' if n_jobs > 1 else ''}"] = _all_processes() - before
    del quiet
    parse = seconds["RDKit's parse alone"]
    table = Table("SMILES of HIV", "seconds", "times RDKit's parse")
    for name, value in seconds.items():
        table.add_row(name, f"{value:.2f}", f"{value / parse:.2f}" if name in steps else "")
    Console(width=100).print(table)
    OUT.write_text(json.dumps(seconds, indent=1) + "\n")


def _parsed(smiles: list[str]) -> None:
    for text in smiles:
        Chem.MolFromSmiles(text)


def _timed(step: Callable[[list[str]], object], smiles: list[str]) -> float:
    begin = time.process_time()
    step(smiles)
    return time.process_time() - begin


def _all_processes() -> float:
    """Return the processor time of this process and of those that it has started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
