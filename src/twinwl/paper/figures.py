"""The paper's four figures as files: each one SVG that needs nothing else, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write
from twinwl.paper.architecture_figure import architecture_figure
from twinwl.paper.case_study_figure import case_figure
from twinwl.paper.example_figures import rounds_figure, trees_figure
from twinwl.report.drawing.svg import standalone

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.datasets.dataset import Dataset

__all__ = ["write_figures"]


def write_figures(folder: Path, mutagenicity: Dataset | None = None) -> list[Path]:
    """Write the figures into a folder, which is created; return the files.

    Parameters
    ----------
    folder
        Where.
    mutagenicity
        The data set of the case study; without it that figure is left out.

    Raises
    ------
    TwinWLError
        If a file cannot be written.
    """
    drawn = {
        "figure-1-label-and-identity-trees": trees_figure(),
        "figure-2-worked-example": rounds_figure(),
        "figure-3-ntwin": architecture_figure(),
    }
    if mutagenicity is not None:
        drawn["figure-4-case-study"] = case_figure(mutagenicity)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, canvas in drawn.items():
            path = folder / f"{name}.svg"
            with atomic_write(path) as stream:
                stream.write(standalone(canvas).encode())
            written.append(path)
    except OSError as error:
        raise TwinWLError(f"cannot write figures to {str(folder)!r}: {error.strerror or error}") from error
    return written
