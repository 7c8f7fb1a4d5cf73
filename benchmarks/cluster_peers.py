"""Peers that `auto` is held against: what others have published, in short forms of our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import least_squares
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from costmodels.scaling import Ernest, LinearScaling, Term

XY = ["scale", "machines"]
TREES = 60
FOLDS = 3
ROUNDS = 3
LEVEL = 0.9


class Curve:
    """A constant and a power of scale and machines, fitted to relative errors within bounds."""

    def __init__(self, law: Callable[..., np.ndarray], low: list[float], high: list[float]) -> None:
        self.law = law
        self.bounds = [0.0, 0.0, *low], [np.inf, np.inf, *high]

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Curve:
        if len(X[XY].drop_duplicates()) < 3:
            raise ValueError("too few configurations")
        self.center, self.unit = X[XY].mean(), float(np.median(y))
        start = np.r_[0.1, 1.0, np.mean([self.bounds[0][2:], self.bounds[1][2:]], axis=0)]
        found = least_squares(lambda x: self._seconds(X, x) / y - 1, start, bounds=self.bounds)
        self.found = found.x
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self._seconds(X, self.found)

    def _seconds(self, X: pd.DataFrame, unknowns: np.ndarray) -> np.ndarray:
        constant, factor, *powers = unknowns
        scale, machines = (X[XY] / self.center).to_numpy().T
        return self.unit * (constant + factor * self.law(scale, machines, *powers))


def log_process(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Fit a Gaussian process on logarithmic axes; return mean and deviation of the logarithm."""
    kernel = ConstantKernel(1.0) * Matern(np.ones(X.shape[1]), (0.1, 20), nu=2.5)
    process = GaussianProcessRegressor(
        kernel + WhiteKernel(0.01, (1e-5, 0.3)), normalize_y=True, random_state=0
    )
    process.fit(np.log(X.to_numpy(float)), np.log(y))
    return process.predict(np.log(new.to_numpy(float)), return_std=True)


class SharedSpeedup:
    """C3O's pooled predictor: models of all contexts of a job, chosen by leaving runs out.

    The three models of Will et al. (C3O, IC2E 2021, section 4): boosting on everything, and two
    that take the speed-up to be the same in all contexts of the job, a cubic and a boosted one.
    Of these two the level of a context is here that of its own runs, which is kinder to them than
    a regression on its parameters. Unlike the other models it sees other contexts of the same job.
    """

    def __init__(self, fellows: list[pd.DataFrame]) -> None:
        self.fellows = [runs.groupby(XY).seconds.median().reset_index() for runs in fellows]

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> SharedSpeedup:
        if not self.fellows:
            raise ValueError("there is no other context of this job")
        own = X[XY].assign(seconds=np.asarray(y)).groupby(XY).seconds.median().reset_index()
        models = {
            "boosting": self._everything,
            "cubic": partial(self._speedup, make=_cubic),
            "boosted speed-up": partial(self._speedup, make=_trees),
        }
        errors = dict.fromkeys(models, 0.0)
        fold = np.arange(len(own)) % min(FOLDS, len(own))
        for i in np.unique(fold):
            rest, out = own[fold != i], own[fold == i]
            for name, make in models.items():
                predicted = make(rest)(out[XY])
                errors[name] += float(np.abs(predicted / out.seconds - 1).sum())
        self.model = models[min(errors, key=errors.__getitem__)](own)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model(X)

    def _everything(self, own: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
        """Boosting; a context is known by the mean of its times."""
        tables = [*self.fellows, own]
        levels = [np.log(runs.seconds).mean() for runs in tables]
        rows = pd.concat([r[XY].assign(level=x) for r, x in zip(tables, levels, strict=True)])
        model = _trees().fit(rows, np.log(pd.concat(tables).seconds))
        return lambda X: np.exp(model.predict(X[XY].assign(level=levels[-1])))

    def _speedup(self, own: pd.DataFrame, make: Callable[[], Any]) -> Any:
        tables = [*self.fellows, own]
        places = pd.concat(tables)[XY]
        logs = np.log(pd.concat(tables).seconds.to_numpy())
        context = np.repeat(np.arange(len(tables)), [len(runs) for runs in tables])
        shape = np.zeros(len(logs))
        for _ in range(ROUNDS):
            levels = np.bincount(context, logs - shape) / np.bincount(context)
            model = make().fit(places, logs - levels[context])
            shape = model.predict(places)
        level = float((logs - shape)[context == len(tables) - 1].mean())
        return lambda X: np.exp(level + model.predict(X[XY]))


def _cubic() -> Any:
    return make_pipeline(StandardScaler(), PolynomialFeatures(3), Ridge(1e-3))


def _trees() -> Any:
    return GradientBoostingRegressor(n_estimators=TREES, random_state=0)


# Universal Scalability Law (Gunther: Guerrilla Capacity Planning, 2007, chapter 4).
USL = [
    "scale/machines",
    Term("contention", lambda scale, machines: scale * np.maximum(machines - 1, 0) / machines),
    Term("coherence", lambda scale, machines: scale * np.maximum(machines - 1, 0)),
]
# One law each; of these the best differs by source and test.
LAWS: dict[str, Callable[[], Any]] = {
    "Amdahl": partial(LinearScaling, ["1", "scale/machines"]),
    "Ernest, relative": partial(Ernest),
    "USL": partial(LinearScaling, USL),
    "power law": partial(Curve, lambda s, m, c: (s / m) ** c, [0.05], [3.0]),
    "product of powers": partial(Curve, lambda s, m, b, c: s**b * m**c, [0.0, -2.0], [3.0, 1.0]),
}
# Boosting on the logarithm of the time, the peer that extrapolates nothing.
BOOSTING = TransformedTargetRegressor(
    GradientBoostingRegressor(random_state=0), func=np.log, inverse_func=np.exp
)
PEERS: dict[str, Callable[[], Any]] = {
    **LAWS,
    "Ernest, as published": partial(Ernest, weights="none"),
    "gradient boosting": partial(clone, BOOSTING),
}


def judged(
    make: Callable[[], Any], known: pd.DataFrame, unknown: pd.DataFrame
) -> tuple[float, float, float]:
    """Fit a model; return its mean error in percent, and share held and width of its intervals.

    Raises
    ------
    ValueError
        If these are too few runs for the model.
    """
    X, new = (runs[XY].astype(float) for runs in (known, unknown))
    y, truth = (runs["seconds"].to_numpy(float) for runs in (known, unknown))
    model = make().fit(X, y)
    error = 100 * np.abs(model.predict(new) / truth - 1).mean()
    if not hasattr(model, "predict_interval"):
        return error, np.nan, np.nan
    low, high = model.predict_interval(new, LEVEL).T
    return error, 100 * ((low <= truth) & (truth <= high)).mean(), np.sqrt(high / low).mean()
