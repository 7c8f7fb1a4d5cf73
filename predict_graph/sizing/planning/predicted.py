"""A plan for a job that was predicted, not measured: the runtime of a prediction on m machines."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from costmodels.rows import FloatArray
from predict_graph.errors import RequestError
from predict_graph.inputs import read_json
from predict_graph.sizing.fitting.model import JobModel
from predict_graph.sizing.fitting.model_file import load_model
from predict_graph.sizing.measuring.measurements import Measurements

_QUANTILE = NormalDist().inv_cdf(0.95)  # of the ends of a prediction's 90% interval; by definition


class _Curve:
    """Runtime and interval between the machine counts of a prediction: straight in logarithms."""

    def __init__(self, rows: list[dict[str, float]]) -> None:
        self._machines, self._seconds, high = (
            np.log([row[name] for row in rows]) for name in ("machines", "predicted", "high")
        )
        self._std = (high - self._seconds) / _QUANTILE

    def predict(self, table: pd.DataFrame) -> FloatArray:
        """Return seconds by the machines of each row."""
        logs = np.interp(np.log(table["machines"]), self._machines, self._seconds)
        seconds: FloatArray = np.exp(logs)
        return seconds

    def predict_interval(self, table: pd.DataFrame, coverage: float) -> FloatArray:
        """Return both ends of the interval that holds a run with this probability."""
        std = np.interp(np.log(table["machines"]), self._machines, self._std)
        width = np.exp(NormalDist().inv_cdf(0.5 + coverage / 2.0) * std)
        middle = self.predict(table)
        return np.column_stack([middle / width, middle * width])


def read_job_model(text: str) -> JobModel:
    """Read ``MODEL.json``, or ``TYPE=MODEL.json`` as a model of that machine type.

    The file holds a model of ``fit``, or a prediction on a cluster.

    Raises
    ------
    RequestError
        If it holds neither, or cannot be read.
    """
    typed = "=" in text and not Path(text).is_file()
    kind, _, name = text.partition("=") if typed else ("", "", text)
    if typed and not kind.strip():
        raise RequestError(f"the model is {text!r}; accepted: MODEL.json or TYPE=MODEL.json")
    path = Path(name)
    try:
        found = read_json(path)
    except ValueError:
        found = None  # load_model says what is wrong with it
    keys = found.keys() if isinstance(found, dict) else ()
    if "verdict" in keys and "by_machines" not in keys:
        raise RequestError(
            f"{path} predicts what it was asked for alone, and says nothing of other machine "
            "counts; accepted: JSON of predict --engine spark, with --budget none where earlier "
            "runs of the graph had answered"
        )
    model = predicted_job(path) if "by_machines" in keys else load_model(path)
    if typed and model.types:
        raise RequestError(
            f"the model of {model.source} is one of the types {', '.join(model.types)}; accepted: "
            f"the model without {kind}="
        )
    return replace(model, machine_type=kind.strip()) if typed else model


def predicted_job(path: Path) -> JobModel:
    """Return a prediction as the model of a job, for a plan.

    Parameters
    ----------
    path : Path
        JSON of ``predict --engine spark``.

    Raises
    ------
    RequestError
        If it is no such file.
    """
    try:
        found = read_json(path)
        rows = [{name: float(row[name]) for name in _WANTED} for row in found["by_machines"]]
        trained = [int(count) for count in found["cost_model"]["machines"]]
        warnings = tuple(str(text) for text in found.get("warnings", []))
        if not rows or not trained or not all(0 < x < math.inf for r in rows for x in r.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError, OverflowError, AttributeError) as error:
        raise RequestError(
            f"{path} is no prediction on a cluster; accepted: JSON of predict --engine spark"
        ) from error
    # The machine counts of the sample runs, whose seconds are none of the job.
    runs = pd.DataFrame({"scale": 1.0, "machines": trained, "seconds": math.nan, "outcome": "ok"})
    return JobModel(
        name="prediction",
        estimator=_Curve(rows),
        measurements=Measurements(
            runs.assign(machine_type=None),
            columns={"machines": "machines", "seconds": "seconds"},
            varying={},
            notes=(),
            path=path,
        ),
        machine_type=None,
        iterations=None,
        warnings=warnings,
    )


_WANTED = ("machines", "predicted", "low", "high")
