"""Sample runs on a Spark cluster, where its stored runs do not show what the algorithm takes.

The first supersteps of a new JVM are slow. Each session therefore runs its largest sample twice:
the second run shows the cost of the work, and the difference the JVM warm-up. The largest is used
because code that is not yet compiled is slow on every row.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.calibration import log_std
from predict_graph.durations import readable_seconds
from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate, draw_sample
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.seconds.cluster import costs as cluster_costs
from predict_graph.prediction.seconds.cluster import runs as cluster
from predict_graph.prediction.seconds.cluster.work import work_by_machines
from predict_graph.prediction.seconds.learned import (
    DEFAULT_TRAIN_RATIOS,
    STEADY_ITERATIONS,
    EngineModel,
)
from predict_graph.prediction.work import records_of


@dataclass(frozen=True)
class Learned:
    """The runs of each algorithm of a chain on a cluster, and the speed that all runs show."""

    runs: list[list[cluster.ClusterRun]]
    speed: cluster_costs.ClusterSpeed
    more: str = ""


class ClusterSamples(EngineModel):
    """A runtime model that rests on stored runs of the cluster, or else on samples run there.

    Stored runs are sample runs and real runs, including event logs. Without them, bundled reference
    runs estimate the time of sample runs, which are run if the budget allows; if not, runs of other
    algorithms show the relative speed of the cluster. They are run in any case if the user sets
    their ratios, or an unlimited budget, and for a user function.
    """

    def learned(self, workloads: Sequence[Workload] = ()) -> Learned:
        """Return the runs of each algorithm, after running the samples that are needed."""
        request, engine = self.request, self.engine
        runs = [
            cluster.runs_of_job(self.history, engine, each, self.graph) for each in self.algorithms
        ]
        function = isinstance(self.algorithms[-1], FunctionAlgorithm)
        asked = request.train_ratios or request.budget.unlimited
        if asked or function:
            runs = self._run_samples(runs, in_any_case=True)
        speed = cluster_costs.speed_of_cluster(self.history, engine)
        if asked or function or _known(runs):
            return Learned(runs, speed)
        whole, samples = self._expected(workloads, speed)
        self.spending.expects(whole)
        if self.spending.affords(samples):
            runs = self._run_samples(runs, in_any_case=False)
        if _known(runs):
            return Learned(runs, speed)
        more = f"about {readable_seconds(samples)} of sample runs on the cluster would narrow the"
        return Learned(runs, speed, f"{more} interval: --budget none")

    @cached_property
    def ratios(self) -> list[float]:
        """The ratios of sample runs, in order: the largest first, and twice, then the smallest.

        They are those that the user set. By default the largest sample has 300,000 edges, so that
        tasks take longer than their fixed costs, to a million (docs/studies/spark.md), but at most
        half of the graph's.
        """
        given, edges = self.request.train_ratios, max(self.graph.edges, 1)
        low, *_, high = sorted(given or DEFAULT_TRAIN_RATIOS)
        wanted = min(max(high * edges, 300_000), 1_000_000)
        factor = 1.0 if given else min(wanted / edges, 0.5) / high
        small, large = (float(f"{factor * ratio:.4g}") for ratio in (low, high))
        return [large, large, small]

    def _expected(
        self, workloads: Sequence[Workload], speed: cluster_costs.ClusterSpeed
    ) -> tuple[float, float]:
        """Return the seconds of the run, and of its sample runs, by the reference runs."""
        engine, edges, whole, samples = self.engine, self.graph.edges, 0.0, 0.0
        machines = engine.workers
        for number, each in enumerate(workloads):
            name = cluster.shipped_name(each.algorithm)
            costs = cluster_costs.reference_costs(name).scaled(self._factors(name, speed))
            rows = work_by_machines(self.graph, engine, each, cluster.shipped_runs(name))(machines)
            features = rows[[*cluster.FEATURES]]
            phases = partial(costs.phases, reads=number == 0)
            whole += sum(phases(features, machines, edges, opens=number == 0).values())
            last = number == len(workloads) - 1  # what runs before it goes to its own end
            features = features.iloc[: supersteps_run(each.algorithm) if last else None]
            for place, ratio in enumerate(self.ratios):
                sizes = (ratio * features, machines, ratio * edges)
                before = place * len(features)
                samples += sum(phases(*sizes, opens=number == place == 0, before=before).values())
        return whole, samples

    def _factors(self, name: str, speed: cluster_costs.ClusterSpeed) -> dict[str, float]:
        """Return those of the cluster for an algorithm; an open session need not be opened."""
        opened = {"opening": 0.0} if self.engine.settings.in_open_session else {}
        return {**speed.factors(name), **opened}

    def _run_samples(
        self, stored: list[list[cluster.ClusterRun]], *, in_any_case: bool
    ) -> list[list[cluster.ClusterRun]]:
        """Run samples on the cluster, store each at once, and return them by algorithm.

        It stops before a run that the budget does not allow, if it takes as long as the one before,
        unless they are run `in_any_case`; the second run of a session is always made, as the first
        is slow. Where executors were lost in all, stored runs remain.
        """
        request, graph, algorithm = self.request, self.graph, self.algorithms[-1]
        found: list[list[cluster.ClusterRun]] = [[] for _ in self.algorithms]
        taken, samples = 0.0, dict[float, Graph]()
        engine, before = self.engine, 0
        java_works = algorithm.java_works or "packing_seconds" in vars(graph)
        how: dict[str, Any] = {"sampler": request.sampler, "seed": request.seed, "purpose": "cost"}
        with engine.session(java_works=java_works) as session:
            how["opening_seconds"] = session.seconds
            for number, ratio in enumerate(self.ratios):
                if number > 1 and not (in_any_case or self.spending.affords(taken)):
                    break
                request.progress(f"sample runs on {engine.workers} machines", number / 3)
                if ratio not in samples:
                    most = max(int(ratio * graph.edges), 1)  # a sample may be denser
                    drawn = draw_sample(graph, request.sampler, ratio, self.rng, max_edges=most)
                    samples[ratio] = drawn.graph
                runs = sample_run(engine, algorithm, graph, samples[ratio], before, **how)
                taken = sum(run.record.seconds for run in runs)
                before += sum(run.record.iterations for run in runs)
                if runs[-1].disturbed:
                    continue
                if self.history is not None:
                    self.history.keep(run.record for run in runs)
                for own, run in zip(found, runs, strict=True):
                    own.append(run)
        return [own or kept for own, kept in zip(found, stored, strict=True)]


def _known(runs: Sequence[Sequence[cluster.ClusterRun]]) -> bool:
    """Whether each algorithm has a stored run that is real, or of a warm session."""
    return all(any(run.informative for run in own) for own in runs)


def supersteps_run(algorithm: Algorithm, most: int = 15) -> int:
    """Return the limit of supersteps of a sample run; library algorithms cannot be stopped."""
    if "replay" in algorithm.sampled_by:
        return algorithm.max_iterations
    return STEADY_ITERATIONS if algorithm.steady else most


def sample_run(
    engine: SparkEngine, algorithm: Algorithm, graph: Graph, sample: Graph, before: int, **how: Any
) -> list[cluster.ClusterRun]:
    """Run a chain of algorithms on a sample in a session that has run so many supersteps before.

    `how` has the sampler, its seed, the purpose, and the seconds in which the session opened.
    """
    most, threshold = supersteps_run(algorithm), 0.0 if algorithm.steady else None
    profile = engine.run(algorithm, sample, max_iterations=most, threshold=threshold)
    doubtful = profile.result.get("certainty") == "doubtful"
    drawn = {
        **how,
        "ratio": sample.vertices / graph.vertices,
        "machines": engine.workers,
        "cold": before == 0,
        "doubt": profile.result.get("reason") if doubtful else "",
    }
    runs = []
    for record in records_of(profile):
        own = replace(record, kind="sample", sample_of=graph.fingerprint)
        own = replace(own, sample={**drawn, "before": before})
        runs.append(cluster.cluster_run(own, graph, again=False))
        before += record.iterations
    return runs


def observed_estimate(runs: Sequence[cluster.ClusterRun], graph: Graph) -> IterationEstimate:
    """Return the iterations of a user's function on the graph, from those of its samples.

    Only the metrics of its tasks are known, so there is no transform (PREDIcT, section 3.2).

    Samples that agree exactly indicate a fixed number of iterations. Otherwise the smallest and the
    largest are extrapolated over the logarithm of their size.
    """
    if not runs:
        raise JobError("executors were lost in every sample run, so nothing is known of the job")
    by_size = sorted(runs, key=lambda run: run.record.vertices)
    small, large = by_size[0], by_size[-1]
    seen = [run.record.iterations for run in by_size]
    expected = float(seen[-1])
    apart = math.log(large.record.vertices / small.record.vertices)
    if apart > 0.0:
        growth = max(expected - small.record.iterations, 0.0) / apart
        expected += growth * math.log(max(graph.vertices / large.record.vertices, 1.0))
    spread = float(np.log([*seen, expected]).std())
    std = math.hypot(spread, log_std("iterations by rooted samples"))
    counts = iteration_interval(expected, std, sys.maxsize)
    warnings = []
    if min(seen) < max(seen):
        warnings.append(
            f"the samples took {min(seen)} to {max(seen)} iterations; the real run "
            "may differ as much"
        )
    if large.doubt:
        warnings.append(f"it is doubtful what the supersteps of the job are: {large.doubt}")
    curve = np.full(counts[0], np.nan)
    return IterationEstimate("observed", expected, *counts, curve, True, warnings=warnings)
