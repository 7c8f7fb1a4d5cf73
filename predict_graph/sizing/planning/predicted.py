"""A plan for a job without a scaling model: from a prediction, or from one event log."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import FloatArray
from predict_graph.calibration import log_std
from predict_graph.engines.spark.log.logfiles import is_event_log
from predict_graph.engines.spark.log.replay import LoggedJob, logged_job
from predict_graph.errors import RequestError
from predict_graph.inputs import read_json
from predict_graph.sizing.fitting.fit_runs import load_model
from predict_graph.sizing.fitting.model import JobModel
from predict_graph.sizing.measuring.measurements import Measurements
from predict_graph.sizing.planning.candidates import MachineType
from predict_graph.sizing.tasks.model import TASK, TaskModel

_WANTED = ("machines", "predicted", "high")


# What fit returns, and files; a model of tasks is refused when it is read.
ModelLike = JobModel | TaskModel | str | PathLike[str]
Logs = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class _Runtimes:
    """Runtimes by machines alone.

    Attributes
    ----------
    logs : callable
        Takes machine counts; returns the logarithms of the seconds, and their standard deviations.
    """

    logs: Logs

    def predict(self, table: pd.DataFrame) -> FloatArray:
        """Return seconds by the machines of each row."""
        return np.exp(self.logs(table["machines"].to_numpy(np.float64))[0])

    def predict_interval(self, table: pd.DataFrame, coverage: float) -> FloatArray:
        """Return both ends of the interval that holds a run with this probability."""
        middle, std = self.logs(table["machines"].to_numpy(np.float64))
        width = NormalDist().inv_cdf(0.5 + coverage / 2.0) * std
        return np.exp(np.column_stack([middle - width, middle + width]))


def _curve(rows: list[dict[str, float]]) -> Logs:
    """Return runtimes between the machine counts of a prediction: straight in logarithms."""
    known, seconds, high = (np.log([row[name] for row in rows]) for name in _WANTED)
    std = (high - seconds) / NormalDist().inv_cdf(0.95)  # of an end of a 90% interval
    most = max(row["machines"] for row in rows)

    def logs(machines: FloatArray) -> tuple[FloatArray, FloatArray]:
        if machines.max() > most:
            raise RequestError(f"machines of the prediction end at {most:g}; accepted: no more")
        places = np.log(machines), known
        return np.interp(*places, seconds), np.interp(*places, std)

    return logs


def _replays(job: LoggedJob, cores: int | None, logged: float) -> Logs:
    """Return runtimes of a logged job whose tasks are scheduled again on other executors.

    They are less sure the further from the log.
    """
    seconds_on = cache(partial(job.seconds_on, cores=cores))  # of a count: asked often
    # For each doubling, and of the log: docs/studies/one-log.md.
    several, one = (log_std("seconds by a replay", name) for name in ("", "one wave"))
    doubling = several + (one - several) * job.one_wave

    def logs(machines: FloatArray) -> tuple[FloatArray, FloatArray]:
        seconds = np.log([seconds_on(int(count)) for count in machines])
        return seconds, doubling * np.hypot(1.0, np.abs(np.log2(machines / logged)))

    return logs


def read_job_model(
    given: ModelLike, executor_cores: int | None, types: Mapping[str, MachineType] | None
) -> JobModel:
    """Read ``MODEL.json``, or ``TYPE=MODEL.json`` as a model of that machine type.

    The file holds a model of ``fit``, or a prediction on a cluster, or is an event log of Spark,
    whose executors may get another number of cores: those of a machine, if its type is known.

    Raises
    ------
    RequestError
        If it is none of these, or cannot be read.
    """
    if isinstance(given, JobModel):
        if executor_cores is not None:
            raise RequestError("executor cores are for an event log; accepted: its path")
        return given
    if not isinstance(given, str | PathLike):
        raise RequestError(
            f"a model is of type {type(given).__name__}; accepted: a JobModel, or the path of one"
        )
    text = str(given)
    typed = "=" in text and not Path(text).is_file()
    before, _, name = text.partition("=") if typed else ("", "", text)
    path, kind = Path(name), before.strip() or None
    if typed and kind is None:
        raise RequestError(f"the model is {text!r}; accepted: MODEL.json or TYPE=MODEL.json")
    if is_event_log(path):
        own = (types or {}).get(kind or "")
        there = None if own is None else round(own.counted or own.cores)
        return replace(replayed_job(path, executor_cores, there), machine_type=kind)
    if executor_cores is not None:
        raise RequestError(f"{path} is no event log of Spark, which alone reads --executor-cores")
    content = None  # load_model says what is wrong with it
    with suppress(ValueError):
        content = read_json(path)
    keys = content.keys() if isinstance(content, dict) else ()
    if "runtime_seconds" in keys and "by_machines" not in keys:
        raise RequestError(
            f"{path} predicts what it was asked for alone, and says nothing of other machine "
            "counts; accepted: JSON of predict --engine spark, with --budget unlimited where "
            "earlier runs of the graph had answered"
        )
    if isinstance(content, dict) and content.get("kind") == TASK.kind:
        raise RequestError(
            f"{path} is a model of a task; accepted: --assignments FILE in place of machine counts"
        )
    model = predicted_job(path, content) if "by_machines" in keys else load_model(path, content)
    if typed and model.types:
        raise RequestError(
            f"the model of {model.source} is one of the types {', '.join(model.types)}; accepted: "
            f"the model without {before}="
        )
    return replace(model, machine_type=kind) if typed else model


def predicted_job(path: Path, found: Any) -> JobModel:
    """Return a prediction as the model of a job, for a plan.

    Parameters
    ----------
    path : Path
        JSON of ``predict --engine spark``.
    found : object
        What it holds: a stream can be read only once.

    Raises
    ------
    RequestError
        If it is no such file.
    """
    try:
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
    runs = _runs(path, trained, math.nan)
    return JobModel("prediction", _Runtimes(_curve(rows)), runs, warnings=warnings)


def replayed_job(
    path: Path, cores: int | None = None, machine_cores: int | None = None
) -> JobModel:
    """Return a logged Spark job, on executors of so many cores, as the model of a job, for a plan.

    By default they have those of a machine, if that is known, else those of the log.

    Raises
    ------
    RequestError
        If nothing ran, or `cores` are not enough for a task.
    """
    job = logged_job(path)
    doubts = job.doubts
    if cores is None and machine_cores not in (None, job.cores):
        cores = machine_cores
        doubts += (
            f"executors have {cores} cores, those of a machine, in place of {job.cores} as in the "
            "log (--executor-cores)",
        )
    # As many executors as have the cores of those of the log, where that is a whole number.
    logged = job.executors * job.slots / job.tasks_at_a_time(cores)
    runtimes, runs = _Runtimes(_replays(job, cores, logged)), _runs(path, [logged], job.seconds)
    submit = partial(job.submit, cores=cores)
    return JobModel("replay", runtimes, runs, warnings=doubts, submit=submit)


def _runs(path: Path, machines: Sequence[float], seconds: float) -> Measurements:
    """Return the runs of a job whose only scale is that of the file."""
    runs = pd.DataFrame({"scale": 1.0, "machines": machines, "seconds": seconds, "outcome": "ok"})
    columns = {"machines": "machines", "seconds": "seconds"}
    return Measurements(runs.assign(machine_type=None), columns, path)
