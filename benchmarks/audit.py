"""The cost of an audit once both tables have been read: MoleculeNet's HIV against Tox21.

Run as ``python benchmarks/audit.py`` (needs TWINWL_DATA with MoleculeNet, and RDKit). Seconds are those of
the processor, all threads, for the audit alone: copies at all levels, for which molecules with a copy are
read again, and near copies. The kernels are compiled before, by an audit of a few molecules. The memory is
the largest that the process had, before the audit and after it. Results go to results/audit.json.
"""

from __future__ import annotations

import json
import resource
import warnings
from pathlib import Path
from time import process_time

import twinwl as tw
from twinwl.datasets.source import ReadOptions
from twinwl.evaluation.audit import audit_sets, read_audited

OUT = Path(__file__).parent / "results" / "audit.json"


def main() -> None:
    """Measure, print and keep the result."""
    warnings.simplefilter("ignore", tw.TwinWLWarning)
    few = [tw.load_dataset(["CCO", "CCCO", "CC(=O)O"], kind="smiles") for _ in range(2)]
    tw.audit(*few)
    start = process_time()
    sets = read_audited(["HIV", "Tox21"], ReadOptions())
    read, before = process_time(), _peak_megabytes()
    found = audit_sets(sets, 0.9, None)
    result = {
        "sizes": found.sizes,
        "seconds of reading": round(read - start, 2),
        "seconds of the audit": round(process_time() - read, 2),
        "peak MB after reading": before,
        "peak MB after the audit": _peak_megabytes(),
        "same": found.overlaps[0].same,
        "near": found.overlaps[0].near,
    }
    for name, value in result.items():
        print(f"{name}: {value}")
    OUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
