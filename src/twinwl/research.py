"""Tools for research: expressive power, ceilings, methods to evaluate, stored results, significance."""

from twinwl.evaluation.audit import ceiling
from twinwl.evaluation.methods import METHODS, Method, method, register, resolve
from twinwl.evaluation.power import power
from twinwl.evaluation.result import PROTOCOLS, compare_scores, key_of, row_key, summarise, versions

__all__ = [
    "METHODS",
    "PROTOCOLS",
    "Method",
    "ceiling",
    "compare_scores",
    "key_of",
    "method",
    "power",
    "register",
    "resolve",
    "row_key",
    "summarise",
    "versions",
]
