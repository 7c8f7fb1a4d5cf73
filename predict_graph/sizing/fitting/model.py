"""A fitted scaling model of a job, with what it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from costmodels.scaling import SCALING_MODELS
from costmodels.scaling.search import success_chance
from predict_graph.answers import Answer
from predict_graph.errors import RequestError, unknown_name
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.sizing.fitting.past_jobs import PastJobs
from predict_graph.sizing.fitting.typed_runs import (
    failed_configurations,
    of_known_types,
    type_columns,
)
from predict_graph.sizing.measuring.measurements import Measurements
from predict_graph.sizing.planning.candidates import MachineType

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]

EXTENSIBLE = ("ernest", "masha")
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
    types : dict of str to MachineType
        Types that the model knows by their cores and memory; empty when it knows of machines only.
    failures : dict of str to ndarray
        Columns (``scale``, ``machines``, with types ``cores`` and ``memory``) of configurations at
        which every run failed, or was ended by a timeout.
    misfit : str or None
        Why the model does not hold the runs that it was fitted to; None when it does, and for a
        model that was loaded.
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
    types: Mapping[str, MachineType] = field(default_factory=dict)
    failures: Mapping[str, FloatArray] = field(default_factory=dict)
    misfit: str | None = None

    @property
    def answer(self) -> Answer:
        """What a run takes, and how good the model is."""
        from predict_graph.sizing.report import answer_of_fit

        return answer_of_fit(self)

    @property
    def title(self) -> str:
        """What the model is of."""
        return f"model of {self.source}"

    def to_dict(self) -> dict[str, Any]:
        """Return coefficients, errors and measured runs, ready for JSON."""
        from predict_graph.sizing.report import fit_summary

        return fit_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return measured and fitted seconds with 90% intervals, one row a configuration."""
        import pandas as pd

        parts = []
        for one in self.by_type():
            measured = one.measured
            where = measured["scale"], measured["machines"]
            low, high = one.bounds(*where, 0.95)  # of each end: 90% are between
            fitted = {"predicted": one.seconds(*where), "low": low, "high": high}
            parts.append(pd.DataFrame({**measured, **fitted}).assign(machine_type=one.machine_type))
        return pd.concat(parts, ignore_index=True)

    def pictures(self) -> list[Picture]:
        """Return time against machines, and the errors at the measured configurations."""
        from predict_graph.sizing.picture import pictures_of_fit

        return pictures_of_fit(self)

    def by_type(self) -> list[JobModel]:
        """Return the model as one of each type that it knows, or itself."""
        if not self.types or self.machine_type in self.types:
            return [self]
        return [replace(self, machine_type=name) for name in self.types]

    def columns_of(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> dict[str, FloatArray]:
        """Return configurations as columns, with cores and memory where types are known."""
        scales, counts = np.broadcast_arrays(np.atleast_1d(scale), np.atleast_1d(machines))
        kind = self.machine_type or ""
        known = self.types if kind in self.types else {}
        return type_columns(scales, counts, [kind] * len(counts), known)

    def success(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
        """Return how likely a run of each configuration succeeds, estimated from failed runs."""
        columns = self.columns_of(scale, machines)
        if not self.failures:
            return np.ones(len(columns["machines"]))
        return success_chance(columns, self.failures, self.estimator.points_.columns)

    @property
    def measured(self) -> dict[str, FloatArray]:
        """Configurations: ``scale``, ``machines``, median ``seconds``; each of shape (n,)."""
        points = self.estimator.points_
        kind = self.types.get(self.machine_type or "")
        here = np.ones(len(points.seconds), dtype=bool)
        if kind is not None:
            here &= points.columns["cores"] == kind.cores
            if "memory" in points.columns:
                here &= points.columns["memory"] == kind.memory
        return {
            "scale": points.columns["scale"][here],
            "machines": points.columns["machines"][here],
            "seconds": points.seconds[here],
        }

    def seconds(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> FloatArray:
        """Predict the seconds of each configuration.

        Parameters
        ----------
        scale, machines : array_like, shape (n,)
            Broadcast against each other; machines in the unit of the model.
        """
        predicted: FloatArray = self.estimator.predict(self._table(scale, machines))
        return predicted

    def _table(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> Any:
        return _frame(self.columns_of(scale, machines), self.types)

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
        table = self._table(scale, machines)
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
    past : PastJobs, optional
        For ``auto``: past jobs of the cluster, from which it learns what to expect.
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
    if types is not None and model != "auto":
        raise RequestError(f"{model} knows no machine types; accepted: --model auto")
    estimator = make_estimator(model, options)
    left_out: list[str] = []
    if types is not None:
        measurements, left_out = of_known_types(measurements, types)
    said = [*measurements.warnings, *left_out]
    try:
        if model == "auto":
            _fit_auto(estimator, measurements, types or {})
        else:
            table = row_table(measurements.scale, measurements.machines)
            estimator.fit(table, measurements.seconds)
    except ValueError as error:
        raise RequestError(f"{model} cannot be fitted to {measurements.path}: {error}") from error
    late = len(measurements.ended)
    if late:
        what = "counted as longer than that" if model == "auto" else "left out"
        runs = f"{late} run{'s' if late > 1 else ''}"
        said.append(f"{runs} of {measurements.path.name} ended by a timeout: {what}")
    fitted = JobModel(
        name=model,
        estimator=estimator,
        unit=measurements.unit,
        columns=dict(measurements.columns),
        machine_type=measurements.machine_type if types is None else None,
        iterations=iterations,
        source=measurements.path.name,
        warnings=(
            *said,
            *(past.warnings if past is not None else ()),
            *estimator.warnings_,
        ),
        version=version("predict-graph"),
        types=dict(types or {}),
        failures=failed_configurations(measurements, types or {}),
    )
    misfit = _misfit(fitted, measurements)
    return replace(
        fitted, misfit=misfit, warnings=(*([misfit] if misfit else []), *fitted.warnings)
    )


def _misfit(model: JobModel, measured: Measurements) -> str | None:
    """Say so if the 90% intervals hold too few of the runs that the model was fitted to.

    The binomial test of Kupiec (1995): Techniques for verifying the accuracy of risk measurement
    models, Journal of Derivatives 3(2), at its 5% level.
    """
    columns = type_columns(measured.scale, measured.machines, measured.types, model.types)
    table = _frame(columns, model.types)
    ends = model.estimator.predict_interval(table, INTERVAL)
    count = len(measured)
    inside = int(((ends[:, 0] <= measured.seconds) & (measured.seconds <= ends[:, 1])).sum())
    if bdtr(inside, count, INTERVAL) > UNLIKELY:
        return None
    unseen = " or ".join(repr(name) for name in measured.varying) or "something not in the table"
    return (
        f"the model does not fit: its 90% intervals hold {inside} of {count} runs; {unseen} may "
        "explain the others"
    )


def _fit_auto(estimator: Any, measured: Measurements, types: Mapping[str, MachineType]) -> None:
    """Fit `auto` to the runs that were done, and to those that a timeout ended."""
    late = measured.ended
    columns = type_columns(
        np.append(measured.scale, late.scale),
        np.append(measured.machines, late.machines),
        (*measured.types, *late.types),
        types,
    )
    seconds = np.append(measured.seconds, late.seconds)
    ended = np.arange(len(seconds)) >= len(measured)
    estimator.fit(_frame(columns, types), seconds, ended=ended)


def _frame(columns: Mapping[str, FloatArray], types: Mapping[str, MachineType]) -> Any:
    """Return columns as a table: by position, or with names where there are types."""
    if not types:
        return row_table(columns["scale"], columns["machines"])
    import pandas as pd

    return pd.DataFrame(columns)


def with_machine_type(model: JobModel, machine_type: str) -> JobModel:
    """Return the model as one of another machine type.

    Raises
    ------
    RequestError
        If it knows types of its own.
    """
    if model.types:
        raise RequestError(
            f"the model of {model.source} is one of the types {', '.join(model.types)}; accepted: "
            f"the model without {machine_type}="
        )
    return replace(model, machine_type=machine_type)
