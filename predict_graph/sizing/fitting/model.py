"""A fitted scaling model of a job, with the runs that it was fitted to, and its file.

A file holds the runs and the options of the fit, which is repeated when the file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.scaling import TERMS
from costmodels.scaling.priors import prior_to_plain
from costmodels.scaling.search import success_chance
from predict_graph.answers import Answer, Table, sure
from predict_graph.arrays import FloatArray
from predict_graph.documents import DocumentKind
from predict_graph.durations import counted, readable_number
from predict_graph.errors import RequestError, unknown_name
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import Line, draw_lines
from predict_graph.results import Result
from predict_graph.sizing.measuring.measurements import Measurements
from predict_graph.sizing.planning.candidates import Types, columns_of

if TYPE_CHECKING:
    from predict_graph.sizing.tasks.model import TaskModel

MODEL = DocumentKind("predict-graph scaling model", "model", "fit --out", sealed=True)


# Whether a model fits: the end of its sentence, and its badge.
_TRUST = {
    True: ("the model fits what was left out", "fits", "good"),
    False: ("the model fits roughly: plan with its intervals", "fits roughly", "caution"),
    None: ("so few configurations do not show whether the model fits", "not tested", "caution"),
}
_MISFIT = ("the model does not fit: do not use it", "does not fit", "bad")


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
    types : dict of str to MachineType
        Types that the model knows by their cores and memory; empty when it knows of machines only.
    misfit : str or None
        Why the model does not fit its runs; None when it does.
    submit : callable, optional
        Returns the options of spark-submit for so many machines.
    """

    name: str
    estimator: Any
    measurements: Measurements
    machine_type: str | None = None
    iterations: int | None = None
    warnings: tuple[str, ...] = ()
    types: Types = field(default_factory=dict)
    misfit: str | None = None
    submit: Callable[[int], str] | None = None

    @property
    def source(self) -> str:
        """Name of the measured file."""
        return self.measurements.path.name

    @property
    def unit(self) -> str:
        """Unit of the machines: ``"machines"``, ``"cores"``, ``"GPUs"``, …."""
        return self.measurements.unit

    @property
    def fits(self) -> bool | None:
        """Whether it predicts what was left out; None with fewer than four configurations."""
        fits = not self.misfit and self.estimator.check_.fits
        return None if fits and len(self.estimator.points_) < 4 else fits

    @property
    def answer(self) -> Answer:
        """The time of a run, and how good the model is."""
        estimator, left_out = self.estimator, self.estimator.loocv_
        scales, machines = self.measured["scale"], self.measured["machines"]
        prior = getattr(estimator, "prior", None)
        learnt = "" if prior is None else f", learnt from {counted(prior.jobs, 'past jobs')}"
        errors = left_out.median_percent_error, left_out.max_percent_error
        middle, most = (readable_number(round(each, 1)) for each in errors)
        trust, label, tone = _MISFIT if self.misfit else _TRUST[self.fits]
        scale = self._of_scale(scales.min())
        if scales.max() > scales.min():
            scale += f" to {readable_number(scales.max())}"
        facts = [
            *([("model", f"{self.name}{learnt}")] if self.name != "auto" or prior else []),
            *([("machine types", ", ".join(self.types))] if self.types else []),
            ("if doubled", self._scaling()),
            ("error", f"median {middle}%, at most {most}% on configurations left out"),
            (
                "measured",
                f"{estimator.points_.repeats.sum():g} runs of {len(estimator.points_)} "
                f"configurations: {scale and f'{scale}, '}{machines.min():g} to "
                f"{machines.max():g} {self.unit}",
            ),
        ]
        rows = getattr(estimator.law_, "rows", ())  # other laws than linear ones have none
        details = [
            *([("formula", estimator.formula_)] if rows else []),
            ("file", self.source),
            ("columns", ", ".join(map(": ".join, self.measurements.columns.items()))),
            ("R²", f"{estimator.r2_:.4f}"),
            ("residuals left out", f"sum of squares {left_out.residual_sum_of_squares:.4g} s²"),
            ("ranking left out", ranking_text(left_out.to_dict())),
        ]
        return Answer(
            self._sentence(trust),
            facts,
            warnings=self.warnings,
            details=details,
            more=[Table("coefficients", ["term", "value", "unit"], rows)] if rows else [],
            badge=(label, tone),
        )

    @property
    def title(self) -> str:
        """Subject of the model."""
        return f"model of {self.source}"

    def to_dict(self) -> dict[str, Any]:
        """Return coefficients, errors and measured runs, ready for JSON."""
        estimator, term = self.estimator, self.estimator.check_.term
        rows, names = getattr(estimator.law_, "rows", ()), ("name", "value", "unit")
        return {
            "schema": 1,
            "verdict": {"sentence": self.answer.sentence},
            "model": self.name,
            "formula": getattr(estimator, "formula_", None),
            "coefficients": [dict(zip(names, row, strict=True)) for row in rows],
            "r2": estimator.r2_,
            "left_out": estimator.loocv_.to_dict(),
            "fits": self.fits,
            "unit": self.unit,
            "machine_type": self.machine_type,
            "iterations": self.iterations,
            "proposed_term": term and term.name,
            "cliffs": [asdict(cliff) for cliff in estimator.cliffs_],
            "measured": self.measured.to_dict("list"),
            "runs": int(estimator.points_.repeats.sum()),
            "machine_types": list(self.types),
            "columns": self.measurements.columns,
            "warnings": list(self.warnings),
        }

    def _of_scale(self, value: float) -> str:
        """Return a scale under the name of its column; nothing without one."""
        name = self.measurements.columns.get("scale")
        return f"{name} {readable_number(value)}" if name else ""

    def _scaling(self) -> str:
        """Return how many times as fast twice the machines are, and as long twice the scale is."""
        one = self.measured_types()[0]
        scale, machines = (float(one.measured[name].max()) for name in ("scale", "machines"))
        time, faster, longer = one.seconds(
            [scale, scale, 2 * scale], [machines, 2 * machines, machines]
        )
        both = f"{2 * machines:g} {self.unit} as on {machines:g}"
        said = f"{time / faster:.2g} times as fast on {both}"
        if self.measured["scale"].nunique() > 1:
            both = f"{self._of_scale(2 * scale)} as at {readable_number(scale)}"
            said += f", {longer / time:.2g} times as long at {both}"
        return said

    def _sentence(self, trust: str) -> str:
        """Say what a run of the largest scale takes on the slowest and on the fastest machines.

        Where it is likely to succeed.
        """
        scales = self.measured["scale"]
        table = self.to_frame(scales.max())
        likely = self.success(pd.DataFrame(columns_of(table, self.types))) >= 0.5
        if likely.any():
            table = table[likely]
        else:  # what ran at this scale
            table = self.to_frame().loc[lambda ran: ran["scale"] == scales.max()]
        ends: Any = table.loc[[table["predicted"].idxmax(), table["predicted"].idxmin()]]
        said = []
        for one in ends.drop_duplicates().itertuples():
            time = sure(Interval(one.predicted, one.low, one.high))
            typed = f"{one.machines:g} × {one.machine_type}"
            said.append(f"{time} on {typed if self.types else counted(one.machines, self.unit)}")
        of = f" at {self._of_scale(scales.max())}" if scales.nunique() > 1 else ""
        return f"a run{of} takes about {' and '.join(said)}; {trust}"

    def to_frame(self, scale: float | None = None) -> pd.DataFrame:
        """Return measured and fitted seconds with 90% intervals, one row a configuration.

        With a `scale`, the configurations are those that were measured at any, taken to this one.
        """
        table = self.measured
        if scale is not None:
            table = table.assign(scale=scale).drop_duplicates(["machine_type", "machines"])
        where = pd.DataFrame(columns_of(table, self.types))
        middle, low, high = predicted(self.estimator, where, 0.95)
        return table.assign(predicted=middle, low=low, high=high)

    def pictures(self, most: int = 5) -> list[Picture]:
        """Return time against machines.

        Of more scales than `most` the smallest, the largest and some between are drawn; of several
        machine types the largest scale, with a curve for each type that was measured.
        """
        every = np.unique(self.measured["scale"])
        chosen = np.linspace(0, len(every) - 1, min(len(every), most)).round().astype(int)
        views = [(self, scale) for scale in every[chosen]]
        if self.types:
            views = [(view, every[-1]) for view in self.measured_types()]
        lines = []
        for view, scale in views:
            measured = view.measured
            machines = np.geomspace(measured["machines"].min(), measured["machines"].max())
            name = f"scale {readable_number(scale)}" if len(every) > 1 else "model"
            label = str(view.machine_type) if self.types else name
            middle, low, high = predicted(view.estimator, view.table(scale, machines), 0.95)
            here = measured[measured["scale"] == scale]
            points = (here["machines"], here["seconds"])
            lines.append(Line(label, machines, middle, low, high, points))
        said = (
            f"Time against {self.unit}, measured (points) and by the model {self.name} (lines): "
            f"{self.answer.sentence}."
        )
        xlabel = f"{self.unit} (band: 90% of runs; points: measured)"
        draw = partial(draw_lines, lines=lines, xlabel=xlabel, ylabel="time")
        return [Picture(f"Time against {self.unit}", said, draw)]

    def document(self) -> dict[str, Any]:
        """Return the model as plain values, with its checksum."""
        options, measured = self.estimator.get_params(), self.measurements
        terms = list(options.get("extra_terms", ()))
        if own := [term.name for term in terms if not isinstance(term, str)]:
            raise RequestError(
                f"a model with the term {own[0]!r} of your own cannot be saved; "
                f"accepted: terms of the library: {', '.join(TERMS)}"
            )
        prior, runs = options.get("prior"), measured.runs.astype(object)
        content = {
            "version": version("predict-graph"),
            "source": self.source,
            "model": self.name,
            "weights": options.get("weights", "relative"),
            "terms": terms,
            "iterations": self.iterations,
            "prior": None if prior is None else prior_to_plain(prior),
            "types": [asdict(kind) for kind in self.types.values()],
            "columns": measured.columns,
            "varying": measured.varying,
            "notes": measured.notes,
            "warnings": self.warnings,
            "lines": runs.index.tolist(),
            "runs": runs.where(runs.notna(), None).to_dict("list"),
        }
        return MODEL.complete(content)

    def by_type(self) -> list[JobModel]:
        """Return the model as one of each type that it knows, or itself."""
        names = [self.machine_type] if self.machine_type or not self.types else [*self.types]
        return [replace(self, machine_type=name) for name in names]

    def measured_types(self) -> list[JobModel]:
        """Return the model as one of each type that it was measured on, or itself."""
        return [one for one in self.by_type() if len(one.measured)]

    def table(self, scale: npt.ArrayLike, machines: npt.ArrayLike) -> pd.DataFrame:
        """Return configurations as a table, with cores and memory where types are known."""
        scales, counts = np.broadcast_arrays(np.atleast_1d(scale), np.atleast_1d(machines))
        rows = {"scale": scales, "machines": counts, "machine_type": self.machine_type}
        return pd.DataFrame(columns_of(pd.DataFrame(rows), self.types))

    def success(self, where: Any) -> FloatArray:
        """Return how likely a run of each row of :meth:`table` succeeds, by failed runs."""
        runs, keys = self.measurements.runs.copy(), ["scale", "machines", "machine_type"]
        late = runs[runs["outcome"] == "timeout"]
        if len(late):
            most = predicted(self.estimator, pd.DataFrame(columns_of(late, self.types)), 0.9)[2]
            runs.loc[late.index[late["seconds"] > most], "outcome"] = "failed"  # they hung
        outcomes = runs.groupby(keys, dropna=False, as_index=False)["outcome"].agg(set)
        never = outcomes["outcome"].map(lambda f: "failed" in f and "ok" not in f).astype(bool)
        done: Any = pd.DataFrame(columns_of(self.measurements.done, self.types)).drop_duplicates()
        return success_chance(where, columns_of(outcomes[never], self.types), done)

    @property
    def measured(self) -> pd.DataFrame:
        """Measured configurations (scale, machines, machine type): median seconds."""
        runs = self.measurements.done
        if self.types and self.machine_type:
            runs = runs[runs["machine_type"] == self.machine_type]
        keys = ["scale", "machines", "machine_type"]
        return runs.groupby(keys, dropna=False)["seconds"].median().reset_index()

    def seconds(
        self, scale: npt.ArrayLike, machines: npt.ArrayLike, machine_type: str | None = None
    ) -> FloatArray:
        """Predict the seconds of each configuration.

        Parameters
        ----------
        scale, machines : array_like, shape (n,)
            Broadcast against each other; machines in the unit of the model.
        machine_type : str, optional
            One of the types that the model knows; needed where these are several.

        Raises
        ------
        RequestError
            If the model does not know the type.
        """
        every = self.by_type()
        found = [one for one in every if machine_type in (None, one.machine_type)]
        if len(found) != 1:
            raise unknown_name("machine type", machine_type, [str(x.machine_type) for x in every])
        return np.asarray(self.estimator.predict(found[0].table(scale, machines)))


def ranking_text(errors: Mapping[str, float]) -> str:
    """Return how well runs left out were ranked, by the metrics of NIMO."""
    opd, distance = errors["order_preserving_degree"], errors["ranking_distance_1"]
    return f"OPD {opd:.3f}, RD(1) {distance:.3f}"


def predicted(estimator: Any, table: pd.DataFrame, confidence: float) -> FloatArray:
    """Return predicted, least and most seconds, each end with this probability, shape (3, n)."""
    middle = estimator.predict(table)
    if confidence == 0.5:  # the median
        return np.stack((middle, middle, middle))
    low, high = estimator.predict_interval(table, 2 * confidence - 1).T
    return np.stack((middle, np.minimum(low, middle), np.maximum(high, middle)))


def save_model(model: JobModel | TaskModel, path: str | PathLike[str]) -> None:
    """Write a model.

    Raises
    ------
    RequestError, JobError
        If it has terms that no file can hold, or the file cannot be written; what was there stays.
    """
    MODEL.write(model.document(), path)
