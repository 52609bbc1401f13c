"""Arguments and options that several subcommands have in common, each defined once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeAlias, get_type_hints

import typer

__all__ = [
    "CHOICES",
    "DataDir",
    "EdgeLabels",
    "IgnoreFeatures",
    "ModelFile",
    "Readouts",
    "among",
    "reads_data",
]

P = ParamSpec("P")

# What may be written for options whose own modules are too heavy to be asked before anything else is checked.
CHOICES = {
    "features": ("size", "count", "joint"),
    "initial": ("label", "degree"),
    "readout": ("size", "edges", "degrees", "wl", "rooted-wl", "rooted-fwl2", "canonical"),
    "root_mark": ("none", "root", "distance"),
}


def among(option: str) -> Callable[[Any], Any]:
    """Return what refuses values of an option that are none of its `CHOICES`."""

    def check(given: Any) -> Any:  # noqa: ANN401  (as typer has it)
        from twinwl.arguments import checked, one_of  # noqa: PLC0415  (the help page must not pay for it)

        flag = "--" + option.replace("_", "-")
        for value in given if isinstance(given, list) else [] if given is None else [given]:
            checked(flag, value, one_of(*CHOICES[option]))
        return given

    return check


ModelFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="What twinwl train wrote.", show_default=False)
]
DataDir: TypeAlias = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where data sets are.")]
IgnoreFeatures: TypeAlias = Annotated[
    bool,
    typer.Option("--ignore-features", help="Take graphs with continuous node features as if they had none."),
]
EdgeLabels: TypeAlias = Annotated[bool, typer.Option("--edge-labels", help="Let edge labels take part.")]
Readouts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="What to look at in a rooted subgraph; may be repeated. \\[default: size]",
        callback=among("readout"),
    ),
]

_PANEL = "Reading data"


def _option(metavar: str, text: str) -> Any:  # noqa: ANN401  (as typer has it)
    return typer.Option(metavar=metavar, help=text, rich_help_panel=_PANEL)


# The options of every command that reads data, with the same meaning in all of them.
_READING: dict[str, tuple[Any, Any]] = {
    "target": (
        Annotated[str | None, _option("COL", "Column of a table, or property in an .sdf, with the targets.")],
        None,
    ),
    "smiles_column": (Annotated[str | None, _option("COL", "Column of a table with the SMILES.")], None),
    "on_error": (
        Annotated[str, _option("skip|fail", "Leave out rows that cannot be read, with a count, or stop.")],
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
            _option("KIND", "What a file holds, where its ending does not say it: graph6, smiles, edges, …"),
        ],
        None,
    ),
    "data_dir": (Annotated[Path | None, _option("FOLDER", "Where data sets are.")], None),
}


def reads_data(command: Callable[P, None]) -> Callable[..., None]:
    """Give a command the options of reading data, which reach it as one parameter, ``reading``."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:  # noqa: ANN401  (whatever options there are)
        from twinwl.datasets.opening import Reading  # noqa: PLC0415  (the help page must not pay for it)

        reading = Reading(**{name: given.pop(name) for name in _READING})
        command(reading=reading, **given)  # type: ignore[call-arg, arg-type]

    hints = get_type_hints(command, localns={"Reading": object}, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "reading"
    ]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _READING.items()
    ]
    wrapped.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *more]}
    return wrapped
