"""A fitted scaling model of a job, with what it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from costmodels.scaling import SCALING_MODELS
from predict_graph.errors import RequestError, unknown_name
from predict_graph.sizing.fitting.past_jobs import PastJobs
from predict_graph.sizing.measuring.measurements import Measurements

__all__ = [
    "LEAST_CONFIDENCE",
    "JobModel",
    "check_confidence",
    "fit_job",
    "make_estimator",
    "row_table",
]

FloatArray = npt.NDArray[np.float64]

EXTENSIBLE = ("ernest", "masha")
LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class JobModel:
    """A scaling model of one job on one type of machine.

    Attributes
    ----------
    name : str
        Such as ``"ernest"``.
    estimator : ScalingModel
        Fitted.
    unit : str
        What the model's machines are: ``"machines"`` or ``"cores"``.
    columns : dict of str to str
        Names in the measured file of scale, machines and seconds.
    machine_type : str or None
    iterations : int or None
        Iterations that each measured run did, when the job is iterative and was cut short.
    source : str
        Name of the measured file.
    warnings : tuple of str
        On the measurements and the fit.
    version : str
        Version of this package that fitted the model.
    """

    name: str
    estimator: Any
    unit: str
    columns: Mapping[str, str]
    machine_type: str | None
    iterations: int | None
    source: str
    warnings: tuple[str, ...]
    version: str

    @property
    def measured(self) -> dict[str, FloatArray]:
        """Configurations: ``scale``, ``machines``, median ``seconds``; each of shape (n,)."""
        points = self.estimator.points_
        return {
            "scale": points.columns["scale"],
            "machines": points.columns["machines"],
            "seconds": points.seconds,
        }

    def seconds(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
        """Predict the seconds of each configuration.

        Parameters
        ----------
        scale, machines : array_like, shape (n,)
            Broadcast against each other; machines in the unit of the model.
        """
        predicted: FloatArray = self.estimator.predict(row_table(scale, machines))
        return predicted

    def bounds(
        self, scale: npt.ArrayLike, machines: npt.ArrayLike, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return what a run takes at least, and at most, each with the probability `confidence`.

        Both ends are one-sided: together they hold a run with probability 2 confidence - 1.

        Raises
        ------
        RequestError
            If the confidence is not in [0.5, 1).
        """
        check_confidence(confidence)
        if confidence == LEAST_CONFIDENCE:
            middle = self.seconds(scale, machines)
            return middle, middle
        table = row_table(scale, machines)
        interval = self.estimator.predict_interval(table, 2 * confidence - 1)
        return interval[:, 0], interval[:, 1]


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence of one end of an interval.

    Raises
    ------
    RequestError
        If it is not in [0.5, 1).
    """
    if not LEAST_CONFIDENCE <= confidence < 1:
        raise RequestError(
            f"the confidence is {confidence:g}; accepted: from 0.5 (the prediction itself) to "
            "below 1"
        )


def row_table(scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
    """Return scale and machines as the columns of a table."""
    pair = np.broadcast_arrays(np.atleast_1d(scale), np.atleast_1d(machines))
    return np.column_stack(pair).astype(np.float64)


def make_estimator(name: str, options: Mapping[str, Any]) -> Any:
    """Return the unfitted model called `name`.

    Raises
    ------
    RequestError
        If there is none of this name.
    """
    if name not in SCALING_MODELS:
        raise unknown_name("model", name, SCALING_MODELS)
    module, _, attribute = SCALING_MODELS[name].partition(":")
    return getattr(import_module(module), attribute)(**options)


def fit_job(
    measurements: Measurements,
    model: str = "auto",
    *,
    weights: str = "relative",
    terms: Sequence[str] = (),
    iterations: int | None = None,
    past: PastJobs | None = None,
) -> JobModel:
    """Fit a scaling model to measured runs.

    Parameters
    ----------
    measurements : Measurements
    model : str, default "auto"
        A name of :data:`costmodels.scaling.SCALING_MODELS`.
    weights : {"relative", "none"}, default "relative"
        Whether relative errors or seconds are minimised.
    terms : sequence of str, optional
        Terms of the library added to ``ernest`` or ``masha``.
    iterations : int, optional
        Iterations of each measured run; a plan for another number scales the time (Ernest,
        section 6.2).
    past : PastJobs, optional
        For ``auto``: past jobs of the cluster, from which it learns what to expect.

    Returns
    -------
    JobModel

    Raises
    ------
    RequestError
        If an option is wrong, or the runs are too few for the model.
    """
    options: dict[str, Any] = {"weights": weights}
    if model == "auto" and weights == "none":
        raise RequestError(
            "auto minimises relative errors; accepted: --weights relative, or another --model"
        )
    if terms:
        if model not in EXTENSIBLE:
            raise RequestError(
                f"terms cannot be added to {model}; accepted: --model {' or '.join(EXTENSIBLE)}"
            )
        options["extra_terms"] = tuple(terms)
    prior = None if past is None else past.prior()
    if prior is not None:
        if model != "auto":
            raise RequestError(f"{model} learns nothing from past jobs; accepted: the model auto")
        options["prior"] = prior
    if iterations is not None and iterations < 1:
        raise RequestError(f"iterations are {iterations}; accepted: 1 or more")
    estimator = make_estimator(model, options)
    try:
        estimator.fit(row_table(measurements.scale, measurements.machines), measurements.seconds)
    except ValueError as error:
        raise RequestError(f"{model} cannot be fitted to {measurements.path}: {error}") from error
    return JobModel(
        name=model,
        estimator=estimator,
        unit=measurements.unit,
        columns=dict(measurements.columns),
        machine_type=measurements.machine_type,
        iterations=iterations,
        source=measurements.path.name,
        warnings=(
            *measurements.warnings,
            *(past.warnings if past is not None else ()),
            *estimator.warnings_,
        ),
        version=version("predict-graph"),
    )


def with_machine_type(model: JobModel, machine_type: str) -> JobModel:
    """Return the model as one of another machine type."""
    return replace(model, machine_type=machine_type)
