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
Training = Callable[[pd.DataFrame, int, np.random.Generator], list[int]]


def one_changed(runs: pd.DataFrame, reference: int, rng: np.random.Generator) -> list[int]:
    """Return the assignments that differ from the reference in one resource at most (step 2)."""
    here = runs.iloc[reference]
    same_cpu = runs["cpu"] == here["cpu"]
    same_link = (runs["rate"] == here["rate"]) & (runs["delay"] == here["delay"])
    return [reference, *(int(i) for i in np.flatnonzero(same_cpu ^ same_link))]


def at_random(count: int) -> Training:
    """Return so many assignments, the reference among them."""

    def chosen(runs: pd.DataFrame, reference: int, rng: np.random.Generator) -> list[int]:
        others = np.delete(np.arange(len(runs)), reference)
        return [reference, *rng.choice(others, count - 1, replace=False).tolist()]

    return chosen


def some_of_one_changed(count: int) -> Training:
    """Return so many of :func:`one_changed`, the reference among them (Table III)."""

    def chosen(runs: pd.DataFrame, reference: int, rng: np.random.Generator) -> list[int]:
        first, *rest = one_changed(runs, reference, rng)
        return [first, *rng.choice(rest, count - 1, replace=False).tolist()]

    return chosen


def actively(runs: pd.DataFrame, count: int) -> list[int]:
    """Return the choice of active learning, in its order; the reference does not matter."""
    candidates = runs[ATTRIBUTES]
    measured = first_assignments(candidates, STARTED)
    while len(measured) < count:
        seconds = runs["seconds"].iloc[measured]
        measured.append(next_assignment(OverlapModel(), candidates, measured, seconds))
    return measured


def cross_validation(
    runs: pd.DataFrame, training: Training, shape: str, every: int = 1
) -> pd.DataFrame:
    """Return AE, PE, OPD and RD(1) of each trial; every assignment is the reference once.

    Or one in so many.
    """
    rng, references = np.random.default_rng(0), range(0, len(runs), every)
    trained = [training(runs, reference, rng) for reference in references]
    return pd.DataFrame([metrics_of(runs, assignments, shape) for assignments in trained])


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
