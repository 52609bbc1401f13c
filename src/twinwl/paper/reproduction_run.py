"""One run of ``twinwl reproduce``: which parts, where results go, how long it may take, what went wrong."""

from __future__ import annotations

import time
from pathlib import Path

from twinwl.datasets.catalogue import data_folders, find
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.source import load_dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.significance import p_value_text
from twinwl.paper.case_study import CASE_METHODS, CASE_SET, run_case_study
from twinwl.paper.feature_runs import (
    RUNTIME_SETS,
    compare_runtimes,
    find_ceilings,
    separate_pairs,
    time_features,
)
from twinwl.paper.figures import write_figures
from twinwl.paper.markdown import write_results
from twinwl.paper.pages import paper_page, read_benchmark
from twinwl.paper.reproduction import Settings, run_tasks, stored_rows, tasks_of
from twinwl.paper.result_cells import Results
from twinwl.paper.summary import update_readme
from twinwl.paper.tables import TABLES, Cell, cells_of
from twinwl.terminal import say

_TABLES = ("table1", "table2")
_CEILING_SETS = [name for table in _TABLES for name in TABLES[table].datasets]
_RESULTS = Path("results")
_BENCHMARK = Path("benchmarks") / "results" / "refinement.json"


class ReproductionRun:
    """One call of the command.

    Parameters
    ----------
    parts
        What to run.
    methods, datasets
        Names to keep; None keeps all.
    store
        File of results; None gives each part its own in ``results``.
    data_dir
        Where data sets are.
    until
        Value of ``time.monotonic()`` from which on nothing is begun.
    """

    def __init__(
        self,
        *,
        parts: tuple[str, ...],
        methods: list[str] | None,
        datasets: list[str] | None,
        store: Path | None,
        data_dir: Path | None,
        until: float | None,
    ) -> None:
        self.parts, self.methods, self.datasets = parts, methods, datasets
        self.store, self.data_dir, self.until = store, data_dir, until
        self.problems: dict[str, str] = {}
        self._loaded: dict[str, Dataset] = {}

    def everything(self, settings: Settings, figures: Path) -> None:
        """Run all parts: what takes seconds first, then minutes, then hours."""
        if "figures" in self.parts:
            self._draw(figures)
        if "table3" in self.parts:
            self._time_features()
        if "table2" in self.parts and self._wanted("EXP"):
            self._separate_pairs()
        if "ceiling" in self.parts:
            self._find_ceilings()
        if "case-study" in self.parts:
            self._case_study()
        if tables := [name for name in _TABLES if name in self.parts]:
            self._run_tables(tables, settings)

    def write_report(self, report: Path, markdown: Path, readme: Path | None = None) -> None:
        """Write page and Markdown from whatever the stores hold."""
        stores = [self.store] if self.store else sorted(_RESULTS.glob("*.jsonl"))
        at_hand = find(CASE_SET, self.data_dir) is not None
        molecules = self._load(CASE_SET) if at_hand else None
        results = Results(stored_rows(stores))
        write_results(paper_page(results, molecules, read_benchmark(_BENCHMARK)), report, markdown)
        if readme is not None:
            update_readme(readme, results)
        say(f"written: {report} and {markdown}")

    def report_problems(self) -> bool:
        """Print what could not be run and what to do about it; return whether there was anything."""
        for what, message in self.problems.items():
            say(f"{what}: {message}", error=True, colour="yellow")
        return bool(self.problems)

    def check(self) -> None:
        """Refuse stores and folders that cannot be read, and a choice of nothing, before any work."""
        data_folders(self.data_dir)
        stored_rows(dict.fromkeys(self._store(part) for part in self.parts))
        if not any(self._has_work(part) for part in self.parts):
            raise TwinWLError(
                f"nothing of {' and '.join(self.parts)} is left by these --methods and --datasets; widen them"
            )

    def _has_work(self, part: str) -> bool:
        if part in _TABLES:
            return bool(cells_of(TABLES[part], self.methods, self.datasets))
        if part == "table3":
            return any(map(self._wanted, RUNTIME_SETS))
        if part == "ceiling":
            return any(map(self._wanted, _CEILING_SETS))
        if part == "case-study":
            return self._wanted(CASE_SET) and bool(self._case_methods())
        return True

    def _run_tables(self, names: list[str], settings: Settings) -> None:
        home = {cell: name for name in names for cell in cells_of(TABLES[name], self.methods, self.datasets)}
        rows = stored_rows(dict.fromkeys(self._store(name) for name in names))
        tasks = tasks_of(home, settings, rows)
        n_missing = sum(task.n_missing for task in tasks)
        say(f"{len(tasks)} cells, {n_missing:,} of {sum(task.n_units for task in tasks):,} fits to run")

        def store_of(cell: Cell) -> Path:
            return self._store(home[cell])

        for outcome in run_tasks(tasks, settings, store_of, self._loading, until=self.until):
            cell = outcome.cell
            if outcome.state == "done":
                found = Results(stored_rows([store_of(cell)])).cell(*cell)
                figure = "" if found is None else f"  {found.readings['fair']}"
                say(f"{cell.method} on {cell.dataset}: done{figure}")
            elif outcome.state == "time is up":
                say(f"{cell.method} on {cell.dataset}: not finished, the time is up")
            else:
                about = cell.dataset if outcome.state == "no data" else f"{cell.method} on {cell.dataset}"
                say(f"{cell.method} on {cell.dataset}: {outcome.state}")
                self.problems[about] = outcome.message

    def _time_features(self) -> None:
        for name in RUNTIME_SETS:
            if self._wanted(name) and not self._over() and (data := self._load(name)) is not None:
                found = compare_runtimes(time_features(data, self._store("table3")), name)
                if found is not None:
                    ratio = sum(found.stwin) / len(found.stwin) / (sum(found.wl) / len(found.wl))
                    chance = p_value_text(found.p_value)
                    say(f"runtime on {name}: STwin takes {ratio:.2f} × 1-WL, {chance}")

    def _separate_pairs(self) -> None:
        if not self._over() and (data := self._load("EXP")) is not None:
            separate_pairs(data, self._store("table2"))

    def _find_ceilings(self) -> None:
        for name in _CEILING_SETS:
            if self._wanted(name) and not self._over() and (data := self._load(name)) is not None:
                find_ceilings(data, self._store("ceiling"))

    def _case_study(self) -> None:
        if self._over() or not self._wanted(CASE_SET) or (data := self._load(CASE_SET)) is None:
            return
        run_case_study(
            data,
            self._store("case-study"),
            methods=self._case_methods(),
            until=self.until,
            begin=lambda method, seed: say(f"case study: {method}, seed {seed}"),
        )

    def _case_methods(self) -> list[str]:
        return [name for name in CASE_METHODS if self.methods is None or name in self.methods]

    def _draw(self, folder: Path) -> None:
        for path in write_figures(folder, self._load(CASE_SET)):
            say(f"drawn: {path}")

    def _store(self, part: str) -> Path:
        return self.store or _RESULTS / f"{part}.jsonl"

    def _over(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def _wanted(self, dataset: str) -> bool:
        return self.datasets is None or dataset in self.datasets

    def _load(self, name: str) -> Dataset | None:
        """Return a data set, or note why it is not there."""
        try:
            return self._loading(name)
        except TwinWLError as error:
            self.problems[name] = " ".join(str(error).split())
            return None

    def _loading(self, name: str) -> Dataset:
        if name not in self._loaded:
            self._loaded[name] = load_dataset(name, data_dir=self.data_dir)
        return self._loaded[name]
