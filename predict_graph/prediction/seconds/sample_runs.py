"""Runtime models with a cost model of sample runs, and of runs of other graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun
from predict_graph.engines import Evidence
from predict_graph.graph import Graph
from predict_graph.history import machine_identity
from predict_graph.iterations import EdgeBudget, SampleRun, draw_sample, run_sample
from predict_graph.iterations.published import PUBLISHED
from predict_graph.prediction.seconds.regression import (
    cost_rows,
    regression_evidence,
    training_table,
)
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.budget import Spending
    from predict_graph.history import History
    from predict_graph.prediction.request import Request

DEFAULT_TRAIN_RATIOS = (0.05, 0.1, 0.15, 0.2)  # PREDIcT, section 5.2
"""Sampling ratios of the runs that train the cost model (PREDIcT, section 5.2)."""
STEADY_ITERATIONS = 6  # limits the iterations of a sample run; the first may be slower
"""Sufficient to measure iterations that all do the same work."""


@dataclass(eq=False)
class EngineModel:
    """What the runtime models of all engines hold."""

    graph: Graph
    request: Request
    history: History | None
    spending: Spending

    def __post_init__(self) -> None:
        self.engine: Any = self.request.engine
        self.parts = {part.algorithm.name: part for part in self.request.chain}
        self.algorithms = [part.algorithm for part in self.parts.values()]
        self.rng = np.random.default_rng(self.request.seed).spawn(3)[1]  # of its samples

    def survey(self) -> None:
        """Do nothing: samples on this machine do not disturb another engine."""


class SampledModel(EngineModel):
    """A runtime model that fits a cost model to sample runs on its engine."""

    @property
    def edges_for_costs(self) -> int | None:
        """All edges of samples for the seconds alone; None where samples have their full size."""
        if self.request.method.name == PUBLISHED.name:
            return None
        return EdgeBudget(self.graph.edges, self.request.max_overhead).for_costs

    def _sample_runs(self, algorithm: Algorithm, allowed: int | None) -> list[SampleRun]:
        """Run the algorithm on samples of growing ratio (PREDIcT, section 3.4).

        The smallest runs to its end, to show costs that grow during a run; of an algorithm whose
        iterations all do the same work a few suffice. Samples end at the deadline; `allowed` are
        their edges together.
        """
        request, graph = self.request, self.graph
        ratios = request.train_ratios or DEFAULT_TRAIN_RATIOS
        ran: list[SampleRun] = []
        for number, ratio in enumerate(ratios):
            # A line takes two points, and a third to validate it.
            if number >= 3 and not self.spending.affords(ran[-1].summary.seconds):
                break
            request.progress(f"cost sample at ratio {ratio:g}", number / len(ratios))
            cap = None if allowed is None else max(int(allowed * ratio / sum(ratios)), 1)
            try:
                run = run_sample(
                    draw_sample(graph, request.sampler, ratio, self.rng, max_edges=cap),
                    algorithm,
                    self.engine,
                    self.parts[algorithm.name].transform,
                    algorithm.threshold(graph.vertices),
                    purpose="cost",
                    max_iterations=STEADY_ITERATIONS if number and algorithm.steady else None,
                )
            except StopRun:
                break
            ran.append(run)
        return ran

    def _regression(
        self,
        algorithm: Algorithm,
        rows: pd.DataFrame,
        tables: Sequence[pd.DataFrame],
        probed: Sequence[Table] = (),
    ) -> Evidence:
        """Return the time of iterations with these counters, by a cost model.

        It is trained on the tables of sample runs, on runs of other graphs by the same engine on
        this machine, and on the rows of probes.
        """
        others = []
        if self.history is not None:
            others = self.history.training_runs(
                algorithm.name,
                self.engine.describe(),
                machine_identity(),
                exclude_fingerprint=self.graph.fingerprint,
            )
        rows_of = partial(cost_rows, virtual_workers=self.engine.virtual_workers)
        training = training_table(
            [
                *((rows_of(table), "sample") for table in tables),
                *((rows_of(record.table), "history") for record in others),
                *((each, "probe") for each in probed),
            ]
        )
        chosen = self.parts[algorithm.name].cost_model
        return regression_evidence(training, chosen, rows, len(others))
