import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from tests.cli.molecules import CLASSES, SMILES
from twinwl.cli.output import load_predictor

pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, pd.Series, pd.DataFrame, lambda some: np.array(some)[:, None]]
)
def test_it_is_from_smiles_of_any_column(kind):
    graphs = tw.SmilesToGraphs(atoms="constitution").fit_transform(kind(SMILES))
    assert_same_graphs(graphs, tw.from_smiles(SMILES, atoms="constitution"))


def test_it_is_cloned_with_its_parameters():
    again = clone(tw.SmilesToGraphs(atoms="ecfp", n_jobs=2))
    assert again.get_params() == {"atoms": "ecfp", "n_jobs": 2, "on_error": "fail"}


def test_a_pipeline_starts_at_strings():
    pipeline = make_pipeline(tw.SmilesToGraphs(), tw.STwinSVC(n_iter=1, C=1.0))
    scores = cross_val_score(pipeline, np.array(SMILES), CLASSES, cv=3)
    assert scores.min() > 0.8
    pipeline.set_params(smilestographs__atoms="ecfp").fit(SMILES, CLASSES)
    assert pipeline.predict(["CCCO", "CCC"]).tolist() == [1, 0]


def test_what_is_wrong_is_named():
    with pytest.raises(tw.TwinWLError, match=r"atoms: got 'ecpf', .*did you mean 'ecfp'"):
        tw.SmilesToGraphs(atoms="ecpf").fit(SMILES)
    for on_error in ("fail", "nan"):
        with pytest.raises(tw.TwinWLError, match=r"graph 1: SMILES 'C\(' cannot be read.* drop its row"):
            tw.SmilesToGraphs(on_error=on_error).fit_transform(["CC", "C("])
    with pytest.raises(tw.TwinWLError, match="X: got 2 columns, expected one of SMILES"):
        tw.SmilesToGraphs().transform(pd.DataFrame({"a": ["CC"], "b": ["CC"]}))


BAD = ["CCCCO", "C(", "CCCCCN", None]
GAPS = [False, True, False, True]


@pytest.fixture(scope="module")
def with_gaps():
    return make_pipeline(tw.SmilesToGraphs(on_error="nan"), tw.STwinSVC(n_iter=1, C=1.0)).fit(SMILES, CLASSES)


def test_rows_that_cannot_be_read_keep_their_place_and_have_no_prediction(with_gaps):
    with pytest.warns(tw.TwinWLWarning, match=r"2 of 4 SMILES cannot be read.*first, at index 1, is 'C\('"):
        rows = with_gaps[0].transform(BAD)
    model, readable = with_gaps[-1], [BAD[0], BAD[2]]
    found = model.predict(rows)
    assert found[GAPS].tolist() == [None, None]
    assert found[[0, 2]].tolist() == with_gaps.predict(readable).tolist()
    for name in ("predict_proba", "decision_function"):
        found = getattr(model, name)(rows)
        assert np.isnan(found).reshape(4, -1).all(axis=1).tolist() == GAPS
        assert np.array_equal(found[[0, 2]], getattr(with_gaps, name)(readable))
    assert model.predict_set(rows)[GAPS].all()  # no class is ruled out


@pytest.mark.filterwarnings("ignore::twinwl.errors.TwinWLWarning")
def test_predictions_are_missing_where_nothing_can_be_read_and_in_tables(with_gaps):
    assert with_gaps.predict(["C("]).tolist() == [None]
    y = pd.DataFrame({"a": CLASSES, "b": [float(one) for one in CLASSES]})
    tasks = make_pipeline(tw.SmilesToGraphs(on_error="nan"), tw.STwinSVC(n_iter=1, C=1.0)).fit(SMILES, y)
    assert tasks[-1].tasks_ == ("a", "b")
    assert [row is None for row in tasks.predict(BAD)[:, 1]] == GAPS
    numbers = make_pipeline(tw.SmilesToGraphs(on_error="nan"), tw.STwinSVR(n_iter=1, C=1.0))
    assert np.isnan(numbers.fit(SMILES, np.arange(len(SMILES))).predict(BAD)).tolist() == GAPS


@pytest.mark.filterwarnings("ignore::twinwl.errors.TwinWLWarning")
def test_other_steps_refuse_rows_that_cannot_be_read():
    rows = tw.SmilesToGraphs(on_error="nan").transform(BAD)
    with pytest.raises(tw.TwinWLError, match="graph 1: this row cannot be read, and only predictions"):
        tw.STwinVectorizer(1).fit(tw.from_smiles(["CC"])).transform(rows)


def test_names_of_columns_pass_through_a_pipeline():
    steps = make_pipeline(tw.SmilesToGraphs("skeleton"), tw.STwinVectorizer(1)).fit(["CCO"])
    assert steps.get_feature_names_out().tolist()[-1] == "1: O(C)"


def test_a_pipeline_of_our_steps_is_saved(with_gaps, tmp_path):
    tw.save(with_gaps, tmp_path / "model.twinwl")
    again = tw.load(tmp_path / "model.twinwl")
    assert str(again) == str(with_gaps)
    assert np.array_equal(again.predict_proba(SMILES), with_gaps.predict_proba(SMILES))
    foreign = make_pipeline(tw.STwinVectorizer(1), LogisticRegression()).fit(tw.from_smiles(SMILES), CLASSES)
    with pytest.raises(tw.TwinWLError, match="a LogisticRegression cannot be saved"):
        tw.save(foreign, tmp_path / "other.twinwl")


def test_the_command_line_predicts_with_a_saved_pipeline(with_gaps, tmp_path):
    tw.save(with_gaps, tmp_path / "model.twinwl")
    model = load_predictor(tmp_path / "model.twinwl")
    assert model.predict(tw.from_smiles(SMILES)).tolist() == with_gaps.predict(SMILES).tolist()
