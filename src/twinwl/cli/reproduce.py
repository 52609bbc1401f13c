"""``twinwl reproduce``: the paper's tables, case study and figures; results are kept in stores."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from twinwl.cli.options import DataDir
from twinwl.errors import TwinWLError, nearest
from twinwl.terminal import say

PARTS = ("table1", "table2", "table3", "ceiling", "case-study", "figures")

EPILOG = """
[bold]Parts[/]: [cyan]table1[/] (accuracy on five molecule sets), [cyan]table2[/] (EXP), [cyan]table3[/] \
(runtime), [cyan]ceiling[/] (how good any model could be), [cyan]case-study[/], [cyan]figures[/], or \
[cyan]all[/].

Results in the store are not run again: an interrupted run continues where it stopped. At the end the page \
and the Markdown file are written from all stores; cells that were not run are marked. \
[cyan]--time-budget 0[/] runs nothing and only writes them.

[bold]Examples[/]

$ twinwl reproduce table2 --methods wl,stwin,ntwin

$ twinwl reproduce all --jobs 2 --time-budget 2h

$ twinwl reproduce table1 --grid paper --methods stwin --datasets MUTAG,PTC_MR
"""
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([hms])\s*")


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reproduce)


def reproduce(  # noqa: PLR0917  (the options of a command)
    part: Annotated[str, typer.Argument(metavar="PART", help="What to run.", show_default=False)],
    grid: Annotated[str, typer.Option(metavar="NAME", help="compact or paper.")] = "compact",
    methods: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these methods. \\[default: all]")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these data sets. \\[default: all]")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    repeats: Annotated[int, typer.Option(min=1, help="Number of draws of the folds.")] = 1,
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start nothing after this time: 2h, 90m, 0.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of results. \\[default: results/PART.jsonl]")
    ] = None,
    data_dir: DataDir = None,
    report: Annotated[Path, typer.Option(metavar="FILE", help="The page of results.")] = Path("report.html"),
    markdown: Annotated[Path, typer.Option(metavar="FILE", help="The same as Markdown.")] = Path(
        "RESULTS.md"
    ),
    readme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the short table into this file.")
    ] = None,
    figures: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the paper's figures.")] = Path(
        "figures"
    ),
) -> None:
    """Reproduce the paper: run what is missing, cheapest first, until all is done or the time is up."""
    from twinwl.cli.output_files import PAGES, STORES, check_ending, check_output  # noqa: PLC0415  (keeps --help fast)
    from twinwl.paper.tables import TABLES, cells_of  # noqa: PLC0415

    if part != "all" and part not in PARTS:
        raise TwinWLError(f"there is no part {part!r}: {nearest(part, [*PARTS, 'all'])}")
    if grid not in {"compact", "paper"}:
        raise TwinWLError(f"grid is {grid!r}: {nearest(grid, ['compact', 'paper'])}")
    check_output(report, PAGES)
    check_ending(store, STORES, or_unknown=True)
    check_output(markdown, (".md",))
    if readme is not None and not readme.is_file():
        raise TwinWLError(f"cannot update {str(readme)!r}: there is no such file")
    budget = None if time_budget is None else seconds_of(time_budget)
    wanted = {"methods": _names("--methods", methods), "datasets": _names("--datasets", datasets)}
    cells_of(TABLES["table1"], **wanted)  # a typo shows before anything heavy is loaded
    from twinwl.paper.reproduction import Settings  # noqa: PLC0415
    from twinwl.paper.reproduction_run import ReproductionRun  # noqa: PLC0415

    run = ReproductionRun(
        parts=PARTS if part == "all" else (part,),
        **wanted,
        store=store,
        data_dir=data_dir,
        until=None if budget is None else time.monotonic() + budget,
    )
    settings = Settings(grid=grid, repeats=repeats, n_jobs=jobs)
    run.check()
    try:
        run.everything(settings, figures)
    except KeyboardInterrupt:
        say("interrupted; run the same command to continue", error=True)
        raise typer.Exit(130) from None
    finally:
        run.write_report(report, markdown, readme)
    if run.report_problems():
        raise typer.Exit(1)


def _names(option: str, given: str | None) -> list[str] | None:
    names = None if given is None else [name.strip() for name in given.split(",") if name.strip()]
    if names == []:
        raise TwinWLError(f"{option}: got {given!r}, expected names separated by commas")
    return names


def seconds_of(text: str) -> float:
    """Return a duration in seconds; a bare number is seconds.

    >>> seconds_of("1h30m"), seconds_of("0.5h"), seconds_of("90")
    (5400.0, 1800.0, 90.0)
    """
    stripped = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", stripped):
        return float(stripped)
    if not stripped or _DURATION.sub("", stripped):
        raise TwinWLError(f"--time-budget: got {text!r}, expected a duration such as 2h, 1h30m or 90s")
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(stripped))
