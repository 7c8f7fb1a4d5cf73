"""The runtime model of the local engine: the first supersteps, and a staged sample.

A regression on counters uses the average cost of a message. The iterations of a staged sample match
those of the real run one by one, with the same share of messages that change something, so that
their times have the right proportions. The amount of work differs, which kernels split into
vertices, edges and messages, and so does the memory latency, which a probe of the real arrays
measures: it adds the same time to each unit of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import FloatArray
from predict_graph.calibration import beyond_cache, log_std
from predict_graph.deadline import StopRun, current_deadline, deadline
from predict_graph.engines import Evidence, RuntimeEstimate, StagedSample, Workload
from predict_graph.engines.local import observed
from predict_graph.iterations import SampleRun
from predict_graph.prediction.seconds.learned import PHASE_STD, SampledModel, with_common_error
from predict_graph.prediction.seconds.regression import COST_MODELS, DEFAULT_COST_MODEL


def probing_limit(left: float, share: float = 0.25, least: float = 0.05) -> float:
    """Return the seconds that the first supersteps may take: a share of the budget that is left."""
    return max(share * left, least)


@dataclass(eq=False)
class LocalRuntimeModel(SampledModel):
    """The runtime model of the local engine on this machine.

    Setup and the first supersteps are run and timed, at three moments if the budget allows, because
    the machine may be temporarily busy. With a staged sample, its run shows how the time of later
    supersteps differs. A regression on sample runs and the history is the only source where the
    user chooses a cost model, or the first supersteps do too little of the work.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios", "probe", "within"})

    _setups: dict[str, float] = field(default_factory=dict, init=False)
    probes: dict[str, list[observed.IterationProbe]] = field(default_factory=dict, init=False)

    def survey(self) -> None:
        """Set each algorithm up as a run would, and run its first supersteps.

        The first finds a reverse graph that samples or a stopped run made, unlike the run.
        """
        made = vars(self.graph).get("reverse_seconds", 0.0)
        for algorithm in self.algorithms:
            self._measure(algorithm)
        self._setups[self.algorithms[0].name] += made

    def _measure(self, algorithm: Algorithm) -> None:
        """Set an algorithm up, and run its first supersteps unless the user wants none."""
        self.request.progress(f"first supersteps of {algorithm.name}", 0.0)
        limit, probing = probing_limit(self.spending.left), self.request.probe is not False
        seconds, probe = self.engine.survey(algorithm, self.graph, seconds=limit, probe=probing)
        self._setups.setdefault(algorithm.name, seconds)  # later ones find a reverse graph
        self.probes.setdefault(algorithm.name, []).extend([] if probe is None else [probe])

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first one reads the graph."""
        return [self._runtime_on(each, first=each is workloads[0]) for each in workloads]

    def _runtime_on(self, workload: Workload, *, first: bool) -> RuntimeEstimate:
        algorithm = workload.algorithm
        chosen = self.parts[algorithm.name].cost_model
        named = chosen is not None or self.request.train_ratios is not None
        evidence = None if named else self._measured(workload)
        ran: list[SampleRun] = []
        if evidence is None:
            with deadline(None if named else current_deadline()):
                ran = self._sample_runs(algorithm, self.edges_for_costs)
            probed = [each.rows for each in self.probes[algorithm.name] if len(each.rows)]
            if not ran and not probed:
                raise StopRun
            with self.spending.loading():  # scikit-learn, which takes a second per process
                COST_MODELS.get(chosen or DEFAULT_COST_MODEL)
            tables = [run.profile.table for run in ran]
            evidence = self._regression(algorithm, workload.table, tables, probed)
        evidence = with_common_error(evidence, algorithm.name)
        std, equal = evidence.relative_std, log_std("equal runs", algorithm.name)
        setup = self._setups[algorithm.name]
        read = self.graph.read_seconds if first else 0.0
        phase_std = PHASE_STD * math.hypot(setup, read) / max(setup + read, 1e-9)
        found = workload.runtime(evidence, phase_std, setup=setup, read=read)
        samples = [run.summary for run in ran]
        return replace(found, relative_std=math.hypot(std, equal), samples=samples)

    def _measured(self, workload: Workload) -> Evidence | None:
        """Return the time of iterations as measured on this graph."""
        algorithm, staged = workload.algorithm, workload.staged
        timed = None
        self._measure_again(algorithm)
        if staged is not None:
            self.request.progress("timing the sample", 0.0)
            timed = timed_sample(algorithm, staged, self.engine.threads, self.spending.affords)
        self._measure_again(algorithm)
        slower = beyond_cache(self.graph.edges + self.graph.vertices)
        return transfer_evidence(workload, timed, self.probes[algorithm.name], slower)

    def _measure_again(self, algorithm: Algorithm) -> None:
        """Repeat the first supersteps if the budget allows as much time as they took."""
        setup, probes = self._setups[algorithm.name], self.probes[algorithm.name]
        if probes and self.spending.affords(setup + float(probes[0].seconds.sum())):
            with suppress(StopRun):
                self._measure(algorithm)


# Limits the runs of a staged sample, and the seconds after which no other one is made.
_MOST_RUNS, _ENOUGH = 4, 0.5


def timed_sample(
    algorithm: Algorithm, staged: StagedSample, threads: int, affords: Callable[[float], bool]
) -> tuple[FloatArray, float]:
    """Run a staged sample several times, and return the minimum seconds of each iteration.

    And those of one without senders. The minimum excludes most disturbances, and page faults of the
    first run. If the budget does not allow the first run, these are the times of the run that
    estimated the iterations.
    """
    took = float(staged.run.seconds.sum())
    least, idle, spent, runs = np.full(len(staged.run.work), np.inf), math.inf, 0.0, 0
    while runs < _MOST_RUNS and spent <= _ENOUGH and affords(took):
        try:
            seconds, resting = observed.timed_run(algorithm, staged, threads=threads)
        except StopRun:
            break
        least, idle = np.minimum(least, seconds), min(idle, resting)
        took = float(seconds.sum())
        spent, runs = spent + took, runs + 1
    return (least, idle) if runs else (staged.run.seconds, 0.0)


_UNPROBED_STD = 0.25  # without a probe, as a sample fits in a cache (docs/design-notes.md, fact 4)


def transfer_evidence(
    workload: Workload,
    timed: tuple[FloatArray, float] | None,
    probes: list[observed.IterationProbe],
    slower: float = 1.0,
) -> Evidence | None:
    """Return the seconds of each iteration from a staged sample run and probes.

    ``seconds = idle + work x ((sample seconds - sample idle) / sample work + far)``, where `far`,
    the additional time per unit of work in memory, matches the first iterations to the probes.
    Probes below the sample run, whose data is in cache, indicate a disturbance of one of them, and
    the mean is used. Without a sample run all is in proportion to the work, without probes a unit
    takes `slower` times as long; None without either.
    """
    staged, idle = workload.staged, 0.0
    if timed is None or staged is None:
        work = workload.rows.floats("active_vertices", "local_messages", "remote_messages")
        name, near = "probe", np.zeros(len(work))
    else:
        name, (seconds, idle) = "sample run and probe", timed
        working = np.maximum(seconds - idle, 0.0)
        at = np.minimum(np.arange(workload.iterations), len(working) - 1)
        work = staged.run.whole_work[at]
        near = work * (working / staged.run.work)[at]
    measured = observed.settled(probes, work)
    if measured is None:
        found = Evidence("sample run", idle + slower * near, _UNPROBED_STD)
        return None if timed is None else found
    probed, std = observed.undisturbed_seconds(probes)
    idle = min(probe.idle_seconds for probe in probes)
    taken = float(np.maximum(probed[measured] - idle, 0.0).sum())
    first, units = float(near[measured].sum()), float(work[measured].sum())
    if taken < first:
        factor = math.sqrt(taken / first)
        apart = -math.log(max(factor, 0.02))  # an interval of a factor of 700 says enough
        return Evidence(name, idle + near * factor, math.hypot(std, apart))
    far = (taken - first) / max(units, 1.0)
    return Evidence(name, idle + near + far * work, std)
