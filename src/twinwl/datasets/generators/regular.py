"""All connected 4-regular graphs with ten nodes, which 1-WL cannot tell apart."""

from __future__ import annotations

from twinwl.graphs.batch import GraphBatch

# graph6, as nauty's ``geng -c -d4 -D4 10`` lists them.
_GRAPHS = r"""
    I?BvUqw]? I?betpw\? I?bejpwm? I?bc~`w]? I?ba~`wm? I?`rnRWm? I?rFf_{N? I?rDtps\? I?rDrqs\? I?qff`[N?
    I?qbupsl? I?qczro\? I?qa|ro\? I?qazrol? I?ovUqs\? I?ou\ro\? I?otZrS{? I?qvAtwl? I?qteXq]? I?qreYw[_
    I?qrdXqu? I?rL`xq{? I?qjbrQl? I?qjczo[_ I?qjayq{? I?o~Eew\? ICQffP[N? ICQfeo{Z? ICQfeW{]? ICQfdX[]?
    ICRbfQ[M_ ICRb`yiu? ICR`vGyu? ICR`uiwY_ ICR`tjWY_ ICR`riiu? ICR`szoY_ ICR`pzau? ICRVDXwM_ ICQvDT[]?
    ICQvCtk]? ICQuRiwY_ ICQrThiu? ICpdf_]Z? ICpdepkL_ ICpddpUZ? ICpdeXqN? ICpdcxqZ? ICpbdq[X_ ICpbfG{e_
    ICpbegyj? ICpdUg{[_ ICpbQysk_ ICXedW{s_ ICXedfKN? ICdedpkX_ ICdedhkY_ ICdbMLwm? ICdbJNWm?
"""


def regular_graphs() -> GraphBatch:
    """Return the 59 connected 4-regular graphs with ten nodes, no two of them isomorphic.

    >>> regular_graphs()
    GraphBatch(59 graphs, 590 nodes, 1,180 edges)
    """
    return GraphBatch.from_graph6(_GRAPHS.split())
