"""Ray Train starts the processes, and a run whose worker was killed goes on."""

from __future__ import annotations

import numpy as np
import pytest
import ray
import torch  # noqa: F401  (the tests need it)

from tests.learning import shared_batches as shared
from twinwl.errors import TwinWLError
from twinwl.neural.data_parallel import data_parallel, fit_network

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def _machine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # else workers wait for the tests beside them
        _start()
    yield
    ray.shutdown()


def _start():
    ray.init(
        "local",  # not a cluster that other tests have started
        num_cpus=2,
        num_gpus=0,
        object_store_memory=100 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )


def test_a_killed_worker_changes_nothing(tmp_path):
    module, examples, answers = shared.problem("ntwin")
    alone = fit_network(module, examples, answers, max_epochs=6, batch_size=7)
    module, examples, answers = shared.problem("ntwin")
    deadly = shared.Deadly(examples, tmp_path / "killed", after=18)  # five calls per epoch
    with data_parallel(2, folder=tmp_path):
        history = fit_network(module, deadly, answers, max_epochs=6, batch_size=7)
    # Nothing is left that the next network trained in this folder would go on from.
    assert [path.name for path in tmp_path.iterdir()] == ["killed"]
    np.testing.assert_allclose(history.train_loss, alone.train_loss, rtol=1e-3)


@pytest.mark.parametrize(
    ("device", "message"),
    [("cuda", "'cuda' for 2 workers, but Ray has 0 GPUs here"), ("mps", "trains on processors or cuda")],
)
def test_a_device_that_the_cluster_does_not_have(device, message):
    with data_parallel(2), pytest.raises(TwinWLError, match=message):
        fit_network(*shared.problem("ntwin"), device=device)
