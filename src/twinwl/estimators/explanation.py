"""Explanation: each node's share of a decision, and the columns that matter most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from twinwl.estimators.trees import RootedTree, shown

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch

_NODES_LISTED = 10
_BONDS = {"single", "double", "triple", "aromatic"}  # the edge labels of molecules


@dataclass(frozen=True, eq=False)
class ColumnShare:
    """A column's share of a decision.

    Attributes
    ----------
    name : str
        As the vectorizer names it, ``h2:c17``.
    share : float
        What it adds to the decision; a positive share is for the first of `Explanation.sides`.
    value : float
        The graph's value in this column.
    tree : RootedTree
        The neighbourhood of the nodes counted here.
    nodes : tuple of int
        The nodes of the graph that are counted.
    """

    name: str
    share: float
    value: float
    tree: RootedTree
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of a prediction for one graph.

    Attributes
    ----------
    graph : GraphBatch
        The graph, a batch of one.
    prediction, against : class labels
        The predicted class, and the class it is compared with. For a regressor, the number and None.
    decision : float
        The decision value that the shares explain; for a regressor, the number.
    intercept : float
        The part of the decision that depends on no node.
    node_shares : array of float64, shape (n_nodes,)
        What each node adds to the decision as the root of the trees that are counted: a column's share is
        split among the nodes of its colour, by their rooted sizes where the features are sums of those.
    columns : tuple of ColumnShare
        The columns with the largest absolute shares.
    method : str
        How the shares were computed, as text.
    target : str or None
        Name of the number that a regressor predicts, if it is known.
    positive : class label or None
        The class that positive shares are for, as set by `towards`; None is the predicted one.
    """

    graph: GraphBatch
    prediction: object
    against: object
    decision: float
    intercept: float
    node_shares: Float64
    columns: tuple[ColumnShare, ...]
    method: str
    target: str | None = None
    positive: object = None

    @property
    def predicted(self) -> str:
        """The prediction as text."""
        return f"{self.prediction:.4g}" if self.against is None else str(self.prediction)

    @property
    def verdict(self) -> str:
        """The prediction as text: ``"active rather than inactive"``, or a number."""
        return self.predicted + ("" if self.against is None else f" rather than {self.against}")

    @property
    def subject(self) -> str:
        """What the number is called, for headlines: ``"logS: "``; empty for classes, or without a name."""
        return f"{self.target}: " if self.target is not None and self.against is None else ""

    @property
    def sides(self) -> tuple[str, str]:
        """The meaning of positive and of negative shares, as text."""
        if self.against is None:
            name = self.target or "number"
            return f"a higher {name}", f"a lower {name}"
        sides = str(self.prediction), str(self.against)
        return sides if self.positive in {None, self.prediction} else sides[::-1]

    def towards(self, positive: object) -> Explanation:
        """Return the same explanation, with positive shares for a class that is one of the two compared."""
        if self.against is None or positive not in {self.prediction, self.against}:
            return self
        sign = 1 if str(positive) == self.sides[0] else -1
        return replace(
            self,
            decision=sign * self.decision,
            intercept=sign * self.intercept,
            node_shares=sign * self.node_shares,
            columns=tuple(replace(column, share=sign * column.share) for column in self.columns),
            positive=positive,
        )

    def __str__(self) -> str:
        labels = self.graph.labels_of_nodes()
        order = np.argsort(-np.abs(self.node_shares), kind="stable")[:_NODES_LISTED].tolist()
        decision = f"decision {self.decision:+.3f}, intercept {self.intercept:+.3f}"
        bonds = self.graph.edge_vocabulary
        noun = "atom" if bonds and _BONDS.issuperset(bonds) else "node"
        lines = [
            f"{self.verdict}: {decision} ({self.method})",
            f"{noun}s:",
            *(f"  {self.node_shares[node]:+.3f}  {noun} {node} ({shown(labels[node])})" for node in order),
            "columns:",
        ]
        for column in self.columns:
            lines.append(f"  {column.share:+.3f}  {column.name} = {column.value:g}")
            lines += [f"          {line}" for line in str(column.tree).splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import explanation_html  # noqa: PLC0415  (matplotlib, on demand)

        return explanation_html(self)

    def draw(self, target: str | Path | Axes, molecule: object = None) -> None:
        """Draw the graph with its nodes shaded: red is for the first of ``sides``, blue for the second.

        Parameters
        ----------
        target
            A file to write (.png, .svg or .pdf), or matplotlib axes to draw on.
        molecule
            SMILES or RDKit molecule to draw as a structural formula, atoms in the order of the nodes.
        """
        from twinwl.report.explain.picture import draw_explanation  # noqa: PLC0415  (matplotlib, on demand)

        draw_explanation(self, target, molecule)
