import numpy as np
import pytest

from predict_graph.engines.local.partition import worker_of


@pytest.mark.parametrize("workers", [2, 3, 4, 7, 16])
@pytest.mark.parametrize("stride", [1, 2, 8, 1024])
def test_neither_runs_nor_strides_of_ids_end_on_one_worker(workers, stride):
    share = np.bincount(worker_of(np.arange(20_000) * stride, workers), minlength=workers)
    assert share.min() > 0.9 * 20_000 / workers
    assert share.max() < 1.1 * 20_000 / workers
