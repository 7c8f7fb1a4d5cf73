"""The compiled generator."""

import numpy as np
import pytest

from samplers._random import below, chance_threshold, happens, new_state, next64


def test_splitmix64_reference_values():
    # First outputs for seed 1234567, from the reference program of Vigna.
    state = np.array([1234567], dtype=np.uint64)
    assert [int(next64(state)) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10])
def test_bounded_integers_are_uniform(bound):
    state = new_state(3)
    counts = np.bincount([below(state, bound) for _ in range(20_000)], minlength=bound)
    assert len(counts) == bound
    expected = 20_000 / bound
    # Mean of a chi-square is its degrees of freedom; five deviations above.
    limit = (bound - 1) + 5 * np.sqrt(2 * bound)
    assert ((counts - expected) ** 2 / expected).sum() < limit


def test_a_large_bound_is_unbiased():
    # With 3 × 2**30 a remainder or an unrejected product would favour some thirds.
    bound = 3 * 2**30
    state = new_state(4)
    draws = np.array([below(state, bound) for _ in range(30_000)])
    assert draws.min() >= 0
    assert draws.max() < bound
    for modulus in (3, 4):
        counts = np.bincount(draws % modulus, minlength=modulus)
        expected = 30_000 / modulus
        assert ((counts - expected) ** 2 / expected).sum() < 20


@pytest.mark.parametrize("probability", [0.0, 0.15, 0.5, 1.0])
def test_happens(probability):
    state = new_state(5)
    threshold = chance_threshold(probability)
    count = sum(happens(state, threshold) for _ in range(20_000))
    spread = np.sqrt(20_000 * probability * (1 - probability))
    assert abs(count - 20_000 * probability) <= 4 * spread
