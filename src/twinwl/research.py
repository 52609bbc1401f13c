"""Tools for research: expressive power, ceilings, methods to evaluate, stored results, significance."""

from twinwl.evaluation.ceiling import ceiling
from twinwl.evaluation.fold_run import versions
from twinwl.evaluation.methods import METHODS, Method, method, register, resolve
from twinwl.evaluation.power import power
from twinwl.evaluation.protocols import PROTOCOLS, summarise
from twinwl.evaluation.significance import compare_scores
from twinwl.evaluation.store import key_of, row_key

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
