"""How much a quotient saves: pairs against colours, layer by layer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["QuotientStatistics"]


class QuotientStatistics(NamedTuple):
    """Figures of a quotient, one entry per layer from layer 1 on; printed, it is a table.

    Attributes
    ----------
    hops : tuple of int
        Radius of the rooted subgraphs.
    n_pairs : tuple of int
        Rows without the quotient: (root, node) pairs.
    n_colours : tuple of int
        Rows with it.

    Examples
    --------
    >>> QuotientStatistics(hops=(3,), n_pairs=(1200,), n_colours=(100,)).compression
    (12.0,)
    """

    hops: tuple[int, ...]
    n_pairs: tuple[int, ...]
    n_colours: tuple[int, ...]

    @property
    def compression(self) -> tuple[float, ...]:
        """Pairs a colour."""
        return tuple(
            pairs / max(1, colours) for pairs, colours in zip(self.n_pairs, self.n_colours, strict=True)
        )

    def __str__(self) -> str:
        head = ("layer", "hops", "pairs", "colours", "compression")
        rows = [
            (str(layer), str(hops), f"{pairs:,}", f"{colours:,}", f"{ratio:.1f}")
            for layer, (hops, pairs, colours, ratio) in enumerate(
                zip(self.hops, self.n_pairs, self.n_colours, self.compression, strict=True), start=1
            )
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in [head, *rows]
        )
