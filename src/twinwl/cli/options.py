"""Options of subcommands, each declared once, the files that they write, and the pages of ``--help``.

`add` makes a subcommand of a function: the first line of its docstring is the help, and what follows, or
what follows the first line of its module's docstring, the epilog. Options that commands share as a group
are the fields of a dataclass, such as `ReadingFlags`: a parameter that is annotated with it (`Reading`) is
replaced by these options, and the command receives the value that they make.

A page of help has two plain columns, so that it fits on one screen or two. Typer's own pages give an option
four columns and each section a frame; at 80 characters a short sentence then takes four lines.

A file to write is checked before any work is done: the ending of its name decides the format, and an ending
whose format the command does not write is refused.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from twinwl.errors import TwinWLError, import_extra
from twinwl.files.storage import TABLE_ENDINGS
from twinwl.graphs.atom_labels import ATOM_LABELLINGS, IDENTITY_ATOMS, LADDER, MODEL_ATOMS
from twinwl.isomorphism import READOUTS
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.formats import ReadOptions
else:
    ReadOptions = Any  # its module is slow to load, and --help must be fast

# Values of options. Tables of modules that are slow to load are repeated here, so that help is fast and
# values are checked before these modules are loaded; a test compares them.
CHOICES = {
    "device": ("auto", "cpu", "cuda", "mps"),
    "atoms": tuple(ATOM_LABELLINGS),
    "engine": ("local", "ray"),
    "readout": tuple(READOUTS),
    "same": LADDER,
    "split": ("stratified", "scaffold"),
    "task": ("auto", "classification", "regression"),
}


def add(
    app: typer.Typer, command: Callable[..., None], name: str | None = None, panel: str | None = None
) -> None:
    """Make a function a subcommand, in a section of the help page."""
    epilog = long_help(command.__doc__) or long_help(sys.modules[command.__module__].__doc__)
    summary = (command.__doc__ or "").partition("\n")[0]
    app.command(name, cls=Command, help=summary, epilog=epilog, rich_help_panel=panel)(_expand(command))


# The options of every command that reads data are shown by one of them; others show the usual ones only.
READING = "Reading data"
_SHOWN_BY = "datasets"
_USUAL = ("target", "atoms")
_WIDEST_LEFT = 30


class Command(TyperCommand):
    """A command with such a page; ``{readouts}`` and so on in its epilog stand for names in tables."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Print the page."""
        _show(self, ctx)


class Group(TyperGroup):
    """A group of commands with such a page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Print the page."""
        _show(self, ctx)


def _show(command: Any, ctx: Any) -> None:  # noqa: ANN401  (of click, or of typer's own copy of it)
    from rich import markup, padding, table  # noqa: PLC0415  (only for help)

    console = new_console(markup=True)
    sections = sections_of(command, ctx)
    arguments = [left for left, _ in sections.get("Arguments", [])]
    rest = [*arguments, "COMMAND"] if isinstance(command, TyperGroup) else arguments
    console.print(f"[bold]Usage:[/] {markup.escape(' '.join([ctx.command_path, '[OPTIONS]', *rest]))}")
    console.print(f"\n{(command.help or '').partition(chr(10))[0]}")
    for title, rows in sections.items():
        console.print(f"\n[bold]{title}[/]")
        grid = table.Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold", max_width=_WIDEST_LEFT)
        grid.add_column()
        for left, right in rows:
            grid.add_row(markup.escape(left), right)
        console.print(padding.Padding(grid, (0, 0, 0, 2)))
    before = ""
    for paragraph in filled_in(command.epilog).split("\n\n") if command.epilog else ():
        if not before.startswith(("$", "[dim]")) or not paragraph.startswith(("$", "[dim]")):
            console.print()
        console.print(paragraph)
        before = paragraph


def sections_of(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
    """Return title and rows of each section."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    others = []
    for param in command.get_params(ctx):
        if param.param_type_name == "argument":
            sections["Arguments"].append((param.metavar or param.name.upper(), param.help or ""))
            continue
        panel = getattr(param, "rich_help_panel", None) or "Options"
        if panel == READING and param.name not in _USUAL and command.name != _SHOWN_BY:
            others.append(param.opts[0])
        elif not param.hidden:
            sections.setdefault(panel, []).append(_option(param))
    if others:
        more = f"{', '.join(others)}: see [cyan]twinwl {_SHOWN_BY} --help[/]."
        sections.setdefault(READING, []).append(("…", more))
    for name in command.list_commands(ctx) if isinstance(command, TyperGroup) else ():
        result = command.commands[name]
        row = (name, (result.help or "").partition("\n")[0])
        sections.setdefault(getattr(result, "rich_help_panel", None) or "Commands", []).append(row)
    return {title: rows for title, rows in sections.items() if rows}


def _option(param: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return how an option is written, and what it is for."""
    names = ", ".join(sorted(param.opts, key=len)) + "".join(f"/{name}" for name in param.secondary_opts)
    value = "" if param.is_flag else param.metavar or "VALUE"
    text = param.help or ""
    if param.required:
        text += r" \[required]"
    elif param.default not in {None, False, "", ()} and "default:" not in text:
        text += rf" \[default: {param.default}]"
    return f"{names} {value}".rstrip(), text.strip()


def filled_in(epilog: str) -> str:
    """Replace ``{readouts}`` and so on by the names that the tables of the library have."""
    from twinwl.models.metrics import names_for  # noqa: PLC0415  (only help needs it)

    names = {"readouts": ", ".join(READOUTS), "atoms": _summaries(CHOICES["atoms"])}
    for task, targets in (("classification", "classes"), ("regression", "numbers")):
        names[f"metrics of {targets}"] = ", ".join(names_for(task))
        names[f"scorings of {targets}"] = ", ".join(names_for(task, choosable=True))
    return epilog.format_map(names)


def _expand(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter annotated with a class of options by its fields."""
    groups: dict[str, tuple[Any, list[str]]] = {}
    options: list[inspect.Parameter] = []
    for parameter in _parameters(command):
        kind = getattr(parameter.annotation, "__metadata__", [None])[0]
        fields = [parameter]
        if isinstance(kind, type):
            fields = _parameters(kind)
            groups[parameter.name] = kind, [field.name for field in fields]
        options += fields

    @functools.wraps(command)
    def run(**values: Any) -> None:  # noqa: ANN401  (whatever options there are)
        for name, (kind, names) in groups.items():
            values[name] = kind(**{field: values.pop(field) for field in names}).value()
        command(**values)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _parameters(called: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(called, include_extras=True)
    return [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(called).parameters.items()
    ]


def long_help(docstring: str | None) -> str:
    r"""Return what follows the first line of a docstring, one line per paragraph, as typer needs it.

    >>> long_help("One line.\n\nTwo\nlines.\n")
    'Two lines.'
    """
    paragraphs = (docstring or "").split("\n\n")[1:]
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def among(option: str, name: str = "", *, several: bool = False) -> Callable[[Any], Any]:
    """Return a callback that refuses values that are not in an option's `CHOICES`, or several with commas."""

    def check(text: Any) -> Any:  # noqa: ANN401  (as in typer)
        from twinwl.arguments import MARKED_WL, checked, one_of  # noqa: PLC0415  (keeps --help fast)

        more = [MARKED_WL] if option == "readout" else []
        for value in [] if text is None else text.split(",") if several else [text]:
            checked(name or "--" + option.replace("_", "-"), value.strip(), one_of(*CHOICES[option]), *more)
        return text

    return check


def _names_of_readouts(texts: list[str] | None) -> list[str]:
    """Return the readouts that are named, in options of their own or with commas between."""
    names = [name.strip() for text in texts or [] for name in text.split(",")]
    return [among("readout")(name) for name in names]  # typer 0.16 fails where None comes back for a list


def opt(text: str, metavar: str | None = None, *names: str, panel: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Return an option; ``names`` if it is not named like the parameter."""
    metavar = metavar or ("N" if "min" in more else None)
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


def choice(option: str, text: str, metavar: str = "", *names: str, panel: str | None = None) -> Any:  # noqa: ANN401
    """Return an option with one of its `CHOICES`; ``metavar`` if these are too long to be shown."""
    return opt(text, metavar or "|".join(CHOICES[option]), *names, panel=panel, callback=among(option))


def arg(metavar: str, text: str) -> Any:  # noqa: ANN401
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


TABLES = TABLE_ENDINGS
PAGES = (".html", ".htm")
PICTURES = (".png", ".svg", ".pdf")
MODELS = (".twinwl",)
STORES = (".jsonl", ".json")
_OF_OTHERS = (".npz", ".bz2", ".gz", ".npy", ".pickle", ".pkl", ".pt", ".xls", ".xlsx", ".zip")
_KNOWN = {*TABLES, *PAGES, *PICTURES, *MODELS, *STORES, *_OF_OTHERS}


def check_output(
    path: Path | None,
    endings: tuple[str, ...],
    *,
    inputs: Iterable[str | Path | None] = (),
    or_unknown: bool = False,
) -> None:
    """Check that a file can be written, before any work is done.

    Parameters
    ----------
    path
        The file; None is fine.
    endings
        Endings of the formats that the command writes.
    inputs
        What the command reads; ``data.csv#3`` reads ``data.csv``.
    or_unknown
        Also accept names whose ending is not a known format, such as ``model`` or ``results.v2``.

    >>> check_output(Path("predictions.csv"), TABLE_ENDINGS)

    Raises
    ------
    TwinWLError
        If the folder does not exist or is not writable, the ending is not one of ``endings``, the file is one
        of the inputs, or the package that writes the format is not installed.
    """
    check_ending(path, endings, or_unknown=or_unknown)
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: its folder does not exist; create it first")
    if path.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: that is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise TwinWLError(f"cannot write {str(path)!r}: its folder is not writable")
    for source in filter(None, inputs):
        if any(_same_file(path, name) for name in (str(source), str(source).rpartition("#")[0])):
            raise TwinWLError(f"cannot write {str(path)!r}: that is the input; name another file")


def _same_file(path: Path, name: str) -> bool:
    try:
        return bool(name) and path.samefile(name)
    except (OSError, ValueError):  # one of them does not exist, or is not a name of a file
        return False


def check_ending(path: Path | None, endings: tuple[str, ...], *, or_unknown: bool = False) -> None:
    """Check only the ending of a name, and that the package for its format is installed.

    >>> check_ending(Path("new_folder/results.jsonl"), STORES)
    """
    ending = "" if path is None else path.suffix.lower()
    if path is None or (or_unknown and ending not in _KNOWN):
        return
    if ending not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise TwinWLError(f"cannot write {str(path)!r}: its name must end in {listed}")
    if ending == ".parquet":
        import_extra("pyarrow.parquet", extra="parquet")


def say_ids(data: Dataset, id_column: str | None) -> None:
    """Say which column of a table has the ids, unless it was given."""
    if id_column is None and data.id is not None:
        say(f"{data.name}: ids from the column {data.id!r} (--id names another)", error=True)


def new_file(text: str, *endings: str, names: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    """Return an option with a file to write, which is checked before any work is done."""

    def check(path: Path | None) -> Path | None:
        check_output(path, endings)
        return path

    return opt(text, "FILE", *names, callback=check)


OUTPUT = ("FILE", "--output", "-o")
_TABLES = ".csv, .tsv, .json, .jsonl or .parquet"

Data = Annotated[str, arg("DATA", "A data set, or a file of graphs.")]
ModelFile = Annotated[Path, arg("MODEL", "A file written by twinwl train.")]
NewModelFile = Annotated[Path, opt("File to write: model.twinwl.", *OUTPUT)]
TableFile = Annotated[
    Path | None, new_file(f"Also write a table: {_TABLES}.", *TABLES, names=("--output", "-o"))
]
Html = Annotated[Path | None, new_file("Also write an HTML page, in one file.", *PAGES)]
Json = Annotated[bool, opt("Print the result as JSON.", None, "--json")]
DataDir = Annotated[Path | None, opt("Folder of data sets.", "FOLDER")]
Training = Annotated[str | None, opt("The training data: adds the nearest training graph of each.", "DATA")]
Device = Annotated[
    str | None, choice("device", "Where networks run: auto takes the first available of cuda, mps and cpu.")
]
EngineName = Annotated[str, choice("engine", "Where to run: processes on this machine, or a Ray cluster.")]
Address = Annotated[str | None, opt("Running Ray cluster. \\[default: start Ray here]", "HOST:PORT")]
IgnoreAttributes = Annotated[
    bool,
    opt(
        "Ignore continuous node attributes, which are refused (or used by some methods) otherwise.",
        None,
        "--ignore-attributes",
    ),
]
Positive = Annotated[
    str | None,
    opt(
        "The class of PR-AUC and thresholds. \\[default: 1, active, yes, +, true, or the last]",
        "CLASS",
    ),
]
Task = Annotated[str, choice("task", "Predict classes or numbers.")]
Scoring = Annotated[
    str | None,
    opt("Metric of choices. \\[default: accuracy, rmse]", "NAME"),
]
Proba = Annotated[bool, opt("Add the probability of each class (classifiers).", None, "--proba")]
ExtraFeatures = Annotated[
    str | None,
    opt(
        "Columns to learn from as well, or rdkit.",
        "COL",
        "--extra-features",
    ),
]
SeedOfModel = Annotated[int, opt("The same seed gives the same model.", min=0)]
MostRounds = Annotated[int | None, opt("Number of rounds. \\[default: until nothing changes]", min=0)]
EdgeLabels = Annotated[
    bool | None,
    opt(
        "Use edge labels. \\[default: not by models]",
        None,
        "--edge-labels/--no-edge-labels",
    ),
]
Readouts = Annotated[
    list[str] | None,
    opt(
        "Readout of rooted subgraphs; may be repeated. \\[default: size]", "NAME", callback=_names_of_readouts
    ),
]


def _summaries(names: tuple[str, ...]) -> str:
    return "; ".join(f"{name}: {ATOM_LABELLINGS[name].summary}" for name in names)


def _read(text: str, metavar: str | None = None, *names: str, **more: Any) -> Any:  # noqa: ANN401
    return opt(text, metavar, *names, panel=READING, **more)


@dataclass
class ReadingFlags:
    """The options of every command that reads data."""

    usual_atoms: ClassVar[Any] = MODEL_ATOMS

    target: Annotated[str | None, _read("Column of the targets; several: a,b,c or all.", "COL")] = None
    smiles_column: Annotated[str | None, _read("Column of a table with the SMILES.", "COL")] = None
    id: Annotated[
        str | None, _read("Column of the ids. \\[default: id, name, cid, mol_id, compound, …]", "COL")
    ] = None
    on_error: Annotated[str, _read("Skip and count unreadable rows, or stop.", "skip|fail")] = "skip"
    node_label: Annotated[str | None, _read("Attribute with the node labels.", "ATTR")] = None
    edge_label: Annotated[str | None, _read("Attribute with the edge labels.", "ATTR")] = None
    kind: Annotated[str | None, _read("Format, if the ending does not tell: graph6, …", "KIND")] = None
    data_dir: Annotated[Path | None, _read("Where data sets are.", "FOLDER")] = None
    n_jobs: Annotated[int | None, _read("Processes that read molecules.", None, "--jobs", min=1)] = 1

    def value(self) -> ReadOptions:
        """Return the options as the library takes them."""
        from twinwl.datasets.formats import ReadOptions  # noqa: PLC0415  (keeps --help fast)

        return ReadOptions(**vars(self), usual_atoms=self.usual_atoms)


@dataclass
class ReadingAtomsFlags(ReadingFlags):
    """The same, of commands that train models."""

    atoms: Annotated[
        str | None,
        _read(
            f"What atom labels contain: {', '.join(CHOICES['atoms'])}, or several: a,b. "
            f"\\[default: {MODEL_ATOMS}]",
            "LEVEL",
            callback=among("atoms", several=True),
        ),
    ] = None


@dataclass
class ReadingSameFlags(ReadingFlags):
    """The same, of commands that compare graphs."""

    usual_atoms: ClassVar[Any] = IDENTITY_ATOMS

    atoms: Annotated[
        str | None,
        _read(
            f"Which differences between molecules count. {_summaries(LADDER)}. \\[default: {IDENTITY_ATOMS}]",
            "LEVEL",
            "--same",
            callback=among("same"),
        ),
    ] = None


Reading = Annotated[ReadOptions, ReadingFlags]
ReadingAtoms = Annotated[ReadOptions, ReadingAtomsFlags]
ReadingSame = Annotated[ReadOptions, ReadingSameFlags]


@dataclass
class SettingFlags:
    """The parameters of a method."""

    settings: Annotated[
        list[str] | None,
        opt("A parameter, as twinwl methods NAME lists.", "KEY=VALUE", "--set"),
    ] = None
    edge_labels: EdgeLabels = None

    def value(self) -> dict[str, Any]:
        """Return them as estimators take them.

        >>> SettingFlags(["n-iter=2,3", "hops=growing", "refit=true", "scoring=none"]).value()
        {'n_iter': [2, 3], 'hops': 'growing', 'refit': True, 'scoring': None}
        """
        result: dict[str, Any] = {} if self.edge_labels is None else {"edge_labels": self.edge_labels}
        for text in self.settings or ():
            key, equals, value = text.partition("=")
            if not equals:
                raise TwinWLError(f"--set: got {text!r}, expected KEY=VALUE, such as n_iter=3")
            result[key.strip().replace("-", "_")] = _setting(value.strip())
        return result


Settings = Annotated[dict[str, Any], SettingFlags]


def _setting(text: str) -> Any:  # noqa: ANN401
    """Return a number, a word, a list with commas between its entries, or what JSON says."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return loads(text)
    except ValueError:
        return [_setting(part.strip()) for part in text.split(",")] if "," in text else text
