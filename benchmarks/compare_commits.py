"""Compare the cases of benchmarks/asv between two states of the code, as ratios of processor time.

python benchmarks/compare_commits.py BASE   compares the working tree with the commit BASE: both are run
alternately, in processes of their own, and the least time of each case counts. Exit code 1 if a case takes
more than 1.5 times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "benchmarks" / "asv"
TURNS, REPEATS, TOO_SLOW = 2, 5, 1.5

_RUN = f"""
import json, sys, time
sys.path.insert(0, {str(CASES)!r})
from core import Core
cases = Core()
cases.setup()
least = {{}}
for name in (name for name in dir(cases) if name.startswith("time_")):
    seconds = []
    for _ in range({REPEATS}):
        start = time.process_time()
        getattr(cases, name)()
        seconds.append(time.process_time() - start)
    least[name] = min(seconds)
print(json.dumps(least))
"""


def least_times(source: Path) -> dict[str, float]:
    """Run all cases once with the code in a folder; return processor seconds."""
    environment = os.environ | {"PYTHONPATH": str(source), "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _RUN]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return dict(json.loads(done.stdout))


def main(base: str) -> int:
    """Print one line per case."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "-q", "--detach", folder, base], check=True)  # noqa: S603
        try:
            before, after = [], []
            for _ in range(TURNS):
                before.append(least_times(Path(folder, "src")))
                after.append(least_times(ROOT / "src"))
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", folder], check=True)  # noqa: S603
    slow = 0
    for name in after[0]:
        old, new = min(each[name] for each in before), min(each[name] for each in after)
        slow += new > TOO_SLOW * old
        print(
            f"{name.removeprefix('time_'):16} {old * 1e3:9.1f} ms {new * 1e3:9.1f} ms  ratio {new / old:.2f}"
        )
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
