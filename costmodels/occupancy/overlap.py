"""Time of a task whose computing and waiting overlap: one law for all resources together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from costmodels.arrays import FloatArray
from costmodels.occupancy.terms import Term, attribute_of, reference_values
from costmodels.rows import CostRegressor, check_positive, checked_data, column_names

RESOURCES = ("compute", "network", "disk")

# Where the search for p starts and ends: nearly the larger part; and what decides between solutions
# that fit alike. Not tuned.
_START, _MOST, _SHRINKAGE = 2.0, 50.0, 1e-3

Service = tuple[str, Term | None]
"""A resource, and an attribute that its time depends on, or what is constant."""


class OverlapModel(CostRegressor):
    """Times of computing and of waiting, joined by how far they hide each other.

    ``t = (a^p + (n + d)^p)^(1/p)``: computing a, network n and disk d are linear in the inverse of
    speeds and in delays, with non-negative coefficients. With p = 1 a task computes and waits in
    turn (equation 1); the larger p, the more of the shorter is hidden behind the longer, as
    prefetching does (section V-B.4). What the bandwidths take may hide behind the delays as well,
    as it does when blocks are on their way while others are requested; then they are a part of
    their own. Of the two laws the one that fits better is taken. All coefficients and p are fitted
    to relative errors of seconds.

    Attributes
    ----------
    overlap_ : float
        p, from 1.
    apart_ : bool
        Whether bandwidths are a part of their own.
    coef_ : dict of str to float
        Seconds that each term takes at the reference, ``"compute"``, ``"network"`` and ``"disk"``
        being what does not depend on any attribute.
    formula_ : str

    Notes
    -----
    This is not in the paper, which names an a priori model of concurrency as the way to need fewer
    samples and to predict beyond their range (sections IV-B and V-B.4).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"cpu_speed": [1, 2, 4, 8, 1, 2, 4, 8],
    ...                   "network_latency": [1, 1, 1, 1, 5, 5, 5, 5]})
    >>> y = [8, 4, 2, 1, 8, 5, 5, 5]
    >>> model = OverlapModel().fit(X, y)
    >>> model.overlap_ > 5
    True
    >>> a_byte = OverlapModel().fit(X, [1e-10 * seconds for seconds in y])
    >>> "cpu_speed" in a_byte.formula_
    True
    """

    def fit(self, X: Any, y: Any, compute: Any = None) -> Self:
        """Fit services and their overlap.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, k)
        y : array_like, shape (n,)
            Seconds; positive.
        compute : array_like, shape (n,), optional
            Of these, seconds that the processor was busy: they hold `a` where it belongs.

        Raises
        ------
        ValueError
            If a time is not positive.
        """
        table, seconds = checked_data(self, X, y, fewest=2)
        check_positive("y", seconds)
        self._divisors = reference_values(table)
        self._terms = _services(column_names(self, table.shape[1]), np.ptp(table, axis=0) > 0)
        services, count = self._table(table), len(self._terms)
        unit = float(np.exp(np.mean(np.log(seconds)))) / np.maximum(services.mean(axis=0), 1e-12)

        def errors(values: FloatArray, groups: list[list[int]]) -> FloatArray:
            self._solution = values[:-1] * unit
            parts = self._parts(services, groups)
            off = np.log(np.maximum(_joined(parts, np.exp(values[-1])), 1e-12) / seconds)
            held = [] if compute is None else [(parts[0] - np.asarray(compute)) / seconds]
            return np.concatenate([off, *held, _SHRINKAGE * values])

        first = np.append(np.full(count, 1.0 / count), np.log(_START))
        bounds = np.zeros(count + 1), np.append(np.full(count, np.inf), np.log(_MOST))
        several = [False, True] if self._groups(True) != self._groups(False) else [False]
        tried = [
            least_squares(errors, first, bounds=bounds, max_nfev=400, args=(self._groups(apart),))
            for apart in several
        ]
        self.apart_ = bool(np.argmin([one.cost for one in tried]))
        best = tried[self.apart_]
        self._solution = best.x[:-1] * unit
        self.overlap_ = float(np.exp(best.x[-1]))
        self.coef_ = {
            resource if term is None else term.name: float(value)
            for (resource, term), value in zip(self._terms, self._solution, strict=True)
        }
        self.formula_ = self._formula()
        return self

    def _predicted(self, table: FloatArray) -> FloatArray:
        return _joined(self._parts(self._table(table), self._groups(self.apart_)), self.overlap_)

    def _table(self, table: FloatArray) -> FloatArray:
        """Return the terms of each row, shape (n, terms)."""
        normalised, one = table / self._divisors, np.ones(len(table))
        columns = [one if term is None else term.values(normalised) for _, term in self._terms]
        return np.maximum(np.column_stack(columns), 0.0)

    def _parts(self, services: FloatArray, groups: list[list[int]]) -> list[FloatArray]:
        """Return the seconds of each group of terms."""
        return [services[:, group] @ self._solution[group] for group in groups]

    def _groups(self, apart: bool) -> list[list[int]]:
        """Return which terms add up: computing, waiting, and each bandwidth if apart."""
        computing, waiting, alone = [], [], []
        for i, (resource, term) in enumerate(self._terms):
            if resource == "compute":
                computing.append(i)
            elif apart and term is not None and term.inverse:
                alone.append([i])
            else:
                waiting.append(i)
        return [computing, waiting, *alone]

    def _formula(self) -> str:
        texts = {
            i: f"{seconds:.4g}" if term is None else term.times(seconds)
            for i, ((_, term), seconds) in enumerate(zip(self._terms, self._solution, strict=True))
            if seconds > 1e-9 * self._solution.max()  # what is smaller is a rounding error
        }
        kept = [[texts[i] for i in group if i in texts] for group in self._groups(self.apart_)]
        parts = [" + ".join(group) for group in kept if group]
        powers = " + ".join(f"({part})^{self.overlap_:.3g}" for part in parts)
        return f"({powers})^(1/{self.overlap_:.3g})"


def _services(names: list[str], varies: npt.NDArray[np.bool_]) -> list[Service]:
    """Return the terms of a table, by resource; columns that never changed have none."""
    found: list[Service] = []
    for column in np.flatnonzero(varies).tolist():
        known = attribute_of(names[column])  # data enters the time of computing
        resource = "compute" if known.resource == "data" else known.resource
        found.append((resource, Term(column, names[column], known.power)))
    found.append(("disk", None))
    if all(resource != "compute" for resource, _ in found):
        found.append(("compute", None))
    return sorted(found, key=lambda service: RESOURCES.index(service[0]))


def _joined(parts: list[FloatArray], p: float) -> FloatArray:
    """Return the p-norm of parts that hide each other, without overflow."""
    both = np.vstack(parts)
    largest = np.maximum(both.max(axis=0), 1e-300)
    return np.asarray(largest * ((both / largest) ** p).sum(axis=0) ** (1.0 / p))
