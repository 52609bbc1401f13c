"""Arguments and options that several subcommands have in common, each defined once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeAlias, get_type_hints

import typer

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions

P = ParamSpec("P")

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


def long_help(docstring: str | None) -> str:
    r"""Return what follows the first line of a module's docstring, one line per paragraph, as typer needs it.

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


def choice(option: str, text: str, *names: str, metavar: str = "", panel: str | None = None) -> Any:  # noqa: ANN401  (as typer has it)
    """Return an option with one of its `CHOICES`; ``metavar`` if these are too long to be shown."""
    return typer.Option(
        *names,
        metavar=metavar or "|".join(CHOICES[option]),
        help=text,
        callback=among(option),
        rich_help_panel=panel,
    )


def file_option(text: str, *names: str) -> Any:  # noqa: ANN401  (as typer has it)
    """Return an option with a file; ``names`` if it is not named like the parameter."""
    return typer.Option(*names, metavar="FILE", help=text)


Device = Annotated[
    str | None,
    choice("device", "Where networks run: auto takes the first available of cuda, mps and cpu."),
]

Network: TypeAlias = Annotated[
    str | None,
    choice(
        "subgraph_network",
        "Network on rooted subgraphs: gin, gcn, gat, ppgn or deepsets. \\[default: gin]",
        "--subgraph-network",
        metavar="NAME",
        panel="NTwin",
    ),
]

OUTPUT = ("--output", "-o")
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ModelFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file written by twinwl train.", show_default=False)
]
DataDir: TypeAlias = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of data sets.")]
EngineName: TypeAlias = Annotated[
    str, choice("engine", "Where to run: processes on this machine, or a Ray cluster.", "--engine")
]
Address: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Running Ray cluster. \\[default: start Ray on this machine]"),
]
IgnoreFeatures: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ignore-attributes",
        help="Ignore continuous node attributes, which are refused (or used by some methods) otherwise.",
    ),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="The one of two classes that PR-AUC and thresholds are about. \\[default: 1, active, yes, +, "
        "true, else the last by name]",
    ),
]
Task: TypeAlias = Annotated[str, choice("task", "Predict classes or numbers; auto decides by the targets.")]
Balanced: TypeAlias = Annotated[
    bool, typer.Option("--balanced", help="Give every class the same weight (classification).")
]
SeedOfModel: TypeAlias = Annotated[int, typer.Option(min=0, help="The same seed gives the same model.")]
NewModelFile: TypeAlias = Annotated[Path, file_option("File to write, for example model.twinwl.", *OUTPUT)]
EdgeLabels: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--edge-labels/--no-edge-labels",
        help="Use edge labels, or ignore them. \\[default: tests of identity use them, models ignore them]",
    ),
]
Readouts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Readout of rooted subgraphs; may be repeated. \\[default: size]",
        callback=_names_of_readouts,
    ),
]
ReadoutsOfFeatures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--readout",
        metavar="NAME,…",
        help="Count nodes by colour and these readouts (joint features). \\[default: size]",
        callback=_names_of_readouts,
        rich_help_panel="STwin",
    ),
]

_PANEL = "Reading data"


def _option(metavar: str, text: str) -> Any:  # noqa: ANN401  (as typer has it)
    return typer.Option(metavar=metavar, help=text, rich_help_panel=_PANEL)


# Options of every command that reads data.
_READING: dict[str, tuple[Any, Any]] = {
    "target": (
        Annotated[
            str | None,
            _option(
                "COL", "Column of a table, or property in an .sdf, with the targets; several: a,b,c or all."
            ),
        ],
        None,
    ),
    "smiles_column": (Annotated[str | None, _option("COL", "Column of a table with the SMILES.")], None),
    "on_error": (
        Annotated[str, _option("skip|fail", "Skip and count rows that cannot be read, or stop.")],
        "skip",
    ),
    "node_label": (
        Annotated[str | None, _option("ATTR", "Attribute with the node labels (GraphML, GML, JSON).")],
        None,
    ),
    "edge_label": (
        Annotated[
            str | None, _option("ATTR", "Attribute with the edge labels (GraphML, GML, JSON, edge lists).")
        ],
        None,
    ),
    "kind": (
        Annotated[
            str | None,
            _option("KIND", "Format of a file, if its ending does not say: graph6, smiles, edges, …"),
        ],
        None,
    ),
    "data_dir": (Annotated[Path | None, _option("FOLDER", "Where data sets are.")], None),
}


_LADDER = (
    "skeleton (element, bond type), constitution (also charge, hydrogens, radicals), isotope, stereo; "
    "each includes the ones before"
)
# The level of molecule labels, as an option with the name that fits the command, and its default.
_LEVELS: dict[str, tuple[Any, str]] = {
    "atoms": (
        Annotated[
            str | None,
            choice(
                "atoms",
                f"What the atom labels of molecules contain: {_LADDER}; or ecfp (as in Morgan fingerprints: "
                "degree, hydrogens, charge, mass, ring). \\[default: ecfp]",
                metavar="LEVEL",
                panel=_PANEL,
            ),
        ],
        "ecfp",  # better than the others on scaffold splits: benchmarks/molecules.py
    ),
    "same": (
        Annotated[
            str | None,
            choice(
                "same",
                f"Which differences between molecules count: {_LADDER}. \\[default: constitution]",
                metavar="LEVEL",
                panel=_PANEL,
            ),
        ],
        "constitution",
    ),
}


# Options of the commands that encode graphs as STwin features.
_ENCODING: dict[str, tuple[Any, Any]] = {
    "n_iter": (Annotated[int, typer.Option(min=0, help="Rounds of twin passing.")], 3),
    "features": (
        Annotated[
            str,
            choice(
                "features",
                "size: sums of rooted sizes by colour; count: plain WL; joint: counts of (colour, readout).",
                metavar="KIND",
            ),
        ],
        "size",
    ),
    "readout": (ReadoutsOfFeatures, None),
    "edge_labels": (EdgeLabels, None),
    "initial": (Annotated[str, choice("initial", "Colours of round 0.")], "label"),
    "min_df": (Annotated[int, typer.Option(min=1, help="Drop columns that occur in fewer graphs.")], 1),
    "max_features": (
        Annotated[int | None, typer.Option(min=1, help="Keep the most frequent columns only.")],
        None,
    ),
}


def checked_readouts(given: list[str] | None, features: str | None) -> str | list[str]:
    """Return readouts as estimators take them; refuse them for features that do not count by them.

    >>> checked_readouts(["edges", "wl"], "joint"), checked_readouts(["wl"], "joint")
    (['edges', 'wl'], 'wl')
    """
    names = given or ["size"]
    if set(names) != {"size"} and features != "joint":
        from twinwl.errors import TwinWLError  # noqa: PLC0415  (keeps --help fast)

        kind = "the default features" if features is None else f"--features {features}"
        raise TwinWLError(
            f"--readout {','.join(names)} cannot be used with {kind}, which count no readouts; "
            "use --features joint"
        )
    return names[0] if len(names) == 1 else names


def reads_data(command: Callable[P, None], level: str | None = None) -> Callable[..., None]:
    """Add the options for reading data to a command, which receives them as one parameter, ``reading``.

    Parameters
    ----------
    command
        It has a parameter ``reading``.
    level
        Name of its option for the level of molecule labels: ``"atoms"``, ``"same"``, or None for no option.
    """
    options = dict(_READING)
    if "jobs" not in inspect.signature(command).parameters:  # evaluate's processes also read molecules
        options["jobs"] = (
            Annotated[
                int, typer.Option(min=1, help="Processes that read molecules.", rich_help_panel=_PANEL)
            ],
            1,
        )
    if level is not None:
        options[level] = (_LEVELS[level][0], None)

    def make(asked: dict[str, Any], own: dict[str, Any]) -> ReadOptions:
        from twinwl.datasets.formats import ReadOptions  # noqa: PLC0415  (keeps --help fast)

        asked["n_jobs"] = asked.pop("jobs") if "jobs" in asked else own["jobs"]
        if level is not None:
            asked |= {"atoms": asked.pop(level), "usual_atoms": _LEVELS[level][1]}
        return ReadOptions(**asked)

    return gathered(command, "reading", options, make)


def encodes(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of features to a command, which receives them as one parameter, ``encoding``."""

    def make(asked: dict[str, Any], _own: dict[str, Any]) -> dict[str, Any]:
        if asked["edge_labels"] is None:  # the estimator's default, which warns of labels that it ignores
            del asked["edge_labels"]
        return asked | {"readout": checked_readouts(asked["readout"], asked["features"])}

    return gathered(command, "encoding", _ENCODING, make)


def gathered(
    command: Callable[P, None],
    into: str,
    options: Mapping[str, tuple[Any, Any]],
    make: Callable[[dict[str, Any], dict[str, Any]], object],
) -> Callable[..., None]:
    """Add options to a command, which receives what is made of them as one parameter.

    Parameters
    ----------
    command
        It has a parameter of the name ``into``.
    options
        Annotation and default by name.
    make
        From the values of these options and the other arguments of the command to that parameter.
    """

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:  # noqa: ANN401  (whatever options there are)
        asked = {name: given.pop(name) for name in options}
        command(**{into: make(asked, given)}, **given)  # type: ignore[call-arg, arg-type]

    hints = get_type_hints(command, localns={"ReadOptions": object}, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != into
    ]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    wrapped.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *more]}
    return wrapped
