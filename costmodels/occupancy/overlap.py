"""Time of a task whose computing and waiting overlap: one law for all resources together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import least_squares
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from costmodels.occupancy.terms import Attribute, Reference, attribute_of
from costmodels.rows import FloatArray, column_names

_Key = tuple[str, str]  # resource and term

RESOURCES = ("compute", "network", "disk")
# Logarithms of p: little overlap, some, much. The best of three searches is taken.
_STARTS = (0.1, 0.7, 1.8)  # not tuned
_MOST_OVERLAP = 4.0  # not tuned: with e^4 the sum is nearly the larger of the two
_SHRINKAGE = 1e-3  # decides between solutions that fit alike; moves no other (not tuned)


class OverlapModel(RegressorMixin, BaseEstimator):
    """Times of computing and of waiting, joined by how far they hide each other.

    ``t = (a^p + (n + d)^p)^(1/p)``: computing a, network n and disk d are linear in the inverse of
    speeds and in delays, with non-negative coefficients. With p = 1 a task computes and waits in
    turn (equation 1); the larger p, the more of the shorter is hidden behind the longer, as
    prefetching does (section V-B.4). What the bandwidths take may hide behind the delays as well,
    as it does when blocks are on their way while others are requested; then they are a part of
    their own. Of the two laws the one that fits better is taken. All coefficients and p are fitted
    to relative errors of seconds.

    Parameters
    ----------
    reference : int, optional
        Row that attributes are divided by; the first by default.
    apart : bool, optional
        Whether bandwidths are a part of their own; by default, whichever fits better.
    overlap : float, optional
        p to start the search from; by default it starts from several.

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
    """

    def __init__(
        self,
        *,
        reference: int | None = None,
        apart: bool | None = None,
        overlap: float | None = None,
    ) -> None:
        self.reference = reference
        self.apart = apart
        self.overlap = overlap

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
        table, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        seconds = np.asarray(y, dtype=np.float64)
        wrong = np.flatnonzero(~(seconds > 0))
        if len(wrong):
            raise ValueError(f"y of row {wrong[0]} is {seconds[wrong[0]]:g}, but must be positive")
        self._scale = Reference.of(table, self.reference or 0)
        self.reference_values_ = self._scale.named(column_names(self, table.shape[1]))
        self._attributes = self._named(table)
        services = self._services(table)
        busy = None if compute is None else np.asarray(compute, dtype=np.float64)
        self._fit(services, seconds, busy)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the seconds of each row.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        services = self._services(table)
        parts = _evaluated(services, self._solution, self._groups(services, apart=self.apart_))
        return _joined(parts, self.overlap_)

    def predict_services(self, X: Any) -> dict[str, FloatArray]:
        """Predict what each resource takes by itself, in seconds."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        services = self._services(table)
        found = _evaluated(
            services, self._solution, [[(k, n) for n in services[k]] for k in RESOURCES]
        )
        return dict(zip(RESOURCES, found, strict=True))

    def _named(self, table: FloatArray) -> list[Attribute | None]:
        """Return what each column is; None for one that never changed."""
        names = column_names(self, table.shape[1])
        varies = np.ptp(table, axis=0) > 0
        return [
            attribute_of(name) if changed else None
            for name, changed in zip(names, varies, strict=True)
        ]

    def _services(self, table: FloatArray) -> dict[str, dict[str, FloatArray]]:
        """Return the columns of each resource as they enter its time; data enters everywhere."""
        normalised = self._scale.normalised(table)
        constant = np.ones(len(table))
        found: dict[str, dict[str, FloatArray]] = {"compute": {}, "network": {}, "disk": {}}
        for column, attribute in enumerate(self._attributes):
            if attribute is None:
                continue
            values = normalised[:, column]
            entered = 1.0 / np.maximum(values, 1e-12) if attribute.power else np.maximum(values, 0)
            kind = "compute" if attribute.resource == "data" else attribute.resource
            found[kind][attribute.name] = entered
        found["disk"]["constant"] = constant
        if not found["compute"]:
            found["compute"]["constant"] = constant
        return found

    def _fit(
        self, services: dict[str, dict[str, FloatArray]], seconds: FloatArray, busy: Any
    ) -> None:
        names: list[_Key] = [(kind, name) for kind in RESOURCES for name in services[kind]]
        typical = float(np.exp(np.mean(np.log(seconds))))
        sizes = {key: max(float(services[key[0]][key[1]].mean()), 1e-12) for key in names}

        def unpacked(values: FloatArray) -> dict[_Key, float]:
            return {
                key: float(value) * typical / sizes[key]
                for key, value in zip(names, values[:-1], strict=True)
            }

        def errors(values: FloatArray, groups: list[list[_Key]]) -> FloatArray:
            parts = _evaluated(services, unpacked(values), groups)
            whole = _joined(parts, np.exp(values[-1]))
            off = np.log(np.maximum(whole, 1e-12) / seconds)
            held = [] if busy is None else [(parts[0] - busy) / seconds]
            return np.concatenate([off, *held, _SHRINKAGE * values])

        best = None
        starts = _STARTS if self.overlap is None else (float(np.log(self.overlap)),)
        for apart in (False, True) if self.apart is None else (self.apart,):
            groups = self._groups(services, apart=apart)
            if apart and self.apart is None and groups == self._groups(services, apart=False):
                continue
            for start in starts:
                first = np.append(np.full(len(names), 1.0 / len(names)), start)
                most = np.append(np.full(len(names), np.inf), _MOST_OVERLAP)
                tried = least_squares(
                    errors, first, bounds=(np.zeros(len(first)), most), max_nfev=400, args=(groups,)
                )
                if best is None or tried.cost < best.cost:
                    best, self.apart_ = tried, apart
        assert best is not None
        self._solution = unpacked(best.x)
        self.overlap_ = float(np.exp(best.x[-1]))
        self.coef_ = {
            kind if name == "constant" else name: value
            for (kind, name), value in self._solution.items()
        }
        self.formula_ = self._formula(self._groups(services, apart=self.apart_))

    def _groups(
        self, services: dict[str, dict[str, FloatArray]], *, apart: bool
    ) -> list[list[_Key]]:
        """Return which terms add up: computing, waiting, and each bandwidth if apart."""
        powers = {a.name for a in self._attributes if a is not None and a.power}
        waiting = [(kind, name) for kind in RESOURCES[1:] for name in services[kind]]
        alone = [key for key in waiting if apart and key[1] in powers]
        return [
            [("compute", name) for name in services["compute"]],
            [key for key in waiting if key not in alone],
            *([key] for key in alone),
        ]

    def _formula(self, groups: list[list[_Key]]) -> str:
        powers = {a.name: a.power for a in self._attributes if a is not None}
        parts = []
        for group in groups:
            terms = [
                f"{value:.4g}"
                if name == "constant"
                else f"{value:.4g}/{name}"
                if powers[name]
                else f"{value:.4g} {name}"
                for (of, name), value in self._solution.items()
                if (of, name) in group and value > 1e-9
            ]
            if terms:
                parts.append(f"({' + '.join(terms)})^{self.overlap_:.3g}")
        return f"({' + '.join(parts)})^(1/{self.overlap_:.3g})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # columns of no resource are taken for data
        return tags


def _evaluated(
    services: dict[str, dict[str, FloatArray]],
    solution: dict[_Key, float],
    groups: list[list[_Key]],
) -> list[FloatArray]:
    """Return the seconds of each group of terms."""
    rows = len(services["disk"]["constant"])
    return [
        sum(
            (solution[kind, name] * services[kind][name] for kind, name in group),
            start=np.zeros(rows),
        )
        for group in groups
    ]


def _joined(parts: list[FloatArray], p: float) -> FloatArray:
    """Return the p-norm of parts that hide each other, without overflow."""
    both = np.vstack(parts)
    largest = np.maximum(both.max(axis=0), 1e-300)
    total: FloatArray = largest * ((both / largest) ** p).sum(axis=0) ** (1.0 / p)
    return total
