"""Arguments and options that several subcommands have in common, each declared once.

`add` makes a subcommand of a function: the first line of its docstring is the help, and what follows, or
what follows the first line of its module's docstring, the epilog. Options that commands share as a group
are the fields of a dataclass, such as `ReadingFlags`: a parameter that is annotated with it (`Reading`) is
replaced by these options, and the command receives the value that they make.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from twinwl.cli.help import READING, Command
from twinwl.errors import TwinWLError
from twinwl.graphs.atom_labels import ATOM_LABELLINGS, IDENTITY_ATOMS, LADDER, MODEL_ATOMS
from twinwl.isomorphism import READOUTS

if TYPE_CHECKING:
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
    app.command(name, cls=_Command, help=summary, epilog=epilog, rich_help_panel=panel)(_expand(command))


class _Command(Command):
    """A subcommand whose help names what is in tables: ``{readouts}`` and so on in its epilog."""

    def format_help(self, *given: Any) -> None:  # noqa: ANN401  (of click or, in a later typer, its own copy)
        from twinwl.models.metrics import names_for  # noqa: PLC0415  (only help needs it)

        self.epilog = (self.epilog or "").replace("{readouts}", ", ".join(READOUTS))
        self.epilog = self.epilog.replace("{atoms}", _summaries(CHOICES["atoms"]))
        for task, targets in (("classification", "classes"), ("regression", "numbers")):
            every, choosable = names_for(task), names_for(task, choosable=True)
            self.epilog = self.epilog.replace(f"{{metrics of {targets}}}", ", ".join(every))
            self.epilog = self.epilog.replace(f"{{scorings of {targets}}}", ", ".join(choosable))
        super().format_help(*given)


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
    def run(**given: Any) -> None:  # noqa: ANN401  (whatever options there are)
        for name, (kind, names) in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in names}).value()
        command(**given)

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

    def check(given: Any) -> Any:  # noqa: ANN401  (as in typer)
        from twinwl.arguments import MARKED_WL, checked, one_of  # noqa: PLC0415  (keeps --help fast)

        more = [MARKED_WL] if option == "readout" else []
        for value in [] if given is None else given.split(",") if several else [given]:
            checked(name or "--" + option.replace("_", "-"), value.strip(), one_of(*CHOICES[option]), *more)
        return given

    return check


def _names_of_readouts(given: list[str] | None) -> list[str]:
    """Return the readouts that are named, in options of their own or with commas between."""
    names = [name.strip() for text in given or [] for name in text.split(",")]
    return [among("readout")(name) for name in names]  # typer 0.16 fails where None comes back for a list


def number_or(option: str, word: str, low: int) -> Callable[[Any], Any]:
    """Return a callback that accepts a word, or an integer of at least ``low``."""

    def check(given: str | None) -> int | str | None:
        if given is None or given == word:
            return given
        if given.isdecimal() and int(given) >= low:
            return int(given)
        raise TwinWLError(f"{option}: got {given!r}, expected an integer of at least {low} or {word!r}")

    return check


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


OUTPUT = ("FILE", "--output", "-o")
_TABLES = ".csv, .tsv, .json, .jsonl or .parquet"

Data = Annotated[str, arg("DATA", "A data set, or a file of graphs.")]
ModelFile = Annotated[Path, arg("MODEL", "A file written by twinwl train.")]
NewModelFile = Annotated[Path, opt("File to write, for example model.twinwl.", *OUTPUT)]
TableFile = Annotated[Path | None, opt(f"Also write a table: {_TABLES}.", *OUTPUT)]
Html = Annotated[Path | None, opt("Also write an HTML page, in one file.", "FILE")]
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
        "The one of two classes that PR-AUC and thresholds are about. \\[default: 1, active, yes, +, true, "
        "else the last by name]",
        "CLASS",
    ),
]
Task = Annotated[str, choice("task", "Predict classes or numbers; auto decides by the targets.")]
Scoring = Annotated[
    str | None,
    opt("Metric that chooses configurations, rounds, C or the epoch. \\[default: accuracy or rmse]", "NAME"),
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
        "Use edge labels, or ignore them. \\[default: tests of identity use them, models ignore them]",
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
        opt("A parameter of the method (twinwl methods NAME); may be repeated.", "KEY=VALUE", "--set"),
    ] = None

    def value(self) -> dict[str, Any]:
        """Return them as estimators take them.

        >>> SettingFlags(["n-iter=2,3", "hops=growing", "refit=true", "scoring=none"]).value()
        {'n_iter': [2, 3], 'hops': 'growing', 'refit': True, 'scoring': None}
        """
        found = {}
        for text in self.settings or ():
            key, equals, value = text.partition("=")
            if not equals:
                raise TwinWLError(f"--set: got {text!r}, expected KEY=VALUE, such as n_iter=3")
            found[key.strip().replace("-", "_")] = _setting(value.strip())
        return found


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
