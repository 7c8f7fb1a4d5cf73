"""The estimated runtime on a Spark cluster, for any machine count; the memory of executors."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from predict_graph import engines
from predict_graph.calibration import log_std
from predict_graph.durations import readable_seconds
from predict_graph.engines.spark import SparkSettings
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.session.settings import heap_bytes
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate, draw_sample
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.seconds.cluster import costs as cluster_costs
from predict_graph.prediction.seconds.cluster import runs as cluster
from predict_graph.prediction.seconds.cluster.runs import ClusterRun
from predict_graph.prediction.seconds.cluster.work import combined_records, work_by_machines
from predict_graph.prediction.seconds.learned import DEFAULT_TRAIN_RATIOS, PHASE_STD, EngineModel
from predict_graph.prediction.seconds.regression import fitted_line
from predict_graph.prediction.work import counted
from predict_graph.table import Table


class ClusterRuntimeModel(EngineModel):
    """The runtime model of a Spark cluster.

    Iterations and messages depend on the algorithm alone. Their costs are those of bundled
    reference runs, scaled to runs on the cluster at whatever machine counts: stored sample runs and
    real runs, including event logs. Without them, the reference runs estimate the time of sample
    runs, which are run if the budget allows; if not, runs of other algorithms show the relative
    speed of the cluster. Samples are run in any case if the user sets their ratios, or an unlimited
    budget, and for a user function.

    The first supersteps of a new JVM are slow. Each session therefore runs its largest sample
    twice: the second run shows the cost of the work, and the difference the JVM warm-up. The
    largest is used because code that is not yet compiled is slow on every row.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})
    by_work_alone: ClassVar[bool] = True
    """Whether the samples of the iteration estimate are of no use for the runtime estimate."""

    runs: Sequence[list[ClusterRun]] = ()  # of each algorithm of the chain
    speed = cluster_costs.ClusterSpeed()  # that all runs on the cluster show
    more = ""

    def observe(self) -> list[IterationEstimate]:
        """Return the iterations of a user function that only Spark can run, from its sample
        runs.
        """
        self.learn()
        return [observed_estimate(self.runs[0], self.graph)]

    def estimate(self, workloads: Sequence[engines.Workload]) -> list[engines.RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first includes session start."""
        if not self.runs:
            self.learn(workloads)
        found: list[engines.RuntimeEstimate] = []
        before = 0  # the supersteps of those that run before it
        for workload, own in zip(workloads, self.runs, strict=True):
            found.append(self._runtime_on(own, workload, before))
            before += round(workload.iterations)
        return found

    def learn(self, workloads: Sequence[engines.Workload] = ()) -> None:
        """Find the runs of each algorithm, after running the samples that are needed."""
        request, engine = self.request, self.engine
        self.runs = [
            cluster.runs_of_job(self.history, engine, each, self.graph) for each in self.algorithms
        ]
        function = isinstance(self.algorithms[-1], FunctionAlgorithm)
        asked = request.train_ratios or request.budget.unlimited
        if asked or function:
            self._run_samples(in_any_case=True)
        self.speed = cluster_costs.speed_of_cluster(self.history, engine)
        if asked or function or self._known:
            return
        whole, samples = self._expected(workloads)
        self.spending.expects(whole)
        if self.spending.affords(samples):
            self._run_samples(in_any_case=False)
        if not self._known:
            more = f"about {readable_seconds(samples)} of sample runs on the cluster would narrow"
            self.more = f"{more} the interval: --budget unlimited"

    @property
    def _known(self) -> bool:
        """Whether each algorithm has a stored run that is real, or of a warm session."""
        return all(any(run.informative for run in own) for own in self.runs)

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

    def _expected(self, workloads: Sequence[engines.Workload]) -> tuple[float, float]:
        """Return the seconds of the run, and of its sample runs, by the reference runs."""
        engine, edges, whole, samples = self.engine, self.graph.edges, 0.0, 0.0
        machines = engine.workers
        for number, each in enumerate(workloads):
            name = cluster.shipped_name(each.algorithm)
            costs = cluster_costs.reference_costs(name).scaled(self._factors(name, self.speed))
            rows = work_by_machines(self.graph, engine, each, cluster.shipped_runs(name))(machines)
            features = rows[[*cluster.FEATURES]]
            phases = partial(costs.phases, reads=number == 0)
            whole += sum(phases(features, machines, edges, opens=number == 0).values())
            last = number == len(workloads) - 1  # what runs before it goes to its own end
            features = features.iloc[: cluster.supersteps_run(each.algorithm) if last else None]
            for place, ratio in enumerate(self.ratios):
                sizes = (ratio * features, machines, ratio * edges)
                before = place * len(features)
                samples += sum(phases(*sizes, opens=number == place == 0, before=before).values())
        return whole, samples

    def _factors(self, name: str, speed: cluster_costs.ClusterSpeed) -> dict[str, float]:
        """Return those of the cluster for an algorithm; an open session need not be opened."""
        opens = not (self.engine.opened or self.engine.settings.in_open_session)
        return {**speed.factors(name), **({} if opens else {"opening": 0.0})}

    def _run_samples(self, *, in_any_case: bool) -> None:
        """Run samples on the cluster, and store each at once.

        It stops before a run that the budget does not allow, if it takes as long as the one before,
        unless they are run `in_any_case`; the second run of a session is always made, as the first
        is slow. Where executors were lost in all, stored runs remain.
        """
        request, graph, algorithm = self.request, self.graph, self.algorithms[-1]
        found: list[list[ClusterRun]] = [[] for _ in self.algorithms]
        engine, before, taken = self.engine, 0, 0.0
        java_works = algorithm.java_works or "packing_seconds" in vars(graph)
        how: dict[str, Any] = {"sampler": request.sampler, "seed": request.seed, "purpose": "cost"}
        with engine.session(java_works=java_works) as session:
            how["opening_seconds"] = session.seconds
            for number, ratio in enumerate(self.ratios):
                if number > 1 and not (in_any_case or self.spending.affords(taken)):
                    break
                request.progress("sample runs on the cluster", number / 3)
                if number != 1:  # the second run is on the sample of the first
                    sample = self._sample(ratio)
                    how["combined_records"] = combined_records(sample, engine.settings)
                runs = cluster.sample_run(engine, algorithm, graph, sample, before, **how)
                taken = sum(run.record.seconds for run in runs)
                before += sum(run.record.iterations for run in runs)
                if runs[-1].disturbed:
                    continue
                if self.history is not None:
                    self.history.keep(run.record for run in runs)
                for own, run in zip(found, runs, strict=True):
                    own.append(run)
        self.runs = [own or kept for own, kept in zip(found, self.runs, strict=True)]

    def _sample(self, ratio: float) -> Graph:
        """Return a sample with edges: where one of this ratio has none, a larger one."""
        most = max(int(ratio * self.graph.edges), 1)  # a sample may be denser
        drawn = draw_sample(self.graph, self.request.sampler, ratio, self.rng, most).graph
        return drawn if drawn.edges or ratio == 1.0 else self._sample(min(2.0 * ratio, 1.0))

    def _runtime_on(
        self, own: list[ClusterRun], workload: engines.Workload, before: int
    ) -> engines.RuntimeEstimate:
        """Return the estimate of an algorithm after so many supersteps of those that run before it.

        The first of all includes session start and reading.

        Its costs are those of reference runs, at the speed that its own runs on the cluster show,
        or else those of other algorithms.
        """
        graph, engine, algorithm = self.graph, self.engine, workload.algorithm
        name = cluster.shipped_name(algorithm)
        speed = self.speed.with_runs(name, own) if own else self.speed
        costs = cluster_costs.reference_costs(name, self.parts[algorithm.name].cost_model)
        # What has no reference: the results of a user's function, and in which phase Java starts.
        starts = cluster_costs.STARTS if isinstance(algorithm, FunctionAlgorithm) else ()
        parts = (*cluster_costs.WRITTEN, *starts)
        measured = [each for each in cluster_costs.measured_parts(own) if each[0] in parts]
        costs = costs.scaled(self._factors(name, speed), measured)
        shown = [run for run in own if run.informative]
        std, common_std = deviations(shown, speed)
        source = _source(shown, speed)
        said = (
            f"the costs are those of {source}, of no run of this graph: learn, or --budget "
            "unlimited, runs samples on the cluster, which narrows the interval"
        )
        warnings = [said] if all(run.elsewhere for run in shown) else []
        if not own and name != algorithm.name:  # the actual superstep is unknown
            std = math.hypot(std, cluster_costs.ALGORITHM_STD)
            said = f"no run of {algorithm.name} is known: the estimate uses supersteps of {name}"
            warnings = [*warnings, said]
        runs = [run for run in own if not run.elsewhere] or own or cluster.shipped_runs(name)
        work = work_by_machines(graph, engine, workload, runs)
        passed = None if engine.is_warm(algorithm.name) else before
        kept = engine.settings.checkpoints(workload.iterations)
        packing = vars(graph).get("packing_seconds")  # of a graph that Spark reads

        def at(machines: int) -> dict[str, float]:
            sizes, given = (machines, graph.edges, kept), {"opens": not before, "reads": not before}
            found = costs.phases(work(machines), *sizes, **given, before=passed)
            if not before and packing is not None:
                found["read"] = packing * engine.workers / machines
            return found

        rows = work(engine.workers)
        executors = memory_of(runs, graph, rows, engine.settings, cluster.shipped_runs(name))
        evidence = engines.Evidence(
            source,
            costs.supersteps(rows, engine.workers, passed),
            math.hypot(std, common_std),
            model={
                "name": costs.fitted.name,
                "terms": costs.terms,
                "r2": costs.fitted.r2,
                "rows": costs.rows,
                "runs": sum(run.informative for run in own) or costs.runs,
                "history_runs": sum(run.real for run in own),
                "machines": sorted({run.machines for run in runs}),
            },
        )
        most = max(run.machines for run in runs)
        said = f"the costs are those of machine counts up to {most}, far from {engine.workers}"
        far = [said] if engine.workers > 4 * most else []
        # Messages before combining, bytes after it.
        every = rows.assign(total_vertices=graph.vertices)
        return engines.RuntimeEstimate(
            evidence=evidence,
            rows=counted(Table(every)).assign(seconds=evidence.seconds),
            relative_std=std,
            phases=at(engine.workers),
            phase_std=PHASE_STD,
            common_std=common_std,
            samples=[run.summary for run in own],
            warnings=[*far, *engine.session_doubts(), *warnings],
            at=at,
            executors=executors,
            more=self.more,
        )


def observed_estimate(runs: Sequence[ClusterRun], graph: Graph) -> IterationEstimate:
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


def _source(own: Sequence[ClusterRun], speed: cluster_costs.ClusterSpeed) -> str:
    """Return what the costs of an algorithm are estimated from."""
    if not own:
        known = _tasks_seen(speed)
        return "runs of other algorithms on the cluster" if known else "runs on another cluster"
    if not all(run.again for run in own):
        return "sample runs on the cluster"
    samples = any(not run.real for run in own)
    return "training runs of the cluster" if samples else "real runs on the cluster"


def _tasks_seen(speed: cluster_costs.ClusterSpeed) -> bool:
    """Whether runs show what tasks take on the cluster, and not the opening of a session alone."""
    return any("tasks" in logs for logs in speed.observed.values())


def deviations(own: Sequence[ClusterRun], speed: cluster_costs.ClusterSpeed) -> tuple[float, float]:
    """Return the standard deviations of supersteps, and common to all phases."""
    std = cluster_costs.RUN_STD
    if not own:
        return std, cluster_costs.ALGORITHM_STD if _tasks_seen(speed) else cluster_costs.CLUSTER_STD
    if not all(run.elsewhere for run in own):
        return std, 0.0
    graphs = {run.record.fingerprint for run in own}
    return std * math.sqrt(1.0 + 1.0 / len(graphs)), 0.0


def memory_of(
    runs: list[ClusterRun],
    graph: Graph,
    rows: pd.DataFrame,
    settings: SparkSettings,
    usual: Sequence[ClusterRun],
) -> dict[str, int]:
    """Return the peak memory of an executor: a fixed part, and one that grows with its share.

    Spark allocates hash tables in pages of up to 64 MiB on large heaps, which dominate small runs
    and do not grow with the graph: the maximum of each size is used. Earlier runs of a session
    leave data in memory, so of storage it is the minimum.

    Empty without suitable runs: a log contains neither cached data nor the size of the graph.
    """
    telling = [run for run in runs if not run.seen_by_log and run.edges]
    if not telling:
        return {}
    if len({_share_of(run) for run in telling}) == 1:
        telling = [*telling, *usual]
    columns = ["peak_memory_bytes", "storage_bytes"]
    peaks = pd.DataFrame([run.record.table[columns].max() for run in telling]).astype(np.float64)
    by_share = peaks.groupby([_share_of(run) for run in telling])
    execution, storage = (
        fitted_line(each.index.to_numpy(np.float64), each.to_numpy(np.float64)).at(
            (graph.vertices + graph.edges) / settings.machines
        )
        for each in (by_share[columns[0]].max(), by_share[columns[1]].min())
    )
    moved = float(rows[["local_message_bytes", "remote_message_bytes"]].to_numpy().sum())
    heap = heap_bytes(settings.memory) - (300 << 20)  # which Spark reserves, by definition
    together = settings.machines / settings.executors  # in one process all share the heap
    return {
        "execution_bytes": int(execution * settings.cores * together),
        "storage_bytes": int(storage * together),
        "shuffle_bytes": int(moved / settings.executors),
        "available_bytes": int(0.6 * max(heap, 0)),  # spark.memory.fraction, by default
    }


def _share_of(run: ClusterRun) -> float:
    """Return the vertices and edges per machine."""
    return (run.record.vertices + run.edges) / run.machines
