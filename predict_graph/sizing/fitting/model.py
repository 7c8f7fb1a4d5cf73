"""A fitted scaling model of a job, with the runs that it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import bdtr

from costmodels.scaling import SCALING_MODELS
from costmodels.scaling.search import success_chance
from costmodels.scaling.shapes import Prior
from predict_graph.answers import Answer
from predict_graph.errors import RequestError, unknown_name
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.sizing.fitting.typed_runs import (
    arrays,
    failed_configurations,
    of_known_types,
    type_columns,
)
from predict_graph.sizing.measuring.measurements import Measurements, counted
from predict_graph.sizing.planning.candidates import MachineType

FloatArray = npt.NDArray[np.float64]

EXTENSIBLE = ("ernest", "masha")
WEIGHTS = ("relative", "none")
LEAST_CONFIDENCE = 0.5  # by definition: the median
INTERVAL, UNLIKELY = 0.9, 0.05  # by definition of the answers; as in Kupiec (1995)


@dataclass(frozen=True, eq=False, repr=False)
class JobModel(Result):
    """A scaling model of one job, on one type of machine or on several.

    Attributes
    ----------
    name : str
        Such as ``"ernest"``.
    estimator : ScalingModel
        Fitted.
    measurements : Measurements
        The runs that it was fitted to.
    machine_type : str or None
    iterations : int or None
        Iterations of each measured run, when the job is iterative and was cut short.
    warnings : tuple of str
        On the measurements and the fit.
    version : str
        Version of this package that fitted the model.
    types : dict of str to MachineType
        Types that the model knows by their cores and memory; empty when it knows of machines only.
    misfit : str or None
        Why the model does not fit its runs; None when it does.
    """

    name: str
    estimator: Any
    measurements: Measurements
    machine_type: str | None
    iterations: int | None
    warnings: tuple[str, ...]
    version: str
    types: Mapping[str, MachineType] = field(default_factory=dict)
    misfit: str | None = None

    @property
    def source(self) -> str:
        """Name of the measured file."""
        return self.measurements.path.name

    @property
    def unit(self) -> str:
        """Unit of the machines: ``"machines"`` or ``"cores"``."""
        return self.measurements.unit

    @property
    def columns(self) -> Mapping[str, str]:
        """Names in the measured file of scale, machines and seconds."""
        return self.measurements.columns

    @property
    def answer(self) -> Answer:
        """The time of a run, and how good the model is."""
        from predict_graph.sizing.report import answer_of_fit

        return answer_of_fit(self)

    @property
    def title(self) -> str:
        """Subject of the model."""
        return f"model of {self.source}"

    def to_dict(self) -> dict[str, Any]:
        """Return coefficients, errors and measured runs, ready for JSON."""
        from predict_graph.sizing.report import fit_summary

        return fit_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return measured and fitted seconds with 90% intervals, one row a configuration."""
        parts = []
        for one in self.by_type():
            measured = one.measured
            where = measured["scale"], measured["machines"]
            low, high = one.bounds(*where, 0.95)  # of each end: 90% are between
            fitted = {"predicted": one.seconds(*where), "low": low, "high": high}
            parts.append(measured.assign(**fitted, machine_type=one.machine_type))
        return pd.concat(parts, ignore_index=True)

    def pictures(self) -> list[Picture]:
        """Return time against machines."""
        from predict_graph.sizing.picture import pictures_of_fit

        return pictures_of_fit(self)

    def by_type(self) -> list[JobModel]:
        """Return the model as one of each type that it knows, or itself."""
        if not self.types or self.machine_type in self.types:
            return [self]
        return [replace(self, machine_type=name) for name in self.types]

    def table(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> pd.DataFrame:
        """Return configurations as a table, with cores and memory where types are known."""
        scales, counts = np.broadcast_arrays(np.atleast_1d(scale), np.atleast_1d(machines))
        rows = {"scale": scales, "machines": counts, "machine_type": self.machine_type}
        return type_columns(
            pd.DataFrame(rows), self.types if self.machine_type in self.types else {}
        )

    def success(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
        """Return how likely a run of each configuration succeeds, estimated from failed runs."""
        failed = failed_configurations(self.measurements, self.types)
        fine = type_columns(self.measurements.done, self.types).drop_duplicates()
        return success_chance(arrays(self.table(scale, machines)), arrays(failed), arrays(fine))

    @property
    def measured(self) -> pd.DataFrame:
        """Measured configurations: ``scale``, ``machines``, median ``seconds``."""
        runs = self.measurements.done
        own = self.types.get(self.machine_type or "")
        if own is not None:
            alike = [n for n, k in self.types.items() if k.resources == own.resources]
            runs = runs[runs["machine_type"].isin(alike)]
        keys = ["scale", "machines", *(["machine_type"] if own is None else [])]
        medians = runs.groupby(keys, dropna=False)["seconds"].median()
        return medians.reset_index()[["scale", "machines", "seconds"]]

    def seconds(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
        """Predict the seconds of each configuration.

        Parameters
        ----------
        scale, machines : array_like, shape (n,)
            Broadcast against each other; machines in the unit of the model.
        """
        predicted: FloatArray = self.estimator.predict(self.table(scale, machines))
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
        table = self.table(scale, machines)
        interval = self.estimator.predict_interval(table, 2 * confidence - 1)
        return interval[:, 0], interval[:, 1]


def check_confidence(confidence: float) -> None:
    """Refuse a value that is no confidence of one end of an interval."""
    if not LEAST_CONFIDENCE <= confidence < 1:
        raise RequestError(
            f"the confidence is {confidence:g}; accepted: from 0.5 (the prediction itself) to "
            "below 1"
        )


def fit_job(
    measurements: Measurements,
    model: str = "auto",
    *,
    weights: str = "relative",
    terms: Sequence[str] = (),
    iterations: int | None = None,
    prior: Prior | None = None,
    types: Mapping[str, MachineType] | None = None,
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
    prior : Prior, optional
        For ``auto``: of past jobs of the cluster; by default that of the package.
    types : mapping of str to MachineType, optional
        For ``auto``: cores and memory of the machine types of the runs, which join all types in one
        model.

    Returns
    -------
    JobModel

    Raises
    ------
    RequestError
        If an option is wrong, or the runs are too few for the model.
    """
    if model not in SCALING_MODELS:
        raise unknown_name("model", model, SCALING_MODELS)
    auto = model == "auto"
    options: dict[str, Any] = {"prior": prior} if auto else {"weights": weights}
    if weights not in WEIGHTS:
        raise unknown_name("weights", weights, WEIGHTS)
    if auto and weights != "relative":
        raise RequestError(
            "auto minimises relative errors; accepted: --weights relative, or another --model"
        )
    if terms:
        if model not in EXTENSIBLE:
            raise RequestError(
                f"terms cannot be added to {model}; accepted: --model {' or '.join(EXTENSIBLE)}"
            )
        options["extra_terms"] = tuple(terms)
    if prior is not None and not auto:
        raise RequestError(f"{model} learns nothing from past jobs; accepted: the model auto")
    if iterations is not None and iterations < 1:
        raise RequestError(f"iterations are {iterations}; accepted: 1 or more")
    if types is not None and not auto:
        raise RequestError(f"{model} knows no machine types; accepted: --model auto")
    said: list[str] = []
    if types is not None:
        measurements, said = of_known_types(measurements, types)
    runs = measurements.of("ok", "timeout") if auto else measurements.done
    ended = {"ended": runs["outcome"] == "timeout"} if auto else {}
    module, _, attribute = SCALING_MODELS[model].partition(":")
    try:
        estimator = getattr(import_module(module), attribute)(**options)
        estimator.fit(type_columns(runs, types or {}), runs["seconds"].to_numpy(), **ended)
    except ValueError as error:
        first = str(error).partition("\n")[0]
        raise RequestError(f"{model} cannot be fitted to {measurements.path}: {first}") from error
    if late := len(measurements.of("timeout")):
        what = "counted as longer than that" if auto else "left out"
        said.append(f"{counted(late)} of {measurements.path.name} ended by a timeout: {what}")
    misfit = _misfit(estimator, measurements, types or {})
    return JobModel(
        name=model,
        estimator=estimator,
        measurements=measurements,
        machine_type=measurements.machine_type if types is None else None,
        iterations=iterations,
        warnings=(
            *([misfit] if misfit else []),
            *measurements.warnings,
            *said,
            *estimator.warnings_,
        ),
        version=version("predict-graph"),
        types=dict(types or {}),
        misfit=misfit,
    )


def _misfit(estimator: Any, measured: Measurements, types: Mapping[str, MachineType]) -> str | None:
    """Say so if the 90% intervals hold too few of the runs that the model was fitted to.

    The binomial test of Kupiec (1995): Techniques for verifying the accuracy of risk measurement
    models, Journal of Derivatives 3(2), at its 5% level.
    """
    done = measured.done
    low, high = estimator.predict_interval(type_columns(done, types), INTERVAL).T
    inside = int(done["seconds"].between(low, high).sum())
    if bdtr(inside, len(done), INTERVAL) > UNLIKELY:
        return None
    unseen = " or ".join(repr(name) for name in measured.varying) or "something not in the table"
    return (
        f"the model does not fit: its 90% intervals hold {inside} of {len(done)} runs; {unseen} "
        "may explain the others"
    )


def with_machine_type(model: JobModel, machine_type: str) -> JobModel:
    """Return the model as one of another machine type, if it knows no types of its own."""
    if model.types:
        raise RequestError(
            f"the model of {model.source} is one of the types {', '.join(model.types)}; accepted: "
            f"the model without {machine_type}="
        )
    return replace(model, machine_type=machine_type)
