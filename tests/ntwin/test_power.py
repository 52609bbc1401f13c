import numpy as np
import torch

from tests.ntwin.rooted_data import encoder_for, quotient_input
from twinwl import NTwinClassifier, load_dataset
from twinwl.ntwin.whole_graphs import whole_quotient


def test_twins_are_classified_without_a_mistake_on_pairs_never_seen():
    twins = load_dataset("TWINS", n_pairs=150)
    train, test = np.flatnonzero(twins.groups < 110), np.flatnonzero(twins.groups >= 110)
    # Histograms say the same about both of a pair, so without them there is less to be led astray by.
    model = NTwinClassifier(subtree="gin", random_state=0, progress=False, max_epochs=60)
    model.fit(twins.graphs[train], twins.y[train], groups=twins.groups[train])
    assert model.score(twins.graphs[test], twins.y[test]) == 1.0


def test_all_pairs_of_exp_are_told_apart_by_first_weights_where_1_wl_tells_none(tu_zip):
    exp = load_dataset(tu_zip("EXP")).graphs
    encoder = encoder_for(exp, 3, "growing", hidden=16)
    with torch.no_grad():
        rows = encoder(quotient_input(exp, 3, "growing")).numpy()
    first, second = rows[0::2], rows[1::2]
    differences = np.abs(first - second).max(axis=1) / np.abs(first).max(axis=1)
    assert (differences > 1e-9).all()
    whole, _ = whole_quotient(exp, 3)
    for pool in whole.pools:
        counts = [
            sorted(zip(pool.colours[low:high].tolist(), pool.counts[low:high].tolist(), strict=True))
            for low, high in zip(pool.indptr[:-1], pool.indptr[1:], strict=True)
        ]
        assert counts[0::2] == counts[1::2]
