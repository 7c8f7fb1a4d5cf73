from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels import ForwardSelectedLinear, NonNegativeLinear, leave_one_group_out, relative_error


def test_relative_error_has_a_sign():
    assert relative_error(12, 10) == pytest.approx(0.2)
    assert relative_error(8, 10) == pytest.approx(-0.2)
    np.testing.assert_allclose(relative_error([1, 2], [2, 1]), [-0.5, 1])
    with pytest.raises(ValueError, match="actual value 0"):
        relative_error(1, [1, 0])


def test_each_group_is_predicted_by_the_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"messages": rng.uniform(1, 9, 12), "vertices": rng.uniform(1, 9, 12)})
    y = 1 + 2 * X["messages"] * rng.lognormal(0, 0.1, 12)
    groups = np.repeat(["c", "a", "b"], 4)
    model = NonNegativeLinear()
    found = leave_one_group_out(model, X, y, groups)
    assert found["group"].tolist() == ["a", "b", "c"]
    assert found["rows"].tolist() == [4, 4, 4]
    for row in found.itertuples():
        out = groups == row.group
        expected = NonNegativeLinear().fit(X[~out], y[~out]).predict(X[out]).sum()
        assert row.predicted == pytest.approx(expected)
        assert row.actual == pytest.approx(y[out].sum())
        assert row.relative_error == pytest.approx(expected / y[out].sum() - 1)
    assert not hasattr(model, "coef_")


def test_weights_reach_the_fits():
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 9, (12, 1))
    y = (2 * X[:, 0]) * rng.lognormal(0, 0.3, 12)
    groups = np.arange(12) % 3
    weight = rng.integers(1, 5, 12)
    model = ForwardSelectedLinear()
    plain = leave_one_group_out(model, X, y, groups)
    weighted = leave_one_group_out(model, X, y, groups, weight)
    assert not np.allclose(plain["predicted"], weighted["predicted"])


def test_one_group_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        leave_one_group_out(NonNegativeLinear(), np.ones((4, 1)), np.ones(4), [1, 1, 1, 1])
