"""The cost of turning SMILES into graphs, compared with RDKit's parsing alone.

    python benchmarks/molecules_in.py         # processor time, also on a busy machine
    python benchmarks/molecules_in.py --wall  # elapsed time of one process and of two, on a quiet machine
    python benchmarks/molecules_in.py --dedup 50000 500000  # twinwl dedup beside RDKit with pandas

Needs TWINWL_DATA with MoleculeNet's HIV, and RDKit. One core:
processor time of every eighth molecule, of which the least of ten runs counts for each 500 molecules, so that
other processes disturb little. Two processes: the processor time of both and of the one that they serve, for
all molecules, and for comparison that of one process; the rest of the time is shared by two cores.

``--wall`` reads all molecules with one process and with two, in turns, three times each, at two levels of
atom labels; the least time of each counts. Two processes are timed with their start and without it (a second
call finds them running). The load of the machine before and after is kept with the times.

``--dedup`` writes tables with randomised SMILES of HIV, each molecule several times, and takes the
processor time and the largest memory of a process that de-duplicates them: ``twinwl dedup``, and canonical
SMILES of RDKit in a column of pandas.

Results go to results/molecules_in.json, each leaving those of the others as they are.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from joblib.externals.loky import get_reusable_executor
from rdkit import Chem, rdBase
from rich.console import Console
from rich.table import Table

from twinwl.datasets.source import ReadOptions, read_columns
from twinwl.graphs.atom_labels import ATOM_LABELLINGS
from twinwl.graphs.molecules import read_smiles

if TYPE_CHECKING:
    from collections.abc import Callable

STRIDE = 8
BLOCK = 500
OUT = Path(__file__).parent / "results" / "molecules_in.json"
WALL = "elapsed"  # the key of what --wall measures
DEDUP = "dedup"
PEER = """
import sys, pandas
from rdkit import Chem, rdBase
rdBase.DisableLog("rdApp.*")
table = pandas.read_csv(sys.argv[1])
table["canonical"] = [Chem.MolToSmiles(Chem.MolFromSmiles(text)) for text in table.smiles]
print(len(table.drop_duplicates("canonical")))
"""


def main() -> None:
    """Print the table and write it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wall", action="store_true", help="elapsed time of one process and of two")
    parser.add_argument(
        "--dedup", type=int, nargs="*", metavar="ROWS", help="twinwl dedup beside RDKit with pandas"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="with --wall: every Nth molecule")
    asked = parser.parse_args()
    folder = os.environ.get("TWINWL_DATA") or sys.exit("set TWINWL_DATA to the folder with the data")
    smiles = [str(cell) for cell in read_columns("HIV", ReadOptions(data_dir=folder))["smiles"]]
    quiet = rdBase.BlockLogs()
    known = json.loads(OUT.read_text(encoding="utf-8"))
    if asked.wall:
        known[WALL] = _elapsed(smiles[:: asked.every])
        OUT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        return
    if asked.dedup:
        known[DEDUP] = {str(n_rows): _dedup(smiles, n_rows) for n_rows in asked.dedup}
        OUT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        return
    steps: dict[str, Callable[[list[str]], object]] = {"RDKit's parse alone": _parsed}
    for atoms in ATOM_LABELLINGS:
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
    kept = {key: known[key] for key in (WALL, DEDUP) if key in known}
    OUT.write_text(json.dumps(seconds | kept, indent=1) + "\n", encoding="utf-8")


def _elapsed(smiles: list[str]) -> dict[str, object]:
    """Return the least elapsed seconds of one process and of two, their ratio, and the machine's load."""
    before = os.getloadavg()[0]
    levels = ("skeleton", "ecfp")
    least: dict[tuple[str, str], float] = {}
    for _ in range(3):
        for atoms in levels:
            read = functools.partial(read_smiles, smiles, on_error="skip", atoms=atoms)
            get_reusable_executor().shutdown(wait=True)
            turns = {"1 process": 1, "2 processes, with their start": 2, "2 processes": 2}
            for name, n_jobs in turns.items():
                start = time.perf_counter()
                read(n_jobs=n_jobs)
                took = time.perf_counter() - start
                least[atoms, name] = min(least.get((atoms, name), took), took)
    table = Table(f"{len(smiles):,} SMILES of HIV", "elapsed seconds", "times as fast as one process")
    found: dict[str, object] = {"molecules": len(smiles), "cores": os.cpu_count(), "load before": before}
    for (atoms, name), value in least.items():
        ratio = least[atoms, "1 process"] / value
        table.add_row(f"{atoms}, {name}", f"{value:.2f}", f"{ratio:.2f}")
        found[f"{atoms}, {name}"] = {"seconds": round(value, 3), "times as fast": round(ratio, 3)}
    found["load after"] = os.getloadavg()[0]
    Console(width=100).print(table)
    print(f"load before {before:.1f}, after {found['load after']:.1f}, {os.cpu_count()} cores")
    return found


def _dedup(smiles: list[str], n_rows: int) -> dict[str, dict[str, float]]:
    """Return the processor seconds and the largest memory in MB of both ways to de-duplicate a table."""
    readable = (text for text in itertools.cycle(smiles) if Chem.MolFromSmiles(text) is not None)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "big.csv"
        with table.open("w") as file:
            file.write("smiles\n")
            for text in itertools.islice(
                readable, n_rows
            ):  # a large parent would count as the child's memory
                file.write(Chem.MolToSmiles(Chem.MolFromSmiles(text), doRandom=True) + "\n")
        commands = {
            "twinwl dedup": [sys.executable, "-m", "twinwl", "dedup", str(table)],
            "RDKit and pandas": [sys.executable, "-c", PEER, str(table)],
        }
        found = {}
        for name, command in commands.items():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
            print(f"{n_rows:,} rows, {name}: {process.stdout.read().splitlines()[0]}")
            _, _, usage = os.wait4(process.pid, 0)
            seconds = usage.ru_utime + usage.ru_stime
            found[name] = {"seconds": round(seconds, 1), "MB": round(usage.ru_maxrss / 1024)}
            print(f"  {seconds:.1f} s, {usage.ru_maxrss / 1024:.0f} MB", flush=True)
    return found


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
