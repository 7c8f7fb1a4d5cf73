"""The relaxed problem: how often to run each candidate, if parts of a run could be bought."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from costmodels.arrays import FloatArray
from costmodels.design.criteria import Criterion


def solve_relaxed(
    criterion: Criterion, costs: FloatArray, budget: float, most: float
) -> FloatArray:
    """Return the weights, 0 to `most`, of least criterion with costs @ weights <= budget.

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
    # tr(K' M^-1 K) is the least trace of X with [[M, K], [K', X]] positive semidefinite; K is
    # divided by its norm, which changes no weight.
    root = criterion.root / np.linalg.norm(criterion.root)
    spread = cp.Variable((root.shape[1], root.shape[1]), symmetric=True)
    joint = cp.bmat([[information, root], [root.T, spread]])
    problem = cp.Problem(cp.Minimize(cp.trace(spread)), [*limits, joint >> 0])
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the bound shows it
            problem.solve(solver=cp.CLARABEL)
        solved = share.value is not None
    except cp.error.SolverError:
        solved = False
    if solved:
        weights: FloatArray = np.clip(share.value * budget / costs, 0, most)
        weights *= min(1.0, budget / float(weights @ costs))
        if np.isfinite(criterion.value(weights)):
            return weights
    raise RuntimeError(
        f"no design for the budget {budget:g} was found: the solver failed on {count} candidates; "
        "accepted: another budget, a smaller range of scales or machines, or fewer terms"
    )
