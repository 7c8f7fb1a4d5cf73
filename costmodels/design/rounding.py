"""From weights to whole runs: exchange of runs under the budget."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costmodels.design.criteria import SINGULAR, Criterion

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

GAIN = 1e-9  # relative; not tuned: smaller improvements are rounding errors
# How far the exchange looks. Where all designs can be tried, it finds the best in more than 9 of 10
# (tests/costmodels/test_design.py); docs/studies/experiment-design.md has the times.
WIDEST = 40  # chosen candidates whose exchange is tried: those that are missed least
DRAWS = 8  # random roundings to start from


def cheapest_basis(criterion: Criterion, costs: FloatArray) -> IntArray:
    """Return the cheapest candidates that tell all terms apart, one for each term.

    Taking the cheapest candidate that is independent of those taken before it is optimal, as in
    every matroid; so no design costs less.
    """
    sizes = np.linalg.norm(criterion.rows, axis=1, keepdims=True)
    directions = criterion.rows / np.where(sizes > 0, sizes, 1.0)
    chosen: list[int] = []
    for at in np.argsort(costs, kind="stable").tolist():
        if np.linalg.matrix_rank(directions[[*chosen, at]], rtol=SINGULAR**0.5) > len(chosen):
            chosen.append(at)
        if len(chosen) == criterion.terms:
            break
    return np.array(chosen)


class _Exchange:
    """A design under improvement: add and swap runs, within budget and repeats."""

    def __init__(self, criterion: Criterion, costs: FloatArray, budget: float, most: int) -> None:
        self._criterion = criterion
        self._costs = costs
        self._budget = budget * (1 + 1e-12)  # a sum of costs may miss a whole number by a bit
        self._most = most

    def _room(self, counts: IntArray) -> float:
        return self._budget - float(counts @ self._costs)

    def _inverse(self, counts: IntArray) -> FloatArray:
        """Return M^-1, with a ridge where M is singular."""
        inverse = self._criterion.inverse(counts)
        if inverse is None:
            inverse = self._criterion.inverse(counts, SINGULAR**0.5)
            assert inverse is not None
        return inverse

    def fill(self, counts: IntArray) -> IntArray:
        """Add the run that helps most until none can be paid."""
        counts = counts.copy()
        while True:
            possible = (counts < self._most) & (self._costs <= self._room(counts))
            if not possible.any():
                return counts
            inverse = self._inverse(counts)
            gain = self._criterion.of_inverse(inverse) - self._criterion.after_adding(inverse)
            counts[int(np.argmax(np.where(possible, gain, -np.inf)))] += 1

    def _cheapest_losses(self, counts: IntArray, inverse: FloatArray) -> IntArray:
        """Return the chosen candidates that the design misses least."""
        chosen = np.flatnonzero(counts)
        losses = self._criterion.sensitivity(inverse)[chosen] / self._costs[chosen]
        return chosen[np.sort(np.argsort(losses, kind="stable")[:WIDEST])]

    def swap(self, counts: IntArray) -> IntArray:
        """Swap single runs for better ones that can be paid, the best swap first."""
        while (inverse := self._criterion.inverse(counts)) is not None:
            out = self._cheapest_losses(counts, inverse)
            taken = np.tile(counts, (len(out), 1))
            taken[np.arange(len(out)), out] -= 1
            found = np.stack(
                [self._criterion.after_adding(self._inverse(each)) for each in taken], axis=1
            )
            found[counts >= self._most] = np.inf
            dear = self._costs[:, None] - self._costs[out][None, :] > self._room(counts)
            found[dear] = np.inf
            best, column = np.unravel_index(int(np.argmin(found)), found.shape)
            swapped, now = taken[column], self._criterion.of_inverse(inverse)
            swapped[best] += 1
            if np.isinf(found[best, column]) or self._criterion.value(swapped) >= now * (1 - GAIN):
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


def round_weights(
    criterion: Criterion,
    costs: FloatArray,
    budget: float,
    most: int,
    weights: FloatArray,
) -> IntArray:
    """Return whole runs of each candidate, as near to the bound as exchange brings them.

    Starts are the cheapest regular design, the weights rounded down, to the nearest and at random;
    the best of what they settle to is taken.
    """
    exchange = _Exchange(criterion, costs, budget, most)
    basis = np.zeros(len(costs), dtype=np.int64)
    basis[cheapest_basis(criterion, costs)] = 1
    whole = np.floor(weights + 1e-6).astype(np.int64)
    largest = np.argsort(-weights, kind="stable")
    starts = [basis, whole, _affordable(np.rint(weights), largest, costs, budget)]
    starts += _drawn(weights, costs, budget, DRAWS)
    return min(map(exchange.settle, starts), key=criterion.value)


def _drawn(weights: FloatArray, costs: FloatArray, budget: float, number: int) -> list[IntArray]:
    """Round at random, up with the probability of the fraction; always the same draws."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(number):
        counts = np.floor(weights + rng.random(len(weights)))
        found.append(_affordable(counts, rng.permutation(len(weights)), costs, budget))
    return found


def _affordable(
    counts: FloatArray, order: npt.NDArray[np.intp], costs: FloatArray, budget: float
) -> IntArray:
    """Keep the runs that the budget affords, in an order of preference."""
    paid = np.cumsum((counts * costs)[order]) <= budget
    counts[order[~paid]] = 0
    return counts.astype(np.int64)
