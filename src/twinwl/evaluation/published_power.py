"""Published figures on BREC, with their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from twinwl.evaluation.power import Power

_WANG = "Wang and Zhang, An Empirical Study of Realized GNN Expressiveness, ICML 2024, table 2"
_FENG = (
    "Feng et al., Extending the Design Space of Graph Neural Networks by Rethinking Folklore "
    "Weisfeiler-Lehman, NeurIPS 2023, abstract (71.8 %)"
)
_ALL = 400


class Published(NamedTuple):
    """Pairs of BREC told apart, by category of the paper; None where the source has only the total."""

    method: str
    basic: int | None
    regular: int | None
    extension: int | None
    cfi: int | None
    total: int
    source: str


PUBLISHED = (
    Published("3-WL", 60, 50, 100, 60, 270, _WANG),
    Published("SPD-WL", 16, 14, 41, 12, 83, _WANG),
    Published("NGNN", 59, 48, 59, 0, 166, _WANG),
    Published("SUN", 60, 50, 100, 13, 223, _WANG),
    Published("KP-GNN", 60, 106, 98, 11, 275, _WANG),
    Published("I²-GNN", 60, 100, 100, 21, 281, _WANG),
    Published("PPGN", 60, 50, 100, 23, 233, _WANG),
    Published("δ-k-LGNN", 60, 50, 100, 6, 216, _WANG),
    Published("GSN", 60, 99, 95, 0, 254, _WANG),
    Published("Graphormer", 16, 12, 41, 10, 79, _WANG),
    Published("N²-GNN", None, None, None, None, 287, _FENG),
)


def published_for(power: Power) -> tuple[Published, ...]:
    """Return the published figures, if a result is about all pairs of BREC.

    >>> from twinwl.evaluation.power import Power
    >>> published_for(Power("csl", {"41 nodes": 45}, 16, (), []))
    ()
    """
    return PUBLISHED if power.suite == "brec" and power.n_pairs == _ALL else ()
