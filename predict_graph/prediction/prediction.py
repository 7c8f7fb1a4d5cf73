"""What a prediction says."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.durations import readable_seconds
from predict_graph.engines import COUNTERS, PHASES, RunProfile
from predict_graph.iterations import SampleSummary

__all__ = ["SCHEMA", "Comparison", "Interval", "Prediction"]

SCHEMA = 1
"""Version of the JSON."""

_LISTED = 6  # machine counts in the summary


@dataclass(frozen=True)
class Interval:
    """A figure with the ends of its 90% interval."""

    predicted: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the three figures."""
        return {"predicted": self.predicted, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether `value` is inside."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Prediction:
    """How many iterations a run will take, how long it will last, and how sure that is.

    Parameters
    ----------
    algorithm, graph, engine : mapping
        As in a :class:`~predict_graph.engines.RunProfile`.
    seed : int or None
    iterations, runtime_seconds : Interval
        90% intervals.
    phases : dict of str to float
        Seconds of setup, read, superstep and write.
    per_iteration : DataFrame
        Counters, ``seconds`` and ``convergence`` of each iteration.
    samples : list of SampleSummary
        The samples that ran.
    cost_model : dict
        ``name``, ``terms`` (seconds a unit), ``r2``, and what it was trained on.
    overhead_seconds : float
        How long the prediction took, reading the graph excluded.
    edge_visits : float
        Edges that the samples looked at, iteration by iteration, and the search for them.
    method : dict
        How the iterations were estimated: ``name``, ``sampler``, ``transform``, ``threshold``.
    warnings : list of str
        Why the prediction should not be trusted, in plain words.
    prior : Prediction, optional
        Of the algorithm that runs first in a chain; phases, runtime and overhead are those of both.
    executors : mapping
        On a cluster: bytes that an executor needs at its peak, and those that it has.
    by_machines : list of mapping
        On a cluster: ``machines`` and the interval of the runtime, for other machine counts too.
    """

    algorithm: Mapping[str, Any]
    graph: Mapping[str, Any]
    engine: Mapping[str, Any]
    seed: int | None
    iterations: Interval
    runtime_seconds: Interval
    phases: dict[str, float]
    per_iteration: pd.DataFrame = field(repr=False)
    samples: list[SampleSummary] = field(repr=False)
    cost_model: dict[str, Any]
    overhead_seconds: float
    edge_visits: float
    method: dict[str, Any]
    warnings: list[str]
    prior: Prediction | None = None
    executors: Mapping[str, Any] = field(default_factory=dict)
    by_machines: list[Mapping[str, float]] = field(default_factory=list)

    def after(self, prior: Prediction) -> Prediction:
        """Return the prediction of a chain: this one, with what its prior takes on top.

        Parameters
        ----------
        prior : Prediction
            Of the algorithm whose result this one takes as its input, on the same graph.
        """
        once = ("read", "write")
        phases = {
            name: seconds + (0.0 if name in once else prior.phases[name])
            for name, seconds in self.phases.items()
        }
        return replace(
            self,
            phases=phases,
            runtime_seconds=_sum(
                [self.runtime_seconds, prior.runtime_seconds], sum(phases.values())
            ),
            overhead_seconds=self.overhead_seconds + prior.overhead_seconds,
            edge_visits=self.edge_visits + prior.edge_visits,
            warnings=list(dict.fromkeys([*prior.warnings, *self.warnings])),
            prior=prior,
            by_machines=[
                {"machines": own["machines"], **_together(own, other).to_dict()}
                for own, other in zip(self.by_machines, prior.by_machines, strict=True)
            ],
        )

    @property
    def convergence(self) -> npt.NDArray[np.float64]:
        """Predicted convergence aggregate after each iteration."""
        return self.per_iteration["convergence"].to_numpy(dtype=np.float64)

    @property
    def overhead_edges(self) -> float:
        """Edge visits of the prediction / messages of the predicted run, those of its prior too."""
        messages = 0
        part: Prediction | None = self
        while part is not None:
            total = part.features_total()
            messages += total["local_messages"] + total["remote_messages"]
            part = part.prior
        return self.edge_visits / max(messages, 1)

    def features_total(self) -> dict[str, int]:
        """Return each counter summed over the iterations."""
        return {name: int(self.per_iteration[name].sum()) for name in COUNTERS}

    def to_frame(self) -> pd.DataFrame:
        """Return the table of iterations."""
        return self.per_iteration.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as docs/json.md describes it, ready for JSON."""
        runtime = self.runtime_seconds.predicted
        return {
            "schema": SCHEMA,
            "algorithm": dict(self.algorithm),
            "graph": dict(self.graph),
            "engine": dict(self.engine),
            "seed": self.seed,
            "method": self.method,
            "iterations": {name: int(n) for name, n in self.iterations.to_dict().items()},
            "runtime_seconds": self.runtime_seconds.to_dict(),
            "phases": {name: self.phases[name] for name in PHASES},
            "features_total": self.features_total(),
            "per_iteration": self.per_iteration.to_dict("records"),
            "samples": [
                {
                    "sampler": sample.sampler,
                    "ratio": sample.ratio,
                    "vertices": sample.vertices,
                    "edges": sample.edges,
                    "iterations": sample.iterations,
                    "seconds": sample.seconds,
                    "purpose": sample.purpose,
                    "note": sample.note,
                }
                for sample in self.samples
            ],
            "cost_model": self.cost_model,
            "overhead": {
                "seconds": self.overhead_seconds,
                "fraction_of_predicted": self.overhead_seconds / runtime if runtime else None,
                "edge_visits_fraction": self.overhead_edges,
            },
            **({"executors": dict(self.executors)} if self.executors else {}),
            **({"by_machines": list(map(dict, self.by_machines))} if self.by_machines else {}),
            "warnings": self.warnings,
            "prior": None if self.prior is None else self.prior.to_dict(),
        }

    def plot(self, path: str | Path | None = None, actual: RunProfile | None = None) -> Any:
        """Draw the convergence curve and the seconds of each iteration.

        Parameters
        ----------
        path : str or Path, optional
            Where the picture goes; by default it is only returned.
        actual : RunProfile, optional
            The real run, drawn beside.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        RequestError
            If matplotlib is not installed (extra ``plot``), or `path` cannot be written.
        """
        from predict_graph.prediction.picture import draw

        return draw(self, actual, None if path is None else Path(path))

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self.summary()]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def summary(self) -> list[tuple[str, str]]:
        """Return the main figures in words: pairs of what and how much."""
        parameters = ", ".join(f"{k}={v}" for k, v in self.algorithm["parameters"].items())
        iterations, runtime = self.iterations, self.runtime_seconds
        return [
            ("algorithm", f"{self.algorithm['name']} ({parameters})"),
            (
                "graph",
                f"{self.graph['name']}: {self.graph['vertices']:,} vertices, "
                f"{self.graph['edges']:,} edges",
            ),
            ("engine", ", ".join(f"{k} {v}" if k != "name" else v for k, v in self.engine.items())),
            (
                "iterations",
                f"{iterations.predicted:.0f} ({iterations.low:.0f} to {iterations.high:.0f})",
            ),
            (
                "runtime",
                f"{readable_seconds(runtime.predicted)} "
                f"({readable_seconds(runtime.low)} to {readable_seconds(runtime.high)})",
            ),
            *self._chain(),
            *self._cluster(),
            ("phases", ", ".join(f"{k} {readable_seconds(self.phases[k])}" for k in PHASES)),
            (
                "overhead",
                f"{readable_seconds(self.overhead_seconds)}, {self.overhead_edges:.0%} of the edge "
                "visits of the run",
            ),
        ]

    def _chain(self) -> list[tuple[str, str]]:
        """Say what runs first, and how much of the runtime that is."""
        if self.prior is None:
            return []
        first = self.prior
        return [
            (
                f"of which {first.algorithm['name']}",
                f"{first.iterations.predicted:.0f} iterations, "
                f"{readable_seconds(first.phases['setup'] + first.phases['superstep'])}",
            )
        ]

    def _cluster(self) -> list[tuple[str, str]]:
        """Say what other machine counts would take, and what an executor needs."""
        lines = []
        if self.by_machines:
            own = self.engine.get("machines")
            near = [row for row in self.by_machines if row["machines"] != own][:_LISTED]
            said = [f"{row['machines']}: {readable_seconds(row['predicted'])}" for row in near]
            lines.append(("on other machines", ", ".join(said)))
        if self.executors:
            parts = ("execution", "storage", "available")
            sizes = [f"{name} {self.executors[f'{name}_bytes'] / 2**20:.0f} MiB" for name in parts]
            lines.append(("of an executor", ", ".join(sizes)))
        return lines

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in self.summary()
        )
        notes = "".join(f"<p>warning: {html.escape(text)}</p>" for text in self.warnings)
        return f"<table>{rows}</table>{notes}"


@dataclass(frozen=True)
class Comparison:
    """A prediction beside the real run.

    Errors are signed and relative: predicted / actual - 1.

    Parameters
    ----------
    prediction : Prediction
    actual : RunProfile
    """

    prediction: Prediction
    actual: RunProfile

    def errors(self) -> dict[str, Any]:
        """Return the error of iterations, runtime, superstep phase and each counter."""
        totals = self.actual.features_total()
        predicted = self.prediction.features_total()
        return {
            "iterations": _error(self.prediction.iterations.predicted, self.actual.iterations),
            "runtime_seconds": _error(
                self.prediction.runtime_seconds.predicted, self.actual.runtime_seconds
            ),
            "superstep_seconds": _error(
                self.prediction.phases["superstep"], self.actual.phases["superstep"]
            ),
            "features_total": {name: _error(predicted[name], totals[name]) for name in COUNTERS},
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw prediction and truth beside each other; see :meth:`Prediction.plot`."""
        return self.prediction.plot(path, actual=self.actual)

    def __str__(self) -> str:
        errors = self.errors()
        lines = [
            str(self.prediction),
            f"actual iterations: {self.actual.iterations} (error {errors['iterations']:+.1%})",
            f"actual runtime: {readable_seconds(self.actual.runtime_seconds)} "
            f"(error {errors['runtime_seconds']:+.1%})",
        ]
        return "\n".join(lines)

    def inside(self) -> dict[str, bool]:
        """Return whether the truth is in each interval."""
        return {
            "iterations": self.prediction.iterations.contains(self.actual.iterations),
            "runtime_seconds": self.prediction.runtime_seconds.contains(
                self.actual.runtime_seconds
            ),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction, the real run and the errors, ready for JSON."""
        before = self._prior()
        errors = self.errors()
        if before is not None:
            errors["prior"] = before.errors()
        return {
            **self.prediction.to_dict(),
            "actual": _actual(self.actual),
            "errors": errors,
            "inside_interval": self.inside(),
        }

    def _prior(self) -> Comparison | None:
        """Return the comparison of what ran first in a chain."""
        if self.prediction.prior is None or self.actual.prior is None:
            return None
        return Comparison(self.prediction.prior, self.actual.prior)


def _actual(profile: RunProfile) -> dict[str, Any]:
    """Return what JSON says of a real run."""
    found = profile.to_dict()
    kept = ("iterations", "runtime_seconds", "phases", "features_total", "per_iteration")
    actual = {name: found[name] for name in kept}
    if profile.prior is not None:
        actual["prior"] = _actual(profile.prior)
    return actual


def _error(predicted: float, actual: float) -> float | None:
    """Return predicted / actual - 1; 0 when both are 0, None when only the truth is."""
    if actual == 0:
        return 0.0 if predicted == 0 else None
    return float(predicted) / float(actual) - 1.0


def _together(own: Mapping[str, float], other: Mapping[str, float]) -> Interval:
    """Return the runtime of two runs, one after the other."""
    parts = [Interval(row["predicted"], row["low"], row["high"]) for row in (own, other)]
    return _sum(parts, sum(part.predicted for part in parts))


def _sum(parts: list[Interval], total: float) -> Interval:
    """Return the interval of a sum: relative widths add up like errors that are independent."""
    widths = [part.predicted * math.log(part.high / part.predicted) for part in parts]
    factor = math.exp(math.hypot(*widths) / total) if total else 1.0
    return Interval(total, total / factor, total * factor)
