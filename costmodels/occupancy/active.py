"""Which assignment to measure next, so that few runs teach much."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import clone

from costmodels.arrays import FloatArray
from costmodels.occupancy.terms import attribute_of


def first_assignments(candidates: pd.DataFrame, count: int) -> list[int]:
    """Return rows to measure before there is any model: the extremes, then what lies far apart.

    Parameters
    ----------
    candidates : DataFrame
        Attributes of each assignment.
    count : int

    Returns
    -------
    list of int
        Positions, in the order in which to measure them.

    Examples
    --------
    >>> delays = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> grid = pd.DataFrame({"cpu_speed": [1, 2, 4] * 3, "network_latency": delays})
    >>> first_assignments(grid, 4)
    [0, 8, 2, 6]
    """
    table = _places(candidates)
    if not 0 < count <= len(table):
        raise ValueError(f"count is {count}, but must be from 1 to {len(table)}")
    chosen = [int(np.argmin(table.sum(axis=1)))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(cdist(table, table[chosen]).min(axis=1))))
    return chosen


def next_assignment(
    model: Any,
    candidates: pd.DataFrame,
    measured: list[int],
    seconds: npt.ArrayLike,
    **seen: npt.ArrayLike,
) -> int:
    """Return the assignment on which models of all runs but one disagree most.

    A committee of models, each fitted without one run, predicts every assignment that was
    not measured; where they differ most, relatively, and far from what was measured, one more run
    teaches most.

    Parameters
    ----------
    model : estimator
        Such as :class:`OccupancyModel`.
    candidates : DataFrame
        Attributes of each assignment.
    measured : list of int
        Rows that were measured.
    seconds : array_like
        Of these, in their order.
    **seen : array_like
        What `fit` takes besides, in the same order.

    Raises
    ------
    ValueError
        If all candidates were measured.
    """
    table = _places(candidates)
    left = np.setdiff1d(np.arange(len(table)), measured)
    if len(left) == 0:
        raise ValueError("every assignment was measured; there is no next one")
    far = cdist(table[left], table[measured]).min(axis=1)
    if len(measured) < 4:
        return int(left[np.argmax(far)])
    time = np.asarray(seconds, dtype=np.float64)
    predictions = []
    for out in range(len(measured)):
        kept = np.delete(np.arange(len(measured)), out)
        rows = candidates.iloc[np.asarray(measured)[kept]]
        options = {name: np.asarray(values)[kept] for name, values in seen.items()}
        fitted = clone(model).fit(rows, time[kept], **options)
        predictions.append(np.log(fitted.predict(candidates.iloc[left])))
    doubt = np.std(predictions, axis=0)
    return int(left[np.argmax(doubt * far)])


def _places(candidates: pd.DataFrame) -> FloatArray:
    """Return assignments as points: what a time depends on, each from 0 to 1."""
    table = candidates.astype(np.float64)
    powers = [str(name) for name in table if attribute_of(str(name)).power]
    powers = [name for name in powers if (table[name] > 0).all()]
    table[powers] = np.log(table[powers])
    spread = table.max() - table.min()
    return ((table - table.min()) / spread.where(spread > 0, 1.0)).to_numpy()
