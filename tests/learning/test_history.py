"""Learning curves are drawn as they were recorded."""

import pytest

torch = pytest.importorskip("torch")

import twinwl as tw  # noqa: E402
from twinwl.neural.training import History  # noqa: E402


def test_every_curve_and_the_kept_epoch_are_drawn():
    history = History([0.7, 0.5, 0.4], [0.8, 0.6, 0.7], [0.5, 0.75, 0.75], [0.25, 0.5, 1.0], best_epoch=1)
    loss, accuracy = history.plot().axes
    curves = {line.get_label(): list(line.get_ydata()) for line in loss.lines + accuracy.lines[1:]}
    assert curves["training"] == history.train_loss
    assert curves["watched"] == [25.0, 50.0, 100.0]
    assert list(accuracy.lines[0].get_ydata()) == [50.0, 75.0, 75.0]
    assert list(loss.lines[0].get_xdata()) == [1, 2, 3]
    assert list(loss.lines[-1].get_xdata()) == [2, 2]


@pytest.mark.parametrize(
    "history", [History(), History([0.5], best_epoch=0), History([0.5], [0.4], best_epoch=0)]
)
def test_what_was_not_recorded_is_not_drawn(history):
    (loss,) = history.plot().axes
    assert loss.get_ylabel() == "loss"


def test_scores_have_a_panel_of_their_own():
    *_, score = History([0.7, 0.5], [0.8, 0.6], validation_score=[0.5, 0.75], best_epoch=1).plot().axes
    assert score.get_ylabel() == "score"
    assert list(score.lines[0].get_ydata()) == [0.5, 0.75]


def test_fitted_networks_have_curves_and_others_say_that_they_are_not_fitted(tmp_path):
    graphs = tw.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 6)
    model = tw.STwinClassifier(1, max_epochs=2, hidden=4)
    with pytest.raises(tw.TwinWLError, match="not fitted"):
        model.plot_history()
    model.fit(graphs, [0, 1] * 6).plot_history().savefig(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
