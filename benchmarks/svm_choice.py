"""The choice of rounds and C inside ``STwinSVC``: its own optimisation against scikit-learn's LIBSVM.

Run as ``python benchmarks/svm_choice.py NAME [--graphs N] [--rounds H …]``. Both choose on the same kernel
matrices and inner folds, in one process; processor time in seconds. "before" copies a part of the matrix for
each fold and fits scikit-learn's ``SVC`` for each C, up to the C where no weight reaches its bound.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from sklearn.base import clone

import twinwl as tw
from twinwl.models.calibration import inner_folds
from twinwl.models.features import ViewSpaces, stwin_features
from twinwl.models.similarity import MeanSimilarity
from twinwl.models.svc import KernelSVM, TaskSelection, kernel_svm, select_svms
from twinwl.models.targets import TargetColumn, TargetTable

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64

PENALTIES = (1.0, 3.0, 10.0)
console = Console(width=120)


class Libsvm(KernelSVM):
    """The machine as it was before."""

    def _shared(self, similarities: Float64) -> Float64:
        return similarities

    def _of_fold(
        self, similarities: Float64, targets: TargetColumn, fold: tuple[Int64, Int64], Cs: list[float]
    ) -> list[Float64]:
        learnt, held = fold
        train, test = similarities[np.ix_(learnt, learnt)], similarities[np.ix_(held, learnt)]
        decisions = []
        for C in Cs:
            fitted = clone(self.machine).set_params(C=C).fit(train, targets.codes[learnt])
            decisions.append(fitted.decision_function(test))
            if (np.abs(fitted.dual_coef_) < C * (1 - 1e-9)).all():
                break
        return decisions + [decisions[-1]] * (len(Cs) - len(decisions))


def main() -> None:
    """Choose both ways and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--graphs", type=int, help="this many, drawn at random (default: all)")
    parser.add_argument("--rounds", type=int, nargs="*", default=list(range(6)))
    options = parser.parse_args()
    data = tw.load_dataset(options.name)
    kept = np.arange(len(data.graphs))
    if options.graphs:
        kept = np.sort(np.random.default_rng(0).choice(kept, options.graphs, replace=False))
    graphs, y = data.graphs[kept], data.targets[kept]
    _choose(graphs[::7], y[::7], (0, 1), Libsvm)  # compiles
    _choose(graphs[::7], y[::7], (0, 1), KernelSVM)
    console.print(f"{options.name}, {len(graphs):,} graphs, rounds {options.rounds}, C {PENALTIES}")
    before = _choose(graphs, y, options.rounds, Libsvm)
    after = _choose(graphs, y, options.rounds, KernelSVM)
    for name, was, now in zip(
        ("features and kernels", "inner folds", "refits", "all"), before[0], after[0], strict=True
    ):
        console.print(f"{name:22} {was:7.2f} s -> {now:7.2f} s")
    console.print(
        f"chosen {before[1][:2]} -> {after[1][:2]}, inner score {before[1][2]:.4f} -> {after[1][2]:.4f}"
    )
    differ = [key for key, score in before[1].scores.items() if score != after[1].scores[key]]
    console.print(f"scores that differ: {len(differ)} of {len(before[1].scores)}")


def _choose(graphs: tw.GraphBatch, y: object, rounds: list[int], kind: type[KernelSVM]) -> tuple:
    """Return the seconds of the parts and of all, and the chosen machine."""
    seconds = dict.fromkeys(("held_out", "learnt"), 0.0)

    class Timed(kind):
        def held_out(self, *arguments: object) -> list[Float64]:
            return _timed("held_out", super().held_out, *arguments)

        def learnt(self, *arguments: object) -> object:
            return _timed("learnt", super().learnt, *arguments)

    def _timed(name: str, call: object, *arguments: object) -> object:
        begin = time.process_time()
        found = call(*arguments)
        seconds[name] += time.process_time() - begin
        return found

    begin = time.process_time()
    targets = TargetTable.read(y, len(graphs), None, None, None).column(0)
    encoding = stwin_features(graphs, max(rounds), "joint")
    spaces = ViewSpaces((encoding.space,))
    similarity = MeanSimilarity(spaces, encoding.matrix, rounds, "minmax", normalize=True)
    kernels = zip(rounds, similarity.by_rounds(similarity.compared()))
    svm = Timed(kernel_svm(targets).solver)
    (chosen,) = select_svms(kernels, [TaskSelection(targets, svm, inner_folds(targets, 5, 0))], PENALTIES)
    whole = time.process_time() - begin
    return (whole - sum(seconds.values()), *seconds.values(), whole), chosen


if __name__ == "__main__":
    main()
