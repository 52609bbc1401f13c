"""The classes of results that functions of twinwl return, and the store of an evaluation."""

from twinwl.evaluation.audit import Audit, Ceiling
from twinwl.evaluation.neighbours import Neighbours
from twinwl.evaluation.power import Power
from twinwl.evaluation.result import Evaluation, MethodComparison, PairedComparison, ResultStore, Row, Summary
from twinwl.isomorphism.comparison import Comparison
from twinwl.isomorphism.deduplication import Deduplication
from twinwl.models.explanation import Explanation, RootedTree

__all__ = [
    "Audit",
    "Ceiling",
    "Comparison",
    "Deduplication",
    "Evaluation",
    "Explanation",
    "MethodComparison",
    "Neighbours",
    "PairedComparison",
    "Power",
    "ResultStore",
    "RootedTree",
    "Row",
    "Summary",
]
