"""Forward selection beside a search that fits every model of every fold anew."""

import numpy as np
import pytest
from scipy.optimize import nnls

from costmodels import ForwardSelectedLinear

ROWS, COLUMNS = 24, 6
SEEDS = range(6)
GROUPS = np.arange(ROWS) % 6


def table(seed, noise, *, alike=0.0):
    """Counters of different sizes; the first three have a cost."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 9, size=(ROWS, COLUMNS))
    X += alike * rng.uniform(1, 9, size=(ROWS, 1))
    y = (3 + X[:, :3] @ [4, 2, 1]) * rng.lognormal(0, noise, ROWS)
    order = rng.permutation(COLUMNS)
    return X[:, order] * 10.0 ** rng.integers(-3, 7, COLUMNS), y


def left_out_error(columns, X, y, relative):
    """Root-mean-square error of groups by an intercept and costs of the others, none negative."""
    importance = 1 / y if relative else np.ones(len(y))
    design = np.column_stack((np.ones(len(y)), X[:, columns])) * importance[:, None]
    design, target = design / np.linalg.norm(design, axis=0), y * importance
    errors = [
        design[out == GROUPS] @ nnls(design[out != GROUPS], target[out != GROUPS])[0]
        - target[out == GROUPS]
        for out in np.unique(GROUPS)
    ]
    return np.sqrt(np.mean(np.square(errors)))


def agrees(X, y, *, weights="relative", min_gain=0.05):
    """Check order, errors and end of a selection; return how many columns it has."""
    model = ForwardSelectedLinear(weights=weights, min_gain=min_gain).fit(X, y, groups=GROUPS)
    order, errors = [], [left_out_error([], X, y, weights == "relative")]
    while len(order) < len(model.path_):
        left = [column for column in range(COLUMNS) if column not in order]
        found = [left_out_error([*order, one], X, y, weights == "relative") for one in left]
        order, errors = [*order, left[int(np.argmin(found))]], [*errors, min(found)]
    assert [name for name, _ in model.path_] == ["start", *(f"x{one}" for one in order[:-1])]
    np.testing.assert_allclose([error for _, error in model.path_], errors[:-1], rtol=1e-6)
    gains = 1 - np.divide(errors[1:], errors[:-1])
    assert (gains[:-1] > max(min_gain, 1 / ROWS)).all()
    assert gains[-1] <= max(min_gain, 1 / ROWS)
    return len(order)


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize("noise", [0.01, 0.4])
def test_it_chooses_the_columns_of_least_left_out_error(weights, noise):
    lengths = {agrees(*table(seed, noise), weights=weights) for seed in SEEDS}
    assert len(lengths) > 1 or noise < 0.1
    for seed in SEEDS:  # also when columns resemble each other
        agrees(*table(seed, noise, alike=3.0), weights=weights, min_gain=0.3)
