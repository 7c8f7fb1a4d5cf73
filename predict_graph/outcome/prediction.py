"""What a prediction says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer
from predict_graph.arrays import FloatArray
from predict_graph.cores import Load
from predict_graph.engines import COUNTERS, SampleSummary
from predict_graph.intervals import Interval
from predict_graph.outcome.answering import answer_of
from predict_graph.outcome.picture import pictures_of
from predict_graph.outcome.verdict import Verdict
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 2  # by definition
"""Version of the JSON."""


@dataclass(frozen=True)
class SourceEstimate:
    """What one source of evidence says of the iterations, or of a function's call.

    Parameters
    ----------
    source : str
        Its name, such as ``"first supersteps"``, ``"regression"``, ``"samples"`` or ``"prefix"``.
    seconds : float
        Of all iterations; of a function CPU seconds of the call.
    log_std : float
        Standard deviation of the logarithm.
    weight : float
        In the prediction; the weights of all sources add up to 1.
    detail : str
        What it rests on.
    model : mapping
        Of a regression: ``name``, ``terms`` (seconds a unit), ``r2``, ``rows``, ``runs``,
        ``history_runs``.
    """

    source: str
    seconds: float
    log_std: float
    weight: float
    detail: str = ""
    model: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Result):
    """How long a job takes, in how many iterations and how much memory, and how sure that is.

    Parameters
    ----------
    algorithm, graph, engine : mapping
        As in a :class:`~predict_graph.engines.RunProfile`; a function's engine is ``python``.
    seed : int or None
    iterations : Interval, optional
        90% interval; None for a function.
    runtime_seconds : Interval
        90% interval.
    phases : dict of str to float
        Seconds of setup, read, superstep and write; of a function, convert (building the library's
        graph, 0 if the user gave one) and call.
    rows : Table
        Counters, ``seconds`` and ``convergence`` of each iteration; empty for a function.
    samples : list of SampleSummary
        The samples that ran.
    evidence : list of SourceEstimate
        Where the seconds of the iterations, or of the call, came from.
    overhead_seconds : float
        How long the prediction took, without reading that the run does as well; of a function in
        CPU seconds.
    method : dict
        How the iterations were estimated: ``name``, ``sampler``, ``transform``, ``threshold``.
    warnings : list of str
        Reasons for doubt, in one sentence each.
    verdict : Verdict
        The answer in one sentence, and whether the run fits in memory.
    budget : str
        What the prediction was allowed to cost.
    loading_seconds : float
        What loading compiled code took on top, at first use building it: once in a process.
    reading_seconds : float
        Part of the overhead: reading a graph on a cluster for the prediction alone.
    more : str
        What a larger budget would buy, in plain words; empty if nothing.
    prior : Prediction, optional
        Of the algorithm that runs first in a chain; phases, runtime and overhead are those of both.
    executors : mapping
        On a cluster: bytes that an executor needs at its peak, and those that it has.
    by_machines : list of mapping
        On a cluster: ``machines`` and the interval of the runtime, for other machine counts too.
    iteration_std : float
        Of the seconds of an iteration, relative: how far the sources may be off.
    load : Load, optional
        On this machine: what slowed the prediction down, and is assumed to slow the run down.
    processor_seconds : float, optional
        Of a function's call, over all threads.
    advice : list of str
        Shorter alternatives to a function.
    """

    algorithm: Mapping[str, Any]
    graph: Mapping[str, Any]
    engine: Mapping[str, Any]
    seed: int | None
    runtime_seconds: Interval
    phases: dict[str, float]
    evidence: list[SourceEstimate]
    warnings: list[str]
    iterations: Interval | None = None
    rows: Table = field(default_factory=lambda: Table({}))
    samples: list[SampleSummary] = field(default_factory=list)
    overhead_seconds: float = 0.0
    method: dict[str, Any] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=lambda: Verdict(""))
    budget: str = ""
    loading_seconds: float = 0.0
    reading_seconds: float = 0.0
    more: str = ""
    prior: Prediction | None = None
    executors: Mapping[str, Any] = field(default_factory=dict)
    by_machines: list[Mapping[str, float]] = field(default_factory=list)
    iteration_std: float = 0.0
    load: Load | None = None
    processor_seconds: float | None = None
    advice: list[str] = field(default_factory=list)

    @property
    def per_iteration(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return self.rows.frame()

    @property
    def cost_model(self) -> dict[str, Any]:
        """``name``, ``terms`` (seconds a unit), ``r2`` and ``weight`` of the regression."""
        fitted = [each for each in self.evidence if each.model]
        if not fitted:
            return {"name": None, "terms": {}, "r2": None, "weight": 0.0}
        return {**fitted[-1].model, "weight": fitted[-1].weight}

    @property
    def convergence(self) -> FloatArray:
        """Predicted convergence aggregate after each iteration."""
        return self.rows.floats("convergence")

    def features_total(self) -> dict[str, int]:
        """Return each counter summed over the iterations."""
        return {name: int(self.rows[name].sum()) for name in COUNTERS if name in self.rows}

    def quantities(self) -> dict[str, Interval]:
        """Return what a run can be compared in: iterations, times and memory."""
        memory, processor = self.verdict.memory, self.processor_seconds
        known = {
            "iterations": self.iterations,
            "runtime_seconds": self.runtime_seconds,
            **{f"{name}_seconds": Interval.exact(self.phases[name]) for name in self.phases},
            "processor_seconds": None if processor is None else Interval.exact(processor),
            "peak_memory_bytes": None if memory is None else memory.peak,
        }
        return {name: interval for name, interval in known.items() if interval is not None}

    def to_frame(self) -> pd.DataFrame:
        """Return iterations, times and memory with their intervals, one row for each quantity."""
        import pandas as pd

        found = self.quantities()
        return pd.DataFrame([{"quantity": name, **each.to_dict()} for name, each in found.items()])

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as docs/json.md describes it, ready for JSON."""
        runtime = self.runtime_seconds.predicted
        return {
            "schema": SCHEMA,
            "verdict": self.verdict.to_dict(),
            **{name: dict(getattr(self, name)) for name in ("algorithm", "graph", "engine")},
            **{name: getattr(self, name) for name in ("seed", "method", "processor_seconds")},
            "iterations": self.iterations
            and {name: int(n) for name, n in self.iterations.to_dict().items()},
            "runtime_seconds": self.runtime_seconds.to_dict(),
            "phases": dict(self.phases),
            "features_total": self.features_total(),
            "per_iteration": self.rows.records(),
            "samples": [asdict(each) for each in self.samples],
            "cost_model": self.cost_model,
            "evidence": [asdict(each) for each in self.evidence],
            "overhead": {
                "seconds": self.overhead_seconds,
                "budget": self.budget,
                "fraction_of_predicted": self.overhead_seconds / runtime if runtime else None,
                "loading_seconds": self.loading_seconds,
                "more": self.more,
            },
            **({"executors": dict(self.executors)} if self.executors else {}),
            **({"by_machines": list(map(dict, self.by_machines))} if self.by_machines else {}),
            "load": None if self.load is None else self.load.to_dict(),
            "warnings": self.warnings,
            "advice": self.advice,
            "prior": None if self.prior is None else self.prior.to_dict(),
        }

    @property
    def title(self) -> str:
        """What on what."""
        return f"{self.algorithm['name']} on {self.graph['name']}"

    def pictures(self) -> list[Picture]:
        """Return what :meth:`plot` draws, and a report shows."""
        return pictures_of(self)

    @property
    def answer(self) -> Answer:
        """What it says first, what decides that, and what it rests on."""
        return answer_of(self)
