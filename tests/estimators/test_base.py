import inspect
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from sklearn.base import clone

import twinwl as tw
from twinwl.arguments import integer
from twinwl.errors import MissingExtraError, held_warnings, import_name
from twinwl.evaluation.methods import METHODS
from twinwl.models.base import GraphEstimator, one_seed, seeds, with_parameters


@with_parameters
class Renamed(GraphEstimator):
    _constraints = {"verbose": (integer(0),)}
    _renamed = {"progress": "verbose"}

    verbose: int = 0


def estimator_classes():
    """Yield every estimator: the public ones, and all that `evaluate` knows by name."""
    homes = [method.home.split(":") for method in METHODS.values()]
    public = [("twinwl.nn", "NTwinTransformer"), *(("twinwl", name) for name in tw.__all__)]
    for module, name in [*public, *homes]:
        try:
            kind = import_name(module, name)
        except MissingExtraError:
            continue
        if inspect.isclass(kind) and hasattr(kind, "get_params"):
            yield kind


def test_every_parameter_of_every_estimator_is_declared():
    for kind in estimator_classes():
        assert issubclass(kind, GraphEstimator)
        parameters = kind().get_params(deep=False)
        assert parameters.keys() <= kind._constraints.keys(), kind
        kind()._check_parameters()  # the defaults are as declared
        for name in parameters:
            with pytest.raises(tw.TwinWLError, match=f"^{name}: got <object"):
                kind(**{name: object()})._check_parameters()


BONDS = tw.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2)]] * 3, edge_labels=[["a", "a"], ["a", "b"]] * 3)
CHEAP = {"max_epochs": 1, "hidden": 2, "layers": 1, "inner_folds": 2, "C": 1.0, "n_iter": 1, "verbose": False}


def fitted(kind, graphs, **parameters):
    known = kind().get_params()
    cheap = {name: value for name, value in CHEAP.items() if name in known}
    return kind(**cheap, **parameters).fit(graphs, [0, 1] * 3)


def warnings_of(kind, graphs, **parameters):
    with held_warnings() as messages:
        fitted(kind, graphs, **parameters)
    return [message for message in messages if "edge labels" in message]


WITH_CHOICE = ["STwinVectorizer", "TwinKernel", "STwinSVC", "STwinSVR"]
WITH_CHOICE_AND_TORCH = [
    "STwinClassifier",
    "STwinRegressor",
    "NTwinClassifier",
    "NTwinRegressor",
    "NTwinTransformer",
]
WITHOUT_CHOICE = ["WLSubtreeSVC", "ShortestPathSVC", "GINClassifier"]


@pytest.mark.parametrize("name", [*WITH_CHOICE, *WITH_CHOICE_AND_TORCH, *WITHOUT_CHOICE])
def test_every_estimator_warns_once_that_it_ignores_edge_labels(name):
    if name in {"ShortestPathSVC", "GINClassifier"}:
        pytest.importorskip("grakel" if name == "ShortestPathSVC" else "torch_geometric")
    elif name in WITH_CHOICE_AND_TORCH:
        pytest.importorskip("torch")
    (kind,) = {kind for kind in estimator_classes() if kind.__name__ == name}
    (message,) = warnings_of(kind, BONDS)
    assert message.startswith(f"{name} ignores edge labels, and these graphs have 2 different ones")
    assert "edge_labels=True" in message


@pytest.mark.parametrize("chosen", [False, True])
def test_a_choice_about_edge_labels_is_not_warned_about(chosen):
    assert warnings_of(tw.STwinVectorizer, BONDS, edge_labels=chosen) == []


def test_edge_labels_that_do_not_differ_are_not_warned_about():
    assert warnings_of(tw.STwinVectorizer, BONDS[::2]) == []


def test_edge_labels_are_ignored_unless_asked_for():
    def similarity(*, chosen):
        with held_warnings():
            return tw.TwinKernel(edge_labels=chosen, normalize=True).fit_transform(BONDS[:2])[0, 1]

    assert similarity(chosen=None) == similarity(chosen=False) == pytest.approx(1)
    assert similarity(chosen=True) < 0.99


def test_a_random_state_is_0_unless_asked_otherwise():
    for kind in estimator_classes():
        assert kind().get_params().get("random_state", 0) == 0, kind


def test_old_names_work_with_a_warning_and_are_no_parameters():
    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'") as caught:
        model = Renamed(progress=2)
    assert caught[0].filename == __file__
    assert model.get_params() == {"verbose": 2}
    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'"):
        assert model.set_params(progress=3).verbose == 3
    assert clone(model).verbose == 3


def test_old_names_of_networks_and_of_explain_still_work():
    pytest.importorskip("torch", reason="needs PyTorch")
    with pytest.warns(FutureWarning, match="'normalise' is now called 'normalize'"):
        model = tw.NTwinClassifier(normalise=False)
    assert model.get_params()["normalize"] is False
    with pytest.warns(FutureWarning, match="'progress' is now called 'verbose'"):
        assert tw.STwinClassifier(progress=False).verbose is False


def test_explain_still_takes_its_graph_by_the_old_name():
    paths, cycles = [[(0, 1), (1, 2)]] * 2, [[(0, 1), (1, 2), (2, 0)]] * 2
    model = tw.STwinSVC(1, 1, inner_folds=2).fit(paths + cycles, [0, 0, 1, 1])
    with pytest.warns(FutureWarning, match="'graph' is now called 'X'"):
        old = model.explain(graph=paths[:1])
    assert old.decision == model.explain(paths[:1]).decision


def test_old_names_in_a_model_file_are_read_without_a_warning():
    assert Renamed._with_params({"progress": 2}).verbose == 2


def test_none_draws_from_the_global_generator_and_integers_do_not():
    np.random.seed(3)  # noqa: NPY002
    first = seeds(None, 2)
    assert seeds(None, 2) != first
    np.random.seed(3)  # noqa: NPY002
    assert seeds(None, 2) == first
    assert seeds(5, 2) == seeds(5, 2)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from(kind):
    generator = kind(0)
    assert one_seed(generator) != one_seed(generator)
    assert one_seed(kind(0)) == seeds(kind(0), 1)[0]


def molecules(atoms):
    """Return paths and cycles that pass for molecules."""
    edges = [
        [(j, j + 1) for j in range(n - 1)] + [(n - 1, 0)] * cycle for n in range(3, 9) for cycle in (0, 1)
    ]
    labels = [["C"] * n for n in range(3, 9) for _ in (0, 1)]
    return replace(tw.GraphBatch.from_edges(edges, node_labels=labels), atoms=atoms)


FITTED_ON_MOLECULES = {
    "STwinVectorizer": {},
    "TwinKernel": {},
    "STwinSVC": {"n_iter": 1, "C": 1.0},
    "STwinSVR": {"n_iter": 1, "C": 1.0},
    "STwinClassifier": {"max_epochs": 1},
    "NTwinClassifier": {"max_epochs": 1, "layers": 1, "hidden": 4},
    "nn.NTwinTransformer": {"max_epochs": 1, "layers": 1, "hidden": 4},
}


def fitted_on(atoms, name, y=None):
    if "TwinSV" not in name and name not in {"STwinVectorizer", "TwinKernel"}:
        pytest.importorskip("torch", reason="needs PyTorch")
    targets = np.arange(12) % 2 if y is None else y
    model = attrgetter(name)(tw)(**FITTED_ON_MOLECULES[name]).fit(molecules(atoms), targets)
    return model, getattr(model, "predict", None) or model.transform


@pytest.mark.parametrize("name", FITTED_ON_MOLECULES)
def test_molecules_of_another_atom_level_are_refused(name):
    _, answer = fitted_on("constitution", name)
    with pytest.raises(tw.TwinWLError, match=r"atoms='skeleton'.* atoms='constitution'.*; read these with"):
        answer(molecules("skeleton"))


@pytest.mark.parametrize("name", FITTED_ON_MOLECULES)
@pytest.mark.parametrize(("learnt", "asked"), [("ecfp", "ecfp"), ("ecfp", None), (None, "ecfp")])
def test_graphs_of_unknown_atom_level_are_accepted(name, learnt, asked):
    _, answer = fitted_on(learnt, name)
    assert answer(molecules(asked)[:2]).shape[0] == 2


@pytest.mark.parametrize("name", ["STwinSVC", "STwinClassifier", "NTwinClassifier"])
def test_only_molecules_of_the_atom_level_of_training_are_explained(name):
    model, _ = fitted_on("constitution", name)
    with pytest.raises(tw.TwinWLError, match="atoms='skeleton'"):
        model.explain(molecules("skeleton")[0])


def test_the_model_of_one_of_several_tasks_keeps_the_atom_level():
    y = np.column_stack([np.arange(12) % 2, np.arange(12) > 5]).astype(float)
    model, _ = fitted_on("constitution", "STwinSVC", y)
    with pytest.raises(tw.TwinWLError, match="atoms='skeleton'"):
        model.predict(molecules("skeleton"))
    assert model.for_task(1).atoms_ == "constitution"
