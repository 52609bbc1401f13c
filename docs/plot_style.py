"""The look of all plots on the site: the colours that twinwl's own pages have."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
from cycler import cycler

from twinwl.report.drawing import FILLS

_ORDER = (0, 1, 3, 5, 4, 7, 6, 8, 2)  # yellow and grey, which are pale as lines, come last


def apply(_gallery: dict[str, Any], _file: str) -> None:
    """Set matplotlib's defaults before each example."""
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {message}\n"  # without paths
    mpl.rcdefaults()
    mpl.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=[FILLS[place] for place in _ORDER]),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#7a8594",
            "axes.titlesize": 12,
            "axes.axisbelow": True,
            "figure.figsize": (5.4, 3.4),
            "figure.dpi": 100,
            "savefig.dpi": 130,
            "font.size": 11,
            "lines.linewidth": 2.2,
            "lines.markersize": 7,
            "legend.frameon": False,
        }
    )
