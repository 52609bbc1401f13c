"""Several processes that share every batch learn what one process learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch  # noqa: F401  (the tests need it)

from tests.learning import shared_batches as shared
from twinwl.engines import engine_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two():
    with engine_of("local", workers=2) as engine:
        yield engine


def both(engine, folder, function, *arguments):
    tasks = [(rank, 2, str(folder), function, *arguments) for rank in range(2)]
    found = dict(engine.run(shared.joined, tasks, warm_up=None))
    return found[0], found[1]


@pytest.mark.parametrize("name", shared.MODELS)
@pytest.mark.parametrize("n_rows", [24, 9, 1])
def test_the_gradient_of_a_step_is_that_of_one_process(two, tmp_path, name, n_rows):
    alone = shared.joined(0, 1, "", shared.gradients, name, n_rows)
    assert any(np.any(grad) for grad in alone.values())
    for found in both(two, tmp_path, shared.gradients, name, n_rows):
        assert found.keys() == alone.keys()
        for key, grad in alone.items():
            scale = np.abs(grad).max()
            np.testing.assert_allclose(found[key], grad, rtol=1e-3, atol=1e-5 * max(scale, 1), err_msg=key)


@pytest.mark.parametrize("name", shared.MODELS)
def test_the_loss_curve_is_that_of_one_process_and_weights_stay_equal(two, tmp_path, name):
    losses, _ = shared.joined(0, 1, "", shared.curve, name)
    first, second = both(two, tmp_path, shared.curve, name)
    np.testing.assert_allclose(first[0], losses, rtol=1e-3)
    assert first[0] == second[0]
    for key, value in first[1].items():
        assert np.array_equal(value, second[1][key]), key
