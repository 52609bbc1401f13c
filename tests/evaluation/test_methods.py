import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from twinwl import TwinWLError
from twinwl.evaluation.methods import METHODS, Method, method, register, resolve

CORE = {
    "stwin-svc",
    "stwin-svc-rounds",
    "stwin-svc-pairs",
    "twin-forest",
    "wl-svc",
    "sp-kernel",
    "wl-kernel",
    "wl-oa",
}  # methods that build without any extra


def needs_torch_unless_core(name):
    if name not in CORE:
        pytest.importorskip("torch", reason="networks need PyTorch")


@pytest.mark.parametrize("name", list(METHODS))
def test_every_registered_method_builds_with_each_of_its_configurations(name):
    needs_torch_unless_core(name)
    for grid in (None, *METHODS[name].grids):
        for config in METHODS[name].configs(grid):
            estimator = METHODS[name].build(config, seed=3)
            seeds = {name: value for name, value in estimator.get_params().items() if "random_state" in name}
            assert list(seeds.values()) == [3]
            for parameter, value in {**METHODS[name].fixed, **config}.items():
                assert estimator.get_params()[parameter] == value


def test_an_import_path_and_an_estimator_in_hand_are_methods_too():
    assert resolve("sklearn.dummy:DummyClassifier").build({}, 0).get_params()["strategy"] == "prior"
    pipeline = make_pipeline(tw.STwinVectorizer(2), DecisionTreeClassifier())
    method = resolve(pipeline)
    built = method.build({"stwinvectorizer__n_iter": 4}, seed=5)
    assert built is not pipeline
    assert built.get_params()["decisiontreeclassifier__random_state"] == 5
    assert built.get_params()["stwinvectorizer__n_iter"] == 4
    assert resolve(make_pipeline(tw.STwinVectorizer(3), DecisionTreeClassifier())).name != method.name


def test_a_user_adds_a_method_by_name():
    register("tree", "sklearn.tree:DecisionTreeClassifier", fixed={"max_depth": 3}, version=7)
    try:
        assert resolve("tree").build({}, 0).max_depth == 3
        assert resolve("tree").version == 7
    finally:
        del METHODS["tree"]


def test_a_decorated_class_is_a_method_even_where_it_cannot_be_imported():
    @method("shrub", fixed={"max_depth": 2}, grids={"compact": {"criterion": ["gini", "entropy"]}}, version=3)
    class Shrub(DecisionTreeClassifier):
        pass

    try:
        chosen = resolve("shrub")
        assert chosen.version == 3
        first, second = (chosen.build(config, seed=4) for config in chosen.configs("compact"))
        assert isinstance(first, Shrub)
        assert (first.max_depth, first.random_state, first.criterion) == (2, 4, "gini")
        assert second.criterion == "entropy"
        with pytest.raises(TwinWLError, match="did you mean 'shrub'"):
            resolve("schrub")
    finally:
        del METHODS["shrub"]


def test_the_grids_are_those_of_the_papers_section_5():
    layers, hidden = [2, 3, 4, 5], [32, 64, 128]
    paper = {name: method.grids.get("paper") for name, method in METHODS.items()}
    assert paper["gcn"] == paper["gin"] == {"layers": layers, "hidden": hidden}
    assert paper["nested-gin"] == {"height": [2, 3, 4, 5], "layers": [4]}
    assert paper["stwin"] == {"n_iter": [2, 3, 4, 5]}
    assert paper["ntwin"] == {"layers": layers, "hops": ["growing", 2, 3, 4, 5]}


def test_a_method_has_both_grids_or_none_and_the_compact_one_is_small():
    for known in METHODS.values():
        assert set(known.grids) in (set(), {"compact", "paper"})
        assert len(known.configs("compact")) <= 4


def test_a_grid_is_every_combination_in_order():
    grid = {"n_iter": [2, 3], "features": ["size", "joint"]}
    assert resolve("stwin").configs(grid) == [
        {"n_iter": 2, "features": "size"},
        {"n_iter": 2, "features": "joint"},
        {"n_iter": 3, "features": "size"},
        {"n_iter": 3, "features": "joint"},
    ]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("stwim", "did you mean 'stwin'"),
        ("nested-gnn", "did you mean 'nested-gin'"),
        ("WL-kernel", "did you mean 'wl-kernel'"),
        ("difpool", "did you mean 'diffpool'"),
        ("no.such.module:Class", "cannot import"),
        ("sklearn.dummy:Nothing", "cannot import"),
        (3, "an estimator with fit, predict and get_params"),
    ],
)
def test_what_is_no_method_is_refused(method, message):
    with pytest.raises(TwinWLError, match=message):
        resolve(method)


def test_wrong_parameters_and_grids_are_refused():
    with pytest.raises(TwinWLError, match="did you mean 'n_iter'"):
        resolve("stwin-svc").build({"n_itr": 3}, 0)
    with pytest.raises(TwinWLError, match="did you mean 'compact'"):
        resolve("stwin").configs("compct")
    for values in ("abc", 3, [], [object()], [[b"x"]]):
        with pytest.raises(TwinWLError, match=r"grid\['n_iter'\]: got"):
            Method("m").configs({"n_iter": values})


def test_numbers_of_numpy_in_a_grid_become_plain_ones():
    configs = Method("m").configs({"n_iter": np.arange(2), "C": [np.float64(0.5)]})
    assert configs == [{"n_iter": 0, "C": 0.5}, {"n_iter": 1, "C": 0.5}]
    assert type(configs[0]["n_iter"]) is int


@pytest.mark.parametrize("name", ["wl", "wl-encoder", "wl-svc"])
def test_the_controls_see_no_more_than_1_wl(name):
    needs_torch_unless_core(name)
    data = tw.load_dataset("TWINS", n_pairs=20)
    model = resolve(name).build({}, seed=0)
    model.set_params(**{key: 3 for key in ("max_epochs",) if key in model.get_params()})
    model.fit(data.graphs, data.y)
    scores = np.asarray(model.decision_function(data.graphs))[np.argsort(data.groups, kind="stable")]
    np.testing.assert_allclose(scores[0::2], scores[1::2], atol=1e-4)


@pytest.mark.parametrize("path", [":", "..:X", "os:path", "nosuch:X", "sklearn.ensemble:VotingClassifier"])
def test_an_import_path_that_leads_to_no_estimator_is_refused(path):
    with pytest.raises(TwinWLError, match="cannot"):
        resolve(path)


def test_a_class_that_needs_arguments_is_refused_with_a_remedy():
    with pytest.raises(TwinWLError, match=r"without arguments .* pass an estimator object"):
        resolve(VotingClassifier)


def test_a_grid_that_nobody_knows_is_refused_even_by_a_method_without_grids():
    assert resolve("stwin-svc").configs("paper") == [{}]
    with pytest.raises(TwinWLError, match="did you mean 'paper'"):
        resolve("stwin-svc").configs("papr")


def test_a_readout_gives_joint_features_and_a_name_of_its_own():
    method = METHODS["stwin-svc"].with_settings({"readout": ["edges", "wl"]})
    assert method.name == "stwin-svc+edges+wl"
    model = method.build({}, 3)
    assert (model.features, model.readout, model.random_state) == ("joint", ["edges", "wl"], 3)


def test_a_network_is_for_ntwin_and_a_method_of_its_own():
    pytest.importorskip("torch")
    method = METHODS["ntwin"].with_settings({"readout": "gcn"})
    assert (method.name, method.fixed["readout"]) == ("ntwin+gcn", "gcn")
    with pytest.raises(TwinWLError, match="gin has no parameter 'readout'"):
        METHODS["gin"].with_settings({"readout": "gcn"})


@pytest.mark.parametrize("name", ["wl", "wl-svc"])
def test_methods_that_count_no_readouts_are_refused(name):
    if name == "wl":
        pytest.importorskip("torch")
    with pytest.raises(TwinWLError, match=f"{name} with features='count' counts by none"):
        METHODS[name].with_settings({"readout": ["wl"]})


def test_parameters_that_change_results_are_part_of_the_name():
    pytest.importorskip("torch")
    method = METHODS["stwin"].with_settings({"hidden": 32, "refit": True, "device": "cpu", "n_iter": 2})
    assert method.name == "stwin+hidden=32+refit+n_iter=2"
    with pytest.raises(TwinWLError, match="hidden: got 0, expected an integer from 1"):
        METHODS["stwin"].with_settings({"hidden": 0})


def test_parameters_are_listed_with_the_defaults_of_both_tasks():
    defaults, constraints = METHODS["stwin-svc"].parameters()["n_iter"]
    assert defaults == {"classification": (0, 1, 2, 3, 4, 5), "regression": (1, 2, 3, 4)}
    assert constraints
