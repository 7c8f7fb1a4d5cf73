"""Predicting a call of a graph function, by the cheapest evidence first, within a budget.

The plan: earlier runs of the function on other graphs, or those that are shipped; runs on samples
that grow until the budget is spent; and, where a sample shows that the function is one loop, the
first part of the real run. Where the graph is so small that the run itself is within the budget,
that is what is done.
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

from predict_graph.budget import DEFAULT_BUDGET, Budget, check_budget
from predict_graph.cores import meter
from predict_graph.errors import JobError, RequestError
from predict_graph.functions.advice import LONG, alike, fewer, trial_of
from predict_graph.functions.child import ChildRun, Limits, processor_seconds, run_in_child
from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.evidence import Gathered, combined
from predict_graph.functions.forms import missing_library
from predict_graph.functions.growth import Point
from predict_graph.functions.iterated import RoundCounter
from predict_graph.functions.memory import foretell_memory
from predict_graph.functions.naming import check_function, form_of, with_seed
from predict_graph.functions.prediction import Evidence, FunctionPrediction, SampleRow
from predict_graph.functions.prefix import (
    LoopShape,
    Prefix,
    gave_up,
    loop_shape,
    read_prefix,
    shape_of_part,
    surer,
)
from predict_graph.functions.records import earlier_points, keep_samples
from predict_graph.functions.reported import reporter
from predict_graph.functions.sampling import spread_order
from predict_graph.functions.shipped import shipped_points
from predict_graph.functions.subject import Case, Subject, check_subject
from predict_graph.functions.warm import load_compiled
from predict_graph.history import History, check_history
from predict_graph.intervals import QUANTILE
from predict_graph.intervals import Interval as Figure

__all__ = ["predict_function"]

Steps = Callable[[str, float], None]

FUNCTION_BUDGET = replace(DEFAULT_BUDGET, least_seconds=5.0)  # a documented default
"""The larger of five seconds and 5% of the predicted run, at most two minutes."""

_TOLERATED = 1.25  # times its budget, that a prediction may take: by definition, docs/functions.md
_FIRST_SIZE = 60  # vertices of the smallest sample; a choice
_LEAST_SIZE = 4  # vertices of a sample at least; a choice: a square has what a graph may have
_FIRST_SECONDS = 0.02  # a run on a sample is worth something from here on; a choice
_FIRST_PATIENCE = 10.0  # seconds in which a function should end on a small sample; a choice
_GROWTH = 5.0  # cost of a sample / cost of the last one, at most; judgement
_PART = 0.35  # of what is left that one sample may take; judgement
_COUNTING_PART = 0.5  # of what is left that counting rounds may take; judgement
_OF_A_SAMPLE = 0.05  # of a run on a sample that counting its rounds may take; judgement
_LEAST_COUNTING = 0.005  # seconds of the same, at least; judgement
_LAST_PART = 0.5  # of what is left, for one more sample where no prefix can be had; judgement
_MOST_SAMPLES = 14  # judgement
_MOST_POWER = 8.0  # of vertices that seconds are thought to grow with; judgement: some explode
_WHOLE_ROUNDS = 2.0  # in a first part, for which the order of one does not count; a choice
_SPREAD_PART = 0.1  # of the vertices whose order is made for a first part, at least; a choice
_SPREAD_SHARES = 3.0  # times the budget's share of the run, at least; a choice
_FEWEST_CURVES = 2  # by definition: of a loop that is not counted, how they change has to be seen
_SMALLER = (0.5, 0.7)  # of the vertices of samples that are all of one size; judgement
_ALIKE = 1.2  # vertices of the largest sample / of the smallest, at most; judgement
_WORTH_SMALLER = 0.1  # seconds of a run from which smaller ones can be measured; judgement
_APART = 1.2  # vertices of a sample / of the next smaller one, at least; judgement
_REFUSED = ("error", "died")  # states of runs that will not do; by definition
_OUTLASTING = ("stopped", "time")  # states of runs that were given up; by definition
_CAREFUL = 0.67  # standard deviations: one run in four is shorter, by definition
_MEMORY_SHARE = 0.8  # of the memory that is free that a child may take; a choice


def predict_function(
    function: str | Callable[..., Any],
    graph: Any,
    *,
    arguments: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    graph_form: str | None = None,
    budget: str | float | None = None,
    memory: float | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Steps | None = None,
    **more: Any,
) -> FunctionPrediction:
    """Predict how long a call of a function on a graph takes, and what memory it needs.

    Parameters
    ----------
    function : str or callable
        See :func:`~predict_graph.functions.naming.check_function`.
    graph : graph-like
        As for :func:`~predict_graph.predict`; also a graph of igraph or networkit.
    arguments : sequence
        Positional arguments after the graph.
    keywords : mapping, optional
        Keyword arguments of the function.
    graph_form : str, optional
        What the function takes as its graph, if nothing else says so.
    budget : str or float, optional
        See :func:`~predict_graph.budget.check_budget`; by default the larger of five seconds and 5%
        of the predicted run, at most two minutes. Of a share, five seconds may be spent in any
        case, as what it is a share of is known after some runs only.
    memory : float, optional
        Bytes that the run may take; by default what is free.
    directed, ids, history
        As for :func:`~predict_graph.predict`.
    seed : int, optional
        Of the samples; given to the function too if it has such a parameter.
    progress : callable, optional
        Takes a text and the part of the budget that is spent.
    **more
        Keyword arguments of the function.

    Raises
    ------
    RequestError
        If the function, its arguments or the graph cannot be used.
    JobError
        If the function fails on the graph.
    """
    limit = check_budget(budget, FUNCTION_BUDGET)
    if limit.share is not None:
        limit = replace(limit, least_seconds=FUNCTION_BUDGET.least_seconds)
    given = {**(keywords or {}), **more}
    checked = check_function(function, arguments, given, form=graph_form, graph=graph)
    checked = with_seed(checked, seed)
    problem = missing_library(checked.form)
    if problem is not None:
        raise problem
    entropy = secrets.randbits(31) if seed is None else _check_seed(seed)
    meter.start()
    began = processor_seconds(children=False)
    subject = check_subject(checked, graph, directed=directed, ids=ids, seed=entropy)
    converting = processor_seconds(children=False) - began if form_of(graph) is not None else 0.0
    kept = check_history(history)
    load_compiled(subject.graph.directed, checked)
    asked = _Prediction(subject, limit, kept, entropy, memory, progress or (lambda *_: None))
    asked.spent_elsewhere += converting
    return asked.made()


class _Prediction:
    """One prediction in the making."""

    def __init__(
        self,
        subject: Subject,
        budget: Budget,
        history: History | None,
        seed: int,
        memory: float | None,
        progress: Steps,
    ) -> None:
        self.started = processor_seconds(children=False)
        self.subject = subject
        self.function = subject.function
        self.budget = budget
        self.history = history
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.progress = progress
        self.available = memory or float(psutil.virtual_memory().available)
        self.spent_elsewhere = 0.0  # by children, and by what came before
        self.target = drivers_of(subject.graph, self.rng)
        self.gathered = Gathered(self.target, subject.graph.fingerprint)
        self.warnings: list[str] = []
        self.iterator = False
        self.raised = ""  # what the function raised on the last sample that it refused
        self.rows: list[SampleRow] = []
        self.runs: list[tuple[Case, str, Mapping[str, float], ChildRun]] = []
        self.connected = False
        self.too_large = subject.graph.vertices + 1  # of samples: the least not to end
        self.warms = True  # as long as the function ends on a tiny graph
        self.shape = LoopShape(reason="no run on a sample has come to its end")
        self.counter = RoundCounter(subject.function, subject.graph, self.rng)
        self.shapes: list[LoopShape] = []  # of all runs that showed one
        self.prefix: Prefix | None = None
        self.prefix_run: ChildRun | None = None
        self.whole: ChildRun | None = None

    @property
    def spent(self) -> float:
        """Processor seconds so far, of this process and of its children."""
        return processor_seconds(children=False) - self.started + self.spent_elsewhere

    def made(self) -> FunctionPrediction:
        known = earlier_points(self.history, self.function, self.subject.graph)
        self.gathered.add_history(known or shipped_points(self.function))
        if self.budget.most > 0.0:
            self._climb()
        elif not self.gathered.earlier:
            raise RequestError(
                f"the budget is 0, but no earlier runs of {self.function.name} with these "
                "arguments are known; accepted: a budget above 0"
            )
        if self.whole is None and not (self.gathered.points or self.gathered.earlier):
            raise JobError(self._nothing_ran())
        if self.history is not None:
            keep_samples(self.history, self.function, self.subject.graph, self.runs)
        return self._assembled()

    # --- gathering evidence -------------------------------------------------------------------

    def _climb(self) -> None:
        """Run samples of growing size, until something better can be afforded, or nothing more."""
        size, turn = min(_FIRST_SIZE, self.subject.graph.vertices), 0
        wanted = _FIRST_SECONDS
        self._count_rounds(_COUNTING_PART * self._left())  # the function may be found to fail
        while len(self.rows) < _MOST_SAMPLES:
            left = self._left()
            if self._run_is_cheap(left):
                self._run_whole(left)
                if self.whole is not None:
                    return
            if self._prefix_is_due(left, len(self.subject.samplers)):
                break
            if left <= 0.0 and self.gathered.points:
                break
            sampler = self.subject.samplers[turn % len(self.subject.samplers)]
            case = self.subject.sample(sampler, size, self.rng, connected=self.connected)
            enough = max(3.0 * wanted, 0.2, min(left, 1.0))  # judgement: it may be misjudged
            patience = enough if self.runs else min(_FIRST_PATIENCE, _LAST_PART * left)
            run = self._run_sample(case, sampler, patience)
            if run.state in _REFUSED:
                if self._asks_for_connection(run.sentence):
                    continue
                self.raised = run.sentence
                if len(self.rows) > 4 and not self.gathered.points:
                    break
            elif not run.done:
                self.too_large = min(self.too_large, case.graph.vertices)
                if not self.gathered.points:  # on any sample yet: smaller ones may
                    size //= 2
                    if size >= _LEAST_SIZE and self._left() > 0.0:
                        continue
                    break
            turn += 1
            wanted = max(wanted, run.seconds if run.done else 0.0)
            small = run.seconds < _FIRST_SECONDS
            dear = run.seconds > _PART * self._left() or run.state in _OUTLASTING
            if small or dear or turn % len(self.subject.samplers) == 0:
                turn = 0 if small else turn
                size, wanted = self._next_size(size, run.seconds if run.done else 0.0, left)
                size = self._size_below() if size >= self.too_large else size
            if size == 0:
                break
        if self.raised and (self.rows[-1].state in _REFUSED or len(self.runs) < 2):
            self._run_in_spite()
            return
        left = self._left()
        if self._run_is_cheap(left):
            self._run_whole(left)
        elif self._prefix_is_due(left, 1):
            self._run_prefix(left)
        if self.prefix is not None or self.whole is not None:
            return
        self._run_smaller()
        left, found = self._left(), self.gathered.growth()
        if self._prefix_is_due(left, 1):
            self._run_prefix(left)
        elif self.prefix_run is None and found and found.cost + self._conversion() < left:
            self._run_whole(left)  # it may be longer, which is then known
        else:
            self._run_last_samples()

    def _size_below(self) -> int:
        """Return a size between samples that came to their end and those that did not; 0: none."""
        done = max((row.vertices for row in self.rows if row.state == "done"), default=0)
        between = math.isqrt(done * self.too_large)
        return between if between > _APART * done else 0

    def _run_last_samples(self) -> None:
        """Spend what is left on larger samples, by the sampler that is most like the whole.

        Each is as large as a cautious estimate of its growth allows: one that is stopped says
        little.
        """
        whole = self.subject.graph.vertices
        while len(self.rows) < _MOST_SAMPLES and not self._prefix_is_due(self._left(), 1):
            left, found = self._left(), self.gathered.growth()
            done = [row for row in self.rows if row.state == "done"]
            if found is None or not done or not math.isfinite(left):
                return
            last = max(done, key=lambda row: row.seconds)
            wanted = _LAST_PART * left
            if wanted < 1.5 * last.seconds or last.vertices >= 0.5 * whole:  # judgement, as below
                return
            most = found.cost * math.exp(_CAREFUL * found.log_std)
            power = math.log(max(most / last.seconds, 2.0)) / math.log(whole / last.vertices)
            factor = (wanted / last.seconds) ** (1.0 / min(max(power, 1.0), _MOST_POWER))
            size = int(min(last.vertices * min(factor, 6.0), 0.7 * whole))
            if not last.vertices < size < self.too_large:
                return
            sampler = self.subject.samplers[0]
            case = self.subject.sample(sampler, size, self.rng, connected=self.connected)
            if not self._run_sample(case, sampler, left).done:
                return
        if self._prefix_is_due(self._left(), 1):
            self._run_prefix(self._left())

    def _run_smaller(self) -> None:
        """Run smaller samples where all are of one size; they take less than that one together."""
        done = [case.graph.vertices for case, _, _, _ in self.runs]
        if not done or not self._are_alike():
            return
        for part in _SMALLER:
            left = self._left()
            if left <= 0.0:
                return
            case = self.subject.sample(
                self.subject.samplers[0], int(part * min(done)), self.rng, connected=self.connected
            )
            longest = max(run.seconds for _, _, _, run in self.runs)
            if longest > _WORTH_SMALLER:
                self._run_sample(case, self.subject.samplers[0], min(longest, left))

    def _are_alike(self) -> bool:
        """Whether samples are all of one size, less than the graph: they say nothing of growth."""
        done = [case.graph.vertices for case, _, _, _ in self.runs]
        return max(done) <= _ALIKE * min(done) and max(done) < self.subject.graph.vertices

    def _left(self) -> float:
        """Return the seconds that may be spent yet."""
        return self._allowed() - self.spent

    def _asks_for_connection(self, sentence: str) -> bool:
        """Whether a refusal can be met by connected samples, which come from now on."""
        words = sentence.lower()
        if self.connected or not ("connected" in words or "infinite" in words):
            return False
        self.connected = True
        self.warnings.append(
            f"the function refuses samples that are not connected ({sentence}): it ran on their "
            "largest connected part"
        )
        return True

    def _allowed(self) -> float:
        """Return what may be spent, by a cautious estimate of the run."""
        found = self.gathered.growth()
        if found is None:
            return self.budget.allowed(0.0)
        return self.budget.allowed(found.cost * math.exp(-_CAREFUL * found.log_std))

    def _next_size(self, size: int, seconds: float, left: float) -> tuple[int, float]:
        """Return the vertices of the next samples, 0 for none, and what one should take."""
        whole = self.subject.graph.vertices
        found = self.gathered.growth()
        per_sample = left * _PART / max(len(self.subject.samplers), 1)
        last = max(seconds, 0.2 * _FIRST_SECONDS)  # judgement, as below
        wanted = min(_GROWTH * last, per_sample if math.isfinite(per_sample) else _GROWTH * last)
        if size >= 0.7 * whole or (wanted < 1.3 * last and seconds >= _FIRST_SECONDS):
            return 0, wanted
        power = 1.5
        if found is not None and found.cost > 1.5 * last:
            power = math.log(found.cost / last) / math.log(whole / size)
        factor = (max(wanted, 1.5 * last) / last) ** (1.0 / min(max(power, 0.7), _MOST_POWER))
        return int(min(max(size * min(factor, 4.0), size + 1), whole)), wanted

    def _run_sample(self, case: Case, sampler: str, seconds: float) -> ChildRun:
        self.progress(f"a sample of {case.graph.vertices:,} vertices", self._part())
        run = self._run(case, Limits(seconds=seconds))
        if run.state == "error" and self.gathered.counted and gave_up(run.looks):
            run = replace(run, state="done")  # all its rounds are as good as those of others
        self.rows.append(
            SampleRow(
                sampler,
                case.graph.vertices,
                case.graph.edges,
                run.seconds,
                run.peak_bytes,
                run.state,
            )
        )
        if run.done:
            drivers = drivers_of(case.graph, self.rng)
            self.runs.append((case, sampler, drivers, run))
            shape = loop_shape(
                run.looks, run.seconds, case.graph.vertices, converges=self.gathered.counted
            )
            graph = self.subject.graph.fingerprint
            rounds = shape.rounds or self.counter.on(case.graph).usual(
                max(_OF_A_SAMPLE * run.seconds, _LEAST_COUNTING)
            )
            self.gathered.add(Point(drivers, run.seconds, sampler, graph, rounds))
            self.gathered.turns |= shape.turned
            self.iterator |= run.generator
            if rounds:
                self._count_rounds(_COUNTING_PART * self._left())
            self.shapes += [shape] if shape.loop else []
            self.shape = surer(self.shape, shape)
        elif run.state in _OUTLASTING:
            self.gathered.add_stopped(drivers_of(case.graph, self.rng), run.seconds)
            shape = shape_of_part(run.looks)
            self.shape = shape if shape.loop and not self.shape.loop else self.shape
        return run

    def _count_rounds(self, seconds: float) -> None:
        """Count the rounds of a loop that ends when it has converged, where something can."""
        if not self.gathered.counted:
            rounds = self.counter.counted(seconds)
            if rounds is not None:
                self.gathered.count_rounds(rounds)

    def _prefix_is_due(self, left: float, fewest: int) -> bool:
        """Whether the first part of the real run is what the rest of the budget should go to."""
        if not self.shape.loop or len(self.runs) < fewest or self.prefix is not None:
            return False
        if self.prefix_run is not None and self.prefix_run.state != "stopped":
            return False
        if self.shape.rounds and not self._rounds_are_known:
            return False
        if not self.shape.counted and len(self.shapes) < _FEWEST_CURVES:
            return False
        return left > self._conversion() + 5.0 * _FIRST_SECONDS

    @property
    def _rounds_are_known(self) -> bool:
        """Whether there are samples enough to say how many rounds a loop that ends early will do.

        And one that took long enough for its seconds to say what the first part may cost.
        """
        longest = max((run.seconds for _, _, _, run in self.runs), default=0.0)
        return self.gathered.rounds() is not None and longest > 10.0 * _FIRST_SECONDS

    def _run_prefix(self, left: float) -> None:
        self.progress("the first part of the run", self._part())
        rounds = self.gathered.rounds()
        limits = Limits(
            seconds=max(left - self._conversion(), _FIRST_SECONDS),
            share=(self.budget.share or 0.0) / self.shape.bend(0.0),  # of its pace so far
            floor=self.budget.least_seconds,
            most=self.budget.most,
            already=self.spent,
            rounds=rounds.total if rounds is not None else math.inf,
            loop=self.shape.loop,
        )
        run = self._run(self.subject.whole(self._order()), limits)
        self.prefix_run = run
        if run.state == "error":
            raise JobError(
                f"{self.function.name} fails on {self.subject.graph.name}: {run.sentence}"
            )
        if run.done:
            self.whole = run
            return
        if run.state in ("memory", "died"):
            self._explain_death(run)
            return
        self.gathered.add_stopped(self.target, run.seconds)
        self.prefix = self._read(run)

    def _order(self) -> npt.NDArray[np.integer]:
        """Return the order of the vertices in a run whose first part may have to say it all.

        One whose every beginning is like the whole, as far as the first part can get. A loop that
        goes through all vertices in each round gets them as they are.
        """
        rounds = self.gathered.rounds()
        share = self.budget.share or 0.0
        if self.shape.rounds and rounds is not None and share * rounds.total > _WHOLE_ROUNDS:
            return np.arange(self.subject.graph.vertices)
        if self.shape.rounds:
            return spread_order(self.subject.graph, self.rng)
        part = max(_SPREAD_PART, _SPREAD_SHARES * share)
        return spread_order(self.subject.graph, self.rng, min(part, 1.0))

    def _read(self, run: ChildRun) -> Prefix | None:
        shapes = [each for each in self.shapes if each.loop == self.shape.loop]
        size, rounds = self.subject.graph.vertices, self.gathered.rounds()
        return read_prefix(run.looks, run.seconds, self.shape, rounds, shapes, size)

    def _run_is_cheap(self, left: float) -> bool:
        found = self.gathered.growth()
        tried = self.whole is not None or self.prefix_run is not None
        if found is None or tried or len(self.runs) < 2 or self._are_alike():
            return False
        return found.cost * math.exp(found.log_std) + self._conversion() < left

    def _run_whole(self, left: float) -> None:
        """Run the function itself, for as long as there is left; if it is longer, as a prefix."""
        self.progress("the run itself, which is as cheap", self._part())
        limits = Limits(seconds=max(left - self._conversion(), _FIRST_SECONDS))
        run = self._run(self.subject.whole(self._order()), limits)
        if run.state == "error":
            raise JobError(
                f"{self.function.name} fails on {self.subject.graph.name}: {run.sentence}"
            )
        if run.done:
            self.whole = run
            self.iterator |= run.generator
        elif run.state in ("memory", "died"):
            self._explain_death(run)
        else:
            self.prefix_run = run
            self.gathered.add_stopped(self.target, run.seconds)
            self.shape = self.shape if self.shape.loop else shape_of_part(run.looks)
            self.prefix = self._read(run)

    def _run_in_spite(self) -> None:
        """Try the whole graph where samples will not do; it may be what the function wants."""
        self._run_whole(max(self._left(), _FIRST_SECONDS))
        name = self.subject.graph.name
        if self.whole is None and not self.gathered.points:
            raise JobError(
                f"{self.function.name} fails on samples of {name}, so nothing can be predicted: "
                f"{self.raised}"
            )

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
            warm_up=self.subject.tiny if self.warms else None,
        )
        # What is imported is ready from the second run on; then it takes as long as a small sample.
        self.warms &= run.warm_seconds < (_FIRST_SECONDS if self.rows else math.inf)
        self.spent_elsewhere += run.spent
        return run

    # --- putting it together ------------------------------------------------------------------

    def _assembled(self) -> FunctionPrediction:
        self.progress("putting it together", 1.0)
        evidence = self._evidence()
        total, log_std = combined(evidence)
        seen = 0.0 if self.prefix_run is None else self.prefix_run.seconds
        parallel, load = self._parallel(), meter.read()
        others = math.log(load.slowdown) / QUANTILE  # which may end or double before the run
        # What several threads took by the clock has their waiting in it.
        pace = load.stretch if parallel == 1.0 else 1.0 / parallel
        call = Figure.spread(total, math.hypot(log_std, others))
        call = replace(call, low=max(call.low, min(seen, total))).scaled(pace)
        converting = math.hypot(0.15, others)  # judgement
        convert = Figure.spread(self._conversion(), converting).scaled(load.stretch)
        if not self.subject.converted:
            convert = Figure(0.0, 0.0, 0.0)
        runtime = Figure(
            call.predicted + convert.predicted, call.low + convert.low, call.high + convert.high
        )
        nothing_ran = self.whole is None and not self.runs
        memory = (
            None
            if nothing_ran
            else foretell_memory(
                [(drivers, run) for _, _, drivers, run in self.runs],
                self.target,
                self.whole,
                self.prefix_run,
                converted=self.subject.converted,
                rounds_left=(
                    math.inf
                    if self.prefix is None
                    else self.prefix.total / max(self.prefix.rounds, 1)
                ),
            )
        )
        return FunctionPrediction(
            function=self.function.describe(),
            graph=self.subject.graph.describe(),
            seed=self.seed,
            runtime_seconds=runtime,
            call_seconds=call,
            convert_seconds=convert,
            processor_seconds=total,
            peak_bytes=memory,
            available_bytes=self.available,
            evidence=evidence,
            samples=self.rows,
            overhead_seconds=self.spent,
            budget=str(self.budget),
            warnings=[*self._all_warnings(total, parallel), *load.warnings],
            iterator=self.iterator,
            outgrown=self.gathered.outgrown(self.prefix) if self.whole is None else "",
            advice=self._advice(runtime.predicted),
            load=load,
        )

    def _advice(self, seconds: float) -> list[str]:
        """Return what would be shorter than a long call."""
        return list(filter(None, (self._fewer(seconds), alike(self.function, seconds))))

    def _fewer(self, seconds: float) -> str:
        """Try a parameter that says how many vertices are taken on the longest sample run."""
        if seconds < LONG or not self.runs:
            return ""
        case, _, _, whole = max(self.runs, key=lambda each: each[3].seconds)
        trial = trial_of(self.function, case.graph.vertices)
        left = _TOLERATED * self.budget.allowed(seconds) - self.spent
        if trial is None or not _FIRST_SECONDS <= whole.seconds < left:
            return ""
        function = self.function
        keywords = {**function.keywords, trial.name: trial.value}
        short = Case(
            case.graph,
            case.build,
            lambda graph: function.call(graph, *function.positional, **keywords),
        )
        run = self._run(short, Limits(seconds=whole.seconds))
        if not run.done:
            return ""
        vertices = case.graph.vertices
        size = self.subject.graph.vertices
        return fewer(trial, vertices, run.seconds, whole.seconds, graph=size, seconds=seconds)

    def _evidence(self) -> list[Evidence]:
        if self.whole is not None:
            run = self.whole
            # Judgement.
            return [Evidence("run", run.seconds, 0.05, 1.0, run.spent, "the run itself")]
        return self.gathered.weighed(
            self.prefix,
            0.0 if self.prefix_run is None else self.prefix_run.spent,
            sum(run.spent for _, _, _, run in self.runs),
        )

    def _conversion(self) -> float:
        """Return the processor seconds of building the library's graph."""
        for run in (self.whole, self.prefix_run):
            if run is not None and run.convert_seconds:
                return run.convert_seconds
        size = self.subject.graph.vertices + self.subject.graph.edges
        rates = [
            run.convert_seconds / (case.graph.vertices + case.graph.edges)
            for case, _, _, run in self.runs
        ]
        if not self.subject.converted:
            return 2e-6 * self.subject.graph.vertices  # a dictionary's entries, twice; judgement
        return size * (float(np.median(rates[-3:])) if rates else 1e-6)  # judgement

    def _parallel(self) -> float:
        """Return processor seconds for each second by the clock, of the longest run."""
        runs = [run for _, _, _, run in self.runs if run.wall > 0.0]
        runs += [run for run in (self.whole, self.prefix_run) if run is not None and run.wall > 0]
        longest = max(runs, key=lambda run: run.seconds, default=None)
        if longest is None or longest.seconds < 0.05:  # a choice: too short to tell
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
            failed = [row.vertices for row in self.rows if row.state in _REFUSED]
            texts.append(
                f"the function raised an error on {len(failed)} of {len(self.rows)} samples, of up "
                f"to {max(failed):,} vertices, and may on the graph: {self.raised}"
            )
        if self.budget.most == 0.0:
            return [*texts, "the budget is 0: nothing was measured, earlier runs alone are known"]
        if self.whole is None and self.prefix is None:
            reason = self.shape.reason or "the budget did not reach it"
            texts.append(
                f"the prediction is from samples alone: {reason}; a larger budget would tighten it"
            )
        if parallel > 1.2:  # a choice
            texts.append(
                f"the function uses {parallel:.1f} cores: {total:.3g} processor seconds in all"
            )
        if self.spent > _TOLERATED * self.budget.allowed(total):
            texts.append("the prediction has taken more than its budget")
        return texts

    def _explain_death(self, run: ChildRun) -> None:
        if run.state == "memory":
            self.warnings.append(
                "the first part of the run took more memory than is free, and was stopped"
            )
        else:
            self.warnings.append(f"the first part of the run ended by itself: {run.sentence}")

    def _nothing_ran(self) -> str:
        if all(row.state in _OUTLASTING for row in self.rows):
            last = self.rows[-1]
            return (
                f"{self.function.name} did not come to its end on a sample of {last.vertices} "
                f"vertices within {last.seconds:.3g} processor seconds; accepted: a larger budget"
            )
        states = ", ".join(f"{row.vertices} vertices: {row.state}" for row in self.rows)
        return f"{self.function.name} came to no end on any sample ({states})"

    def _part(self) -> float:
        allowed = self._allowed()
        return min(self.spent / allowed, 1.0) if math.isfinite(allowed) and allowed > 0 else 0.0


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise RequestError(f"the seed is {seed!r}; accepted: an integer of 0 or more")
    return seed
