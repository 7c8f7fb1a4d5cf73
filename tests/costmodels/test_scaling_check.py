from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costmodels.scaling import (
    Ernest,
    check_fit,
)


def points() -> pd.DataFrame:
    return pd.DataFrame(
        [(s, m) for s in (1, 2, 4) for m in (1, 4, 16, 64)], columns=["scale", "machines"]
    )


def test_left_out_errors_are_those_of_fits_to_the_others():
    X = points()
    y = (5 + 50 * X["scale"] / X["machines"]) * np.random.default_rng(0).lognormal(0, 0.1, len(X))
    model = Ernest().fit(X, y)
    by_hand = [
        Ernest().fit(X.drop(index=i), y.drop(index=i)).predict(X.loc[[i]])[0] for i in X.index
    ]
    found = model.loocv_
    assert found.predicted == pytest.approx(by_hand)
    assert found.max_percent_error == pytest.approx(100 * np.abs(by_hand / y - 1).max())


def test_a_missing_term_is_noticed_and_proposed():
    # Aggregation in two stages, of sqrt(m) tasks (Ernest, Table 2).
    X = points()
    y = 1 + 2 * X["scale"] / X["machines"] + 9 * X["scale"] ** 2
    model = Ernest().fit(X, y)
    verdict = check_fit(model)
    assert not verdict.fits
    assert verdict.term.name == "scale^2"
    assert "this model does not fit" in str(verdict)
    assert "add the term 'scale^2'" in str(verdict)
    stages = 0.1 + 2 * X["scale"] / X["machines"] + 9 * np.sqrt(X["machines"])
    assert check_fit(Ernest().fit(X, stages), threshold=1).term.name == "sqrt(machines)"
    better = Ernest(extra_terms=[verdict.term]).fit(X, y)
    assert check_fit(better).fits
    assert better.loocv_.residual_sum_of_squares < model.loocv_.residual_sum_of_squares / 100


def test_a_model_that_fits_gets_no_proposal():
    X = points()
    verdict = check_fit(Ernest().fit(X, 5 + 50 * X["scale"] / X["machines"]))
    assert verdict.fits
    assert verdict.term is None
    assert str(verdict).startswith("the model fits")
    with pytest.raises(ValueError, match="threshold is 0, but must be positive"):
        check_fit(Ernest().fit(X, 5 + X["scale"]), threshold=0)
