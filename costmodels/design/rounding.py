"""The relaxed problem, in parts of runs, and from its weights to whole runs by exchange."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from costmodels.arrays import FloatArray, IntArray
from costmodels.design.criteria import Criterion


def cheapest_basis(criterion: Criterion, costs: FloatArray) -> IntArray:
    """Return the cheapest candidates that tell all terms apart, one for each term.

    Taking the cheapest candidate that is independent of those taken before it is optimal, as in
    every matroid; so no design costs less.
    """
    sizes = np.linalg.norm(criterion.rows, axis=1, keepdims=True)
    directions = criterion.rows / np.where(sizes > 0, sizes, 1.0)
    chosen: list[int] = []
    for at in np.argsort(costs, kind="stable").tolist():
        if np.linalg.matrix_rank(directions[[*chosen, at]], rtol=1e-6) > len(chosen):
            chosen.append(at)
        if len(chosen) == criterion.terms:
            break
    return np.array(chosen)


@dataclass(frozen=True)
class RunChoice:
    """How often to run each candidate, so that the criterion is least within a budget.

    Parameters
    ----------
    criterion : Criterion
    costs : ndarray, shape (n,)
        Of one run of each candidate.
    budget : float
    most : int
        Runs of one candidate.
    """

    criterion: Criterion
    costs: FloatArray
    budget: float
    most: int

    def relaxed(self) -> FloatArray:
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
        criterion, costs, budget = self.criterion, self.costs, self.budget
        count, terms = criterion.rows.shape
        # Shares of the budget instead of runs: numbers near 1 whatever the units and the budget.
        share = cp.Variable(count)
        rows = criterion.rows * np.sqrt(budget / costs)[:, None]
        size = float((rows**2).sum(axis=1).mean()) / terms
        products = np.einsum("ij,ik->ijk", rows, rows).reshape(count, -1) / size
        information = cp.reshape(products.T @ share, (terms, terms), order="C")
        most = np.minimum(self.most * costs / budget, 1.0)
        limits = [share >= 0, share <= most, cp.sum(share) <= 1]
        # tr(K' M^-1 K) is the least trace of X with [[M, K], [K', X]] positive semidefinite; K is
        # divided by its norm, which changes no weight.
        root = criterion.root / np.linalg.norm(criterion.root)
        spread = cp.Variable((root.shape[1], root.shape[1]), symmetric=True)
        joint = cp.bmat([[information, root], [root.T, spread]])
        problem = cp.Problem(cp.Minimize(cp.trace(spread)), [*limits, joint >> 0])
        with suppress(cp.error.SolverError), warnings.catch_warnings():
            # The bound shows it.
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL)
        if share.value is not None:
            weights: FloatArray = np.clip(share.value * budget / costs, 0, self.most)
            weights *= min(1.0, budget / float(weights @ costs))
            if np.isfinite(criterion.value(weights)):
                return weights
        raise RuntimeError(
            f"no design for the budget {budget:g} was found: the solver failed on {count} "
            "candidates; accepted: another budget, a smaller range of scales or machines, or fewer "
            "terms"
        )

    def bound(self, weights: FloatArray) -> float:
        """Return what no design within the budget can go below, whole runs or not.

        A criterion that is convex and homogeneous of degree -1 is, for every design n, at least
        its value at `weights`, squared, divided by the sum of n times the sensitivities there. The
        largest such sum under the budget is a fractional knapsack. Exact at the optimum, and a
        bound at any weights, so it does not depend on the precision of a solver.
        """
        inverse = self.criterion.inverse(weights)
        assert inverse is not None  # of those that are relaxed
        speed = self.criterion.sensitivity(inverse)
        order = np.argsort(-speed / self.costs, kind="stable")
        full = self.costs[order] * self.most
        room = np.clip(self.budget - (np.cumsum(full) - full), 0, full)
        largest = float((speed[order] * room / self.costs[order]).sum())
        return self.criterion.of_inverse(inverse) ** 2 / largest

    def _room(self, counts: IntArray) -> float:
        """Return what is left of the budget; a sum of costs may miss a whole number by a bit."""
        return self.budget * (1 + 1e-12) - float(counts @ self.costs)

    def _inverse(self, counts: IntArray) -> FloatArray:
        """Return M^-1, with a ridge where M is singular."""
        inverse = self.criterion.inverse(counts)
        if inverse is None:
            inverse = self.criterion.inverse(counts, ridge=1e-6)
            assert inverse is not None
        return inverse

    def fill(self, counts: IntArray) -> IntArray:
        """Add the run that helps most until none can be paid."""
        counts = counts.copy()
        while True:
            possible = (counts < self.most) & (self.costs <= self._room(counts))
            if not possible.any():
                return counts
            inverse = self._inverse(counts)
            gain = self.criterion.of_inverse(inverse) - self.criterion.after_adding(inverse)
            counts[int(np.argmax(np.where(possible, gain, -np.inf)))] += 1

    def swap(self, counts: IntArray, widest: int = 40) -> IntArray:
        """Swap single runs for better ones that can be paid, the best swap first.

        Those out are tried of the chosen candidates that the design misses least, up to `widest` of
        them, which bounds the time (docs/studies/experiment-design.md).
        """
        while (inverse := self.criterion.inverse(counts)) is not None:
            chosen = np.flatnonzero(counts)
            losses = self.criterion.sensitivity(inverse)[chosen] / self.costs[chosen]
            out = chosen[np.sort(np.argsort(losses, kind="stable")[:widest])]
            taken = np.tile(counts, (len(out), 1))
            taken[np.arange(len(out)), out] -= 1
            found = np.stack(
                [self.criterion.after_adding(self._inverse(each)) for each in taken], axis=1
            )
            found[counts >= self.most] = np.inf
            costly = self.costs[:, None] - self.costs[out][None, :] > self._room(counts)
            found[costly] = np.inf
            best, column = np.unravel_index(int(np.argmin(found)), found.shape)
            swapped, now = taken[column], self.criterion.of_inverse(inverse)
            swapped[best] += 1
            better = now * (1 - 1e-9)  # less is a rounding error
            if np.isinf(found[best, column]) or self.criterion.value(swapped) >= better:
                break
            counts = swapped
        return counts

    def settle(self, counts: IntArray) -> IntArray:
        """Fill and swap in turn until the design stays as it is."""
        counts = self.fill(counts)
        while True:
            swapped = self.swap(counts)
            counts = self.fill(swapped)
            if np.array_equal(swapped, counts):
                return counts

    def rounded(self, weights: FloatArray, draws: int = 8) -> IntArray:
        """Return whole runs of each candidate, as near to the bound as exchange brings them.

        Starts are the cheapest regular design, the weights rounded down, to the nearest and at
        random; the best of what they settle to is taken. Where all designs can be tried, it is the
        best of them in more than 9 of 10 (tests/costmodels/test_design.py).
        """
        basis = np.zeros(len(self.costs), dtype=np.int64)
        basis[cheapest_basis(self.criterion, self.costs)] = 1
        whole = np.floor(weights + 1e-6).astype(np.int64)
        largest = np.argsort(-weights, kind="stable")
        starts = [basis, whole, self._affordable(np.rint(weights), largest)]
        rng = np.random.default_rng(0)
        for _ in range(draws):  # up with the probability of the fraction
            counts = np.floor(weights + rng.random(len(weights)))
            starts.append(self._affordable(counts, rng.permutation(len(weights))))
        return min(map(self.settle, starts), key=self.criterion.value)

    def _affordable(self, counts: FloatArray, order: IntArray) -> IntArray:
        """Keep the runs that the budget affords, in an order of preference."""
        paid = np.cumsum((counts * self.costs)[order]) <= self.budget
        counts[order[~paid]] = 0
        return counts.astype(np.int64)
