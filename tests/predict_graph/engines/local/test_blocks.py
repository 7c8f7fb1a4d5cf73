import numpy as np

from predict_graph.engines.local import blocks


def test_blocks_cover_every_row_once_whatever_the_skew():
    degrees = np.concatenate([[500_000], np.ones(50_000, int), np.zeros(70_000, int), [90_000]])
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    bounds = blocks.row_blocks(indptr)
    assert bounds[0] == 0
    assert bounds[-1] == len(degrees)
    assert np.all(np.diff(bounds) > 0)
    work = np.diff(indptr[bounds]) + np.diff(bounds)
    without_hubs = work[work < 90_000]
    assert without_hubs.max() <= 2 * blocks._BLOCK_WORK
