"""Sample runs, and runs of other graphs, that a cost model learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.iterations import (
    SampleRun,
    SampleSummary,
    draw_sample,
    run_sample,
)
from predict_graph.prediction.costs import TrainingSet
from predict_graph.prediction.features import cost_rows
from predict_graph.prediction.records import record_of
from predict_graph.prediction.request import Request

__all__ = ["CostSamples", "add_history", "add_sample_table", "run_cost_samples"]

_STEADY_ITERATIONS = 6
_NEWEST_RUNS = 50


@dataclass(frozen=True)
class CostSamples:
    """What the sample runs at the training ratios left.

    Parameters
    ----------
    rows : DataFrame
        Counters of the largest sample, a row an iteration, to extrapolate from.
    vertices, edges : int
        Size of that sample.
    summaries : list of SampleSummary
    records : list of RunRecord
    edge_steps : float
        Edges times iterations, over all samples.
    """

    rows: pd.DataFrame
    vertices: int
    edges: int
    summaries: list[SampleSummary]
    records: list[RunRecord]
    edge_steps: float


def run_cost_samples(
    graph: Graph,
    request: Request,
    training: TrainingSet,
    allowed: int | None,
    rng: np.random.Generator,
) -> CostSamples:
    """Run the algorithm on samples of growing ratio (PREDIcT, section 3.4), and add them to train.

    An algorithm whose iterations all do the same work need not converge for its costs to be known:
    a few iterations of each sample are enough.

    Parameters
    ----------
    graph : Graph
    request : Request
    training : TrainingSet
        Gets the rows of each sample run.
    allowed : int or None
        Edges of all samples together, at most; None for no limit, and full runs.
    rng : Generator
    """
    engine, algorithm = request.engine, request.algorithm
    threshold = algorithm.threshold(graph.vertices)
    limit = _STEADY_ITERATIONS if algorithm.steady and allowed is not None else None
    total = sum(request.train_ratios)
    runs: list[SampleRun] = []
    for number, ratio in enumerate(request.train_ratios):
        request.progress(f"cost sample at ratio {ratio:g}", number / len(request.train_ratios))
        cap = None if allowed is None else max(int(allowed * ratio / total), 1)
        sample = draw_sample(graph, request.sampler, ratio, rng, max_edges=cap)
        run = run_sample(
            sample,
            algorithm,
            engine,
            request.transform,
            threshold,
            purpose="cost",
            max_iterations=limit,
        )
        rows = cost_rows(run.profile.table, virtual_workers=engine.virtual_workers)
        training.add(_typical(rows) if algorithm.steady else rows, own=True)
        runs.append(run)
    last = runs[-1].profile
    return CostSamples(
        rows=last.per_iteration(),
        vertices=int(last.graph["vertices"]),
        edges=int(last.graph["edges"]),
        summaries=[run.summary for run in runs],
        records=[
            record_of(
                run.profile,
                sample={
                    "sampler": run.summary.sampler,
                    "ratio": run.summary.ratio,
                    "seed": request.seed,
                },
                sample_of=graph.fingerprint,
            )
            for run in runs
        ],
        edge_steps=float(sum(run.summary.edges * run.summary.iterations for run in runs)),
    )


def add_sample_table(
    table: pd.DataFrame, sample: SampleSummary, training: TrainingSet
) -> CostSamples:
    """Add the sample run of an estimate to train: it is like the real run, only smaller."""
    rows = cost_rows(table, virtual_workers=True)
    training.add(rows, own=True)
    return CostSamples(
        rows=rows,
        vertices=sample.vertices,
        edges=sample.edges,
        summaries=[],
        records=[],
        edge_steps=0.0,
    )


def _typical(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for a run whose iterations are alike: the median outlives a busy moment."""
    typical = rows.iloc[[-1]].copy()
    typical["seconds"] = float(rows["seconds"].iloc[1 if len(rows) > 1 else 0 :].median())
    return typical


def add_history(
    history: History | None, graph: Graph, request: Request, training: TrainingSet
) -> int:
    """Add runs of other graphs by the same engine on this machine; return how many there were."""
    if history is None:
        return 0
    found = history.training_runs(
        request.algorithm.name,
        request.engine.describe(),
        machine_identity(),
        exclude_fingerprint=graph.fingerprint,
        limit=_NEWEST_RUNS,
    )
    for _, table in found.table.groupby("run"):
        rows = cost_rows(table, virtual_workers=request.engine.virtual_workers)
        training.add(rows, own=False)
    return len(found)
