"""What an engine charges of which nothing is known but its runs: PREDIcT, section 3.4.

The algorithm runs on samples of the graph, on that engine, at the train ratios; a regression by
forward selection on the counters of the critical path gives the cost of each iteration, and lines
through the sizes of the samples give the other phases. Seconds of another engine are never taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import (
    COUNTERS,
    Engine,
    Means,
    Prices,
    RunProfile,
    Witness,
    Workload,
)
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import SampleRun, run_sample
from predict_graph.prediction.seconds.features import BY_ITERATION, cost_rows
from predict_graph.prediction.seconds.regression import TrainingSet, regression_witness
from predict_graph.prediction.seconds.sample_runs import (
    STEADY_ITERATIONS,
    add_history,
    drawn_samples,
    keep_samples,
)
from predict_graph.prediction.seconds.straight_line import fitted_line
from predict_graph.prediction.seconds.weighing import weighed

__all__ = ["LearnedCosting"]

_CLEARLY = 0.99  # of the error on runs that are left out, a prior error among them; a choice
_FEWEST_RUNS = 3  # a line takes two points, and a third says whether it is one; by definition
_PHASE_STD = 0.2  # of phases that sample runs measured, as on a cluster (docs/studies/spark.md)


class LearnedCosting:
    """What an engine charges, learned from sample runs on it.

    Parameters
    ----------
    engine : Engine
        Any: nothing is asked of it but ``run``.
    graph : Graph
    algorithms : sequence of Algorithm
        A chain, in the order in which they run.
    means : Means
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})

    def __init__(
        self, engine: Engine, graph: Graph, algorithms: Sequence[Algorithm], means: Means
    ) -> None:
        self._engine, self._graph, self._means = engine, graph, means
        self._algorithms = list(algorithms)
        self._rng = np.random.default_rng(means.seed).spawn(3)[1]
        self._factors: list[tuple[float, float]] = []

    def survey(self) -> None:
        """Do nothing: samples disturb no other engine."""

    def price(self, workloads: Sequence[Workload]) -> list[Prices]:
        """Return what each algorithm of the chain takes; the first one reads the graph."""
        runs = self._sample_runs()
        by_part = [_of_part(runs, number, len(workloads)) for number in range(len(workloads))]
        return [
            self._priced(
                workload,
                by_part[number],
                first=number == 0,
                ran=runs if number + 1 == len(workloads) else [],
            )
            for number, workload in enumerate(workloads)
        ]

    def _sample_runs(self) -> list[SampleRun]:
        """Run samples; the smallest to its end, so that it shows what grows as a run goes on."""
        algorithm, means = self._algorithms[-1], self._means
        allowed = means.edges_for_costs and self._graph.edges
        runs: list[SampleRun] = []
        whole = _unevenness(self._graph)
        for sample in drawn_samples(self._graph, means, allowed, self._rng):
            if len(runs) >= _FEWEST_RUNS and not means.purse.affords(runs[-1].summary.seconds):
                break
            own = _unevenness(sample.graph)
            self._factors.append((whole[0] / own[0], whole[1] / own[1] if own[1] > 0.0 else 1.0))
            runs.append(
                run_sample(
                    sample,
                    algorithm,
                    self._engine,
                    means.transforms[algorithm.name],
                    algorithm.threshold(self._graph.vertices),
                    purpose="cost",
                    max_iterations=STEADY_ITERATIONS if runs and algorithm.steady else None,
                )
            )
            keep_samples(means, self._graph, runs[-1:])
        return runs

    def _priced(
        self, workload: Workload, runs: list[SampleRun], *, first: bool, ran: list[SampleRun]
    ) -> Prices:
        """Return the prices of one algorithm from its `runs`; the overhead is that of `ran`."""
        engine, graph = self._engine, self._graph
        # The worker that sets the pace is the one with most edges, as the paper has it, or in each
        # iteration the one that sends most; what grows as a run goes on is selected, or taken in
        # from the start: only if the runs that are left out say so clearly.
        paces = (False,) if engine.virtual_workers else (False, True)
        witness, *others = (
            each for busiest in paces for each in self._witnesses(workload, runs, busiest=busiest)
        )
        for other in others:
            if other.relative_std < _CLEARLY * witness.relative_std:
                witness = other
        told, seconds, std = weighed([replace(witness, name="sample runs on the engine")])
        phases = {
            name: _phase(name, runs, graph) if first or name == "setup" else 0.0
            for name in ("setup", "read", "write")
        }
        phases["superstep"] = float(seconds.sum())
        steps = sum(run.summary.edges * run.summary.iterations for run in ran)
        return Prices(
            witnesses=told,
            table=workload.table.assign(seconds=seconds),
            relative_std=std,
            phases=phases,
            phase_std=_PHASE_STD,
            samples=[run.summary for run in ran],
            edge_visits=float(steps),
        )

    def _witnesses(
        self, workload: Workload, runs: list[SampleRun], *, busiest: bool
    ) -> Iterator[Witness]:
        """Give what regressions say of one worker's pace: by selection, then with growing costs."""
        engine, means = self._engine, self._means
        training = TrainingSet(by_iteration=True)
        side_by_side = not engine.virtual_workers
        for run in runs:
            training.add(
                cost_rows(run.profile.table, virtual_workers=not side_by_side, busiest=busiest),
                own=True,
            )
        history_runs = add_history(means.history, self._graph, engine, workload.algorithm, training)
        rows, named = workload.table, means.cost_model(workload.algorithm)
        if side_by_side:
            tables = [run.profile.table for run in runs]
            rows = _on_critical_path(rows, tables, self._factors, busiest=busiest)
        for required in ((), BY_ITERATION):
            yield regression_witness(training, named, rows, history_runs, required)


def _of_part(runs: list[SampleRun], number: int, parts: int) -> list[SampleRun]:
    """Return the runs of one algorithm of a chain, each with its own phases."""
    found = []
    for run in runs:
        profile = run.profile
        for _ in range(parts - 1 - number):
            if profile.prior is None:
                raise JobError(
                    f"the engine ran {profile.algorithm} but says nothing of the algorithm that "
                    "runs before it; accepted: a profile with prior"
                )
            profile = profile.prior
        found.append(replace(run, profile=_own(profile)))
    return found


def _own(profile: RunProfile) -> RunProfile:
    """Return a run without what its prior took to set up, which a profile adds to its own."""
    if profile.prior is None:
        return profile
    before = profile.prior.phases["setup"]
    phases = {**profile.phases, "setup": max(profile.phases["setup"] - before, 0.0)}
    return replace(profile, phases=phases)


def _phase(name: str, runs: list[SampleRun], graph: Graph) -> float:
    """Return the seconds of a phase on the whole graph, on a line through those of its samples."""
    sizes = np.array([float(run.summary.edges) for run in runs])
    # A graph in memory took no reading; what this one took is known.
    seconds = np.array([run.profile.phases[name] for run in runs])
    found = fitted_line(sizes, seconds).at(graph.edges) if seconds.any() else 0.0
    return found + (graph.read_seconds if name == "read" else 0.0)


def _on_critical_path(
    rows: pd.DataFrame,
    tables: Sequence[pd.DataFrame],
    factors: Sequence[tuple[float, float]],
    *,
    busiest: bool,
) -> pd.DataFrame:
    """Return the counters of the worker that sets the pace, from those of all workers together.

    The fullest of `w` workers has ``1 / w`` of everything and some more, by chance. How much more,
    in the unit of chance (:func:`_unevenness`), the samples show; the whole graph, which has more
    vertices, is more even.

    Parameters
    ----------
    rows : DataFrame
        Counters of each iteration of the real run.
    tables : sequence of DataFrame
        Of the sample runs.
    factors : sequence of (float, float)
        Unevenness of the whole graph / of each sample, by vertices and by edges.
    busiest : bool
        See :func:`~predict_graph.prediction.seconds.features.cost_rows`.
    """
    shares: dict[str, float] = {}
    for name in (*COUNTERS, "total_vertices"):
        found = []
        for table, (by_vertices, by_edges) in zip(tables, factors, strict=True):
            even = 1.0 / max(table["worker"].nunique(), 1)
            own = cost_rows(table, virtual_workers=False, busiest=busiest)[name]
            share = float(own.sum()) / max(float(table[name].sum()), 1e-300)
            factor = by_vertices if name in ("active_vertices", "total_vertices") else by_edges
            found.append(even + (share - even) * factor if share > 0.0 else even)
        shares[name] = float(np.mean(found))
    return rows.assign(**{name: rows[name] * share for name, share in shares.items()})


def _unevenness(graph: Graph) -> tuple[float, float]:
    """Return how unevenly chance spreads the vertices of a graph, and its edges, over workers.

    ``sqrt(sum d^2) / sum d``, to which the standard deviation of a worker's share is in proportion,
    with 1, or the out-degree, for `d`.
    """
    degrees = graph.out_degrees.astype(np.float64)
    by_edges = math.sqrt(float(degrees @ degrees)) / max(float(degrees.sum()), 1.0)
    return 1.0 / math.sqrt(max(graph.vertices, 1)), by_edges
