"""A full local run that was stopped at its deadline, as evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predict_graph.calibration import log_std
from predict_graph.engines import RunProfile, RuntimeEstimate, Workload
from predict_graph.history import RunRecord
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.continued import continued_run, weighted
from predict_graph.iterations.whole_run import whole_run_estimates
from predict_graph.prediction.request import Request
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.earlier_runs import earlier_runtimes


@dataclass(frozen=True)
class StoppedRun:
    """A full local run that was stopped at its deadline: evidence beside samples.

    ``estimates`` of each algorithm of the chain are exact, except for the last one, whose curve is
    continued; ``seconds`` are those of all its supersteps, also of the one that did not end.
    """

    estimates: list[IterationEstimate]
    records: list[RunRecord]
    limit: int
    seconds: float

    @classmethod
    def of(cls, request: Request, profile: RunProfile, vertices: int, seconds: float) -> StoppedRun:
        """Return the evidence of the supersteps that ran."""
        own = continued_run(request.algorithm, profile, request.algorithm.threshold(vertices))
        limit = request.algorithm.max_iterations
        estimates = [*whole_run_estimates(profile.prior), own]
        return cls(estimates, records_of(profile), limit, seconds)

    @property
    def done(self) -> int:
        """Supersteps of the last algorithm that ran."""
        return self.records[-1].iterations

    def weighted(self, sampled: Sequence[IterationEstimate]) -> list[IterationEstimate]:
        """Return the estimates with those of other evidence, whose last one is `sampled`'s."""
        own = weighted(sampled[-1], self.estimates[-1], self.limit)
        return [*self.estimates[:-1], own]

    def runtimes(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the seconds by the supersteps that ran; others take what their messages take."""
        runs = [[record] for record in self.records]
        found = earlier_runtimes(runs, workloads, "first supersteps")
        own = found[-1]
        messages = own.rows.floats("local_messages", "remote_messages")
        seconds = own.rows.floats("seconds")
        ran, later = seconds[: self.done], messages[self.done :]
        rate = float(ran.sum()) / max(float(messages[: self.done].sum()), 1.0)
        seconds[self.done :] = np.minimum(rate * later, ran.max())
        seconds *= max(self.seconds / max(float(seconds.sum()), 1e-9), 1.0)
        left = 1.0 - float(seconds[: self.done].sum() / seconds.sum())
        std = math.hypot(log_std("equal runs"), left * log_std("usual seconds"))
        evidence = [replace(own.evidence[0], seconds=seconds, relative_std=std)]
        phases = {name: own.phases[name] for name in ("setup", "read", "write")}
        found[-1] = workloads[-1].runtime(evidence, **phases, phase_std=own.phase_std)
        return found
