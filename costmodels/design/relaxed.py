"""The relaxed problem: how often to run each candidate, if parts of a run could be bought."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from costmodels.design.criteria import Criterion

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RelaxedDesign:
    """Solution of the convex problem of section 3.3.

    Attributes
    ----------
    weights : ndarray of float64, shape (n,)
        Runs of each candidate, not whole; between 0 and the most repeats.
    value : float
        Criterion of the weights.
    bound : float
        What no design within the budget goes below; the same as `value` but for the precision of
        the solver.
    """

    weights: FloatArray
    value: float
    bound: float


def solve_relaxed(
    criterion: Criterion, costs: FloatArray, budget: float, most: float
) -> RelaxedDesign:
    """Minimise the criterion over 0 <= weights <= most with costs @ weights <= budget.

    Raises
    ------
    RuntimeError
        If the solver finds no solution.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.3. Boyd, Vandenberghe: Convex Optimization
    (2004), section 7.5.
    """
    cp: Any = import_module("cvxpy")  # takes a second, so only who solves waits for it
    count, terms = criterion.rows.shape
    # Shares of the budget instead of runs: numbers near 1 whatever the units and the budget.
    share = cp.Variable(count)
    rows = criterion.rows * np.sqrt(budget / costs)[:, None]
    size = float((rows**2).sum(axis=1).mean()) / terms
    products = np.einsum("ij,ik->ijk", rows, rows).reshape(count, -1) / size
    information = cp.reshape(products.T @ share, (terms, terms), order="C")
    limits = [share >= 0, share <= np.minimum(most * costs / budget, 1.0), cp.sum(share) <= 1]
    if criterion.name == "d":
        problem = cp.Problem(cp.Maximize(cp.log_det(information)), limits)
    else:
        # tr(K' M^-1 K) is the least trace of X with [[M, K], [K', X]] positive semidefinite.
        root = criterion.root / np.linalg.norm(criterion.root)
        spread = cp.Variable((root.shape[1], root.shape[1]), symmetric=True)
        joint = cp.bmat([[information, root], [root.T, spread]])
        problem = cp.Problem(cp.Minimize(cp.trace(spread)), [*limits, joint >> 0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the bound shows it
        problem.solve(solver=cp.CLARABEL)
    if share.value is None:
        raise RuntimeError(f"the design problem was not solved: {problem.status}")
    weights = np.clip(share.value * budget / costs, 0, most)
    weights *= min(1.0, budget / float(weights @ costs))
    value = criterion.value(weights)
    if not np.isfinite(value):
        raise RuntimeError("the design problem was not solved: its solution is singular")
    return RelaxedDesign(weights, value, criterion.bound(weights, costs, budget, most))
