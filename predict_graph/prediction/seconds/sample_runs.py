"""Sample runs, and runs of other graphs, as training data of a cost model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun
from predict_graph.engines import Engine, EstimationContext
from predict_graph.graph import Graph
from predict_graph.history import machine_identity
from predict_graph.iterations import SampleRun, draw_sample, run_sample
from predict_graph.prediction.run_records import record_of
from predict_graph.prediction.seconds.features import cost_rows
from predict_graph.prediction.seconds.regression import TrainingSet

DEFAULT_TRAIN_RATIOS = (0.05, 0.1, 0.15, 0.2)  # PREDIcT, section 5.2
"""Sampling ratios of the runs that train the cost model (PREDIcT, section 5.2)."""
STEADY_ITERATIONS = 6  # limits the iterations of a sample run; the first may be slower
"""Sufficient to measure iterations that all do the same work."""
_NEWEST_RUNS = 50  # limits the runs of other graphs
_FEWEST_RUNS = 3  # by definition: a line takes two points, and a third to validate it


def run_cost_samples(
    graph: Graph,
    engine: Engine,
    algorithm: Algorithm,
    context: EstimationContext,
    allowed: int | None,
    rng: np.random.Generator,
) -> Iterator[SampleRun]:
    """Run the algorithm on samples of growing ratio (PREDIcT, section 3.4); keep each.

    The smallest runs to its end, to show costs that grow during a run; of an algorithm whose
    iterations all do the same work a few suffice. Samples end at the deadline.
    """
    ratios = context.train_ratios or DEFAULT_TRAIN_RATIOS
    seconds = 0.0
    for number, ratio in enumerate(ratios):
        if number >= _FEWEST_RUNS and not context.spending.affords(seconds):
            return
        context.progress(f"cost sample at ratio {ratio:g}", number / len(ratios))
        cap = None if allowed is None else max(int(allowed * ratio / sum(ratios)), 1)
        try:
            run = run_sample(
                draw_sample(graph, context.sampler, ratio, rng, max_edges=cap),
                algorithm,
                engine,
                context.transforms[algorithm.name],
                algorithm.threshold(graph.vertices),
                purpose="cost",
                max_iterations=STEADY_ITERATIONS if number and algorithm.steady else None,
            )
        except StopRun:
            return
        seconds = run.summary.seconds
        _keep(context, graph, run)
        yield run


def _keep(context: EstimationContext, graph: Graph, run: SampleRun) -> None:
    """Store a sample run in the history, if there is one."""
    if context.history is None:
        return
    drawn = run.summary
    sample = {"sampler": drawn.sampler, "ratio": drawn.ratio, "seed": context.seed}
    context.history.keep([record_of(run.profile, sample=sample, sample_of=graph.fingerprint)])


def train_on(
    training: TrainingSet,
    runs: Sequence[SampleRun],
    context: EstimationContext,
    graph: Graph,
    engine: Engine,
    algorithm: Algorithm,
) -> int:
    """Add sample runs, and runs of other graphs by the same engine on this machine.

    Returns the number of the latter.
    """
    virtual = engine.virtual_workers
    for run in runs:
        training.add(cost_rows(run.profile.table, virtual_workers=virtual), "sample")
    if context.history is None:
        return 0
    found = context.history.training_runs(
        algorithm.name,
        engine.describe(),
        machine_identity(),
        exclude_fingerprint=graph.fingerprint,
        limit=_NEWEST_RUNS,
    )
    for record in found:
        training.add(cost_rows(record.table, virtual_workers=virtual), "history")
    return len(found)
