"""Cards: known figures of a data set, which are compared with the loaded data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from twinwl.arrays import Values
    from twinwl.graphs.batch import GraphBatch

ClassValue: TypeAlias = "int | float | str"


class CardError(TwinWLError):
    """The loaded data do not match the card of the data set."""


@dataclass(frozen=True, slots=True)
class Card:
    """The figures of a data set; None if a figure is not known in advance.

    Attributes
    ----------
    name, about : str
        Name, and a one-line description of the graphs and classes.
    n_graphs, n_nodes, n_edges, n_classes : int or None
        There are no classes if the targets are measurements.
    classes : tuple of (class, number of its graphs), or None
        Sorted by class.
    n_node_labels, n_edge_labels : int or None
        Number of different labels; 0 if there are none.
    n_isolated : int or None
        Nodes without an edge.
    digest : str or None
        `twinwl.datasets.dataset.content_digest` of the graphs, classes and groups.

    >>> CARDS["MUTAG"].n_graphs, CARDS["MUTAG"].classes
    (188, ((-1, 63), (1, 125)))
    """

    name: str
    about: str = ""
    n_graphs: int | None = None
    n_nodes: int | None = None
    n_edges: int | None = None
    n_classes: int | None = None
    classes: tuple[tuple[ClassValue, int], ...] | None = None
    n_node_labels: int | None = None
    n_edge_labels: int | None = None
    n_isolated: int | None = None
    digest: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the card as plain values, for JSON; classes become strings.

        >>> Card("X", n_graphs=2).as_dict()["n_graphs"]
        2
        """
        plain: dict[str, object] = {name: getattr(self, name) for name in ("name", "about", *_FIGURES)}
        if self.classes is not None:
            plain["classes"] = {str(value): count for value, count in self.classes}
        return plain


_FIGURES = {
    "n_graphs": "graphs",
    "n_nodes": "nodes",
    "n_edges": "edges",
    "n_classes": "classes",
    "classes": "graphs by class",
    "n_node_labels": "node labels",
    "n_edge_labels": "edge labels",
    "n_isolated": "isolated nodes",
}


def measure(name: str, graphs: GraphBatch, y: Values | None, about: str = "") -> Card:
    """Compute the card of a data set from its graphs and, if it has any, its classes.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> measure("tiny", GraphBatch.from_edges([[(0, 1)], []], num_nodes=[2, 1]), np.array([1, 0])).n_isolated
    1
    """
    several = y is not None and y.ndim > 1
    values, counts = np.unique(np.empty(0) if y is None or several else y, return_counts=True)
    measured = several or (values.dtype.kind == "f" and bool((values != np.floor(values)).any()))
    edge_codes = graphs.edge_labels
    return Card(
        name,
        about,
        n_graphs=len(graphs),
        n_nodes=graphs.n_nodes,
        n_edges=graphs.n_edges,
        n_classes=None if measured else len(values),
        classes=None if measured else tuple(zip(values.tolist(), counts.tolist(), strict=True)),
        n_node_labels=len(np.unique(graphs.node_labels)) if graphs.has_node_labels else 0,
        n_edge_labels=0 if edge_codes is None else len(np.unique(edge_codes)),
        n_isolated=int((np.diff(graphs.indptr) == 0).sum()),
    )


def check_card(card: Card, found: Card, where: str) -> Card:
    """Return the card with every figure filled in, or raise an error that lists the differences.

    Parameters
    ----------
    card
        The known figures.
    found
        The measured figures.
    where
        The file the data came from.

    Raises
    ------
    CardError
        If a figure differs; the message has the expected and the actual value of each. The digest is
        mentioned only if no other figure differs.

    >>> check_card(Card("X", n_graphs=2), Card("X", n_graphs=2, n_nodes=9), "X.zip").n_nodes
    9
    """
    differences = []
    for name, title in _FIGURES.items():
        expected, measured = getattr(card, name), getattr(found, name)
        if expected is not None and expected != measured:
            differences.append(f"{title}: {_shown(expected)} on the card, {_shown(measured)} in the file")
    if not differences and card.digest not in {None, found.digest}:
        differences = [f"the digest of its graphs and classes is {found.digest}, expected {card.digest}"]
    if differences:
        raise CardError(
            f"{where} is not the known data set {card.name}: {'; '.join(differences)}. "
            "Get it again, or give its path instead of its name if the difference is intended"
        )
    return replace(found, name=card.name, about=card.about or found.about)


def _shown(figure: object) -> str:
    if isinstance(figure, tuple):
        return ", ".join(f"{value}: {count:,}" for value, count in figure)
    return f"{figure:,}"


def _known(
    name: str,
    about: str,
    n_graphs: int,
    n_nodes: int | None = None,
    n_edges: int | None = None,
    counts: dict[int, int] | None = None,
    n_classes: int | None = None,
    labels: tuple[int, int, int] | tuple[None, None, None] = (None, None, None),
    digest: str | None = None,
) -> Card:
    """Build a card; ``labels`` are the numbers of node labels, edge labels and isolated nodes."""
    classes = None if counts is None else tuple(sorted(counts.items()))
    n_classes = n_classes if counts is None else len(counts)
    known = Card(name, about, n_graphs, n_nodes, n_edges, n_classes, classes, *labels)
    return replace(known, digest=digest)


# Where only graphs and classes are given, they are all that is certain without the file.
CARDS: dict[str, Card] = {
    card.name: card
    for card in [
        _known(
            "MUTAG", "nitro compounds: mutagenic or not",
            188, 3371, 3721, {-1: 63, 1: 125}, labels=(7, 4, 0),
            digest="b5b5741f8ab0b351e3097337e8d3cc5b7806ac3c4c02d900dc781a27e565b07f",
        ),
        _known(
            "PTC_MR", "compounds: carcinogenic in male rats or not",
            344, 4915, 5054, {-1: 192, 1: 152}, labels=(18, 4, 0),
            digest="ae0a386ec8d320483d1a1de27561ad28d646893ec7519bb1ae1ae23e1e63a8e6",
        ),
        _known(
            "Mutagenicity", "compounds: mutagenic (0) or not (1)",
            4337, 131_488, 133_447, {0: 2401, 1: 1936}, labels=(14, 3, 2401),
            digest="dc15b59f9a4fba545045285ee8c44a9d9b19a37df68bb3cac8a07cf954370d2c",
        ),
        _known(
            "NCI1", "compounds: active against lung cancer cells or not",
            4110, 122_747, 132_753, {0: 2053, 1: 2057}, labels=(37, 0, 428),
            digest="ea192d25a4117871a09c2cdf902e6cbe0111a471ea0ad0f00d956ec05f3034e5",
        ),
        _known(
            "NCI109", "compounds: active against ovarian cancer cells or not",
            4127, 122_494, 132_604, {0: 2048, 1: 2079}, labels=(38, 0, 474),
            digest="f08f6d20fff893085e11cd91ae50ae4230640883b531af0784a6eab781be3cbe",
        ),
        _known(
            "DD", "proteins as graphs of amino acids: enzyme or not",
            1178, 334_925, 843_046, {1: 691, 2: 487}, labels=(82, 0, 0),
            digest="0470a0fef217dab03a70d9be2f641686eec67c582bd69cc05c7687dd220961e9",
        ),
        _known(
            "IMDB-BINARY", "ego networks of actors: action or romance",
            1000, 19_773, 96_531, {0: 500, 1: 500}, labels=(0, 0, 0),
            digest="16fccd2352f0a1517780c032302cc81e520a0d828e855178bd3544db1911c330",
        ),
        _known(
            "EXP", "pairs of formulas that 1-WL cannot tell apart: satisfiable (1) or not (0)",
            1200, 53_336, 66_130, {0: 600, 1: 600}, labels=(2, 0, 0),
            digest="1447f8a33029b6e9a81d29a6cf9334c3a49dff3400f07cf94869eafea52a99b7",
        ),
        _known("CEXP", "EXP with half of its pairs changed so that 1-WL tells them apart", 1200, n_classes=2),
        _known("PROTEINS", "proteins as graphs of structure elements: enzyme or not", 1113, n_classes=2),
        _known("ENZYMES", "enzymes: which of the six top classes", 600, n_classes=6),
        _known("IMDB-MULTI", "ego networks of actors: comedy, romance or science fiction", 1500, n_classes=3),
        _known("REDDIT-BINARY", "threads: question and answer, or discussion", 2000, n_classes=2),
        _known("COLLAB", "ego networks of researchers: which field of physics", 5000, n_classes=3),
    ]
}  # fmt: skip
