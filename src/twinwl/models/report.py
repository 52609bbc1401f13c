"""What all results share: they show themselves (`Rendered`); and the report of a training.

A training report is about the graphs that the model held out: their targets, and what an SVM or network that
had not learnt from them predicts.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, one_of
from twinwl.arrays import Float64
from twinwl.errors import import_extra
from twinwl.models.calibration import ClassHead, NumberHead
from twinwl.models.metrics import Answers, figures, mean_scores, measure, names_for, positive_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from twinwl.report.page import Page


class Rendered:
    """A result that shows itself: a dataclass whose `to_records` says what is in its table."""

    _records = ""
    """Name of the attribute with the records, which are NamedTuples."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per record."""
        return [record._asdict() for record in getattr(self, self._records)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(plain(self))

    def table(self) -> list[list[str]]:
        """Return the main figures as rows of text, the header first."""
        records = self.to_records() or [{}]
        texts = [
            [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in record.values()]
            for record in records
        ]
        return [list(records[0]), *texts]

    def _bars(self) -> dict[str, float]:
        """Return the figures that `plot` draws."""
        raise NotImplementedError

    def _spreads(self) -> list[float] | None:
        """Return the deviations of these figures, if they are means."""
        return None

    @property
    def _title(self) -> str:
        return type(self).__name__

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def to_frame(self) -> pd.DataFrame:
        """Return `to_records` as a pandas DataFrame."""
        return import_extra("pandas", None).DataFrame(self.to_records())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the main figures as bars, on matplotlib axes if given, and return these."""
        axes, bars = _axes(axes), self._bars()
        axes.barh(list(bars), list(bars.values()), xerr=self._spreads())
        axes.set_title(self._title)
        return axes

    def save_page(self, path: str | Path) -> None:
        """Write a self-contained HTML page to a file."""
        from twinwl.report.page import write_page  # noqa: PLC0415  (on demand)

        write_page(checked("path", path, PATH), self._page())

    def _page(self) -> Page:
        from twinwl.report.page import Page, PlainTable, Section  # noqa: PLC0415  (on demand)

        header, *rows = self.table()
        section = Section("figures", "Figures", [PlainTable(header, rows), *str(self).splitlines()])
        return Page(self._title, [], [], [section], [])

    def _repr_html_(self) -> str:
        from twinwl.report.page import result_html  # noqa: PLC0415  (on demand)

        return result_html(self._title, self.table())


def _axes(given: Axes | None) -> Any:  # noqa: ANN401
    return import_extra("matplotlib.figure", None).Figure().subplots() if given is None else given


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return records as dictionaries and tuples as lists; fields that ``repr`` omits are left out."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.repr}
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


class HeldOut(NamedTuple):
    """Decisions about graphs that a model had not learnt from, and their targets, of one task.

    Attributes
    ----------
    head : ClassHead or NumberHead
        What the decision values mean.
    decisions : array, shape (n_graphs,) or (n_graphs, n_classes)
    truth : array of int64 or float64, shape (n_graphs,)
        Codes of classes, or standardised numbers.
    chosen : str
        What was chosen by them for this task alone.
    mean : float
        Mean of the targets that were learnt from, standardised.
    """

    head: ClassHead | NumberHead
    decisions: Float64
    truth: Any
    chosen: str = ""
    mean: float = 0.0

    def answers(self) -> Answers:
        """Return predictions and targets in the user's terms."""
        head = self.head
        if isinstance(head, NumberHead):
            return Answers(head.predict(self.truth), head.predict(self.decisions))
        shares = head.probabilities(self.decisions)
        return Answers(head.classes[self.truth], head.predict(self.decisions), shares, head.classes)


@dataclass(frozen=True)
class TargetReport:
    """How good predictions of one target are on the training graphs that were held out.

    Attributes
    ----------
    scores : dict
        All metrics that are defined, by name.
    task : {"classification", "regression"}
    chosen : str
        What was chosen for this target alone, as text.
    positive : str or None
        The positive one of two classes.
    baseline : (float, float) or None
        Of a regressor: the mean of the training targets, and the RMSE of always predicting it.
    answers : Answers
        The predictions and the true targets.
    """

    scores: dict[str, float]
    task: str
    chosen: str
    positive: str | None
    baseline: tuple[float, float] | None = None
    answers: Answers | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, held: HeldOut) -> TargetReport:
        """Compute all metrics."""
        answers: Any = held.answers()
        head, task, baseline = held.head, "classification", None
        if isinstance(head, NumberHead):
            mean = head.mean + head.scale * held.mean
            error = float(np.sqrt(np.mean((answers.y - mean) ** 2))) if len(answers.y) else np.nan
            task, baseline = "regression", (mean, error)
        return cls({}, task, held.chosen, None, baseline, answers).about(None)

    def about(self, positive: object) -> TargetReport:
        """Return the report with another positive one of two classes."""
        assert self.answers is not None  # noqa: S101  (only means over several targets have none)
        answers = replace(self.answers, positive=positive)
        scores = measure(answers, names_for(self.task)) if len(answers.y) else {}
        return replace(
            self, scores=scores, positive=positive_name(answers.classes, positive), answers=answers
        )

    def __str__(self) -> str:
        text = figures(self.scores, names_for(self.task), self.positive)
        if self.baseline is None:
            return text
        mean, error = self.baseline
        return f"{text}; always predicting the mean of the training targets ({mean:.4g}) has RMSE {error:.3f}"


# What `TrainingReport.plot` draws: the names of the axes.
_OF_CLASSES = {
    "roc": ("false positive rate", "true positive rate"),
    "precision-recall": ("recall", "precision"),
    "calibration": ("predicted probability", "share of the positive class"),
}
_OF_NUMBERS = {"parity": ("true value", "predicted value"), "residuals": ("predicted value", "error")}


@dataclass(frozen=True)
class TrainingReport(Rendered):
    """Metrics on held-out graphs of each target; that of a model of one target has the name "".

    These graphs also chose the epoch, or rounds and C, so the figures are a little optimistic.

    >>> import twinwl as tw
    >>> data = tw.load_dataset("TWINS", n_pairs=10)
    >>> report = tw.STwinSVC(n_iter=2, C=1).fit(data.graphs, data.y, groups=data.groups).report_
    >>> sorted(report.targets[""].scores)[:3]
    ['accuracy', 'average-precision', 'balanced-accuracy']
    """

    targets: dict[str, TargetReport]
    chosen: str

    def about(self, positive: object) -> TrainingReport:
        """Return the report with another positive one of two classes; None is the obvious one."""
        return replace(self, targets={name: one.about(positive) for name, one in self.targets.items()})

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per target and metric."""
        return [
            {"target": name, "metric": metric, "score": score}
            for name, one in self.targets.items()
            for metric, score in one.scores.items()
        ]

    def _bars(self) -> dict[str, float]:
        return {f"{row['target']} {row['metric']}".strip(): row["score"] for row in self.to_records()}

    @property
    def kinds(self) -> list[str]:
        """What can be drawn, the default first: two classes have other plots than numbers or more classes."""
        several = any(one.task == "classification" and one.positive is None for one in self.targets.values())
        numbers = all(one.task == "regression" for one in self.targets.values())
        return [*({} if several else _OF_NUMBERS if numbers else _OF_CLASSES), "scores"]

    def plot(self, axes: Axes | None = None, kind: str | None = None) -> Axes:
        """Draw predictions for the held-out graphs, on matplotlib axes if given, and return these.

        Parameters
        ----------
        axes
            Where to draw.
        kind
            ``"roc"``, ``"precision-recall"`` or ``"calibration"`` of two classes, ``"parity"`` or
            ``"residuals"`` of numbers, ``"scores"``: the metrics as bars. None: the first one of the task.
        """
        kind = checked("kind", kind, one_of(*self.kinds), None) or self.kinds[0]
        axes = super().plot(axes) if kind == "scores" else _axes(axes)
        if kind == "scores":
            return axes
        xlabel, ylabel = (_OF_CLASSES | _OF_NUMBERS)[kind]
        axes.set(xlabel=xlabel, ylabel=ylabel, title=f"{kind} on held-out graphs")
        for name, one in self.targets.items():
            if one.answers is not None and one.scores:
                x, y = _points(kind, one.answers)
                scattered = kind in _OF_NUMBERS
                axes.plot(x, y, "." if scattered else ".-" if kind == "calibration" else "-", label=name)
        if kind in {"roc", "calibration", "parity"}:
            axes.axline((0, 0), slope=1, color="0.7", zorder=0)
        if kind == "residuals":
            axes.axhline(0, color="0.7", zorder=0)
        if "" not in self.targets:
            axes.legend(frameon=False)
        return axes

    def _page(self) -> Page:
        from twinwl.report.page import Drawings, Section  # noqa: PLC0415  (on demand)

        pictures = []
        for kind in self.kinds:
            image = io.StringIO()
            figure: Any = self.plot(kind=kind).figure
            figure.savefig(image, format="svg", bbox_inches="tight")
            pictures.append(image.getvalue().partition("<svg")[2].join(["<svg", ""]))
        drawn = Section("plots", "Held-out graphs", [Drawings(pictures, "Predictions and targets.")])
        page = super()._page()
        return replace(page, sections=[*page.sections, drawn])

    def __str__(self) -> str:
        found = list(self.targets.values())
        if "" in self.targets:
            chosen = ": ".join(filter(None, (self.chosen, found[0].chosen)))
            return f"On held-out graphs ({chosen}): {found[0]}"
        lines = [f"  {name}{one.chosen and f' ({one.chosen})'}: {one}" for name, one in self.targets.items()]
        means = mean_scores([one.scores for one in found])
        mean = TargetReport(means, found[0].task, "", only_one(one.positive for one in found))
        return "\n".join(
            [*lines, f"On held-out graphs ({self.chosen}), mean of {len(found)} targets: {mean}"]
        )


def only_one(names: Iterable[str | None]) -> str | None:
    """Return the only one of these names; None if there are several."""
    distinct = set(names)
    return distinct.pop() if len(distinct) == 1 else None


def _points(kind: str, answers: Any) -> tuple[Float64, Float64]:  # noqa: ANN401  (`Answers`, of numbers)
    """Return what a plot shows."""
    if kind in _OF_NUMBERS:
        wrong = answers.predicted - answers.y
        return (answers.y, answers.predicted) if kind == "parity" else (answers.predicted, wrong)
    from sklearn import calibration, metrics  # noqa: PLC0415  (slow; on demand)

    is_class, probability = answers.by_class()
    truth, share = is_class[:, -1], probability[:, -1]  # of the positive class
    if kind == "roc":
        x, y, _ = metrics.roc_curve(truth, share)
    elif kind == "precision-recall":
        y, x, _ = metrics.precision_recall_curve(truth, share)
    else:
        y, x = calibration.calibration_curve(truth, share, n_bins=10, strategy="quantile")
    return x, y
