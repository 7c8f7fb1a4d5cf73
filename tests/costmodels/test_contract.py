"""Every estimator keeps the contract of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import check_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from costmodels import ForwardSelectedLinear, NonNegativeLinear
from costmodels.occupancy import OccupancyModel, OccupancyPredictor, OverlapModel
from costmodels.scaling import AutoScaling, Ernest


def lift(X):
    """Add 1 to a table of numbers that has a 0; leave to the model what is wrong with others."""
    if isinstance(X, pd.DataFrame):
        return X + 1
    try:
        numbers = check_array(X, dtype=np.float64, ensure_min_samples=0, ensure_min_features=0)
    except (TypeError, ValueError):
        return X
    return numbers + 1 if (numbers >= 0).all() else X


class Lifted:
    """A model on lifted tables: scikit-learn's have a 0, and no cluster has 0 machines."""

    def fit(self, X, y):
        return super().fit(lift(X), y)

    def predict(self, X):
        return super().predict(lift(X))


class LiftedErnest(Lifted, Ernest): ...


class LiftedAuto(Lifted, AutoScaling): ...


ESTIMATORS = [
    NonNegativeLinear(weights="none", fit_intercept=False),
    ForwardSelectedLinear(),
    LiftedErnest(),
    LiftedAuto(),
    OccupancyPredictor(),
    OccupancyModel(shape="linear"),
    OverlapModel(),
]
OF_200_ROWS = ("check_regressors_train", "check_regressor_data_not_an_array")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X has no columns named")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    if isinstance(estimator, LiftedAuto) and check.func.__name__ in OF_200_ROWS:
        pytest.skip("takes seconds, and Ernest reads its data by the same code")
    check(estimator)
