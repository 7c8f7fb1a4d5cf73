"""The model of a task across unlike machines, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.occupancy import OccupancyModel
from costmodels.scaling import LeaveOneOut
from predict_graph.answers import Answer
from predict_graph.documents import DocumentKind
from predict_graph.durations import readable_seconds
from predict_graph.errors import RequestError
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture
from predict_graph.results import Result
from predict_graph.sizing.fitting.model import LEAST_CONFIDENCE
from predict_graph.sizing.tasks.runs import TaskRuns

FloatArray = npt.NDArray[np.float64]

TASK_MODELS = {
    "nimo": "auto",
    "nimo-linear": "linear",
    "nimo-piecewise": "piecewise",
    "nimo-overlap": "overlap",
}
"""Name of each model of a task, and the shape of its occupancies."""

TASK = DocumentKind(
    "predict-graph task model", "model of a task", "fit --model nimo --out", sealed=True
)
_FEWEST = 4  # not tuned: with fewer, resources are not identifiable


@dataclass(frozen=True, eq=False, repr=False)
class TaskModel(Result):
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

    @property
    def answer(self) -> Answer:
        """How good the model is, and its formulas."""
        metrics = self.metrics()
        mean, most = metrics["mean_percent_error"], metrics["max_percent_error"]
        opd, rd = metrics["order_preserving_degree"], metrics["ranking_distance_1"]
        rows = [
            ("model", f"{self.name}, shape {self.estimator.shape_}"),
            ("runs", f"{len(self.runs.table)}"),
            ("attributes", ", ".join(self.attributes)),
        ]
        for name, formula in self.estimator.formulas_.items():
            rows.append((f"f_{name}", f"{formula} {'bytes' if name == 'data' else 's/byte'}"))
        for parts, units in _references(self.estimator).items():
            over = ", ".join(f"{name} {value:.4g}" for name, value in units.items())
            rows.append((f"in f_{parts}", f"each attribute over {over}"))
        rows += [
            ("left-out AE", f"mean {readable_seconds(metrics['mean_absolute_error'])}"),
            ("left-out PE", f"mean {mean:.1f}%, max {most:.1f}%"),
            ("left-out ranking", f"OPD {opd:.3f}, RD(1) {rd:.3f}"),
        ]
        said = (
            f"the model {self.name} of {self.runs.source} has a mean error of {mean:.0f}% (at most "
            f"{most:.0f}%) on runs that were left out"
        )
        return Answer(said, rows)

    @property
    def title(self) -> str:
        """What the model is of."""
        return f"model of {self.runs.source}"

    def to_dict(self) -> dict[str, Any]:
        """Return formulas and errors, ready for JSON."""
        return {
            "schema": 1,
            "model": self.name,
            "shape": self.estimator.shape_,
            "formulas": dict(self.estimator.formulas_),
            "attributes": self.attributes,
            "runs": len(self.runs.table),
            "left_out": self.metrics(),
            "left_out_errors": dict(self.estimator.left_out_errors_),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the attributes of each run, and its seconds as measured and as left out."""
        return self.runs.attributes.assign(**self.estimator.left_out_)

    def pictures(self) -> list[Picture]:
        """Return the error of each run when it was left out."""
        left_out = self.estimator.left_out_
        percent = 100.0 * (left_out["predicted"] / left_out["actual"] - 1.0)
        said = (
            f"Errors of {len(percent)} runs left out: {percent.min():.0f}% to {percent.max():.0f}%."
        )
        names = [f"run {number + 1}" for number in range(len(percent))]
        unit = "predicted / measured - 1, %"
        return [dot_picture("Errors of runs left out", said, names, percent, xlabel=unit)]

    def metrics(self) -> dict[str, float]:
        """Return AE (mean, s), PE (mean and worst, %), OPD and RD(1) of left-out runs."""
        found = LeaveOneOut(**self.estimator.left_out_)
        return {
            "mean_absolute_error": found.mean_absolute_error,
            "mean_percent_error": float(found.percent_errors.mean()),
            "max_percent_error": found.max_percent_error,
            "order_preserving_degree": found.order_preserving_degree,
            "ranking_distance_1": found.ranking_distance,
        }

    def seconds(self, assignments: pd.DataFrame, confidence: float) -> FloatArray:
        """Return predicted, least and most seconds of each assignment, shape (n, 3)."""
        table = assignments[self.attributes]
        middle = self.estimator.predict(table)
        if confidence == LEAST_CONFIDENCE:
            return np.column_stack((middle, middle, middle))
        return np.column_stack(
            (middle, self.estimator.predict_interval(table, 2.0 * confidence - 1.0))
        )

    def beyond(self, assignments: pd.DataFrame) -> list[str]:
        """Return the attributes in which an assignment lies outside of all measured runs."""
        known = self.runs.attributes
        names = [name for name in known.columns if name in assignments]
        wanted, known = assignments[names], known[names]
        outside = (wanted.min() < known.min()) | (wanted.max() > known.max())
        return [str(name) for name in known.columns[outside]]


def fit_task(runs: TaskRuns, name: str = "nimo") -> TaskModel:
    """Fit a model of a task.

    Raises
    ------
    RequestError
        If there is no model of this name, or there are too few runs.
    """
    if name not in TASK_MODELS:
        raise RequestError(f"the model is {name!r}; accepted: {', '.join(TASK_MODELS)}")
    if len(runs.table) < _FEWEST:
        raise RequestError(
            f"{runs.source} has {len(runs.table)} runs; accepted: at least {_FEWEST}, on "
            "different resources"
        )
    used = _differing(runs)
    if not used:
        raise RequestError(
            f"no attribute differs between the runs of {runs.source}; accepted: runs on different "
            "resources, or on different data"
        )
    seconds, utilization, data, share = runs.observed.to_numpy().T
    estimator = OccupancyModel(shape=TASK_MODELS[name]).fit(
        runs.attributes[used], seconds, utilization=utilization, data=data, network_share=share
    )
    return TaskModel(name, runs, estimator)


def _references(estimator: OccupancyModel) -> dict[str, dict[str, float]]:
    """Return the divisors of attributes; once for parts with the same ones."""
    found: dict[str, dict[str, float]] = {}
    for part, units in estimator.references_.items():
        same = next((parts for parts, known in found.items() if known == units), None)
        found[f"{same}, f_{part}" if same else part] = found.pop(same, units) if same else units
    return found


def _differing(runs: TaskRuns) -> list[str]:
    return [str(name) for name, values in runs.attributes.items() if values.nunique() > 1]


def save_task(model: TaskModel, path: Path) -> None:
    """Write a model: its runs, from which it is fitted again when it is read.

    Raises
    ------
    RequestError, JobError
        If the file cannot be written; what was there stays.
    """
    content = {
        "version": version("predict-graph"),
        **model.to_dict(),
        "source": model.runs.source,
        "table": model.runs.table.to_dict("list"),
    }
    TASK.write(TASK.complete(content), path)


def load_task(path: Path) -> TaskModel:
    """Read a model; it is fitted again, by the same steps to the same runs.

    Raises
    ------
    RequestError
        If the file is no model of a task, of a newer version, or was changed.
    """
    document = TASK.read(path)
    try:
        table = pd.DataFrame(document["table"], dtype=np.float64)
        return fit_task(TaskRuns(table, document["source"]), document["model"])
    except (KeyError, TypeError, ValueError) as error:
        raise RequestError(f"{path} holds no usable model: {error}") from error
