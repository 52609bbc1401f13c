"""Arguments and options that several subcommands have in common, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "DataDir",
    "EdgeLabel",
    "EdgeLabels",
    "IgnoreFeatures",
    "ModelFile",
    "NodeLabel",
    "OnError",
    "Readouts",
    "SmilesColumn",
    "Target",
]

ModelFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="What twinwl train wrote.", show_default=False)
]
DataDir: TypeAlias = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where data sets are.")]
SmilesColumn: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of a .csv with the SMILES.")
]
Target: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of a .csv with the classes.")
]
OnError: TypeAlias = Annotated[
    str, typer.Option(metavar="skip|fail", help="What to do about SMILES that cannot be read.")
]
NodeLabel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ATTR", help="Attribute with the node labels (GraphML, GML, JSON).")
]
EdgeLabel: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="ATTR", help="Attribute with the edge labels (GraphML, GML, JSON, edge lists)."),
]
IgnoreFeatures: TypeAlias = Annotated[
    bool,
    typer.Option("--ignore-features", help="Take graphs with continuous node features as if they had none."),
]
EdgeLabels: TypeAlias = Annotated[bool, typer.Option("--edge-labels", help="Let edge labels take part.")]
Readouts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="What to look at in a rooted subgraph; may be repeated. \\[default: size]"
    ),
]
