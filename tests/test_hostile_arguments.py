"""Every public door answers every value with a result or with the project's own error.

The doors are found, not listed: all of `twinwl.__all__` and what moved from there, the public methods of one
instance of each class, and every parameter of each. A new public name is tested from the day it exists; where
it needs an argument that nothing here knows, the test asks for one in `GOOD`.

A fixed sample of the values is tried at each parameter, a larger one by `make test-all`;
``TWINWL_EXHAUSTIVE=1`` tries all of them.
"""

import collections
import contextlib
import dataclasses
import inspect
import io
import itertools
import os
import pathlib
import random
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

import joblib
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import DataConversionWarning

import twinwl as tw
from tests.hostile_values import WRONG_VALUES
from twinwl.errors import MissingExtraError

EXHAUSTIVE = bool(os.environ.get("TWINWL_EXHAUSTIVE"))

EDGES = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 3
GRAPHS = tw.GraphBatch.from_edges(EDGES)
CLASSES = np.array([0, 1] * 3)
LABELLED = tw.GraphBatch.from_edges(
    EDGES[:2], [list("CCO")] * 2, edge_labels=[[1, 2], [1, 2, 1]], node_features=[np.eye(3)] * 2
)


class Guess(DummyClassifier):
    """Looks at no graph."""

    def fit(self, X, y):
        return super().fit(np.zeros((len(X), 1)), y)

    def predict(self, X):
        return super().predict(np.zeros((len(X), 1)))

    def predict_proba(self, X):
        return super().predict_proba(np.zeros((len(X), 1)))


# A good value for each parameter that has no default, by its name; and cheap ones for some that have.
GOOD = {
    "SmilesToGraphs.fit_transform(X)": lambda: ["CCO"],
    "SmilesToGraphs.transform(X)": lambda: ["CCO"],
    "from_networkx(graphs)": LABELLED.to_networkx,
    "from_igraph(graphs)": LABELLED.to_igraph,
    "forward(graphs)": lambda: LABELLED.to_pyg()[0],
    "n_features": lambda: 3,
    "roots": lambda: 2,
    "explain(X)": lambda: GRAPHS[0],
    "explain(graph)": lambda: GRAPHS[0],
    "X": lambda: GRAPHS,
    "y": lambda: CLASSES,
    "g": lambda: EDGES[:1],
    "h": lambda: EDGES[1:2],
    "graphs": lambda: GRAPHS,
    "queries": lambda: GRAPHS,
    "batches": lambda: [GRAPHS, GRAPHS],
    "edge_lists": lambda: EDGES,
    "adjacencies": lambda: [np.array([[0, 1], [1, 0]])],
    "strings": lambda: ["Bw"],
    "smiles": lambda: ["CCO"],
    "names": lambda: ["labels"],
    "with_extra(values)": lambda: {"mass": [1.0, 2.0]},
    "with_views(labels)": lambda: {"other": [[0] * 3] * 2},
    "data_list": list,
    "molecules": list,
    "indptr": lambda: np.array([0, 1, 2]),
    "indices": lambda: np.array([1, 0], np.int32),
    "graph_ptr": lambda: np.array([0, 2]),
    "node_labels": lambda: np.array([0, 0], np.int32),
    "name": lambda: "mine",
    "method": Guess,
    "dataset": lambda: (GRAPHS, CLASSES),
    "source": lambda: "TWINS:n_pairs=2",
    "train": lambda: "TWINS:n_pairs=2",
    "rows_in_common(name)": lambda: "graphs",
    "estimator": lambda: fitted(tw.STwinVectorizer),
    "path": lambda: saved("model.twinwl"),
    "from_vocabulary(path)": lambda: saved_vocabulary("vocabulary.twinwl"),
    "column": lambda: 0,
    "inputs": lambda: [graph_file()],
    "build(folder)": lambda: "new_corpus",
    "Corpus(folder)": lambda: tw.Corpus(a_corpus()).folder,
    "compared_with(other)": lambda: tw.evaluate(Guess(), (GRAPHS, CLASSES), n_folds=2),
    "other": lambda: tw.Corpus(a_corpus()),
    "dedup(output)": lambda: "distinct",
    "hash(output)": lambda: "hashes",
    "features(output)": lambda: "features",
    "Corpus.train(estimator)": lambda: tw.STwinClassifier(1, max_epochs=1, validation_fraction=None),
    "Corpus.train(target)": lambda: "y",
    "Corpus.predict(model)": lambda: saved_machine("machine.twinwl"),
    "Corpus.predict(output)": lambda: "predictions",
    "explain(model)": lambda: fitted(tw.STwinSVC),
    "explain(vectorizer)": lambda: GRAPHS[0],
    "rows": lambda: [0, 1],
    "f": lambda: "size",
    "row(seen_by)": lambda: "1-WL",
    "score(name)": lambda: "size",
    "save_page(path)": lambda: "page.html",
    "for_task(task)": lambda: 0,
}
CHEAP = {
    "C": 1,
    "hidden": 2,
    "inner_folds": 2,
    "k": 2,
    "layers": 1,
    "max_epochs": 1,
    "n_folds": 2,
    "n_iter": 1,
    "suite": [(EDGES[0], EDGES[1])],
    "validation_fraction": 0.5,
}


# One of each class that a user is handed rather than makes.
INSTANCES = {
    "Audit": lambda: tw.audit(tw.Dataset.from_graphs(GRAPHS, CLASSES)),
    "Ceiling": lambda: tw.research.ceiling(GRAPHS, CLASSES),
    "Comparison": lambda: tw.compare(GRAPHS[0], GRAPHS[1]),
    "Corpus": lambda: tw.Corpus(a_corpus()),
    "Dataset": lambda: tw.Dataset.from_graphs(GRAPHS, CLASSES),
    "Deduplication": lambda: tw.deduplicate(GRAPHS),
    "Evaluation": lambda: tw.evaluate(Guess(), (GRAPHS, CLASSES), n_folds=2),
    "GraphBatch": lambda: LABELLED,
    "Power": lambda: tw.research.power("size", [(EDGES[0], EDGES[1])]),
}

# Further good arguments of a function, which take it down another path.
OTHER_PATHS = {
    "load_dataset": {"source": ["Bw", "A_"], "kind": "graph6"},
    "compare": {"readout": ["canonical", len], "n_iter": None},
    "graph_hashes": {"readout": "degrees", "n_iter": "stable"},
    "deduplicate": {"exact": False},
}

ON_PURPOSE = (tw.TwinWLWarning, DataConversionWarning)  # the second as in scikit-learn, for y of two axes
# For parts that are right by construction, and objects of other libraries, which report their own errors.
UNCHECKED = {"GraphBatch.unchecked", "Dataset", "Corpus.parts"}
FOREIGN = {"axes", "on_event"}


class Door(NamedTuple):
    """A call, and good arguments for it of which one at a time is replaced."""

    name: str
    call: Callable[..., object]
    parameters: list[str]
    good: dict[str, object]


@pytest.mark.parametrize("n_values", [12, pytest.param(60, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", [*tw.__all__, *tw._MOVED])
def test_every_value_gives_a_result_or_an_error_of_the_project(name, n_values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a file may be written under any name
    try:
        doors = [door for door in doors_of(name) if is_open(door)]
    except MissingExtraError as error:
        pytest.skip(str(error))
    failures = [
        f"{door.name}({parameter}=<{value}>): {outcome}"
        for door in doors
        for parameter in door.parameters
        if door.name not in UNCHECKED and parameter not in FOREIGN
        for value in sample(f"{door.name}.{parameter}", n_values)
        if (outcome := outcome_of(door, parameter, WRONG_VALUES[value]))
    ]
    assert not failures, f"{len(failures)} values\n" + "\n".join(failures[:200])


def is_open(door):
    """Check that what one value is replaced in works; tell whether it can, without the extra it may need."""
    try:
        if door.parameters:
            door.call(**door.good)
    except MissingExtraError:
        return False
    return True


def outcome_of(door, parameter, make):
    """Return what went wrong, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = make()
    if parameter == "callbacks" and callable(value):
        return ""  # what a callback of the user's raises reaches the user
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stderr(io.StringIO()),
        joblib.parallel_config("threading"),  # other processes would take seconds to start
    ):
        warnings.simplefilter("always")
        try:
            result = door.call(**{**door.good, parameter: value})
            if isinstance(result, Iterator):
                collections.deque(itertools.islice(result, 3), maxlen=0)
        except tw.TwinWLError as error:
            if not str(error):
                return "an error without a message"
        except Exception as error:  # noqa: BLE001
            return "".join(traceback.format_exception_only(error)).strip()[:200]
    others = [each for each in caught if not issubclass(each.category, ON_PURPOSE)]
    return f"warns: {others[0].message}" if others else ""


def sample(place, n_values):
    """Return the names of the values to try at one parameter; always the same."""
    chance = random.Random(place)  # noqa: S311
    return list(WRONG_VALUES) if EXHAUSTIVE else chance.sample(list(WRONG_VALUES), n_values)


def doors_of(name):
    try:
        public = getattr(getattr(tw, tw._MOVED[name]) if name in tw._MOVED else tw, name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    if not inspect.isclass(public):
        return [door(name, public), *other_paths(name, public)] if callable(public) else []
    if issubclass(public, BaseException):
        return []
    return [*constructors(name, public), *methods(name, public)]


def other_paths(name, function):
    if name in OTHER_PATHS:
        usual = door(name, function)
        yield usual._replace(name=f"{name} by another path", good={**usual.good, **OTHER_PATHS[name]})


def constructors(name, kind):
    if hasattr(kind, "fit"):
        yield Door(name, partial(fitted, kind), names_of(kind), {})
    elif not dataclasses.is_dataclass(kind) or hasattr(kind, "__post_init__"):  # else a record of results
        yield door(name, kind)


def methods(name, kind):
    """Yield the public methods that twinwl wrote."""
    one = (
        fitted(kind) if hasattr(kind, "fit") else INSTANCES.get(name, lambda: kind(**good_for(kind, name)))()
    )
    for method, member in inspect.getmembers(kind, inspect.isroutine):
        home = inspect.unwrap(getattr(member, "__func__", member))
        if method.startswith("_") or not (getattr(home, "__module__", None) or "").startswith("twinwl"):
            continue
        if isinstance(member, cached_property):  # a routine of twinwl to Python 3.13, and of functools before
            continue
        place = f"{name}.{method}"
        if place in UNCHECKED:
            continue
        if method == "fit":
            yield Door(place, partial(fit, kind), names_of(one.fit), {"X": GRAPHS, "y": CLASSES})
        else:
            yield door(place, getattr(one, method))
    if hasattr(kind, "__getitem__"):
        yield Door(f"{name}[…]", lambda key: one[key], ["key"], {"key": 0})


def door(name, function):
    return Door(name, function, names_of(function), good_for(function, name))


def fitted(kind, **parameters):
    cheap = {name: value for name, value in CHEAP.items() if name in kind().get_params()}
    return kind(**{**cheap, **parameters}).fit(GRAPHS, CLASSES)


def fit(kind, **arguments):
    cheap = {name: value for name, value in CHEAP.items() if name in kind().get_params()}
    return kind(**cheap).fit(**arguments)


def saved(path):
    """Return a path at which there is a model."""
    tw.save(fitted(tw.STwinVectorizer), path)
    return path


def saved_vocabulary(path):
    """Return a path at which there is a vectorizer with the columns of a vocabulary."""
    model = fitted(tw.STwinVectorizer)
    n_graphs = np.bincount(model.transform(GRAPHS).indices, minlength=model.n_features_out_)
    model._keep(model.space_, None, n_graphs)
    tw.save(model, path)
    return path


def graph_file():
    """Return a path at which there are graphs."""
    pathlib.Path("graphs.g6").write_text("Bw\nBg\n", encoding="ascii")
    return "graphs.g6"


def saved_machine(path):
    """Return a path at which there is a classifier."""
    tw.save(fitted(tw.STwinSVC), path)
    return path


def a_corpus():
    """Return a folder that is a corpus of graphs with a target."""
    arrow, tables = (
        pytest.importorskip(name, reason=f"needs {name}") for name in ("pyarrow", "pyarrow.parquet")
    )
    tables.write_table(arrow.table({"ends": [[0, 1, 1, 2], [0, 1]], "y": [0, 1]}), "graphs.parquet")
    tw.Corpus.build("graphs.parquet", "corpus")
    return "corpus"


def parameters_of(function):
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one for one in inspect.signature(function).parameters.values() if one.kind not in several]


def names_of(function):
    return [parameter.name for parameter in parameters_of(function)]


# What has a default, but not all of them at once: evaluate(data) is evaluate(dataset=data).
NEEDED = {("evaluate", "method"), ("evaluate", "dataset")}


def good_for(function, place):
    """Return arguments that work: for what has no default, and cheap ones."""
    found = {}
    for name, default in ((one.name, one.default) for one in parameters_of(function)):
        if name in CHEAP:
            found[name] = CHEAP[name]
        elif default is inspect.Parameter.empty or (place, name) in NEEDED:
            places = (f"{place}({name})", f"{place.rpartition('.')[2]}({name})", name)
            make = next((GOOD[one] for one in places if one in GOOD), None)
            assert make, f"{place} needs {name!r}: give a good value for it in GOOD"
            found[name] = make()
    return found
