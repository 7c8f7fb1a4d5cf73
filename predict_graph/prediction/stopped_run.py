"""A full local run that was stopped at its deadline, as evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.calibration import log_std
from predict_graph.engines import RunProfile, RuntimeEstimate, Workload
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.continued import continued
from predict_graph.iterations.whole_run import whole_run_estimates
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.earlier_runs import earlier_runtimes


@dataclass(frozen=True)
class StoppedRun:
    """A full local run that was stopped at its deadline: evidence beside samples.

    ``seconds`` are those of all its supersteps, also of the one that did not end.
    """

    algorithm: Algorithm
    profile: RunProfile
    seconds: float

    def weighted(self, sampled: Sequence[IterationEstimate]) -> list[IterationEstimate]:
        """Return the estimates of each algorithm of the chain; the last one was stopped.

        Those before it are exact; the last one is weighted with that of other evidence.
        """
        algorithm, profile = self.algorithm, self.profile
        threshold = algorithm.threshold(int(profile.graph["vertices"]))
        own = continued(sampled[-1], algorithm, profile, threshold)
        return [*whole_run_estimates(profile.prior), own]

    def runtimes(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the seconds by the supersteps that ran; others take what their messages take."""
        runs = [[record] for record in records_of(self.profile)]
        found = earlier_runtimes(runs, workloads, "first supersteps")
        own, done = found[-1], self.profile.iterations
        messages = own.rows.floats("local_messages", "remote_messages")
        seconds = own.rows.floats("seconds")
        ran, later = seconds[:done], messages[done:]
        rate = float(ran.sum()) / max(float(messages[:done].sum()), 1.0)
        seconds[done:] = np.minimum(rate * later, ran.max())
        seconds *= max(self.seconds / max(float(seconds.sum()), 1e-9), 1.0)
        left = 1.0 - float(seconds[:done].sum() / seconds.sum())
        std = math.hypot(log_std("equal runs"), left * log_std("usual seconds"))
        evidence = replace(own.evidence, seconds=seconds, relative_std=std)
        phases = {name: own.phases[name] for name in ("setup", "read", "write")}
        found[-1] = workloads[-1].runtime(evidence, **phases, phase_std=own.phase_std)
        return found
