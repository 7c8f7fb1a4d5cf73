"""The runtime model of the local engine: the first supersteps, and a staged sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.calibration import log_std
from predict_graph.deadline import StopRun, current_deadline, deadline
from predict_graph.engines import EstimationContext, Evidence, RuntimeEstimate, Workload
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.probing import IterationProbe, settled, undisturbed_seconds
from predict_graph.graph import Graph
from predict_graph.iterations import SampleRun
from predict_graph.prediction.seconds.earlier_runs import with_common_error
from predict_graph.prediction.seconds.regression import (
    TrainingSet,
    load_cost_model,
    regression_evidence,
)
from predict_graph.prediction.seconds.sample_runs import run_cost_samples, train_on
from predict_graph.prediction.seconds.transfer import TimedSample, timed_sample, transfer_evidence

_PHASE_STD = 0.18  # of a phase that was measured once (docs/studies/overhead.md)
# Of the remaining budget, and seconds in any case: limits the first supersteps; not tuned
_PROBED_SHARE, _LEAST_PROBED = 0.25, 0.05


def probing_limit(left: float) -> float:
    """Return the seconds that the first supersteps may take, from those left of the budget."""
    return max(_PROBED_SHARE * left, _LEAST_PROBED)


class LocalRuntimeModel:
    """The runtime model of the local engine on this machine.

    Setup and the first supersteps are run and timed, at three moments if the budget allows, because
    the machine may be temporarily busy. With a staged sample, its run shows how the time of later
    supersteps differs. A regression on sample runs and the history is the only source where the
    user chooses a cost model, or the first supersteps do too little of the work.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios", "probe"})

    def __init__(
        self,
        engine: LocalEngine,
        graph: Graph,
        algorithms: Sequence[Algorithm],
        context: EstimationContext,
    ) -> None:
        self._engine, self._graph, self._context = engine, graph, context
        self._algorithms = list(algorithms)
        self._rng = np.random.default_rng(context.seed).spawn(3)[1]
        self._setups: dict[str, float] = {}
        self._probes: dict[str, list[IterationProbe]] = {}

    def survey(self) -> None:
        """Set each algorithm up as a run would, and run its first supersteps."""
        for algorithm in self._algorithms:
            known = self._context.setups.get(algorithm.name)
            if known is not None:
                self._setups[algorithm.name] = known.seconds
                self._probes[algorithm.name] = [known.probe]
            else:
                self._measure(algorithm)

    def _measure(self, algorithm: Algorithm) -> None:
        """Set an algorithm up, and run its first supersteps unless the user wants none."""
        self._context.progress(f"first supersteps of {algorithm.name}", 0.0)
        seconds, probe = self._engine.survey(
            algorithm,
            self._graph,
            seconds=probing_limit(self._context.spending.left),
            probe=self._context.probe is not False,
        )
        self._setups.setdefault(algorithm.name, seconds)  # later ones find a reverse graph
        self._probes.setdefault(algorithm.name, []).extend([] if probe is None else [probe])

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first one reads the graph."""
        return [
            self._runtime_on(workload, first=number == 0)
            for number, workload in enumerate(workloads)
        ]

    def _runtime_on(self, workload: Workload, *, first: bool) -> RuntimeEstimate:
        context, algorithm = self._context, workload.algorithm
        evidence, visits = self._measured(workload)
        named = context.cost_model(algorithm) is not None or context.train_ratios is not None
        ran: list[SampleRun] = []
        if named or not evidence:
            with deadline(None if named else current_deadline()):
                ran = self._cost_samples(workload)
            if not ran and not self._probes[algorithm.name]:
                raise StopRun
            evidence = [*(replace(each, weight=0.0) for each in evidence)]
            evidence.append(self._regression(workload, ran))
        evidence = [with_common_error(each, algorithm.name) for each in evidence]
        seconds, std = evidence[-1].seconds, evidence[-1].relative_std
        setup = self._setups[algorithm.name]
        read = self._graph.read_seconds if first else 0.0
        return RuntimeEstimate(
            evidence=evidence,
            rows=workload.rows.assign(seconds=seconds),
            relative_std=math.hypot(std, log_std("equal runs", algorithm.name)),
            phases={
                "setup": setup,
                "read": read,
                "superstep": float(seconds.sum()),
                "write": 0.0,
            },
            phase_std=_PHASE_STD * math.hypot(setup, read) / max(setup + read, 1e-9),
            samples=[run.summary for run in ran],
            edge_visits=visits + sum(run.edge_visits for run in ran),
        )

    def _measured(self, workload: Workload) -> tuple[list[Evidence], float]:
        """Return the time of iterations as measured on this graph, and the edges visited for it."""
        context, algorithm, staged = self._context, workload.algorithm, workload.staged
        affords, timed, visits = context.spending.affords, None, 0.0
        self._measure_again(algorithm)
        if staged is not None:
            timed = TimedSample(staged.seconds, 0.0, 0)
            if affords(float(staged.seconds.sum())):
                context.progress("timing the sample", 0.0)
                timed = timed_sample(algorithm, staged, self._engine.threads, affords)
                visits = timed.runs * staged.edge_steps
        self._measure_again(algorithm)
        probes = self._probes[algorithm.name]
        if timed is not None:
            return [transfer_evidence(workload, timed, probes)], visits
        return _probe_evidence(workload, probes), visits

    def _measure_again(self, algorithm: Algorithm) -> None:
        """Repeat the first supersteps if the budget allows as much time as they took."""
        probes = self._probes[algorithm.name]
        if not probes or algorithm.name in self._context.setups:
            return
        took = self._setups[algorithm.name] + float(probes[0].seconds.sum())
        if self._context.spending.affords(took):
            with suppress(StopRun):
                self._measure(algorithm)

    def _cost_samples(self, workload: Workload) -> list[SampleRun]:
        allowed = self._context.edges_for_costs
        edges = None if allowed is None else allowed(workload.iterations)
        given = (self._graph, self._engine, workload.algorithm, self._context, edges, self._rng)
        return list(run_cost_samples(*given))

    def _regression(self, workload: Workload, ran: Sequence[SampleRun]) -> Evidence:
        """Return the time of iterations by a cost model of sample runs, probes and the history."""
        context, algorithm = self._context, workload.algorithm
        chosen = context.cost_model(algorithm)
        with context.spending.loading():
            load_cost_model(chosen)
        training = TrainingSet()
        history_runs = train_on(training, ran, context, self._graph, self._engine, algorithm)
        for probe in self._probes[algorithm.name]:
            training.add(probe.rows, "probe")
        return regression_evidence(training, chosen, workload.table, history_runs)


def _probe_evidence(workload: Workload, probes: list[IterationProbe]) -> list[Evidence]:
    """Return the time of all iterations from probes of the first, in proportion to their work."""
    work = workload.rows.floats("active_vertices", "local_messages", "remote_messages")
    measured = settled(probes, work)
    if measured is None:
        return []
    seconds, std = undisturbed_seconds(probes)
    idle = min(float(seconds.min()), *(probe.idle_seconds for probe in probes))
    rate = float((seconds[measured] - idle).sum()) / max(float(work[measured].sum()), 1.0)
    return [Evidence("probe", idle + rate * work, std)]
