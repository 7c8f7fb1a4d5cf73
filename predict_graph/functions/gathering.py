"""Runs of a function on samples of a graph, and on the graph itself, within a budget.

Examples
--------
>>> [check_budget(None, FUNCTION_BUDGET).allowed(run) for run in (0.1, 86400.0)]
[5.0, 120.0]
>>> check_budget("1%", FUNCTION_BUDGET).allowed(0.0), check_budget(0, FUNCTION_BUDGET).allowed(9.0)
(0.0, 0.0)
>>> [check_budget(text, FUNCTION_BUDGET).allowed(86400.0) for text in ("0.5s", "5%,30s")]
[0.5, 30.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse
from os import PathLike
from typing import Any

import numpy as np

from predict_graph.arrays import IndexArray
from predict_graph.budget import DEFAULT_BUDGET, check_budget, check_within
from predict_graph.cores import meter
from predict_graph.errors import JobError
from predict_graph.evidence import Source
from predict_graph.functions import evidence as observed
from predict_graph.functions.atlas import atlas_points
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.functions.growth import Growth, Point, drivers_of, extrapolate
from predict_graph.functions.naming import GraphFunction, with_seed
from predict_graph.functions.records import SampleRun, earlier_records, points_of, run_again
from predict_graph.functions.subject import Case, Subject, failure, load_compiled, spread_order
from predict_graph.history import History, RunRecord, check_history
from predict_graph.intervals import QUANTILE
from predict_graph.memory import available_memory, fill_holes, resident_memory
from predict_graph.outcome import SourceEstimate
from predict_graph.seeds import check_seed
from predict_graph.timing import clock

FUNCTION_BUDGET = replace(DEFAULT_BUDGET, least_seconds=5.0)  # a documented default
"""The larger of five seconds and 5% of the predicted run, at most two minutes."""
TOLERATED = 1.25  # times its budget that a prediction may take: by definition, docs/budget.md
_FIRST_SECONDS = 0.02  # least seconds of an informative run on a sample; not tuned
_FIRST_PATIENCE = 10.0  # limits the seconds of the first sample
_GROWTH = 5.0  # limits the cost of a sample / cost of the last one
_PART = 0.35  # limits the share of the budget left that a sample takes
_MOST_POWER = 8.0  # limits the power of vertices that a cost grows with: some explode
_ALIKE = 1.2  # vertices of two samples of about one size, larger / smaller; not tuned
REFUSED = ("error", "died")  # states of failed runs; by definition
OUTLASTING = ("stopped", "time")  # states of unfinished runs; by definition
_CAREFUL = 0.4  # standard deviations of an extrapolated cost that plans allow for: not tuned


@dataclass
class Call(Source):
    """A call of the function: on a sample, or on the graph for as long as the budget allows.

    Its deadline is the budget; its case keeps what it took.
    """

    make: Callable[[], ChildRun]
    complete: bool = False

    def estimate(self, case: Gathering, evidence: Sequence[Call]) -> Call:
        """Make the call."""
        self.make()
        return self


class Gathering:
    """Gathers the runs that the prediction of a call rests on.

    Parameters
    ----------
    function : GraphFunction
    graph : object
        What the function takes, or what :func:`~predict_graph.predict` takes.
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

    Raises
    ------
    RequestError
        If an option is wrong, or the graph cannot be used.
    """

    def __init__(
        self,
        function: GraphFunction,
        graph: Any,
        *,
        budget: str | float | None = None,
        directed: bool | None = None,
        ids: str | None = None,
        history: History | str | PathLike[str] | bool | None = None,
        seed: int | None = None,
        within: str | float | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        allowed = check_budget(budget, FUNCTION_BUDGET)
        if allowed.share is not None:
            allowed = replace(allowed, least_seconds=FUNCTION_BUDGET.least_seconds)
        self.budget, self.within = allowed, check_within(within)
        self.seed = check_seed(seed)
        self.history = check_history(history)
        meter.start()
        call, reading = with_seed(function, seed), {"directed": directed, "ids": ids}
        self.subject = Subject(call, graph, seed=self.seed, **reading)
        self.function, self.graph = self.subject.function, self.subject.graph
        load_compiled(self.graph.directed)
        known = earlier_records(self.history, self.function)
        self.again = [*filter(self._is_again, known)]
        earlier = points_of([*filterfalse(self._is_again, known)])
        self.available = float(max(available_memory() - resident_memory(), 0))
        self.earlier = [*earlier, *atlas_points(self.function)]  # runs on other graphs
        self.started = clock.thread()
        self.spent_elsewhere = 0.0  # CPU seconds of children
        self.rng = np.random.default_rng(self.seed)
        self.progress = progress or (lambda *_: None)
        self.target = drivers_of(self.graph, self.rng)
        self.warnings: list[str] = []
        self.iterator = False
        self.raised = ""  # by the function on the last sample that failed
        self.samples: list[SampleRun] = []
        self.wanted = _FIRST_SECONDS  # that the next sample should take
        self.prefix: SourceEstimate | None = None
        self.rounds_left = math.inf  # all iterations of the loop / those that the prefix has done
        self.real = run_again(self.again)  # the run itself, or its first part
        self._growths: dict[tuple[int, bool], Growth | None] = {}  # by what has been run
        self._filled = fill_holes()  # once, or every child would have to

    def _is_again(self, run: RunRecord) -> bool:
        """Whether a run was of this graph, and had to convert it for its library or not, as now."""
        converted = self.subject.converted
        kept = float(run.rows["converted"][0]) if "converted" in run.rows else converted
        return run.fingerprint == self.graph.fingerprint and kept == converted

    @property
    def spent(self) -> float:
        """CPU seconds so far, of this process and of its children."""
        return clock.thread() - self.started + self.spent_elsewhere

    @property
    def done(self) -> list[SampleRun]:
        """The samples on which the function came to its end."""
        return [each for each in self.samples if each.run.done]

    @property
    def points(self) -> list[Point]:
        """What these took."""
        return [each.point for each in self.done]

    @property
    def stopped(self) -> list[Point]:
        """What the runs took that were stopped before their end."""
        found = [each.point for each in self.samples if each.run.state in OUTLASTING]
        if self.real is not None and self.real.state in OUTLASTING:
            found.append(Point(self.target, self.real.seconds, "", self.graph.fingerprint))
        return [each for each in found if each.cost > 0.0]

    def growth(self) -> Growth | None:
        """Return the extrapolation of all runs; those that were stopped are lower bounds."""
        key = len(self.samples), self.real is None
        if key not in self._growths:
            known = [*self.points, *observed.counting(self.earlier, self.points)]
            own = self.graph.fingerprint
            self._growths[key] = extrapolate(known, self.target, own, stopped=self.stopped)
        return self._growths[key]

    def rounds(self, done: float = 0.0) -> Growth | None:
        """Return the iterations of an outermost loop that ends early, with so many completed."""
        return observed.rounds_of(self.points, self.target, self.graph.fingerprint, done)

    @property
    def shape(self) -> observed.LoopShape:
        """The loop of the function, from the run that shows most of it.

        Any run in one loop with counted elements is enough; else the longest run decides.
        """
        return max(
            (each.shape for each in self.samples if each.run.state not in REFUSED),
            key=lambda shape: (bool(shape.loop) and shape.counted, shape.observations),
            default=observed.LoopShape(reason="no run on a sample has ended"),
        )

    @property
    def whole(self) -> ChildRun | None:
        """The run itself, if it ended within the budget, or earlier."""
        return self.real if self.real is not None and self.real.done else None

    def sources(self) -> Iterator[Source]:
        """Yield samples of growing size, until the run itself or its first part is affordable.

        One sampler's until a run takes long enough to show something, then by all in turn.
        """
        if self.budget.seconds == 0.0 or self.again:
            return
        samplers, turn, failed = self.subject.samplers, 0, 0
        size = min(60, self.graph.vertices)  # 60: not tuned
        while size and failed < 5:  # limits the samples that fail
            left = self._left()
            curved = self.shape.observations >= observed.OBSERVATIONS_OF_A_CURVE
            if self._fits(left) or (curved and self._prefix_helps(left, len(samplers))):
                yield Call(partial(self.run_real, left))
                if self.whole is not None or self.prefix is not None:
                    return
                left = self._left()
            if left <= 0.0 and self.points:
                break
            yield Call(partial(self.run_sample, samplers[turn % len(samplers)], size, left))
            run = self.samples[-1].run
            failed = failed + 1 if run.state in REFUSED else 0
            if self.points:
                turn += not run.done or run.seconds >= _FIRST_SECONDS
                turn, size = self._next_sample(turn)
            elif failed:  # larger ones may be accepted
                turn, size = turn + 1, min(2 * size, self.graph.vertices)
            else:
                size = _half(size) if self._left() > 0.0 else 0
        left, found = self._left(), self.growth()
        refused = self.raised and (self.samples[-1].run.state in REFUSED or len(self.done) < 2)
        fits = found is not None and found.cost + self.conversion() < left
        if self.real is None and (refused or fits or self._prefix_helps(left, 1)):
            yield Call(partial(self.run_real, max(left, _FIRST_SECONDS)))

    def affords(self, seconds: float) -> bool:
        """Whether so many more seconds are within the budget."""
        return seconds <= self._left()

    def near_enough(self, evidence: list[Call]) -> bool:
        """Whether the interval is as narrow as the user wants it."""
        found = self.growth()
        if self.within is None or found is None or len(self.done) < 2:
            return False
        return math.sinh(QUANTILE * found.log_std) <= self.within

    def _next_sample(self, turn: int) -> tuple[int, int]:
        """Return the sampler in turn whose next sample is larger, and its vertices; 0 for none.

        Where the largest sample is not six times the smallest, and so shows no growth, smaller ones
        are inexpensive.
        """
        samplers = self.subject.samplers
        for following in range(turn, turn + len(samplers)):
            size = self._next_size(samplers[following % len(samplers)])
            if size:
                return following, size
        least = min(self.done, key=lambda each: each.vertices)
        most = max(each.vertices for each in self.done)
        unknown = most < min(6 * least.vertices, self.graph.vertices)
        return samplers.index(least.point.sampler), _half(least.vertices) if unknown else 0

    def _next_size(self, sampler: str) -> int:
        """Return the vertices of a sampler's next sample, 0 if it would hardly be larger.

        As large as a cautious estimate of its growth allows: one that is stopped shows little. All
        samplers begin at one size, so that their differences show.
        """
        whole, left, found = self.graph.vertices, max(self._left(), 0.0), self.growth()
        longest = max(0.2 * _FIRST_SECONDS, *(each.run.seconds for each in self.done))
        self.wanted = min(_GROWTH * longest, _PART * left)
        mine = [each for each in self.samples if each.point.sampler == sampler]
        own = [each for each in mine if each.run.done]
        others = [each for each in mine if not each.run.done]
        if not own:
            shown = [each for each in self.done if each.run.seconds >= _FIRST_SECONDS]
            first = min(shown or self.done[-1:], key=lambda each: each.vertices)
            refused = any(each.run.state in REFUSED for each in others)
            return 0 if refused or first.run.seconds >= self.wanted else first.vertices
        largest = max(own, key=lambda each: (each.vertices, each.run.seconds))
        size, seconds = largest.vertices, max(largest.run.seconds, 0.2 * _FIRST_SECONDS)
        power = 1.5
        if found is not None:
            most = found.cost * math.exp(_CAREFUL * found.log_std)
            power = math.log(max(most / seconds, 2.0)) / math.log(max(whole / size, 1.1))
        power = min(max(power, 1.0), _MOST_POWER)
        following = int(min(size * min((self.wanted / seconds) ** (1.0 / power), 4.0), whole))
        unfinished = (each.vertices for each in others if each.run.state not in REFUSED)
        stopped = min(unfinished, default=whole + 1)
        if following >= stopped:
            following = math.isqrt(size * stopped)
        return following if following > _ALIKE * size else 0

    def _left(self) -> float:
        """Return the seconds that may still be spent."""
        return self._allowed() - self.spent

    def _allowed(self) -> float:
        """Return what may be spent, by a cautious estimate of the run."""
        found = self.growth()
        cost = 0.0 if found is None else found.cost * math.exp(-_CAREFUL * found.log_std)
        return self.budget.allowed(cost)

    def run_sample(self, sampler: str, size: int, left: float) -> ChildRun:
        """Run the function on a sample."""
        case = self.subject.sample(sampler, size, self.rng)
        self.progress(f"a sample of {case.graph.vertices:,} vertices", self._part())
        patience = min(max(3.0 * self.wanted, 1.0), left)  # limits the cost of a misjudged one
        if not self.done:
            patience = min(_FIRST_PATIENCE, 0.5 * left)
        run = self._run(case, Limits(seconds=patience), sample=True)
        if run.done and run.imported:  # which took time too
            run = self._run(case, Limits(seconds=patience), sample=True)
        drivers = drivers_of(case.graph, self.rng)
        shape = observed.loop_shape(run.observations, run.seconds if run.done else None)
        of = self.graph.fingerprint
        point = Point(drivers, run.seconds, sampler, of, shape.rounds, shape.early)
        self.samples.append(SampleRun(case.graph, point, run, shape))
        if run.state in REFUSED:
            self.raised = run.sentence
        return run

    def _prefix_helps(self, left: float, minimum: int) -> bool:
        """Whether the first part of the real run would reach a loop that predicts the rest."""
        shape, done = self.shape, self.done
        unsure = not shape.counted and sum(bool(each.shape.loop) for each in done) < 2
        if unsure or not shape.loop or len(done) < minimum or self.real is not None:
            return False
        longest = max(done, key=lambda each: each.run.seconds)
        if any(each.early for each in self.points) and longest.run.seconds <= 10.0 * _FIRST_SECONDS:
            return False
        before = 0.0
        if longest.shape.before > _FIRST_SECONDS:
            before = longest.shape.before * self.graph.edges / max(longest.graph.edges, 1)
        return left > self.conversion() + 2.0 * before + 5.0 * _FIRST_SECONDS

    def _fits(self, left: float) -> bool:
        """Whether the run itself is affordable."""
        found = self.growth()
        sizes = {each.vertices for each in self.done}
        if found is None or self.real is not None or len(self.done) < 2:
            return False
        longest = max(each.run.seconds for each in self.done)
        alike = max(sizes) <= _ALIKE * min(sizes)
        if max(sizes) < self.graph.vertices and (alike or longest < _FIRST_SECONDS):
            return False  # a larger sample shows first whether it grows
        return found.cost * math.exp(found.log_std) + self.conversion() < left

    def run_real(self, left: float) -> ChildRun:
        """Run the function on the graph for as long as affordable."""
        self.progress("measuring the first part of the call", self._part())
        rounds = self.rounds()
        share = self.budget.share or 0.0
        seconds = max(left - self.conversion(), _FIRST_SECONDS)
        # A share of its pace so far.
        budget = replace(self.budget, share=self.shape.curve.place(share) or None)
        most = math.inf if rounds is None else rounds.cost
        limits = Limits(seconds, budget, most, self.shape.loop, already=self.spent)
        run = self.real = self._run(self.subject.whole(self._order(share, left)), limits)
        if run.state == "error":
            raise JobError(failure(self.function, self.graph, run.sentence))
        part = "the first part of the run"
        if run.state == "memory":
            self.warnings.append(f"{part} took more memory than is free, and was stopped")
        elif run.state == "died":
            self.warnings.append(f"{part} ended by itself: {run.sentence}")
        elif not run.done:
            shape = self.shape if self.shape.loop else observed.loop_shape(run.observations)
            found = observed.read_prefix(run.observations, run.seconds, shape, self.rounds)
            self.prefix, self.rounds_left = found or (None, math.inf)
        return run

    def _order(self, share: float, left: float) -> IndexArray:
        """Return the order of the vertices: as far as a first part gets, always like the whole.

        As they are for a run that should end, which another order makes slower: by up to a third,
        but by a seventh at most in networkx.
        """
        rounds, found = self.rounds(), self.growth()
        passes = rounds is not None and share * rounds.cost > 2.0  # over all vertices
        if passes or (self._fits(left) and self.function.form != "networkx"):
            return np.arange(self.graph.vertices)
        part = 1.0
        if found is not None and rounds is None:
            least = found.cost * math.exp(-QUANTILE * found.log_std)
            part = 3.0 * max(share, DEFAULT_BUDGET.share or 0.0, left / least)
        return spread_order(self.graph, self.rng, min(part, 1.0))

    def _run(self, case: Case, limits: Limits, *, sample: bool = False) -> ChildRun:
        setup, form = TOLERATED * self._allowed() - self.spent, self.function.form
        limits = replace(limits, setup=setup, memory=0.8 * available_memory())
        run = run_in_child(case.build, case.call, limits, form=form, sample=sample)
        self.spent_elsewhere += run.spent
        self.iterator |= run.generator
        return run

    def conversion(self) -> float:
        """Return the CPU seconds of building the library's graph."""
        if self.real is not None and self.real.convert_seconds:
            return self.real.convert_seconds
        if self.subject.given is not None:
            return 2e-6 * self.graph.vertices  # two entries of a dictionary; not tuned
        known = [(each.vertices + each.graph.edges, each.run.convert_seconds) for each in self.done]
        sizes, seconds = np.array(known or [(1, 1e-6)]).T  # not tuned
        grown = np.ptp(sizes)  # without what each conversion takes, however small
        rate = max(np.polyfit(sizes, seconds, 1)[0], 0.0) if grown else seconds[0] / sizes[0]
        return float((self.graph.vertices + self.graph.edges) * rate)

    def nothing_ran(self) -> str:
        """Return why no run on a sample has ended."""
        if self.raised:
            return failure(self.function, self.graph, self.raised, "samples of ")
        if all(each.run.state in OUTLASTING for each in self.samples):
            last = self.samples[-1]
            return (
                f"{self.function.name} did not come to its end on a sample of {last.vertices} "
                f"vertices within {last.run.seconds:.3g} CPU seconds; accepted: a larger budget"
            )
        states = ", ".join(f"{each.vertices} vertices: {each.run.state}" for each in self.samples)
        return f"{self.function.name} did not finish on any sample ({states})"

    def _part(self) -> float:
        allowed = self._allowed()
        return min(self.spent / allowed, 1.0) if math.isfinite(allowed) and allowed > 0 else 0.0


def _half(size: int) -> int:
    """Return half of the vertices of a sample; 0 below a square."""
    return size // 2 if size >= 8 else 0
