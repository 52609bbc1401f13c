import numpy as np
import torch

from tests.networks import CERTAIN, LEAST_LOSS_OF_1WL, lowest_loss
from tests.ntwin.rooted_data import encoder_for, row_examples, row_input
from twinwl import NTwinClassifier, load_dataset


def test_twins_never_seen_are_told_apart_by_what_was_learnt():
    twins = load_dataset("TWINS", n_pairs=60)
    train, unseen = np.flatnonzero(twins.groups < 40), np.flatnonzero(twins.groups >= 40)
    model = NTwinClassifier(subtree="gin", hidden=32, random_state=0, max_epochs=30, **CERTAIN)
    parts = [part for rows in (train, unseen) for part in (twins.graphs[rows], twins.y[rows])]
    assert lowest_loss(model, *parts) < LEAST_LOSS_OF_1WL / 2


def test_all_pairs_of_exp_are_told_apart_by_first_weights_where_1_wl_tells_none(tu_zip):
    exp = load_dataset(tu_zip("EXP")).graphs
    encoder = encoder_for(exp, 3, "growing", hidden=16)
    with torch.no_grad():
        rows = encoder(row_input(exp, 3, "growing")).numpy()
    first, second = rows[0::2], rows[1::2]
    differences = np.abs(first - second).max(axis=1) / np.abs(first).max(axis=1)
    assert (differences > 1e-9).all()
    for pool in row_examples(exp, 3, None).quotient.pools:
        counts = [
            sorted(zip(pool.rows[low:high].tolist(), pool.counts[low:high].tolist(), strict=True))
            for low, high in zip(pool.ptr[:-1], pool.ptr[1:], strict=True)
        ]
        assert counts[0::2] == counts[1::2]
