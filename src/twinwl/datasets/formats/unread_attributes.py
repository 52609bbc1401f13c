"""The warning about attributes of a file that are not read because they were not named.

Labels are read only if they are named, in the library and on the command line, so that a file always gives
the same graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.errors import shown, warn_caller
from twinwl.graphs.weights import WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What only tells nodes and edges apart; weights have a warning of their own.
_NO_LABELS = {"node": {"id"}, "edge": {"id", "key", "source", "target", WEIGHT}}
_MOST_LISTED = 6


def warn_unread(
    nodes: Iterable[Mapping[str, object]],
    edges: Iterable[Mapping[str, object]],
    node_label: str | None,
    edge_label: str | None,
) -> None:
    """Warn about attributes of nodes if no node label was named, and of edges if no edge label was named.

    Parameters
    ----------
    nodes, edges
        The attributes of each.
    node_label, edge_label
        The attributes that were named.
    """
    lists, parameters = [], []
    for what, entries, named in (("node", nodes, node_label), ("edge", edges, edge_label)):
        found = sorted({str(key) for entry in entries for key in entry} - _NO_LABELS[what])
        if not found or named is not None:
            continue
        listed = ", ".join(map(shown, found[:_MOST_LISTED])) + (", …" if len(found) > _MOST_LISTED else "")
        lists.append(f"{what} attribute{'s' * (len(found) > 1)} {listed}")
        example = "label" if "label" in found else found[0]
        parameters.append(f'{what}_label="{example if example.isprintable() else "…"}"')
    if lists:
        warn_caller(
            f"did not read {' and '.join(lists)}; to read one as labels pass {' or '.join(parameters)}"
        )
