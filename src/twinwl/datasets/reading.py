"""The options for reading a source, of `load_dataset` and of every subcommand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from twinwl.arguments import FLAG, JOBS, PATH, Constraint, checked, items, one_of
from twinwl.arguments import NAME as SOME_NAME
from twinwl.datasets.kinds import KINDS
from twinwl.graphs.atom_labels import ATOMS, AtomLevel

if TYPE_CHECKING:
    from pathlib import Path


def _names(value: object) -> tuple[str, ...]:
    names = tuple(SOME_NAME.accept(name) for name in items("target", value, "names of columns"))
    if not names:
        raise ValueError
    return names


_SEVERAL = Constraint("a list of such names", _names)


@dataclass(frozen=True)
class Reading:
    """The options of `load_dataset` and of every subcommand for reading a source."""

    kind: str | None = None
    target: str | tuple[str, ...] | None = None
    """Column of the targets. Several: a tuple, names joined by commas, or ``"all"``."""
    not_targets: tuple[str, ...] = ()
    """Columns that ``target="all"`` leaves out, because they say how to split."""
    smiles_column: str | None = None
    on_error: str = "skip"
    node_label: str | None = None
    edge_label: str | None = None
    data_dir: str | Path | None = None
    progress: bool | None = None
    atoms: str | None = None
    """Content of the labels of molecules; None means ``usual_atoms``."""
    usual_atoms: AtomLevel = "skeleton"
    n_jobs: int | None = None
    """Processes that read molecules."""

    def __post_init__(self) -> None:
        for option in ("smiles_column", "node_label", "edge_label"):
            checked(option, getattr(self, option), SOME_NAME, None)
        object.__setattr__(self, "target", checked("target", self.target, SOME_NAME, _SEVERAL, None))
        checked("kind", self.kind, one_of(*KINDS), None)
        checked("on_error", self.on_error, one_of("skip", "fail"))
        checked("data_dir", self.data_dir, PATH, None)
        checked("progress", self.progress, FLAG, None)
        checked("atoms", self.atoms, ATOMS, None)
        checked("n_jobs", self.n_jobs, JOBS, None)

    @property
    def level(self) -> AtomLevel:
        """Content of the labels of molecules."""
        return cast("AtomLevel", self.atoms or self.usual_atoms)
