"""A design: which experiments to run how often, what that costs and how good it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = ("scale", "machines", "repeats", "cost")


@dataclass(frozen=True)
class Design:
    """Experiments to run.

    Attributes
    ----------
    points : DataFrame
        ``scale``, ``machines``, ``repeats``, ``cost`` of one run, and other columns of the
        candidates; cheapest first.
    budget : float
        What the runs may cost together.
    criterion : str
        ``"a"``, ``"d"`` or ``"i"``.
    value : float
        Criterion of the design; smaller is better, infinite if it cannot tell the terms apart.
    bound : float
        What no design of the same candidates and budget goes below, even with parts of runs.
    terms : tuple of str
        Names of the terms that it is made for.
    """

    points: pd.DataFrame
    budget: float
    criterion: str
    value: float
    bound: float
    terms: tuple[str, ...]

    @property
    def runs(self) -> int:
        """Number of runs, repeats included."""
        return int(self.points["repeats"].sum())

    @property
    def cost(self) -> float:
        """Expected cost of all runs."""
        return float((self.points["repeats"] * self.points["cost"]).sum())

    @property
    def efficiency(self) -> float:
        """Bound by value: 1 is optimal; at 0.5 no design has less than half the variance."""
        return self.bound / self.value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the points as CSV; the file is complete or not there."""
        path = Path(path)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            self.points.to_csv(beside, index=False)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def __str__(self) -> str:
        return (
            f"{self.runs} runs of {len(self.points)} experiments, expected cost {self.cost:.4g} "
            f"of {self.budget:.4g}; {self.criterion.upper()}-criterion {self.value:.4g}, "
            f"{self.efficiency:.1%} of the optimum"
        )


def load_design(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the points of a design that was saved.

    Returns
    -------
    DataFrame
        ``scale``, ``machines``, ``repeats``, ``cost`` and the other columns.

    Raises
    ------
    ValueError
        If it is no such table, or a number is out of range; names the file and the line.
    """
    try:
        points = pd.read_csv(path)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no CSV table: {error}") from None
    missing = [name for name in COLUMNS if name not in points]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; a design needs {', '.join(COLUMNS)}"
        )
    if points.empty:
        raise ValueError(f"{path} has no experiments")
    for name in COLUMNS:
        numbers = pd.to_numeric(points[name], errors="coerce").to_numpy(np.float64)
        whole = name in ("machines", "repeats")
        good = np.isfinite(numbers) & (numbers > 0)
        if whole:
            good &= numbers == np.floor(numbers)
        if not good.all():
            at = int(np.flatnonzero(~good)[0])
            what = "a whole number, 1 or more" if whole else "a positive number"
            raise ValueError(
                f"{path}, line {at + 2}: {name} is {points[name].iloc[at]!s}, but must be {what}"
            )
        points[name] = numbers.astype(np.int64) if whole else numbers
    return points
