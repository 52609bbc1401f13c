"""The report of a training: the figures on held-out graphs, which every fitted model shows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import twinwl as tw
from tests.stwin.test_svc import noisy
from tests.stwin.test_svr import measured


@pytest.fixture(scope="module")
def classes():
    graphs, y = noisy(60)
    return tw.STwinSVC(n_iter=1, C=(1.0, 3.0)).fit(graphs, np.array(["inactive", "active"])[y]), y


def test_its_figures_are_those_of_the_held_out_decisions(classes):
    model, y = classes
    (scores,) = (one.scores for one in model.report_.targets.values())
    assert scores["accuracy"] == pytest.approx(model.inner_score_)
    positive = -model.held_out_decisions_  # of "active", the first by name
    assert scores["roc-auc"] == pytest.approx(roc_auc_score(y == 1, positive), abs=0.005)
    assert str(model.report_).startswith(
        "On held-out graphs (cross-validated; best of 2 settings: 1 round, C = "
    )


def test_it_can_be_about_the_other_class(classes):
    report = classes[0].report_
    assert (report.targets[""].positive, report.about("inactive").targets[""].positive) == (
        "active",
        "inactive",
    )
    assert report.about("inactive").to_records() != report.to_records()


def test_numbers_are_compared_with_their_mean():
    graphs, y = measured(40)
    report = tw.STwinSVR(n_iter=1, C=1.0).fit(graphs, y).report_
    mean, error = report.targets[""].baseline
    assert (mean, error) == pytest.approx((y.mean(), y.std()))
    assert report.kinds == ["parity", "residuals", "scores"]
    (line, *_) = report.plot().lines
    np.testing.assert_allclose(line.get_xdata(), y)


def test_every_plot_of_two_classes_has_its_curve(classes, tmp_path):
    report = classes[0].report_
    for kind in ("roc", "precision-recall", "calibration"):
        axes = report.plot(kind=kind)
        assert all(0 <= value <= 1 for value in axes.lines[0].get_ydata())
        assert axes.get_xlabel()
    with pytest.raises(tw.TwinWLError, match="kind: got 'parity', expected 'roc'"):
        report.plot(kind="parity")
    report.save_page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<svg") == 4


def test_several_targets_have_one_each_and_their_models_too():
    graphs, y = noisy(60)
    model = tw.STwinSVC(n_iter=1, C=1.0).fit(graphs, {"a": y, "b": 1 - y})
    assert list(model.report_.targets) == ["a", "b"]
    assert (
        model.for_task("b").report_.to_records()[0]["score"] == model.report_.targets["b"].scores["accuracy"]
    )
    assert len(model.report_.plot().get_legend().get_texts()) == 2


def test_networks_have_one_too_and_without_held_out_graphs_it_is_said_why():
    pytest.importorskip("torch", reason="needs torch")
    graphs, y = noisy(40)
    model = tw.STwinClassifier(n_iter=1, hidden=4, max_epochs=2).fit(graphs, y)
    accuracy = model.report_.targets[""].scores["accuracy"]
    assert accuracy == pytest.approx(model.history_.best_validation_accuracy)
    with pytest.raises(tw.TwinWLError, match="no report: it held out no graphs"):
        model.set_params(validation_fraction=None).fit(graphs, y).report_  # noqa: B018


def test_model_files_keep_none(classes, tmp_path):
    tw.save(classes[0], tmp_path / "m.twinwl")
    with pytest.raises(tw.TwinWLError, match="no report"):
        tw.load(tmp_path / "m.twinwl").report_  # noqa: B018
