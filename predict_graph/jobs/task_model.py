"""The model of a task across unlike machines, and its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.metrics import (
    absolute_errors,
    order_preserving_degree,
    percentage_errors,
    ranking_distance,
)
from costmodels.occupancy import OccupancyModel
from predict_graph.errors import RequestError
from predict_graph.files import written_beside
from predict_graph.jobs.task_runs import TaskRuns

__all__ = ["TASK_MODELS", "TaskModel", "fit_task", "is_task_model", "load_task", "save_task"]

FloatArray = npt.NDArray[np.float64]

TASK_MODELS = {
    "nimo": "auto",
    "nimo-linear": "linear",
    "nimo-piecewise": "piecewise",
    "nimo-overlap": "overlap",
}
"""Name of each model of a task, and the shape of its occupancies."""

SCHEMA = 1
KIND = "predict-graph task model"
_FEWEST = 4


@dataclass(frozen=True)
class TaskModel:
    """A model of a task that was fitted to its runs.

    Attributes
    ----------
    name : str
        Of ``TASK_MODELS``.
    runs : TaskRuns
        What it was fitted to.
    estimator : OccupancyModel
    """

    name: str
    runs: TaskRuns
    estimator: OccupancyModel

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that an assignment must have: those that differed."""
        return _differing(self.runs)

    def metrics(self) -> dict[str, float]:
        """Return AE (mean, s), PE (mean and worst, %), OPD and RD(1) of left-out runs."""
        left_out = self.estimator.left_out_
        predicted, actual = left_out["predicted"], left_out["actual"]
        return {
            "mean_absolute_error": float(absolute_errors(predicted, actual).mean()),
            "mean_percent_error": float(percentage_errors(predicted, actual).mean()),
            "max_percent_error": float(percentage_errors(predicted, actual).max()),
            "order_preserving_degree": order_preserving_degree(predicted, actual),
            "ranking_distance_1": ranking_distance(predicted, actual, 1),
        }

    def seconds(self, assignments: pd.DataFrame, confidence: float) -> FloatArray:
        """Return predicted, least and most seconds of each assignment, shape (n, 3)."""
        table = assignments[self.attributes]
        middle = self.estimator.predict(table)
        if confidence == 0.5:
            return np.column_stack((middle, middle, middle))
        return np.column_stack(
            (middle, self.estimator.predict_interval(table, 2.0 * confidence - 1.0))
        )

    def beyond(self, assignments: pd.DataFrame) -> list[str]:
        """Return the attributes in which an assignment lies outside of all measured runs."""
        known = self.runs.attributes
        return [
            str(name)
            for name in known.columns
            if name in assignments
            and (
                assignments[name].min() < known[name].min()
                or assignments[name].max() > known[name].max()
            )
        ]


def fit_task(runs: TaskRuns, name: str = "nimo") -> TaskModel:
    """Fit a model of a task.

    Raises
    ------
    RequestError
        If there is no model of this name, or there are too few runs.
    """
    if name not in TASK_MODELS:
        raise RequestError(f"the model is {name!r}; accepted: {', '.join(TASK_MODELS)}")
    if len(runs.seconds) < _FEWEST:
        raise RequestError(
            f"{runs.source} has {len(runs.seconds)} runs; accepted: at least {_FEWEST}, on "
            "different resources"
        )
    used = _differing(runs)
    if not used:
        raise RequestError(
            f"no attribute differs between the runs of {runs.source}; accepted: runs on different "
            "resources, or on different data"
        )
    estimator = OccupancyModel(shape=TASK_MODELS[name]).fit(
        runs.attributes[used],
        runs.seconds,
        utilization=runs.utilization,
        data=runs.data_bytes,
        network_share=runs.network_share,
    )
    return TaskModel(name, runs, estimator)


def _differing(runs: TaskRuns) -> list[str]:
    return [str(name) for name, values in runs.attributes.items() if values.nunique() > 1]


def save_task(model: TaskModel, path: Path) -> None:
    """Write a model: its runs, from which it is fitted again when it is read.

    Raises
    ------
    RequestError, JobError
        If the file cannot be written; what was there stays.
    """
    runs = model.runs
    document: dict[str, Any] = {
        "kind": KIND,
        "schema": SCHEMA,
        "version": version("predict-graph"),
        "model": model.name,
        "shape": model.estimator.shape_,
        "formulas": dict(model.estimator.formulas_),
        "left_out": model.metrics(),
        "source": runs.source,
        "attributes": {
            str(name): [float(value) for value in column]
            for name, column in runs.attributes.items()
        },
        **{name: getattr(runs, name).tolist() for name in _SEEN},
    }
    document["checksum"] = _checksum(document)
    with written_beside(path) as beside:
        beside.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")


_SEEN = ("seconds", "utilization", "data_bytes", "network_share")


def is_task_model(path: Path) -> bool:
    """Whether a file is what :func:`save_task` wrote."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("kind") == KIND


def load_task(path: Path) -> TaskModel:
    """Read a model; it is fitted again, by the same steps to the same runs.

    Raises
    ------
    RequestError
        If the file is no model of a task, of a newer version, or was changed.
    """
    if not is_task_model(path):
        what = "is no model of a task" if path.exists() else "is not there"
        raise RequestError(f"{path} {what}; accepted: what fit --model nimo --out wrote")
    document = json.loads(path.read_text(encoding="utf-8"))
    if document.get("schema") != SCHEMA:
        raise RequestError(
            f"{path} has the schema {document.get('schema')!r}, written by predict-graph "
            f"{document.get('version')}; accepted: {SCHEMA}"
        )
    if document.get("checksum") != _checksum(document):
        raise RequestError(
            f"{path} was changed after it was written: its checksum does not match; "
            "accepted: a file as fit wrote it, so fit the model again"
        )
    try:
        runs = TaskRuns(
            attributes=pd.DataFrame(document["attributes"], dtype=np.float64),
            source=document["source"],
            **{name: np.array(document[name], np.float64) for name in _SEEN},
        )
        return fit_task(runs, document["model"])
    except (KeyError, TypeError, ValueError) as error:
        raise RequestError(f"{path} holds no usable model: {error}") from error


def _checksum(document: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in document.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
