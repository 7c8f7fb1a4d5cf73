"""Candidate experiments: a grid of scales and machines with what each run costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from costmodels.arrays import FloatArray

Cost = Callable[[FloatArray, FloatArray], FloatArray]

MOST_CANDIDATES = 5_000  # some seconds: 2,000 take about one (docs/design-of-experiments.md)


COSTS: dict[str, Cost] = {
    "machine-time": lambda scale, machines: scale / scale.min(),
    "time": lambda scale, machines: scale / scale.min() / machines,
}
"""Cost functions by name, in units of a run of the smallest scale on one machine.

Both take a job that scales ideally: ``"time"`` is how long a run takes (Ernest, section 3.3),
``"machine-time"`` that times its machines.
"""


def candidate_grid(
    scale: tuple[float, float],
    machines: Sequence[int],
    *,
    steps: int = 20,
    partitions: int | None = None,
    cores_per_machine: int | None = None,
    cost: str | Cost = "time",
) -> pd.DataFrame:
    """List the experiments that could be run, with their costs.

    Parameters
    ----------
    scale : (float, float)
        Smallest and largest scale, in any unit; with `partitions`, fractions of the data.
    machines : sequence of int
        Numbers of machines to choose from.
    steps : int, default 20
        Number of scales, evenly spaced; with `partitions` rounded to whole ones, so that there may
        be fewer.
    partitions : int, optional
        Number of partitions of all of the data (of scale 1).
    cores_per_machine : int, optional
        Leaves out experiments that have fewer partitions than cores; needs `partitions`.
    cost : {"time", "machine-time"} or callable, default "time"
        A name of :data:`COSTS`, or a function of the arrays scale and machines that returns the
        cost of one run each, positive, in any unit: seconds by a model of an earlier job, a price.

    Returns
    -------
    DataFrame
        Columns ``scale``, ``machines``, ``cost``; one row a candidate.

    Raises
    ------
    ValueError
        If a range or number is out of range, no candidate is left, or a cost is not positive.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.3.

    Examples
    --------
    >>> candidate_grid((0.25, 0.5), [1, 2], partitions=4, cores_per_machine=1)
       scale  machines  cost
    0   0.25         1   1.0
    1   0.50         1   2.0
    2   0.50         2   1.0
    """
    scales = _scales(scale, steps, partitions)
    for count in machines:
        check_whole("machines", count)
    counts = np.unique(np.array(machines, np.int64))
    if len(scales) * len(counts) > MOST_CANDIDATES:
        raise ValueError(
            f"{len(scales)} scales and {len(counts)} machine counts are "
            f"{len(scales) * len(counts)} candidates; at most {MOST_CANDIDATES} are accepted"
        )
    grid = pd.DataFrame(
        {"scale": np.repeat(scales, len(counts)), "machines": np.tile(counts, len(scales))}
    )
    if cores_per_machine is not None:
        if partitions is None:
            raise ValueError("cores_per_machine is given, but not partitions, which it needs")
        check_whole("cores_per_machine", cores_per_machine)
        parts = np.rint(grid["scale"].to_numpy() * partitions)
        grid = grid[parts >= cores_per_machine * grid["machines"].to_numpy()].reset_index(drop=True)
        if grid.empty:
            raise ValueError(
                f"no candidate is left: {scales[-1] * partitions:g} partitions, the most, are "
                f"fewer than the {cores_per_machine * counts[0]} cores of {counts[0]} machine(s)"
            )
    return grid.assign(cost=_costs(cost, grid))


def _scales(scale: tuple[float, float], steps: int, partitions: int | None) -> FloatArray:
    try:
        low, high = (float(value) for value in scale)
    except (TypeError, ValueError):
        raise ValueError(f"scale is {scale!r}, but must be two numbers, low and high") from None
    if not 0 < low < high < np.inf:
        why = "positive and finite, low less than high"
        raise ValueError(f"scale is from {low:g} to {high:g}, but must be {why}")
    check_whole("steps", steps)
    if not 2 <= steps <= MOST_CANDIDATES:
        raise ValueError(f"steps is {steps}, but must be from 2 to {MOST_CANDIDATES}")
    scales: FloatArray = np.linspace(low, high, steps)
    if partitions is None:
        return scales
    check_whole("partitions", partitions)
    if high > 1:
        raise ValueError(
            f"scale goes up to {high:g}, but with partitions it is a fraction of the data, "
            "1 at most"
        )
    # As a product misses whole numbers by rounding errors.
    least, most = np.round((low * partitions, high * partitions), 9)
    parts = np.unique(np.clip(np.rint(scales * partitions), np.ceil(least), np.floor(most)))
    whole: FloatArray = parts[parts > 0] / partitions
    if len(whole) < 2:
        raise ValueError(
            f"scale from {low:g} to {high:g} of {partitions} partitions is "
            f"{len(whole)} number of whole partitions; 2 or more are needed"
        )
    return whole


def check_whole(name: str, value: object) -> None:
    """Refuse what is no whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is {value!r}, but must be a whole number, 1 or more")


def _costs(cost: str | Cost, grid: pd.DataFrame) -> FloatArray:
    if isinstance(cost, str):
        if cost not in COSTS:
            raise ValueError(f"unknown cost {cost!r}; accepted: {', '.join(COSTS)}, or a function")
        cost = COSTS[cost]
    scale, machines = (grid[name].to_numpy(np.float64) for name in ("scale", "machines"))
    costs: FloatArray = np.asarray(cost(scale, machines), dtype=np.float64)
    if costs.shape != scale.shape:
        raise ValueError(f"the cost function returned the shape {costs.shape} for {scale.shape}")
    wrong = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"the cost is {costs[at]:g} at scale {scale[at]:g} on {machines[at]:g} machine(s), "
            "but must be positive and finite"
        )
    return costs
