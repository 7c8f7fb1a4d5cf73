"""Forward selection beside scikit-learn's, which fits every model of every fold anew."""

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.metrics import make_scorer
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_score

from costmodels import ForwardSelectedLinear

ROWS, COLUMNS = 24, 6
SEEDS = range(6)


class Costs(RegressorMixin, BaseEstimator):
    """An intercept and costs, none negative, of least relative or plain error."""

    def __init__(self, relative=True):
        self.relative = relative

    def fit(self, X, y):
        table = np.column_stack((np.ones(len(y)), X))
        size = np.linalg.norm(table, axis=0)
        importance = 1 / y if self.relative else np.ones(len(y))
        found = nnls(table / size * importance[:, None], y * importance)[0]
        self.costs_ = found / size
        return self

    def predict(self, X):
        return np.column_stack((np.ones(len(X)), X)) @ self.costs_


def squared(relative):
    def error(y, predicted):
        return np.mean(((predicted - y) / (y if relative else 1.0)) ** 2)

    return make_scorer(error, greater_is_better=False)


def table(seed, noise, *, alike=0.0):
    """Counters of different sizes; the first three have a cost."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 9, size=(ROWS, COLUMNS))
    X += alike * rng.uniform(1, 9, size=(ROWS, 1))
    y = (3 + X[:, :3] @ [4, 2, 1]) * rng.lognormal(0, noise, ROWS)
    order = rng.permutation(COLUMNS)
    return X[:, order] * 10.0 ** rng.integers(-3, 7, COLUMNS), y


def error_of(columns, X, y, folds, relative):
    if not columns:  # what the intercept alone says
        X, columns = np.ones((len(y), 1)), [0]
    scores = cross_val_score(Costs(relative), X[:, columns], y, cv=folds, scoring=squared(relative))
    return np.sqrt(-scores.mean())


def by_scikit_learn(X, y, folds, relative, count):
    """Return the first `count` columns in the order in which they are chosen."""
    order = []
    for number in range(1, count + 1):
        selector = SequentialFeatureSelector(
            Costs(relative), n_features_to_select=number, scoring=squared(relative), cv=folds
        )
        support = np.flatnonzero(selector.fit(X, y).support_)
        order += [column for column in support if column not in order]
    return order


def agrees(X, y, groups, *, weights, min_gain=0.05):
    """Check order, errors and end of a selection; return how many columns it has."""
    relative = weights == "relative"
    model = ForwardSelectedLinear(weights=weights, min_gain=min_gain).fit(X, y, groups=groups)
    splits = LeaveOneOut().split(X) if groups is None else LeaveOneGroupOut().split(X, y, groups)
    folds = list(splits)
    ours = [int(name[1:]) for name, _ in model.path_[1:]]
    assert len(ours) < COLUMNS - 1  # or the end says nothing
    theirs = by_scikit_learn(X, y, folds, relative, len(ours) + 1)
    assert ours == theirs[:-1]
    errors = [error_of(theirs[:n], X, y, folds, relative) for n in range(len(theirs) + 1)]
    np.testing.assert_allclose([error for _, error in model.path_], errors[:-1], rtol=1e-6)
    gains = 1 - np.divide(errors[1:], errors[:-1])
    bound = max(min_gain, 1 / len(y))
    assert (gains[:-1] > bound).all()
    assert gains[-1] <= bound
    return len(ours)


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize("noise", [0.01, 0.4])
def test_it_chooses_what_scikit_learn_does_by_groups(weights, noise):
    groups = np.arange(ROWS) % 6
    lengths = {agrees(*table(seed, noise), groups, weights=weights) for seed in SEEDS}
    assert len(lengths) > 1 or noise < 0.1


@pytest.mark.parametrize("min_gain", [0.0, 0.3])
def test_so_it_does_when_columns_resemble_each_other(min_gain):
    groups = np.arange(ROWS) % 6
    for seed in SEEDS:
        agrees(*table(seed, 0.1, alike=3.0), groups, weights="relative", min_gain=min_gain)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["relative", "none"])
def test_it_chooses_what_scikit_learn_does_by_rows(weights):
    for seed in SEEDS[:2]:
        agrees(*table(seed, 0.05), None, weights=weights)
