"""The largest of many values, without sorting them all."""

import numpy as np
import pytest

from predict_graph.iterations.rooted.recipes import largest


@pytest.mark.parametrize("seed", range(20))
def test_largest_are_those_of_a_stable_sort(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1 + 7 * seed, 200).astype(rng.choice([np.int16, np.int64, np.float64]))
    for count in (1, 7, 199, 200, 500):
        expected = np.argsort(-values, kind="stable")[:count]
        assert np.array_equal(largest(values, count), expected)
