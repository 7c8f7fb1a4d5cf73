"""The case of a prediction: what is asked, what is known before it, and what it may still cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from predict_graph.algorithms import Algorithm
from predict_graph.budget import Spending
from predict_graph.cores import meter
from predict_graph.durations import readable_seconds
from predict_graph.engines import RuntimeModel, Workload
from predict_graph.engines.base import stopping_rule
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord
from predict_graph.iterations import IterationEstimate
from predict_graph.outcome import Prediction
from predict_graph.prediction.assembly import assembled
from predict_graph.prediction.baseline import Baseline, baselines_of
from predict_graph.prediction.request import Request, is_local
from predict_graph.prediction.work import counted

if TYPE_CHECKING:
    from predict_graph.prediction.sources import Estimate


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked of one prediction, what is known before it, and the budget that is left.

    Parameters
    ----------
    graph : Graph, or PackedGraph that stays on a cluster
    request : Request
    history : History or None
    spending : Spending
    """

    graph: Any
    request: Request
    history: History | None
    spending: Spending

    @classmethod
    def of(
        cls, graph: AnyGraph, request: Request, history: History | None, reading: float = 0.0
    ) -> Case:
        """Return the case of a request on a graph; its budget starts to be spent.

        Raises
        ------
        RequestError
            If the graph has no vertices, or does not suit the algorithm.
        """
        if graph.vertices == 0:
            raise RequestError(f"the graph {graph.name!r} has no vertices")
        meter.start()
        with request.algorithm.named_in_errors():
            request = replace(request, algorithm=request.algorithm.resolved(graph))
            for part in request.chain:
                stopping_rule(part.algorithm, graph.vertices, None, None)
        spending = Spending(request.budget, 0.0, reading)
        _ = graph.fingerprint  # every answer has it, so what is left of the budget is without it
        return cls(graph, request, history, spending)

    @cached_property
    def chain(self) -> list[Request]:
        """The requests of a chain of algorithms, in the order in which they run."""
        return self.request.chain

    @property
    def algorithms(self) -> list[Algorithm]:
        """Those of the chain."""
        return [part.algorithm for part in self.chain]

    @property
    def local(self) -> bool:
        """Whether the run is one on this machine."""
        return is_local(self.request.engine)

    @property
    def runs_itself(self) -> bool:
        """Whether the job itself can be begun: here, or on a cluster that holds the graph."""
        return self.local or not isinstance(self.graph, Graph)

    @cached_property
    def baselines(self) -> list[Baseline]:
        """What each algorithm takes on this machine, by runs of other graphs."""
        return baselines_of(self.graph, self.algorithms, self.history)

    @cached_property
    def records(self) -> list[list[RunRecord]]:
        """Earlier runs of each algorithm on this graph; [] if one has none, or others are asked."""
        history, fresh = self.history, self.request.named or self.request.budget.unlimited
        if fresh or history is None or len(history) == 0:
            return []
        key = self.graph.fingerprint
        found = [history.runs_of(a.name, key, {**a.to_dict(), **a.named}) for a in self.algorithms]
        return found if all(found) else []

    @cached_property
    def runtime_model(self) -> RuntimeModel:
        """That of the engine, which runs the first supersteps; StopRun if they do not end."""
        request = self.request
        model = request.runtime_model(self.graph, request, self.history, self.spending)
        model.survey()
        return model

    def affords(self, seconds: float) -> bool:
        """Whether so many more seconds are within the budget."""
        return self.spending.affords(seconds)

    def near_enough(self, evidence: Sequence[Estimate]) -> bool:
        """Whether the interval of the runtime is as narrow as the user wants it."""
        within = self.request.within
        if within is None or not evidence[-1].runtimes:
            return False
        runtime = self.combined(evidence).runtime_seconds
        return (runtime.high - runtime.low) / 2.0 <= within * runtime.predicted

    def combined(self, evidence: Sequence[Estimate]) -> Prediction:
        """Return the prediction by the last source that knows seconds; it used those before it."""
        best = [found for found in evidence if found.runtimes][-1]
        result = assembled(self.graph, best, self.spending)
        here = max(found.here for found in evidence)
        if not 0.0 < here < 0.5 * result.runtime_seconds.predicted:  # not clearly faster
            return result
        said = f"on this machine alone it took {readable_seconds(here)} (--engine local)"
        return replace(result, advice=[said])

    def workloads(self, estimates: Sequence[IterationEstimate]) -> list[Workload]:
        """Return what the run of each algorithm of the chain will do."""
        return [
            Workload(algorithm, each.iterations, counted(each.counters), each.staged)
            for algorithm, each in zip(self.algorithms, estimates, strict=True)
        ]
