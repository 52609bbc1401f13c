"""Arguments and options that several subcommands have in common, each declared once.

`add` makes a subcommand of a function: the first line of its docstring is the help, and what follows, or
what follows the first line of its module's docstring, the epilog. `bundled` replaces a parameter of the
function by the options of another function that makes its value.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions

# Values of options, repeated here so that they can be checked before the slow modules that define them are
# loaded.
CHOICES = {
    "device": ("auto", "cpu", "cuda", "mps"),
    "atoms": ("skeleton", "constitution", "isotope", "stereo", "ecfp"),
    "engine": ("local", "ray"),
    "features": ("size", "count", "joint"),
    "initial": ("label", "degree", "ring"),
    "kernel_approximation": ("nystroem",),
    "subgraph_network": ("gin", "gcn", "gat", "ppgn", "deepsets"),
    "readout": (
        *("size", "edges", "degrees", "wl", "rooted-wl", "marked-wl-1", "rooted-fwl2"),
        *("marked-wl-2", "marked-wl-3", "canonical"),
    ),
    "root_mark": ("none", "root", "distance"),
    "same": ("skeleton", "constitution", "isotope", "stereo"),
    "split": ("stratified", "scaffold"),
    "task": ("auto", "classification", "regression"),
}


def add(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Make a function a subcommand."""
    epilog = long_help(command.__doc__) or long_help(sys.modules[command.__module__].__doc__)
    app.command(name, help=(command.__doc__ or "").partition("\n")[0], epilog=epilog)(command)


def long_help(docstring: str | None) -> str:
    r"""Return what follows the first line of a docstring, one line per paragraph, as typer needs it.

    >>> long_help("One line.\n\nTwo\nlines.\n")
    'Two lines.'
    """
    paragraphs = (docstring or "").split("\n\n")[1:]
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def among(option: str) -> Callable[[Any], Any]:
    """Return a callback that refuses values of an option that are not in its `CHOICES`."""

    def check(given: Any) -> Any:  # noqa: ANN401  (as in typer)
        from twinwl.arguments import MARKED_WL, checked, one_of  # noqa: PLC0415  (keeps --help fast)

        more = [MARKED_WL] if option == "readout" else []
        if given is not None:
            checked("--" + option.replace("_", "-"), given, one_of(*CHOICES[option]), *more)
        return given

    return check


def _names_of_readouts(given: list[str] | None) -> list[str]:
    """Return the readouts that are named, in options of their own or with commas between."""
    names = [name.strip() for text in given or [] for name in text.split(",")]
    return [among("readout")(name) for name in names]  # typer 0.16 fails where None comes back for a list


def opt(text: str, metavar: str | None = None, *names: str, panel: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Return an option; ``names`` if it is not named like the parameter."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


def choice(option: str, text: str, metavar: str = "", *names: str, panel: str | None = None) -> Any:  # noqa: ANN401
    """Return an option with one of its `CHOICES`; ``metavar`` if these are too long to be shown."""
    return opt(text, metavar or "|".join(CHOICES[option]), *names, panel=panel, callback=among(option))


def arg(metavar: str, text: str) -> Any:  # noqa: ANN401
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


Reading: TypeAlias = "ReadOptions"
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
Network = Annotated[
    str | None,
    choice(
        "subgraph_network",
        "Network on rooted subgraphs: gin, gcn, gat, ppgn or deepsets. \\[default: gin]",
        "NAME",
        "--subgraph-network",
        panel="NTwin",
    ),
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
Balanced = Annotated[bool, opt("Give every class the same weight (classification).", None, "--balanced")]
Refit = Annotated[bool, opt("Train networks again on all graphs once the epoch is chosen.", None, "--refit")]
Scoring = Annotated[
    str | None,
    opt("Metric that chooses configurations, rounds, C or the epoch. \\[default: accuracy or rmse]", "NAME"),
]
Proba = Annotated[bool, opt("Add the probability of each class (classifiers).", None, "--proba")]
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
ReadoutsOfFeatures = Annotated[
    list[str] | None,
    opt(
        "Count nodes by colour and these readouts (joint features). \\[default: size]",
        "NAME,…",
        "--readout",
        callback=_names_of_readouts,
        panel="STwin",
    ),
]

_PANEL = "Reading data"
_LADDER = (
    "skeleton (element, bond type), constitution (also charge, hydrogens, radicals), isotope, stereo; "
    "each includes the ones before"
)
_ATOMS = Annotated[
    str | None,
    choice(
        "atoms",
        f"What the atom labels of molecules contain: {_LADDER}; or ecfp (as in Morgan fingerprints: degree, "
        "hydrogens, charge, mass, ring). \\[default: ecfp]",
        "LEVEL",
        panel=_PANEL,
    ),
]
_SAME = Annotated[
    str | None,
    choice(
        "same",
        f"Which differences between molecules count: {_LADDER}. \\[default: constitution]",
        "LEVEL",
        panel=_PANEL,
    ),
]
# ecfp is better on scaffold splits: benchmarks/molecules.py
_LEVELS = {"atoms": (_ATOMS, "ecfp"), "same": (_SAME, "constitution")}


def _read(text: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    return opt(text, metavar, panel=_PANEL, **more)


def reading(
    target: Annotated[str | None, _read("Column of the targets; several: a,b,c or all.", "COL")] = None,
    smiles_column: Annotated[str | None, _read("Column of a table with the SMILES.", "COL")] = None,
    on_error: Annotated[str, _read("Skip and count unreadable rows, or stop.", "skip|fail")] = "skip",
    node_label: Annotated[str | None, _read("Attribute with the node labels.", "ATTR")] = None,
    edge_label: Annotated[str | None, _read("Attribute with the edge labels.", "ATTR")] = None,
    kind: Annotated[str | None, _read("Format, if the ending does not tell: graph6, …", "KIND")] = None,
    data_dir: Annotated[Path | None, _read("Where data sets are.", "FOLDER")] = None,
    jobs: Annotated[int | None, _read("Processes that read molecules.", min=1)] = 1,
    **level: str | None,
) -> ReadOptions:
    """Return the options of every command that reads data; ``level`` is ``atoms`` or ``same``."""
    from twinwl.datasets.formats import ReadOptions  # noqa: PLC0415  (keeps --help fast)

    molecules: dict[str, Any] = {}
    for name, value in level.items():
        molecules = {"atoms": value, "usual_atoms": _LEVELS[name][1]}
    return ReadOptions(
        kind,
        target,
        smiles_column=smiles_column,
        on_error=on_error,
        node_label=node_label,
        edge_label=edge_label,
        data_dir=data_dir,
        n_jobs=jobs,
        **molecules,
    )


def encoding(
    n_iter: Annotated[int, opt("Rounds of twin passing.", min=0)] = 3,
    features: Annotated[
        str,
        choice(
            "features",
            "size: sums of rooted sizes by colour; count: plain WL; joint: counts of (colour, readout).",
            "KIND",
        ),
    ] = "size",
    readout: ReadoutsOfFeatures = None,
    edge_labels: EdgeLabels = None,
    initial: Annotated[str, choice("initial", "Colours of round 0.")] = "label",
    min_df: Annotated[int, opt("Drop columns that occur in fewer graphs.", min=1)] = 1,
    max_features: Annotated[int | None, opt("Keep the most frequent columns only.", min=1)] = None,
) -> dict[str, Any]:
    """Return the parameters of STwin features."""
    found: dict[str, Any] = {"n_iter": n_iter, "features": features, "initial": initial, "min_df": min_df}
    if edge_labels is not None:  # the estimator's default warns of labels that it ignores
        found["edge_labels"] = edge_labels
    return found | {"max_features": max_features, "readout": checked_readouts(readout, features)}


def checked_readouts(given: list[str] | None, features: str | None) -> str | list[str]:
    """Return readouts as estimators take them; refuse them for features that do not count by them.

    >>> checked_readouts(["edges", "wl"], "joint"), checked_readouts(["wl"], "joint")
    (['edges', 'wl'], 'wl')
    """
    names = given or ["size"]
    if set(names) != {"size"} and features != "joint":
        kind = "the default features" if features is None else f"--features {features}"
        raise TwinWLError(
            f"--readout {','.join(names)} cannot be used with {kind}, which count no readouts; "
            "use --features joint"
        )
    return names[0] if len(names) == 1 else names


def bundled(
    *makers: Callable[..., Any], level: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter named like each maker by the maker's own parameters, as options.

    Options that the command has too are passed to both. ``level`` names the option for labels of molecules.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = _parameters(command)
        added = {maker.__name__: _parameters(maker) for maker in makers}
        if level is not None:
            kind = inspect.Parameter.KEYWORD_ONLY
            option = inspect.Parameter(level, kind, default=None, annotation=_LEVELS[level][0])
            added["reading"][level] = option

        @functools.wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401  (whatever options there are)
            made = {}
            for maker in makers:
                names = added[maker.__name__]
                made[maker.__name__] = maker(
                    **{name: given[name] if name in own else given.pop(name) for name in names}
                )
            command(**given, **made)

        options = own | {
            name: parameter
            for parameters in added.values()
            for name, parameter in parameters.items()
            if name not in own
        }
        kept = [option for name, option in options.items() if name not in added]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in kept}
        return run

    return decorate


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(function, localns={"ReadOptions": object}, include_extras=True)
    return {
        name: parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
