"""NIMO's cross-validation (section V): trained on few assignments, judged on all others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from costmodels.metrics import (
    absolute_errors,
    order_preserving_degree,
    percentage_errors,
    ranking_distance,
)
from costmodels.occupancy import OccupancyModel, OverlapModel, first_assignments, next_assignment

ATTRIBUTES = ["cpu_speed", "network_latency", "network_bandwidth"]
STARTED = 5  # runs of active learning before there is a model
Choice = Callable[[pd.DataFrame, int], list[int]]


def one_changed(runs: pd.DataFrame, reference: int) -> list[int]:
    """Return the assignments that differ from the reference in one resource at most (step 2)."""
    here = runs.iloc[reference]
    same_cpu = runs["cpu"] == here["cpu"]
    same_link = (runs["rate"] == here["rate"]) & (runs["delay"] == here["delay"])
    return [reference, *(int(i) for i in np.flatnonzero(same_cpu ^ same_link))]


def everything(runs: pd.DataFrame, reference: int) -> list[int]:
    """Return all assignments, the reference first."""
    return [reference, *np.delete(np.arange(len(runs)), reference).tolist()]


def actively(runs: pd.DataFrame, count: int) -> list[int]:
    """Return the choice of active learning, in its order; the reference does not matter."""
    candidates = runs[ATTRIBUTES]
    measured = first_assignments(candidates, STARTED)
    while len(measured) < count:
        seconds = runs["seconds"].iloc[measured]
        measured.append(next_assignment(OverlapModel(), candidates, measured, seconds))
    return measured


def cross_validation(
    runs: pd.DataFrame, choice: Choice, shape: str, count: int | None = None, every: int = 1
) -> pd.DataFrame:
    """Return AE, PE, OPD and RD(1) of each trial; every assignment is the reference once.

    Or one in so many. Of what is chosen, a model is trained on all, or on so many that are drawn.
    """
    rng, found = np.random.default_rng(0), []
    for reference in range(0, len(runs), every):
        first, *rest = choice(runs, reference)
        drawn = rest if count is None else rng.choice(rest, count - 1, replace=False).tolist()
        found.append(metrics_of(runs, [first, *drawn], shape))
    return pd.DataFrame(found)


def metrics_of(runs: pd.DataFrame, trained: list[int], shape: str) -> dict[str, float]:
    """Fit to some assignments, and judge on the others."""
    part = runs.iloc[trained]
    seen = {"utilization": "utilization", "data": "data_bytes", "network_share": "network_share"}
    seen_parts = {name: part[column].to_numpy() for name, column in seen.items()}
    model = OccupancyModel(shape=shape).fit(part[ATTRIBUTES], part["seconds"], **seen_parts)
    rest = runs.drop(index=runs.index[trained])
    predicted, actual = model.predict(rest[ATTRIBUTES]), rest["seconds"].to_numpy()
    errors = percentage_errors(predicted, actual)
    bounds = model.predict_interval(rest[ATTRIBUTES])
    inside = (bounds[:, 0] <= actual) & (actual <= bounds[:, 1])
    return {
        "AE": float(absolute_errors(predicted, actual).mean()),
        "PE": float(errors.mean()),
        "PE worst": float(errors.max()),
        "OPD": order_preserving_degree(predicted, actual),
        "RD(1)": ranking_distance(predicted, actual, 1),
        "inside": float(inside.mean()),
    }


def summary_row(trials: pd.DataFrame) -> dict[str, float]:
    """Return the main figures of Table II."""
    means = trials.mean()
    return {
        "AE mean": means["AE"],
        "PE mean": means["PE"],
        "PE 90 pc": float(trials["PE"].quantile(0.9)),
        "PE worst": float(trials["PE"].max()),
        "OPD mean": means["OPD"],
        "RD(1) mean": means["RD(1)"],
        "inside": means["inside"],
    }
