"""The runtime model of the local engine: the first supersteps, a staged sample, a regression."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun, current_deadline, deadline
from predict_graph.engines import EstimationContext, Evidence, RuntimeEstimate, Workload
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.probing import IterationProbe, settled, undisturbed_seconds
from predict_graph.graph import Graph
from predict_graph.prediction.seconds.earlier_runs import ONCE_STD
from predict_graph.prediction.seconds.regression import (
    REGRESSION,
    TrainingSet,
    load_cost_model,
    regression_evidence,
)
from predict_graph.prediction.seconds.sample_runs import add_history, run_cost_samples
from predict_graph.prediction.seconds.transfer import (
    TimedSample,
    timed_sample,
    transfer_evidence,
)
from predict_graph.prediction.seconds.weighing import weighed

_BASELINE_STD = 0.6  # of setup that was not measured: docs/studies/baseline.md
_PHASE_STD = 0.18  # of a phase that was measured once (docs/studies/overhead.md)
# Approximate time of a regression with its samples (docs/studies/overhead.md)
_REGRESSION_SECONDS = 0.4
# Of the remaining budget, and seconds in any case: limits the first supersteps; not tuned
_PROBED_SHARE, _LEAST_PROBED = 0.25, 0.05


class LocalRuntimeModel:
    """The runtime model of the local engine on this machine.

    Setup is run and timed. Iterations have two sources: measurements on this graph (its first
    supersteps, and a staged sample run where the method has one), and a regression on sample runs,
    first supersteps and the history. A cost model that the user chooses is the only source.
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
        self._rng_samples = np.random.default_rng(context.seed).spawn(3)[1]
        self._setup: list[float] = []
        self._survey_seconds = 0.0
        self._probes: list[list[IterationProbe]] = []

    def survey(self) -> None:
        """Set each algorithm up as a run would, and probe it once."""
        for algorithm in self._algorithms:
            known = self._context.setups.get(algorithm.name)
            if known is not None:
                self._setup.append(known.seconds)
                self._probes.append(list(known.probes))
                continue
            self._context.progress(f"setting up {algorithm.name}", 0.0)
            seconds, probe = self._surveyed(algorithm, probe=self._context.probe is not False)
            self._setup.append(seconds)
            self._probes.append([] if probe is None else [probe])

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first one reads the graph."""
        return [
            self._runtime_on(workload, self._setup[number], self._probes[number], first=number == 0)
            for number, workload in enumerate(workloads)
        ]

    def _runtime_on(
        self, workload: Workload, setup: float, probes: list[IterationProbe], *, first: bool
    ) -> RuntimeEstimate:
        engine, graph, context = self._engine, self._graph, self._context
        algorithm, staged = workload.algorithm, workload.staged
        training, evidence = TrainingSet(), []
        samples, visits, timed = [], 0.0, None
        # Probed at several moments, because the machine may be temporarily busy.
        probes = [*probes, *self._probed(algorithm, again=bool(probes) or staged is not None)]
        if staged is not None and context.spending.affords(float(staged.seconds.sum())):
            context.progress("timing the sample", 0.0)
            timed = timed_sample(algorithm, staged, engine.threads, context.spending.affords)
            training.add(staged.table.assign(seconds=timed.seconds), own=True)
            visits += timed.runs * staged.edge_steps
        elif staged is not None:
            timed = TimedSample(staged.seconds, 0.0, 0)
        probes += self._probed(algorithm, again=True)
        if timed is not None:
            evidence.append(transfer_evidence(workload, timed, probes))
        else:
            evidence += _probe_evidence(workload, probes)
        chosen = context.cost_model(algorithm)
        named = chosen is not None or context.train_ratios is not None
        regressed = named or not evidence or context.spending.affords(_REGRESSION_SECONDS)
        if regressed and (staged is None or named):
            allowed = context.edges_for_costs
            with deadline(None if named else current_deadline()):
                ran = run_cost_samples(
                    graph,
                    engine,
                    algorithm,
                    context,
                    training,
                    None if allowed is None else allowed(workload.iterations),
                    self._rng_samples,
                )
            samples, visits = ran.summaries, visits + ran.edge_steps
            regressed = bool(samples)
        if not regressed and not evidence:
            raise StopRun
        if regressed:
            with context.spending.loading():
                load_cost_model(chosen)
            history_runs = add_history(context.history, graph, engine, algorithm, training)
            for probe in probes:
                training.add(probe.rows, own=True, source="probe", apart=True)
            evidence.append(regression_evidence(training, chosen, workload.table, history_runs))
        only = REGRESSION if chosen is not None else None
        weighted, seconds, std = weighed(evidence, only=only)
        read = graph.read_seconds if first else 0.0
        known = context.setups.get(algorithm.name)
        setup_std = _PHASE_STD if known is None or known.measured else _BASELINE_STD
        once = math.hypot(setup_std * setup, _PHASE_STD * read)
        return RuntimeEstimate(
            evidence=weighted,
            rows=workload.rows.assign(seconds=seconds),
            relative_std=math.hypot(std, ONCE_STD),
            phases={
                "setup": setup,
                "read": read,
                "superstep": float(seconds.sum()),
                "write": 0.0,
            },
            phase_std=once / max(setup + read, 1e-9),
            samples=samples,
            edge_visits=visits,
        )

    def _probed(self, algorithm: Algorithm, *, again: bool = False) -> list[IterationProbe]:
        """Run the first supersteps, if requested; again only if the budget allows as much time."""
        known = self._context.setups.get(algorithm.name)
        if self._context.probe is False or (known is not None and known.probes):
            return []
        if again and not self._context.spending.affords(self._survey_seconds):
            return []
        self._context.progress("timing the first supersteps", 0.0)
        found = None
        with suppress(StopRun):
            _, found = self._surveyed(algorithm)
        return [] if found is None else [found]

    def _surveyed(
        self, algorithm: Algorithm, *, probe: bool = True
    ) -> tuple[float, IterationProbe | None]:
        """Set an algorithm up, and run its first supersteps for a share of the remaining budget."""
        started = time.perf_counter()
        allowed = max(_PROBED_SHARE * self._context.spending.left, _LEAST_PROBED)
        found = self._engine.survey(algorithm, self._graph, seconds=allowed, probe=probe)
        self._survey_seconds = time.perf_counter() - started
        return found


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
