from __future__ import annotations

import numpy as np
import pytest

from costmodels.design import COSTS, candidate_grid


def test_grid_of_whole_partitions_leaves_out_idle_cores():
    grid = candidate_grid((4 / 64, 32 / 64), (1, 16), partitions=64, cores_per_machine=2, steps=29)
    parts = grid["scale"] * 64
    assert (parts == parts.round()).all()
    assert parts.min() == 4
    assert parts.max() == 32
    assert (parts >= 2 * grid["machines"]).all()
    kept = {(p, m) for p in range(4, 33) for m in range(1, 17) if p >= 2 * m}
    assert set(zip(parts.astype(int), grid["machines"], strict=True)) == kept


def test_costs():
    grid = candidate_grid((2, 4), (1, 2), steps=2)
    assert grid["cost"].tolist() == [1, 0.5, 2, 1]
    grid = candidate_grid((2, 4), (1, 2), steps=2, cost="machine-time")
    assert grid["cost"].tolist() == [1, 1, 2, 2]
    grid = candidate_grid((2, 4), (1, 2), steps=2, cost=lambda s, m: 10 + s * m)
    assert grid["cost"].tolist() == [12, 14, 14, 18]
    assert set(COSTS) == {"time", "machine-time"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": (2, 1)}, "scale is from 2 to 1, but low must be less than high"),
        ({"scale": (0, 1)}, "scale is from 0 to 1, but must be positive"),
        ({"scale": (1, np.inf)}, "but must be positive and finite"),
        ({"scale": 3}, "scale is 3, but must be two numbers"),
        ({"machines": (1, 4.5)}, "machines has 4.5, but must be whole"),
        ({"machines": (1, 10**6)}, "at most 5000 are accepted"),
        ({"steps": 10**11}, "steps is 100000000000, but at most 5000 are accepted"),
        ({"cores_per_machine": 2}, "but not partitions, which it needs"),
        ({"partitions": 64}, "it is a fraction of the data"),
        (
            {"scale": (0.25, 0.5), "partitions": 4, "cores_per_machine": 3},
            "no candidate is left: 2 partitions, the most, are fewer than the 3 cores",
        ),
        ({"cost": "money"}, "unknown cost 'money'; accepted: machine-time, time"),
        ({"cost": lambda s, m: s - 1}, "the cost is 0 at scale 1 on 1 machine"),
        ({"cost": lambda s, m: s[:2]}, "the cost function returned the shape"),
    ],
)
def test_grids_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        candidate_grid(**{"scale": (1, 8), "machines": (1, 8), **options})
