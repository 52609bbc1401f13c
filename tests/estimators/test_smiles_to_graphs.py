import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from tests.cli.molecules import CLASSES, SMILES

pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_it_is_from_smiles_of_any_column(kind):
    graphs = tw.SmilesToGraphs(atoms="constitution").fit_transform(kind(SMILES))
    assert_same_graphs(graphs, tw.from_smiles(SMILES, atoms="constitution"))


def test_it_is_cloned_with_its_parameters():
    again = clone(tw.SmilesToGraphs(atoms="ecfp", n_jobs=2))
    assert again.get_params() == {"atoms": "ecfp", "n_jobs": 2}


def test_a_pipeline_starts_at_strings():
    pipeline = make_pipeline(tw.SmilesToGraphs(), tw.STwinSVC(n_iter=1, C=1.0))
    scores = cross_val_score(pipeline, np.array(SMILES), CLASSES, cv=3)
    assert scores.min() > 0.8
    pipeline.set_params(smilestographs__atoms="ecfp").fit(SMILES, CLASSES)
    assert pipeline.predict(["CCCO", "CCC"]).tolist() == [1, 0]


def test_what_is_wrong_is_named():
    with pytest.raises(tw.TwinWLError, match=r"atoms: got 'ecpf', .*did you mean 'ecfp'"):
        tw.SmilesToGraphs(atoms="ecpf").fit(SMILES)
    with pytest.raises(tw.TwinWLError, match=r"graph 1: SMILES 'C\(' cannot be read"):
        tw.SmilesToGraphs().fit_transform(["CC", "C("])
