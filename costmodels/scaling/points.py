"""Measured points of a job: columns by name, repeats gathered into configurations."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from costmodels.arrays import FloatArray
from costmodels.rows import check_positive, checked_data

Columns = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Points:
    """Distinct configurations with what was measured at each."""

    # shape (n,): ``scale``, ``machines`` and the others.
    columns: Columns
    # shape (n,): Median of the repeats.
    seconds: FloatArray
    # shape (n,): Number of repeats; of a run that was ended, the probability that it was slow.
    repeats: FloatArray
    # Relative standard deviation of one measurement about the others of its configuration; 0 when
    # nothing was repeated.
    noise: float
    # The same by the median of three and more repeats, which few slow runs do not change.
    usual_noise: float = 0.0

    def __len__(self) -> int:
        return len(self.seconds)

    def take(self, rows: Any) -> Points:
        """Return the points at `rows`, a mask or positions."""
        columns = take_rows(self.columns, rows)
        return Points(columns, self.seconds[rows], self.repeats[rows], self.noise, self.usual_noise)


def take_rows(columns: Columns, rows: Any) -> dict[str, FloatArray]:
    """Return the columns at `rows`, a mask or positions."""
    return {name: column[rows] for name, column in columns.items()}


def read_runs(estimator: Any, X: Any, y: Any) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the columns and the seconds that were given to `fit`, checked."""
    table, seconds = checked_data(estimator, X, y)
    columns = named_columns(estimator, table, warn=True)
    check_positive("y", seconds)
    return columns, seconds


def named_columns(estimator: Any, table: FloatArray, warn: bool = False) -> dict[str, FloatArray]:
    """Return the columns of a checked table by name.

    A DataFrame needs a column ``machines``, and ``scale`` unless that never changes; an array has
    the scale first, the machines second, and others (``x2``, …) after them.

    Raises
    ------
    ValueError
        If a column is missing, or a scale or a machine count is not positive.
    """
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    if "machines" not in names:
        names = _names_by_position(names, table.shape[1], warn=warn)
    columns = dict(zip(names, np.ascontiguousarray(table.T), strict=True))
    columns.setdefault("scale", np.ones(len(table)))
    for name in ("scale", "machines"):
        negative = (columns[name] < 0).any()
        subject = f"Negative values in data: {name}" if negative else name  # as scikit-learn has it
        check_positive(subject, columns[name])
    return columns


def _names_by_position(names: list[str], count: int, *, warn: bool) -> list[str]:
    if "scale" in names:
        raise ValueError(f"there is no column 'machines'; there are: {', '.join(names)}")
    if count < 2:
        raise ValueError(
            f"X has {count} feature(s), but a minimum of 2 is required: scale and machines"
        )
    if names and warn:
        warnings.warn(
            f"X has no columns named scale and machines; its first two, {names[0]!r} and "
            f"{names[1]!r}, are taken for them",
            stacklevel=4,
        )
    return ["scale", "machines", *(names[2:] or [f"x{i}" for i in range(2, count)])]


def gather_points(columns: Columns, y: Any) -> Points:
    """Gather repeats: the median of each configuration, their number, and their common spread.

    Raises
    ------
    ValueError
        If a time is not positive.
    """
    seconds = np.asarray(y, dtype=np.float64)
    check_positive("y", seconds)
    table = np.column_stack(list(columns.values()))
    configurations, group = np.unique(table, axis=0, return_inverse=True)
    group = group.ravel()
    repeats = np.bincount(group).astype(np.float64)
    medians = np.array([np.median(seconds[group == number]) for number in range(len(repeats))])
    spare = (repeats - 1).sum()
    variance = ((seconds / medians[group] - 1) ** 2).sum() / spare if spare > 0 else 0.0
    apart = np.abs(np.log(seconds / medians[group]))[repeats[group] > 2]
    apart = apart[apart > 0]  # without the median itself
    # By definition of a normal distribution: its deviation / its median absolute deviation.
    usual = float(np.median(apart)) * 1.4826 if len(apart) else 0.0
    distinct = dict(zip(columns, configurations.T.copy(), strict=True))
    return Points(distinct, medians, repeats, float(np.sqrt(variance)), usual)
