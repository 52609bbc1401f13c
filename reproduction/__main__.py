"""``python -m reproduction PART``: run what is missing of the paper, and write the page of results."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import sys
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from pathlib import Path

import twinwl as tw
from reproduction import runs
from reproduction.page import Page, read_benchmark, update_summary
from reproduction.results import DATASETS, TABLES, TITLES, Results
from reproduction.runs import CASE_METHODS, CASE_SET, RUNTIME_SETS, Cell, Settings, count_missing, run_cell
from twinwl.results import Row

PARTS = ("figures", "table3", "ceiling", "case-study", "table1", "table2")  # seconds, minutes, then hours
_RESULTS = Path("results")
_BENCHMARK = Path("benchmarks") / "results" / "refinement.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 1 if something could not be run, 2 if an argument is wrong."""
    options = _parser().parse_args(arguments)
    try:
        run = Reproduction(options)
        try:
            run.run()
        except KeyboardInterrupt:
            print("interrupted; run the same command to continue", file=sys.stderr)
            return 130
        finally:
            run.write()
    except (tw.TwinWLError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for message, what in run.problems.items():
        print(f"{what}: {message}", file=sys.stderr)
    return int(bool(run.problems))


class Reproduction:
    """One call of the command; a choice of nothing is refused first."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.until = time.monotonic() + options.time_budget
        self.problems: dict[str, str] = {}
        """What went wrong, to the first one it happened to."""
        self.parts = PARTS if options.part == "all" else (options.part,)
        self._read = cache(partial(tw.load_dataset, data_dir=options.data_dir))
        methods, datasets = options.methods or TITLES, options.datasets or DATASETS
        case_methods = [name for name in CASE_METHODS if name in methods]
        case_study = partial(runs.run_case_study, methods=case_methods, until=self.until)
        measured: dict[str, tuple[Sequence[str], Callable[[tw.Dataset, Path], list[Row]]]] = {
            "table3": (RUNTIME_SETS, runs.time_features),
            "ceiling": (DATASETS, runs.find_ceilings),
            "table2": (TABLES["table2"].datasets, runs.separate_pairs),
            "case-study": ((CASE_SET,) if case_methods else (), case_study),
        }
        self.measured = [
            (part, name, measure)
            for part, (sets, measure) in measured.items()
            for name in sets
            if part in self.parts and name in datasets
        ]
        self.cells = [
            (part, Cell(dataset, row.method))
            for part, table in TABLES.items()
            for dataset in table.datasets
            for row in table.rows
            if part in self.parts and row.method in methods and dataset in datasets
        ]
        if not (self.cells or self.measured or "figures" in self.parts):
            raise tw.TwinWLError(
                f"nothing of {' and '.join(self.parts)} is left by these --methods and --datasets; widen them"
            )

    def run(self) -> None:
        """Run all parts, the cheapest first, until the time is up; what the stores have is not run again."""
        if "figures" in self.parts:
            self._try("figure 4", "figures", CASE_SET, lambda *_: "its data are there")
        for part, name, measure in self.measured:
            self._try(f"{part} on {name}", part, name, measure)
        settings = Settings(self.options.grid, repeats=self.options.repeats, n_jobs=self.options.jobs)
        rows = Results.read({self._store(part) for part, _ in self.cells}).rows
        missing = {cell: count_missing(cell, settings, rows) for _, cell in self.cells}
        if missing:
            print(f"{len(missing)} cells, {sum(missing.values()):,} fits to run")
        for part, cell in self.cells:
            if missing[cell]:
                work = partial(run_cell, cell, settings, self.until)
                self._try(f"{cell.method} on {cell.dataset}", part, cell.dataset, work)

    def _try(
        self, what: str, part: str, name: str, work: Callable[[tw.Dataset, Path], list[Row] | str]
    ) -> None:
        """Do a piece of work on a data set if there is time, and say what became of it."""
        state = "time is up"
        try:
            if time.monotonic() < self.until:
                done = work(self._read(name), self._store(part))
                state = done if isinstance(done, str) else f"{len(done)} results"
        except Exception as error:  # noqa: BLE001  (one method must not cost a night's run of all others)
            state = "failed"
            self.problems.setdefault(" ".join(str(error).split()), what)
        print(f"{what}: {state}")

    def write(self) -> None:
        """Write page and Markdown from whatever the stores have."""
        options = self.options
        stores = [options.store] if options.store else sorted(_RESULTS.glob("*.jsonl"))
        results, molecules = Results.read(stores), None
        with contextlib.suppress(tw.TwinWLError):  # without it the page has one drawing less
            molecules = self._read(CASE_SET)
        Page(results, molecules, read_benchmark(_BENCHMARK)).write(options.report, options.markdown)
        if options.summary:
            update_summary(options.summary, results)
        print(f"written: {options.report} and {options.markdown}")

    def _store(self, part: str) -> Path:
        return self.options.store or _RESULTS / f"{part}.jsonl"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m reproduction",
        description="Reproduce the paper: run what is missing, cheapest first, until all is done or the time "
        "is up. Results in the store are not run again.",
    )
    add = parser.add_argument
    add("part", choices=[*PARTS, "all"], help="what to run")
    add("--grid", choices=["compact", "paper"], default="compact")
    add("--methods", type=partial(_names, TITLES), help="only these, separated by commas")
    add("--datasets", type=partial(_names, DATASETS), help="only these, separated by commas")
    add("--jobs", type=int, default=1, help="number of processes")
    add("--repeats", type=int, default=1, help="number of draws of the folds")
    add("--time-budget", type=seconds_of, default=math.inf, help="start nothing after this time: 2h, 90m, 0")
    add("--store", type=Path, help="file of results; default: results/PART.jsonl")
    add("--data-dir", type=Path, help="folder of data sets; default: that of TWINWL_DATA")
    add("--report", type=Path, default=Path("report.html"), help="the page of results")
    add(
        "--markdown",
        type=Path,
        default=Path("RESULTS.md"),
        help="the same as Markdown; pictures go to the folder figures beside it",
    )
    add("--summary", type=Path, help="also write the short table into this file")
    add("--figures", type=_refuse_folder, help=argparse.SUPPRESS)
    return parser


def _refuse_folder(_folder: str) -> None:
    raise argparse.ArgumentTypeError(
        "figures are written beside the Markdown; choose its place with --markdown"
    )


def _names(known: Collection[str], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"got {unknown[0]!r}; choose from {', '.join(known)}")
    return names


def seconds_of(text: str) -> float:
    """Return a duration in seconds; a bare number is seconds.

    >>> seconds_of("1h30m"), seconds_of("0.5h"), seconds_of("90")
    (5400.0, 1800.0, 90.0)
    """
    found = re.fullmatch(r"(?:([\d.]+)h)?(?:([\d.]+)m)?(?:([\d.]+)s?)?", "".join(text.lower().split()))
    if not found or not found[0]:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a duration such as 2h, 1h30m or 90s")
    return sum(float(part or 0) * unit for part, unit in zip(found.groups(), (3600, 60, 1)))


if __name__ == "__main__":
    sys.exit(main())
