"""Predict a call of a graph function from inexpensive evidence first, within a budget.

Evidence are earlier runs of the call, or of the function on other graphs; runs on samples that grow
until the budget is spent; and, where a sample shows that the function is one loop, the first part
of the real run. A run that fits into the budget is made instead. A prediction can be held against
the real call: predict first, run second, compare third.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from predict_graph.cores import Load, meter
from predict_graph.durations import readable_seconds
from predict_graph.engines import RunProfile
from predict_graph.engines.runtime_model import std_of_next
from predict_graph.errors import JobError, RequestError
from predict_graph.evidence import EARLIER_RUNS, predicted
from predict_graph.functions import evidence as observed
from predict_graph.functions.atlas import compiled_alternatives
from predict_graph.functions.child import run_in_child
from predict_graph.functions.gathering import REFUSED, TOLERATED, Call, Gathering
from predict_graph.functions.growth import RUN_STD, predict_memory
from predict_graph.functions.naming import GraphFunction, takes_seed
from predict_graph.functions.records import record_of_call
from predict_graph.functions.subject import failure
from predict_graph.graph import Graph
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.outcome import Comparison, PeakMemory, Prediction, SourceEstimate
from predict_graph.outcome.verdict import verdict_of
from predict_graph.table import Table


class FunctionCase(Gathering):
    """The case of a call of a function on a graph: what is asked, and the calls that were made."""

    def predict(self) -> Prediction:
        """Return the prediction."""
        return predicted(self, self.sources())

    def combined(self, evidence: Sequence[Call]) -> Prediction:
        """Return the prediction by all calls; JobError if none ended."""
        if self.budget.seconds == 0.0 and not (self.earlier or self.again):
            raise RequestError(
                f"the budget is 0, but neither earlier runs of {self.function.name} with these "
                "arguments are known, nor any of the atlas; accepted: a budget above 0"
            )
        if self.whole is None and not (self.done or self.earlier):
            raise JobError(self.nothing_ran())
        if self.history is not None:
            self.history.keep([each.record(self.function, self.graph) for each in self.done])
        self.progress("combining the evidence", 1.0)
        estimates = self._estimates()
        total, log_std = observed.combine(estimates)
        seen = 0.0 if self.real is None or self.real.done else self.real.seconds
        load = meter.read()
        pace = self._pace(load)
        others = math.log(load.slowdown) / QUANTILE  # which may end or double before the run
        call = Interval.spread(total, math.hypot(log_std, others)).scaled(pace)
        call = replace(call, low=max(call.low, min(pace, 1.0) * min(seen, total)))
        # 0.15: not tuned
        made = self.conversion() if self.subject.converted else 0.0
        convert = Interval.spread(made, math.hypot(0.15, others)).scaled(load.stretch)
        runtime = call + convert
        phases = {"convert": convert.predicted, "call": call.predicted}
        sure = self.whole is not None or self.prefix is not None
        outgrown = "" if sure else observed.outgrown(self.points, self.stopped)
        memory = self._memory()
        advice = compiled_alternatives(self.function, runtime.predicted, self.target, load.stretch)
        return Prediction(
            algorithm=self.function.describe(),
            graph=self.graph.describe(),
            engine=self.function.engine,
            seed=self.seed,
            runtime_seconds=runtime,
            phases=phases,
            samples=[each.summary(self.graph) for each in self.samples],
            evidence=estimates,
            overhead_seconds=self.spent,
            warnings=[*self._all_warnings(total, 1.0 / pace), *load.warnings],
            verdict=verdict_of(runtime, phases, load=load, memory=memory, outgrown=outgrown),
            budget=str(self.budget),
            load=load,
            processor_seconds=total,
            advice=advice,
        )

    def _memory(self) -> PeakMemory | None:
        """Return the growth of the resident memory; None where no run ended."""
        known = self.whole is not None and (self.whole.peak_bytes or not self.again)
        if not (self.done or known):
            return None
        runs = [(each.point.drivers, each.run) for each in self.done]
        given = runs, self.target, self.whole, self.real
        converted, left = self.subject.converted, self.rounds_left
        peak = predict_memory(*given, converted=converted, rounds_left=left)
        return PeakMemory(peak, self.available, keeps_items=not self.iterator)

    def _estimates(self) -> list[SourceEstimate]:
        whole = self.whole
        if whole is not None:
            own = self.function.arguments.get("seed")
            other = any(each.parameters.get("seed") != own for each in self.again)
            drawn = observed.ROUNDS_STD if takes_seed(self.function) or other else 0.0
            source, said = "run", ""
            if self.again:
                source, said = EARLIER_RUNS, f"{len(self.again)} of the call itself"
            logs = np.log([max(float(each.rows["seconds"][0]), 1e-9) for each in self.again])
            std = std_of_next(logs, math.hypot(RUN_STD, drawn))
            return [SourceEstimate(source, whole.seconds, std, 1.0, said)]
        counted = observed.counting(self.earlier, self.points)
        return observed.estimates_of(self.growth(), self.points, counted, self.prefix)

    def _pace(self, load: Load) -> float:
        """Return seconds by the clock for each second of the call, as in the longest run.

        That has its waiting for cores in it, and what of it sleeps, or several threads share.
        """
        runs = [*(each.run for each in self.samples), *filter(None, [self.real])]
        ended = (run for run in runs if run.state in ("done", "stopped"))  # by themselves
        longest = max(ended, key=lambda run: run.seconds, default=None)
        if longest is None or longest.seconds < 0.05 or not longest.wall:  # 0.05: not tuned
            return load.stretch
        pace = longest.wall / longest.seconds
        return load.stretch if self.again and pace >= 1.0 else pace  # it was busy, or not, then

    def _all_warnings(self, total: float, parallel: float) -> list[str]:
        texts = list(self.warnings)
        if self.iterator:
            texts.append(
                "the function returns an iterator; the prediction is for drawing it, keeping "
                "nothing: a list or dictionary of its items takes more memory"
            )
        failed = [each.vertices for each in self.samples if each.run.state in REFUSED]
        ended = max((each.vertices for each in self.done), default=0)
        if failed and self.whole is None and max(failed) >= ended:
            texts.append(
                f"the function raised an error on {len(failed)} of {len(self.samples)} samples, of "
                f"up to {max(failed):,} vertices, and may on the graph: {self.raised}"
            )
        if self.budget.seconds == 0.0 and not self.again:
            return [*texts, "the budget is 0: nothing was measured, other graphs alone are known"]
        if self.whole is None and self.prefix is None:
            reason = self.shape.reason or "nothing was left of the budget for the start of the run"
            texts.append(
                f"the prediction is from samples alone: {reason}; a larger budget would narrow it"
            )
        if parallel > 1.2:  # not tuned
            texts.append(f"the function uses {parallel:.1f} cores: {total:.3g} CPU seconds in all")
        allowed = self.budget.allowed(total)
        if self.spent > TOLERATED * allowed:
            took, most = readable_seconds(self.spent), readable_seconds(allowed)
            texts.append(f"the prediction took {took}, more than its budget of {most}")
        return texts


def validate_function(function: GraphFunction, graph: Any, **options: Any) -> Comparison:
    """Predict a call of a function, then call it in a process of its own, then compare.

    Options are those of :func:`~predict_graph.predict`, whose errors it raises;
    also if the call fails.
    """
    case = FunctionCase(function, graph, **options)
    prediction, subject = case.predict(), case.subject
    case.progress("running for real", 0.0)
    whole = subject.whole()
    began = meter.mark()
    run = run_in_child(whole.build, whole.call, form=subject.function.form)
    if not run.done:
        raise JobError(failure(subject.function, subject.graph, run.sentence))
    if case.history is not None:
        given = subject.function, subject.graph, case.target, run
        case.history.keep([record_of_call(*given, converted=subject.converted)])
    phases = {"convert": run.convert_seconds if subject.converted else 0.0, "call": run.wall}
    peak = run.peak_bytes + (run.graph_bytes if subject.converted else 0.0)
    measured = {"processor_seconds": run.seconds, "peak_bytes": peak}
    actual = profile_of(subject.function, subject.graph, phases, **measured)
    return Comparison(prediction, replace(actual, slowdown=meter.read(began).slowdown))


def profile_of(
    function: GraphFunction, graph: Graph, phases: dict[str, float], **measured: Any
) -> RunProfile:
    """Return the profile of a call; what else was `measured` is called as its fields are."""
    return RunProfile(
        algorithm=function.name,
        parameters=function.arguments,
        graph=graph.describe(),
        engine=function.engine,
        phases=phases,
        rows=Table({}),
        convergence=np.empty(0),
        converged=None,
        **measured,
    )
