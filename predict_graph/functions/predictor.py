"""Predict a call of a graph function from inexpensive evidence first, within a budget.

Evidence are earlier runs of the function on other graphs; runs on samples that grow until the
budget is spent; and, where a sample shows that the function is one loop, the first part of the real
run. A run that fits into the budget is made instead.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil

from predict_graph.budget import DEFAULT_BUDGET, check_budget, check_within
from predict_graph.cores import meter
from predict_graph.errors import JobError, RequestError
from predict_graph.functions.advice import compiled_alternatives
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.evidence import ROUNDS_STD, Gathered, combine
from predict_graph.functions.growth import RUN_STD, Point
from predict_graph.functions.memory import predict_memory
from predict_graph.functions.naming import check_function, form_of, takes_seed, with_seed
from predict_graph.functions.prefix import (
    LoopShape,
    Prefix,
    clearest_shape,
    loop_shape,
    read_prefix,
)
from predict_graph.functions.records import SampleRun, earlier_points, keep_samples
from predict_graph.functions.reported import reporter
from predict_graph.functions.sampling import spread_order
from predict_graph.functions.subject import Case, check_subject
from predict_graph.functions.warm import load_compiled
from predict_graph.history import History, check_history
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.outcome import PeakMemory, Prediction, SourceEstimate
from predict_graph.outcome.verdict import verdict_of
from predict_graph.table import Table
from predict_graph.timing import clock

FUNCTION_BUDGET = replace(DEFAULT_BUDGET, least_seconds=5.0)  # a documented default
"""The larger of five seconds and 5% of the predicted run, at most two minutes."""

_TOLERATED = 1.25  # times its budget that a prediction may take: by definition, docs/functions.md
_FIRST_SIZE = 60  # vertices of the smallest sample; not tuned
_LEAST_SIZE = 4  # vertices of a sample at least: a square; not tuned
_FIRST_SECONDS = 0.02  # least seconds of an informative run on a sample; not tuned
_FIRST_PATIENCE = 10.0  # limits the seconds of the first sample
_GROWTH = 5.0  # limits the cost of a sample / cost of the last one
_PART = 0.35  # limits the share of the budget left that a sample takes
_MISJUDGED = 3.0  # limits how much longer than expected a sample takes, times
_FAILURES = 5  # limits the number of samples in sequence that fail
_MOST_SAMPLES = 40  # limits the number of processes
_MOST_POWER = 8.0  # limits the power of vertices that a cost grows with: some explode
_SPREAD_PART = 0.1  # of the vertices whose order is made for a first part, at least; not tuned
_SPREAD_SHARES = 3.0  # times the budget's share of the run, at least; not tuned
_FEWEST_CURVES = 2  # by definition: samples that show how a curve changes with size
_RANGE = 6.0  # vertices of the largest sample / of the smallest, to show growth; not tuned
_ALIKE = 1.2  # vertices of two samples of about one size, larger / smaller; not tuned
_REFUSED = ("error", "died")  # states of failed runs; by definition
_OUTLASTING = ("stopped", "time")  # states of unfinished runs; by definition
_CAREFUL = 0.67  # standard deviations: one run in four is shorter, by definition
_MEMORY_SHARE = 0.8  # limits the share of the free memory that a child takes


def predict_function(function: str | Callable[..., Any], graph: Any, **options: Any) -> Prediction:
    """Predict how long a call of a function on a graph takes, and what memory it needs.

    Parameters
    ----------
    function : str or callable
        See :func:`~predict_graph.functions.naming.check_function`.
    graph : graph-like
        As for :func:`~predict_graph.predict`; also a graph of igraph or networkit.
    **options
        See :class:`PredictionRun`.

    Raises
    ------
    RequestError
        If the function, its arguments or the graph cannot be used.
    JobError
        If the function fails on the graph.
    """
    return PredictionRun(function, graph, **options).predict()


class PredictionRun:
    """One prediction in progress.

    Parameters
    ----------
    arguments : sequence
        Positional arguments after the graph.
    keywords : mapping, optional
        Keyword arguments of the function.
    graph_form : str, optional
        What the function takes as its graph, if nothing else indicates it.
    budget : str or float, optional
        See :func:`~predict_graph.budget.check_budget`; by default the larger of five seconds and 5%
        of the predicted run, at most two minutes. Of a share, five seconds may be spent in any
        case, as the run is known after some samples only.
    directed, ids, history
        As for :func:`~predict_graph.predict`.
    seed : int, optional
        Of the samples; given to the function too if it has such a parameter.
    within : str or float, optional
        Half of the width of the interval / the prediction, at which no more samples are run.
    progress : callable, optional
        Takes a text and the part of the budget that is spent.
    **more
        Keyword arguments of the function.
    """

    def __init__(
        self,
        function: str | Callable[..., Any],
        graph: Any,
        *,
        arguments: Sequence[Any] = (),
        keywords: Mapping[str, Any] | None = None,
        graph_form: str | None = None,
        budget: str | float | None = None,
        directed: bool | None = None,
        ids: str | None = None,
        history: History | str | PathLike[str] | bool | None = None,
        seed: int | None = None,
        within: str | float | None = None,
        progress: Callable[[str, float], None] | None = None,
        **more: Any,
    ) -> None:
        self.budget = check_budget(budget, FUNCTION_BUDGET)
        self.within = check_within(within)
        if self.budget.share is not None:
            self.budget = replace(self.budget, least_seconds=FUNCTION_BUDGET.least_seconds)
        given = {**(keywords or {}), **more}
        checked = check_function(function, arguments, given, form=graph_form, graph=graph)
        self.function = with_seed(checked, seed)
        self.seed = secrets.randbits(31) if seed is None else _check_seed(seed)
        meter.start()
        began = clock.processor(children=False)
        self.subject = check_subject(
            self.function, graph, directed=directed, ids=ids, seed=self.seed
        )
        converting = clock.processor(children=False) - began
        # CPU seconds of children, and of reading a graph of a library.
        self.spent_elsewhere = converting if form_of(graph) is not None else 0.0
        self.graph = self.subject.graph
        self.history = check_history(history)
        load_compiled(self.graph.directed)
        self.started = clock.processor(children=False)
        self.rng = np.random.default_rng(self.seed)
        self.progress = progress or (lambda *_: None)
        self.available = float(psutil.virtual_memory().available)
        self.target = drivers_of(self.graph, self.rng)
        known = earlier_points(self.history, self.function, self.graph)
        self.gathered = Gathered(self.target, self.graph.fingerprint, known)
        self.warnings: list[str] = []
        self.iterator = False
        self.raised = ""  # by the function on the last sample that failed
        self.samples: list[SampleRun] = []
        self.connected = False
        self.wanted = _FIRST_SECONDS  # that the next sample should take
        self.prefix: Prefix | None = None
        self.real: ChildRun | None = None  # the run itself, or its first part

    @property
    def spent(self) -> float:
        """CPU seconds so far, of this process and of its children."""
        return clock.processor(children=False) - self.started + self.spent_elsewhere

    @property
    def done(self) -> list[SampleRun]:
        """The samples on which the function came to its end."""
        return [each for each in self.samples if each.run.done]

    @property
    def shape(self) -> LoopShape:
        """The loop of the function, from the run that shows most of it."""
        return clearest_shape(
            [each.shape for each in self.samples if each.run.state not in _REFUSED]
        )

    @property
    def whole(self) -> ChildRun | None:
        """The run itself, if it ended within the budget."""
        return self.real if self.real is not None and self.real.done else None

    def predict(self) -> Prediction:
        """Gather evidence and combine it."""
        if self.budget.most > 0.0:
            self._gather()
        elif not self.gathered.earlier:
            raise RequestError(
                f"the budget is 0, but no earlier runs of {self.function.name} with these "
                "arguments are known; accepted: a budget above 0"
            )
        if self.whole is None and not (self.gathered.points or self.gathered.earlier):
            raise JobError(self._nothing_ran())
        if self.history is not None:
            keep_samples(self.history, self.function, self.graph, self.done)
        return self._combined()

    # --- gathering evidence -------------------------------------------------------------------

    def _gather(self) -> None:
        """Run samples of growing size, until the run itself or its first part is affordable.

        One sampler's until a run takes long enough to show something, then by all in turn.
        """
        samplers, turn, failed = self.subject.samplers, 0, 0
        size = min(_FIRST_SIZE, self.graph.vertices)
        while size and len(self.samples) < _MOST_SAMPLES and failed < _FAILURES:
            left = self._left()
            if self._fits(left) or self._prefix_helps(left, len(samplers)):
                self._run_real(left)
                if self.whole is not None or self.prefix is not None:
                    return
                left = self._left()
            if left <= 0.0 and self.gathered.points:
                break
            run = self._run_sample(samplers[turn % len(samplers)], size, left)
            if run is None:
                continue
            if self._near_enough():
                return
            failed = failed + 1 if run.state in _REFUSED else 0
            if self.gathered.points:
                turn += not run.done or run.seconds >= _FIRST_SECONDS
                turn, size = self._next_sample(turn)
            elif failed:  # larger ones may be accepted
                turn, size = turn + 1, min(2 * size, self.graph.vertices)
            else:
                size = size // 2 if size // 2 >= _LEAST_SIZE and self._left() > 0.0 else 0
        last = self.samples[-1].run.state if self.samples else ""
        refused = self.raised and (last in _REFUSED or len(self.done) < 2)
        if refused and self.real is None:
            self._run_real(max(self._left(), _FIRST_SECONDS))
            if self.whole is None and not self.gathered.points:
                raise JobError(
                    f"{self.function.name} fails on samples of {self.graph.name}, so nothing can "
                    f"be predicted: {self.raised}"
                )
            return
        left, found = self._left(), self.gathered.growth()
        fits = found is not None and found.cost + self._conversion() < left
        if self.real is None and (fits or self._prefix_helps(left, 1)):
            self._run_real(left)

    def _near_enough(self) -> bool:
        found = self.gathered.growth()
        if self.within is None or found is None or len(self.done) < 2:
            return False
        return math.sinh(QUANTILE * found.log_std) <= self.within

    def _next_sample(self, turn: int) -> tuple[int, int]:
        """Return the sampler in turn whose next sample is larger, and its vertices; 0 for none.

        Where samples do not differ enough in size to show growth, smaller ones are inexpensive.
        """
        samplers = self.subject.samplers
        least = min(self.done, key=lambda each: each.vertices)
        most = max(each.vertices for each in self.done)
        unknown = most < min(_RANGE * least.vertices, self.graph.vertices)
        for following in range(turn, turn + len(samplers)):
            size = self._next_size(samplers[following % len(samplers)])
            if size:
                return following, size
        smaller = least.vertices // 2 if unknown and least.vertices > 2 * _LEAST_SIZE else 0
        return samplers.index(least.sampler), smaller

    def _next_size(self, sampler: str) -> int:
        """Return the vertices of a sampler's next sample, 0 if it would hardly be larger.

        As large as a cautious estimate of its growth allows: one that is stopped shows little. All
        samplers begin at one size, so that their differences show.
        """
        own = [each for each in self.done if each.sampler == sampler]
        refused = (each.run.state in _REFUSED for each in self.samples if each.sampler == sampler)
        if not own and any(refused):
            return 0
        whole, left, found = self.graph.vertices, max(self._left(), 0.0), self.gathered.growth()
        largest = max(own or self.done, key=lambda each: (each.vertices, each.run.seconds))
        size, seconds = largest.vertices, max(largest.run.seconds, 0.2 * _FIRST_SECONDS)
        longest = max(seconds, *(each.run.seconds for each in self.done))
        self.wanted = min(_GROWTH * longest, _PART * left)
        if not own:
            first = min(
                (each for each in self.done if each.run.seconds >= _FIRST_SECONDS),
                default=largest,
                key=lambda each: each.vertices,
            )
            return first.vertices if first.run.seconds < self.wanted else 0
        power = 1.5
        if found is not None:
            most = found.cost * math.exp(_CAREFUL * found.log_std)
            power = math.log(max(most / seconds, 2.0)) / math.log(max(whole / size, 1.1))
        power = min(max(power, 1.0), _MOST_POWER)
        following = int(min(size * min((self.wanted / seconds) ** (1.0 / power), 4.0), whole))
        unfinished = [each for each in self.samples if each.run.state in _OUTLASTING]
        stopped = min((e.vertices for e in unfinished if e.sampler == sampler), default=whole + 1)
        if following >= stopped:
            following = math.isqrt(size * stopped)
        return following if following > _ALIKE * size else 0

    def _left(self) -> float:
        """Return the seconds that may still be spent."""
        return self._allowed() - self.spent

    def _allowed(self) -> float:
        """Return what may be spent, by a cautious estimate of the run."""
        found = self.gathered.growth()
        if found is None:
            return self.budget.allowed(0.0)
        return self.budget.allowed(found.cost * math.exp(-_CAREFUL * found.log_std))

    def _run_sample(self, sampler: str, size: int, left: float) -> ChildRun | None:
        """Run a sample; None if connected samples follow because the function refuses others."""
        case = self.subject.sample(sampler, size, self.rng, connected=self.connected)
        self.progress(f"a sample of {case.graph.vertices:,} vertices", self._part())
        patience = min(max(_MISJUDGED * self.wanted, 1.0), left)
        if not self.done:
            patience = min(_FIRST_PATIENCE, 0.5 * left)
        run = self._run(case, Limits(seconds=patience))
        if run.done and run.imported:  # which took time too
            run = self._run(case, Limits(seconds=patience))
        drivers = drivers_of(case.graph, self.rng)
        shape = loop_shape(run.observations, run.seconds if run.done else None)
        self.samples.append(SampleRun(case, sampler, drivers, run, shape))
        if run.state in _REFUSED:
            words = run.sentence.lower()
            if not self.connected and ("connected" in words or "infinite" in words):
                self.connected = True
                self.warnings.append(
                    f"the function refuses samples that are not connected ({run.sentence}): it ran "
                    "on their largest connected part"
                )
                return None
            self.raised = run.sentence
            return run
        if run.done:
            point = Point(
                *(drivers, run.seconds, sampler, self.graph.fingerprint),
                rounds=shape.rounds,
                early=shape.early,
            )
            self.gathered.add(point)
            self.iterator |= run.generator
        elif run.state in _OUTLASTING:
            self.gathered.add_stopped(drivers, run.seconds, sampler)
        return run

    def _prefix_helps(self, left: float, minimum: int) -> bool:
        """Whether the first part of the real run would reach a loop that predicts the rest."""
        shape, done = self.shape, self.done
        if not shape.loop or len(done) < minimum or self.real is not None:
            return False
        longest = max(done, key=lambda each: each.run.seconds, default=None)
        seconds = 0.0 if longest is None else longest.run.seconds
        known = self.gathered.rounds() is not None and seconds > 10.0 * _FIRST_SECONDS
        if self.gathered.early and not known:
            return False
        if not shape.counted and len(self._shapes) < _FEWEST_CURVES:
            return False
        before = 0.0
        if longest is not None and longest.shape.before > _FIRST_SECONDS:
            before = longest.shape.before * self.graph.edges / max(longest.case.graph.edges, 1)
        return left > self._conversion() + 2.0 * before + 5.0 * _FIRST_SECONDS

    @property
    def _shapes(self) -> list[LoopShape]:
        """The shapes of all runs that are one loop."""
        return [each.shape for each in self.done if each.shape.loop]

    def _fits(self, left: float) -> bool:
        """Whether the run itself is affordable."""
        found = self.gathered.growth()
        sizes = {each.vertices for each in self.done}
        if found is None or self.real is not None or len(self.done) < 2:
            return False
        if max(sizes) <= _ALIKE * min(sizes) and max(sizes) < self.graph.vertices:
            return False  # samples of one size do not show growth
        return found.cost * math.exp(found.log_std) + self._conversion() < left

    def _run_real(self, left: float) -> None:
        """Run the function on the graph for as long as affordable."""
        self.progress("the run itself or its first part", self._part())
        rounds = self.gathered.rounds()
        share = self.budget.share or 0.0
        limits = Limits(
            seconds=max(left - self._conversion(), _FIRST_SECONDS),
            # A share of its pace so far.
            budget=replace(self.budget, share=share ** (1.0 / self.shape.power) or None),
            already=self.spent,
            rounds=math.inf if rounds is None else rounds.cost,
            loop=self.shape.loop,
        )
        # An unfinished run is of use in an order in which its first part is like the whole.
        order = np.arange(self.graph.vertices) if self._fits(left) else self._order(share)
        run = self.real = self._run(self.subject.whole(order), limits)
        if run.state == "error":
            raise JobError(f"{self.function.name} fails on {self.graph.name}: {run.sentence}")
        if run.done:
            self.iterator |= run.generator
        elif run.state == "memory":
            self.warnings.append(
                "the first part of the run took more memory than is free, and was stopped"
            )
        elif run.state == "died":
            self.warnings.append(f"the first part of the run ended by itself: {run.sentence}")
        else:
            self.gathered.add_stopped(self.target, run.seconds)
            shape = self.shape if self.shape.loop else loop_shape(run.observations)
            shapes = [each for each in self._shapes if each.loop == shape.loop]
            self.prefix = read_prefix(
                run.observations, run.seconds, shape, self.gathered.rounds, shapes
            )

    def _order(self, share: float) -> npt.NDArray[np.integer]:
        """Return the order of the vertices: as far as a first part gets, always like the whole."""
        rounds = self.gathered.rounds()
        if rounds is not None and share * rounds.cost > 2.0:
            return np.arange(self.graph.vertices)  # several passes over all vertices
        part = 1.0 if self.gathered.early else max(_SPREAD_PART, _SPREAD_SHARES * share)
        return spread_order(self.graph, self.rng, min(part, 1.0))

    def _run(self, case: Case, limits: Limits) -> ChildRun:
        run = run_in_child(
            case.build,
            case.call,
            replace(
                limits,
                setup=_TOLERATED * self._allowed() - self.spent,
                memory=_MEMORY_SHARE * float(psutil.virtual_memory().available),
            ),
            progress=reporter(self.function.form),
        )
        self.spent_elsewhere += run.spent
        return run

    # --- combining it -------------------------------------------------------------------------

    def _combined(self) -> Prediction:
        self.progress("combining the evidence", 1.0)
        evidence = self._evidence()
        total, log_std = combine(evidence)
        seen = 0.0 if self.real is None else self.real.seconds
        parallel, load = self._parallel(), meter.read()
        others = math.log(load.slowdown) / QUANTILE  # which may end or double before the run
        # The waiting of several threads is part of their time by the clock.
        pace = load.stretch if parallel == 1.0 else 1.0 / parallel
        call = Interval.spread(total, math.hypot(log_std, others)).scaled(pace)
        call = replace(call, low=max(call.low, min(pace, 1.0) * min(seen, total)))
        convert = Interval(0.0, 0.0, 0.0)
        if self.subject.converted:
            spread = math.hypot(0.15, others)  # 0.15: not tuned
            convert = Interval.spread(self._conversion(), spread).scaled(load.stretch)
        runtime = Interval(
            call.predicted + convert.predicted, call.low + convert.low, call.high + convert.high
        )
        phases = {"convert": convert.predicted, "call": call.predicted}
        return Prediction(
            algorithm=self.function.describe(),
            graph=self.graph.describe(),
            engine=self.function.engine,
            seed=self.seed,
            iterations=None,
            runtime_seconds=runtime,
            phases=phases,
            rows=Table({}),
            samples=[each.summary(self.graph) for each in self.samples],
            evidence=evidence,
            overhead_seconds=self.spent,
            edge_visits=0.0,
            method={},
            warnings=[*self._all_warnings(total, parallel), *load.warnings],
            verdict=verdict_of(
                runtime,
                phases,
                load=load,
                memory=self._memory(),
                outgrown=self.gathered.outgrown(self.prefix) if self.whole is None else "",
            ),
            budget=str(self.budget),
            load=load,
            processor_seconds=total,
            advice=compiled_alternatives(self.function, runtime.predicted),
        )

    def _memory(self) -> PeakMemory | None:
        """Return the growth of the resident memory; None where no run ended."""
        if not self.done and self.whole is None:
            return None
        prefix = self.prefix
        peak = predict_memory(
            [(each.drivers, each.run) for each in self.done],
            self.target,
            self.whole,
            self.real,
            converted=self.subject.converted,
            rounds_left=math.inf if prefix is None else prefix.total / prefix.rounds,
        )
        return PeakMemory(peak, self.available, keeps_items=not self.iterator)

    def _evidence(self) -> list[SourceEstimate]:
        whole = self.whole
        if whole is not None:
            std = RUN_STD if not takes_seed(self.function) else math.hypot(RUN_STD, ROUNDS_STD)
            return [SourceEstimate("run", whole.seconds, std, 1.0, "the run itself")]
        return self.gathered.estimates(self.prefix)

    def _conversion(self) -> float:
        """Return the CPU seconds of building the library's graph."""
        if self.real is not None and self.real.convert_seconds:
            return self.real.convert_seconds
        if not self.subject.converted:
            return 2e-6 * self.graph.vertices  # two entries of a dictionary; not tuned
        rates = [
            each.run.convert_seconds / (each.vertices + each.case.graph.edges) for each in self.done
        ]
        rate = float(np.median(rates[-3:])) if rates else 1e-6  # the default: not tuned
        return (self.graph.vertices + self.graph.edges) * rate

    def _parallel(self) -> float:
        """Return CPU seconds for each second by the clock, of the longest run."""
        runs = [each.run for each in self.done] + ([] if self.real is None else [self.real])
        longest = max(runs, key=lambda run: run.seconds, default=None)
        if longest is None or longest.seconds < 0.05 or not longest.wall:  # 0.05: not tuned
            return 1.0
        return max(longest.seconds / longest.wall, 1.0)

    def _all_warnings(self, total: float, parallel: float) -> list[str]:
        texts = list(self.warnings)
        if self.iterator:
            texts.append(
                "the function returns an iterator; the prediction is for drawing it, keeping "
                "nothing: a list or dictionary of its items takes more memory"
            )
        if self.raised and self.whole is None:
            failed = [each.vertices for each in self.samples if each.run.state in _REFUSED]
            texts.append(
                f"the function raised an error on {len(failed)} of {len(self.samples)} samples, of "
                f"up to {max(failed):,} vertices, and may on the graph: {self.raised}"
            )
        if self.budget.most == 0.0:
            return [*texts, "the budget is 0: nothing was measured, earlier runs alone are known"]
        if self.whole is None and self.prefix is None:
            reason = self.shape.reason or "the budget did not reach it"
            texts.append(
                f"the prediction is from samples alone: {reason}; a larger budget would tighten it"
            )
        if parallel > 1.2:  # not tuned
            texts.append(f"the function uses {parallel:.1f} cores: {total:.3g} CPU seconds in all")
        if self.spent > _TOLERATED * self.budget.allowed(total):
            texts.append("the prediction has taken more than its budget")
        return texts

    def _nothing_ran(self) -> str:
        if all(each.run.state in _OUTLASTING for each in self.samples):
            last = self.samples[-1]
            return (
                f"{self.function.name} did not come to its end on a sample of {last.vertices} "
                f"vertices within {last.run.seconds:.3g} CPU seconds; accepted: a larger "
                "budget"
            )
        states = ", ".join(f"{each.vertices} vertices: {each.run.state}" for each in self.samples)
        return f"{self.function.name} did not finish on any sample ({states})"

    def _part(self) -> float:
        allowed = self._allowed()
        return min(self.spent / allowed, 1.0) if math.isfinite(allowed) and allowed > 0 else 0.0


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise RequestError(f"the seed is {seed!r}; accepted: an integer of 0 or more")
    return seed
