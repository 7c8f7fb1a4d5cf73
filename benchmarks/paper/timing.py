"""Predicted and real seconds of the superstep phase: what figures 7 and 8 plot.

The paper models the superstep phase (section 2.2), so that is what is compared. With a chain, its
last job is: top-k ranking without its PageRank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.paper.graphs import direction, graph_for, source
from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.history import History
from predict_graph.iterations import draw_sample, run_sample
from predict_graph.prediction import Extrapolator, predict
from predict_graph.prediction.fresh_process import run_in_fresh_process
from predict_graph.prediction.request import Request, check_request
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.features import cost_rows
from predict_graph.prediction.seconds.regression import (
    DEFAULT_COST_MODEL,
    TrainingSet,
    fit_costs,
    proportional_costs,
)
from predict_graph.prediction.seconds.sample_runs import add_history, run_cost_samples


@dataclass(frozen=True)
class Timed:
    """Predicted beside real seconds, and the R2 of the cost model on the rows it was fitted to."""

    graph: str
    method: str
    history: bool
    ratio: float
    seed: int
    seconds: float
    r2: float
    truth: float = 0.0
    spread: float = 0.0

    @property
    def error(self) -> float:
        return self.seconds / self.truth - 1.0


def ready(algorithm: Algorithm) -> None:
    """Compile what is not compiled yet, so that no measurement contains it."""
    small = check_graph("rmat:scale=12,edge_factor=8,seed=1", directed=not algorithm.undirected)
    for method in ("published", None):
        predict(algorithm, small, method=method, seed=0, history="none")


def superstep_seconds(profile: RunProfile) -> float:
    return float(profile.iteration_seconds.sum())


def run_for_real(algorithm: Algorithm, name: str) -> RunProfile:
    """Read a graph and run a job on it in a process of its own."""
    return run_in_fresh_process(
        algorithm,
        LocalEngine(),
        source(name),
        directed=direction(name, algorithm),
        ids="integer",
        seed=0,
    )


def history_of(profiles: Iterable[RunProfile], path: Path) -> History:
    """A fresh history of real runs."""
    history = History(path)
    for profile in profiles:
        history.add_all(records_of(profile))
    return history


def measured(
    algorithm: Algorithm, name: str, ratios: tuple[float, ...], seeds: int, history: History
) -> list[Timed]:
    """Predictions by both methods, in turns with real runs, of which the median is the truth.

    In turns, because the machine is not equally fast all the time.
    """
    real: list[float] = []
    found: list[Timed] = []
    for seed in range(seeds):
        real.append(superstep_seconds(run_for_real(algorithm, name)))
        for method in (published, ours):
            found += method(algorithm, name, ratios, seed, history)
    truth, spread = float(np.median(real)), max(real) / min(real) - 1.0
    return [replace(timed, truth=truth, spread=spread) for timed in found]


def published(
    algorithm: Algorithm, name: str, ratios: tuple[float, ...], seed: int, history: History
) -> Iterator[Timed]:
    """Costs from sample runs at 0.05 to 0.2, counters from the sample run at each ratio.

    As in sections 3.4 and 5.2, but that costs are never negative; no probe, no budget. A run of the
    predicted graph never trains.
    """
    graph = graph_for(algorithm, name)
    request = check_request(algorithm, method="published", seed=seed, probe=False)
    engine, means = request.engine, request.means(None, graph.edges)
    tables = {ratio: _extrapolated(request, name, ratio, seed) for ratio in ratios}
    training = TrainingSet()
    rng = np.random.default_rng(seed)
    run_cost_samples(graph, engine, algorithm, means, training, None, rng)
    for past in (None, history):
        add_history(past, graph, engine, algorithm, training)
        costs = fit_costs(training, DEFAULT_COST_MODEL) or proportional_costs(training)
        for ratio, table in tables.items():
            seconds = float(costs.predict(table).sum())
            yield Timed(name, "brj", past is not None, ratio, seed, seconds, costs.r2)


def _extrapolated(request: Request, name: str, ratio: float, seed: int) -> pd.DataFrame:
    """Counters of the real run, from those of one sample run."""
    graph = graph_for(request.algorithm, name)
    sample = draw_sample(graph, request.sampler, ratio, np.random.default_rng(seed))
    profile = run_sample(
        sample,
        request.algorithm,
        request.engine,
        request.transform,
        request.algorithm.threshold(graph.vertices),
        purpose="iterations",
    ).profile
    small = sample.graph
    scale = Extrapolator.between(graph.vertices, graph.edges, small.vertices, small.edges)
    return scale.extrapolate(cost_rows(profile.table, virtual_workers=True), profile.iterations)


def ours(
    algorithm: Algorithm, name: str, ratios: tuple[float, ...], seed: int, history: History
) -> Iterator[Timed]:
    """`predict_graph.predict` with its defaults."""
    graph = graph_for(algorithm, name)
    for ratio in ratios:
        for past in ("none", history):
            found = predict(algorithm, graph, ratio=ratio, seed=seed, history=past)
            seconds = float(found.per_iteration["seconds"].sum())
            r2 = float(found.cost_model["r2"])
            yield Timed(name, "ours", past is history, ratio, seed, seconds, r2)
