"""What an engine charges of which nothing is known but its runs: PREDIcT, section 3.4.

The algorithm runs on samples of the graph, on that engine, at the train ratios; a regression by
forward selection on the counters of the critical path gives the cost of each iteration, and lines
through the sizes of the samples give the other phases. Seconds of another engine are never taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        for sample in drawn_samples(self._graph, means, allowed, self._rng):
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
        # from the start: as the runs that are left out say.
        witness = min(
            (
                self._witness(workload, runs, busiest=busiest, required=required)
                for busiest in ((False,) if engine.virtual_workers else (False, True))
                for required in ((), BY_ITERATION)
            ),
            key=lambda each: each.relative_std,
        )
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

    def _witness(
        self, workload: Workload, runs: list[SampleRun], *, busiest: bool, required: Sequence[str]
    ) -> Witness:
        engine, means = self._engine, self._means
        training = TrainingSet(by_iteration=True)
        side_by_side = not engine.virtual_workers
        for run in runs:
            training.add(
                cost_rows(run.profile.table, virtual_workers=not side_by_side, busiest=busiest),
                own=True,
            )
        history_runs = add_history(means.history, self._graph, engine, workload.algorithm, training)
        rows = workload.table
        if side_by_side:
            profiles = [run.profile for run in runs]
            rows = _on_critical_path(rows, profiles, self._graph.edges, busiest=busiest)
        return regression_witness(training, means.cost_model, rows, history_runs, required)


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
    rows: pd.DataFrame, samples: list[RunProfile], edges: int, *, busiest: bool
) -> pd.DataFrame:
    """Return the counters of the worker that sets the pace: its share as in the largest sample.

    Small samples are more uneven than large ones; how much less uneven the graph is, a power law
    through the samples says.
    """
    table = max(samples, key=lambda profile: int(profile.graph["edges"])).table
    worst = cost_rows(table, virtual_workers=False, busiest=busiest)
    workers = max(table["worker"].nunique(), 1)
    evening = _evening([(each, busiest) for each in samples], edges)
    shares = {}
    for name in (*COUNTERS, "total_vertices"):
        whole = float(table[name].sum())
        share = float(worst[name].sum()) / whole if whole > 0 else 1.0 / workers
        shares[name] = (1.0 + max(share * workers - 1.0, 0.0) * evening) / workers
    return rows.assign(**{name: rows[name] * share for name, share in shares.items()})


def _evening(samples: list[tuple[RunProfile, bool]], edges: int) -> float:
    """Return how much of the unevenness of the largest sample is left on the whole graph."""
    sizes = np.log([max(float(profile.graph["edges"]), 1.0) for profile, _ in samples])
    uneven = np.log([max(_unevenness(profile, busiest), 1e-6) for profile, busiest in samples])
    if len(samples) < 2 or np.ptp(sizes) == 0.0:
        return 1.0
    slope = float(np.polyfit(sizes, uneven, 1)[0])
    # Between hubs that stay where they are, and independent vertices.
    return math.exp(min(max(slope, -0.5), 0.0) * max(math.log(max(edges, 1)) - sizes.max(), 0.0))


def _unevenness(profile: RunProfile, busiest: bool) -> float:
    """Return how much more than the mean the worker that sets the pace has sent, relative."""
    table = profile.table
    worst = cost_rows(table, virtual_workers=False, busiest=busiest)
    whole = float((table["local_messages"] + table["remote_messages"]).sum())
    own = float((worst["local_messages"] + worst["remote_messages"]).sum())
    return own * table["worker"].nunique() / whole - 1.0 if whole > 0 else 0.0
