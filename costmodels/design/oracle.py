"""Masha's oracle: the sample runs that would have been best, found after everything was run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from costmodels.design.problem import check_table
from costmodels.scaling.base import ScalingModel
from costmodels.scaling.check import masha_score, sampling_cost
from costmodels.scaling.models import Masha
from costmodels.scaling.points import Points, gather_points

NEEDED = ("scale", "machines", "seconds")


@dataclass(frozen=True)
class OracleDesign:
    """What the oracle finds.

    Attributes
    ----------
    points : DataFrame
        The best sample experiments: ``scale``, ``machines``, ``seconds`` (median), ``cost`` of one
        run in machine seconds.
    steps : DataFrame
        One row for each number of experiments, most first: ``experiments``; ``error`` in percent
        (equation 2); ``accuracy``, 100 - error; ``cost`` of the sample runs in machine seconds
        (equation 4); ``overhead``, that in percent of the actual runs; ``ratio``, accuracy by
        overhead; ``removed``, the row of the next experiment that is removed (-1 after the last).
    experiments : DataFrame
        All sample experiments, as in `points`; `removed` counts its rows.
    """

    points: pd.DataFrame
    steps: pd.DataFrame
    experiments: pd.DataFrame


def oracle_design(
    samples: pd.DataFrame,
    actual: pd.DataFrame,
    model: Any = None,
    *,
    fewest: int = 3,
    most: int = 10,
) -> OracleDesign:
    """Find the sample runs from which a model predicts the actual runs best for their cost.

    A tool for evaluation: it needs the actual runs, so it is no way to choose experiments. It
    shows what a model could reach with the best choice of sample runs, which separates errors of
    the model from errors of the design. Experiments are removed one at a time, always the one
    without which the model predicts the actual runs best, and of the designs on the way with at
    most `most` experiments the one of the highest accuracy for its overhead is returned.

    Parameters
    ----------
    samples : DataFrame
        Runs on parts of the data: columns ``scale``, ``machines``, ``seconds``; equal
        configurations are repeats; their median counts.
    actual : DataFrame
        Runs to predict, the same columns.
    model : estimator, optional
        With ``fit`` and ``predict``; None is :class:`~costmodels.scaling.Masha`.
    fewest : int, default 3
        Experiments where removal ends.
    most : int, default 10
        Most experiments of the design that is returned.

    Raises
    ------
    ValueError
        If a column is missing, a number is out of range, or there are too few experiments.

    References
    ----------
    Al-Sayeh et al.: Masha, DISPA 2020, section 4, steps 1 to 4, and equations 2 to 4.

    Examples
    --------
    >>> samples = pd.DataFrame([(s, m) for s in (1, 2, 4) for m in (1, 2, 4)])
    >>> samples.columns = ["scale", "machines"]
    >>> samples["seconds"] = 3 * samples["scale"] / samples["machines"] + samples["machines"]
    >>> actual = pd.DataFrame({"scale": [100, 100], "machines": [2, 4], "seconds": [152, 79]})
    >>> oracle = oracle_design(samples, actual)
    >>> len(oracle.points), round(float(oracle.steps["accuracy"].max()), 6)
    (3, 100.0)
    """
    known, unknown = _gather(samples, "samples"), _gather(actual, "actual")
    if not 2 <= fewest <= most:
        raise ValueError(f"fewest is {fewest} and most {most}, but must be 2 <= fewest <= most")
    if len(known) < fewest:
        raise ValueError(f"found {len(known)} sample experiments, but {fewest} are the fewest")
    model = Masha() if model is None else model
    kept = np.arange(len(known))
    designs = {len(kept): (kept, _error(model, known, unknown))}
    removed = []
    while len(kept) > fewest:
        found = [_error(model, known.take(np.delete(kept, i)), unknown) for i in range(len(kept))]
        out = int(np.argmin(found))
        removed.append(int(kept[out]))
        kept = np.delete(kept, out)
        designs[len(kept)] = kept, found[out]
    steps = pd.DataFrame(
        [_step(error, known.take(rows), unknown) for rows, error in designs.values()]
    )
    steps["removed"] = [*removed, -1]
    small = steps[steps["experiments"] <= most]
    best = int(small["experiments"].to_numpy()[int(small["ratio"].argmax())])
    experiments = _table(known)
    points = experiments.iloc[designs[best][0]].reset_index(drop=True)
    return OracleDesign(points, steps, experiments)


def _gather(table: pd.DataFrame, what: str) -> Points:
    checked = check_table(table[[name for name in table if name in NEEDED]], what, NEEDED)
    columns = {name: checked[name].to_numpy(np.float64) for name in NEEDED}
    return gather_points(columns, columns.pop("seconds"))


def _error(model: Any, known: Points, unknown: Points) -> float:
    """Return the score of the model that is fitted to the known points."""
    if isinstance(model, ScalingModel):
        # The law alone: `fit` also validates it, twentyfold the work, and refuses three points.
        predicted = model.fit_law(known).seconds(unknown.columns)
    else:
        fitted = clone(model).fit(pd.DataFrame(known.columns), known.seconds)
        predicted = fitted.predict(pd.DataFrame(unknown.columns))
    return masha_score(predicted, unknown.seconds)


def _step(error: float, known: Points, unknown: Points) -> dict[str, float]:
    machines, actual_machines = known.columns["machines"], unknown.columns["machines"]
    cost = sampling_cost(machines, known.seconds)
    overhead = 100 * sampling_cost(machines, known.seconds, actual_machines, unknown.seconds)
    return {
        "experiments": len(known),
        "error": error,
        "accuracy": 100 - error,
        "cost": cost,
        "overhead": overhead,
        "ratio": (100 - error) / overhead,
    }


def _table(points: Points) -> pd.DataFrame:
    table = pd.DataFrame(points.columns).assign(seconds=points.seconds)
    return table.assign(cost=table["machines"] * table["seconds"])
