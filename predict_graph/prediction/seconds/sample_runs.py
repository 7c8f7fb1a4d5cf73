"""Sample runs, and runs of other graphs, as training data of a cost model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun
from predict_graph.engines import Engine, EstimationContext, SampleSummary
from predict_graph.graph import Graph
from predict_graph.history import History, machine_identity
from predict_graph.iterations import SampleRun, WalkSample, draw_sample, run_sample
from predict_graph.prediction.run_records import record_of
from predict_graph.prediction.seconds.features import cost_rows
from predict_graph.prediction.seconds.regression import TrainingSet

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_TRAIN_RATIOS = (0.05, 0.1, 0.15, 0.2)  # PREDIcT, section 5.2
"""Sampling ratios of the runs that train the cost model (PREDIcT, section 5.2)."""
STEADY_ITERATIONS = 6  # limits the iterations of a sample run; the first may be slower
"""Sufficient to measure iterations that all do the same work."""
_NEWEST_RUNS = 50  # limits the runs of other graphs


@dataclass(frozen=True)
class CostSamples:
    """Times of the sample runs at the training ratios."""

    summaries: list[SampleSummary]
    edge_steps: float


def drawn_samples(
    graph: Graph, context: EstimationContext, allowed: int | None, rng: np.random.Generator
) -> Iterator[WalkSample]:
    """Draw the samples of growing ratio that train a cost model (PREDIcT, section 3.4)."""
    ratios = context.train_ratios or DEFAULT_TRAIN_RATIOS
    for number, ratio in enumerate(ratios):
        context.progress(f"cost sample at ratio {ratio:g}", number / len(ratios))
        cap = None if allowed is None else max(int(allowed * ratio / sum(ratios)), 1)
        yield draw_sample(graph, context.sampler, ratio, rng, max_edges=cap)


def run_cost_samples(
    graph: Graph,
    engine: Engine,
    algorithm: Algorithm,
    context: EstimationContext,
    training: TrainingSet,
    allowed: int | None,
    rng: np.random.Generator,
) -> CostSamples:
    """Run the algorithm on samples of growing ratio, and add their times to the training rows.

    Samples end at the deadline. An algorithm whose iterations all do the same work need not
    converge: a few iterations of each sample suffice.
    """
    threshold = algorithm.threshold(graph.vertices)
    limit = STEADY_ITERATIONS if algorithm.steady and allowed is not None else None
    runs = []
    for sample in drawn_samples(graph, context, allowed, rng):
        try:
            run = run_sample(
                sample,
                algorithm,
                engine,
                context.transforms[algorithm.name],
                threshold,
                purpose="cost",
                max_iterations=limit,
            )
        except StopRun:
            break
        rows = cost_rows(run.profile.table, virtual_workers=engine.virtual_workers)
        training.add(_typical(rows) if algorithm.steady else rows, own=True)
        runs.append(run)
    keep_samples(context, graph, runs)
    return CostSamples(
        [run.summary for run in runs],
        float(sum(run.summary.edges * run.summary.iterations for run in runs)),
    )


def keep_samples(context: EstimationContext, graph: Graph, runs: Sequence[SampleRun]) -> None:
    """Store sample runs in the history, if there is one."""
    if context.history is None:
        return
    context.history.keep(
        [
            record_of(
                run.profile,
                sample={
                    "sampler": run.summary.sampler,
                    "ratio": run.summary.ratio,
                    "seed": context.seed,
                },
                sample_of=graph.fingerprint,
            )
            for run in runs
        ]
    )


def _typical(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for a run with equal iterations: the median is robust against disturbances."""
    typical = rows.iloc[[-1]].copy()
    typical["seconds"] = float(rows["seconds"].iloc[1 if len(rows) > 1 else 0 :].median())
    return typical


def add_history(
    history: History | None,
    graph: Graph,
    engine: Engine,
    algorithm: Algorithm,
    training: TrainingSet,
) -> int:
    """Add runs of other graphs by the same engine on this machine; return their number."""
    if history is None:
        return 0
    found = history.training_runs(
        algorithm.name,
        engine.describe(),
        machine_identity(),
        exclude_fingerprint=graph.fingerprint,
        limit=_NEWEST_RUNS,
    )
    for run in found:
        rows = cost_rows(run.table, virtual_workers=engine.virtual_workers)
        training.add(rows, own=False, source="history")
    return len(found)
