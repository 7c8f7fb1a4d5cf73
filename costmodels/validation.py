"""How wrong a cost model is on runs that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["leave_one_group_out", "relative_error"]


@overload
def relative_error(predicted: float, actual: float) -> float: ...
@overload
def relative_error(
    predicted: npt.ArrayLike, actual: npt.ArrayLike
) -> float | npt.NDArray[np.float64]: ...
def relative_error(
    predicted: npt.ArrayLike, actual: npt.ArrayLike
) -> float | npt.NDArray[np.float64]:
    """Return the signed relative error, predicted/actual - 1.

    Parameters
    ----------
    predicted, actual : float or array_like
        Of shapes that go together.

    Raises
    ------
    ValueError
        If an actual value is 0, negative or not finite.

    Examples
    --------
    >>> relative_error(3.0, 2.0)
    0.5
    >>> relative_error([1, 2], 4)
    array([-0.75, -0.5 ])
    """
    truth = np.asarray(actual, dtype=np.float64)
    wrong = truth[~((truth > 0) & np.isfinite(truth))]
    if wrong.size:
        raise ValueError(f"the actual value {wrong.flat[0]:g} is not positive and finite")
    error = np.asarray(predicted, dtype=np.float64) / truth - 1
    return error if error.ndim else float(error)


def leave_one_group_out(
    model: Any, X: Any, y: Any, groups: Any, sample_weight: Any = None
) -> pd.DataFrame:
    """Predict each group by the model fitted to the others.

    Parameters
    ----------
    model : estimator
        Is cloned, not changed.
    X : array_like or DataFrame, shape (n, k)
        Features.
    y : array_like, shape (n,)
        Costs, positive in total in each group.
    groups : array_like, shape (n,)
        What each row belongs to, such as its run.
    sample_weight : array_like, shape (n,), optional
        Passed to the fits; predictions are not weighted.

    Returns
    -------
    DataFrame
        One row a group: ``group``, ``rows``, ``predicted`` and ``actual`` (sums over the rows of
        the group, so the whole of a run), and their signed ``relative_error``.

    Raises
    ------
    ValueError
        If there are fewer than two groups.

    Examples
    --------
    >>> import numpy as np
    >>> from costmodels import NonNegativeLinear
    >>> X = np.arange(1.0, 7.0)[:, None]
    >>> found = leave_one_group_out(NonNegativeLinear(), X, 2 * X[:, 0], [1, 1, 2, 2, 3, 3])
    >>> found["relative_error"].abs().max() < 1e-9
    np.True_
    """
    import pandas as pd

    check_consistent_length(X, y, groups, sample_weight)
    labels = np.asarray(groups)
    cost = np.asarray(y, dtype=np.float64)
    names = np.unique(labels)
    if len(names) < 2:
        raise ValueError("all rows are of one group, but leaving groups out needs at least 2")
    found = []
    for name in names:
        out = np.flatnonzero(labels == name)
        kept = np.flatnonzero(labels != name)
        options: dict[str, Any] = {}
        if sample_weight is not None:
            options["sample_weight"] = np.asarray(sample_weight)[kept]
        fitted = clone(model).fit(_safe_indexing(X, kept), cost[kept], **options)
        predicted = float(np.sum(fitted.predict(_safe_indexing(X, out))))
        actual = float(cost[out].sum())
        found.append((name, len(out), predicted, actual, relative_error(predicted, actual)))
    columns = ["group", "rows", "predicted", "actual", "relative_error"]
    return pd.DataFrame(found, columns=columns)
