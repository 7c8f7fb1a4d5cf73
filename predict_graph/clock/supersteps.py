"""The remaining time of a run of supersteps: predictions updated with observations.

The expected runtime is that of a prediction before the start. The number of remaining supersteps
comes from two sources: its prediction, and the convergence curve, extrapolated to the threshold.
The time of each is the predicted one, scaled to the pace of the latest supersteps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.clock.moment import Moment
from predict_graph.documents import read_document
from predict_graph.errors import RequestError
from predict_graph.intervals import Interval


@dataclass(frozen=True)
class ExpectedPart:
    """The expected work of one algorithm of a chain."""

    algorithm: str
    iterations: float
    iterations_std: float
    seconds: FloatArray = field(default_factory=lambda: np.empty(0))
    seconds_std: float = 0.5


@dataclass(frozen=True)
class Expected:
    """The expected runtime and iterations of a run."""

    parts: tuple[ExpectedPart, ...]
    before: float = 0.0
    total: Interval | None = None
    after: float = 0.0
    source: str = ""
    read: float = 0.0

    def later(self, seconds: float) -> Expected:
        """Return what is expected of a run whose setup begins so much later, or earlier."""
        if self.total is None:
            return self
        before = max(self.before + seconds, 0.0)
        return replace(self, before=before, total=self.total.moved(seconds))


def read_expected(path: str | PathLike[str]) -> tuple[Expected, Mapping[str, Any]]:
    """Read a prediction that ``predict --json`` wrote."""
    document = read_document(Path(path), "prediction", "a file that predict --json wrote")
    return expected_of(document, str(path)), document


def expected_of(document: Any, name: str) -> Expected:
    """Return the expected values in a prediction's JSON."""
    try:
        parts: list[ExpectedPart] = []
        part: Any = document
        while part is not None:
            parts.insert(0, _part(part))
            part = part["prior"]
        phases = {each: _seconds(document["phases"][each]) for each in ("setup", "read", "write")}
        total = Interval(*(_seconds(document["runtime_seconds"][each]) for each in _ENDS))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise RequestError(
            f"{name} is not a prediction of an algorithm; accepted: a file that "
            "predict --json wrote"
        ) from None
    before = phases["setup"] + phases["read"]
    return Expected(tuple(parts), before, total, phases["write"], name, phases["read"])


_ENDS = ("predicted", "low", "high")


def _part(document: Mapping[str, Any]) -> ExpectedPart:
    count = Interval(*(max(_seconds(document["iterations"][each]), 1.0) for each in _ENDS))
    seconds = np.array([_seconds(row["seconds"]) for row in document["per_iteration"]])
    # Equal runs differ by 5% at least (docs/studies/overhead.md).
    rest = max(_seconds(document["evidence"][-1]["log_std"]), 0.05)
    name = str(document["algorithm"]["name"])
    return ExpectedPart(name, count.predicted, count.log_std, seconds, rest)


def _seconds(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and number >= 0.0):
        raise ValueError(value)
    return number


# Of the finished supersteps, whose pace is extrapolated: trades off noise for recency
# (docs/studies/remaining.md)
_RECENT = 0.5
_OVERRUN = 0.05  # of the expected time, as the minimum left when it is exceeded: not tuned
_ROUNDING = 0.5  # standard deviation of a number of whole supersteps: not tuned
# Relative error of an extrapolated curve as a run starts, set before docs/studies/remaining.md.
_BENT = 0.5
# Noise of a single superstep, which includes one-time work (docs/studies/long-runs.md).
_NOISE_OF_ONE = 0.7


class SuperstepClock:
    """Estimates the remaining time at any moment of a run.

    All times are seconds since the start of the run.
    """

    def __init__(self, expected: Expected | None = None) -> None:
        self.expected = expected or Expected(())
        self._number = -2
        self.begins("", 0.0)  # now -1: no algorithm runs yet
        self.ended: float | None = None
        self.first = self.expected.total

    def begins(
        self, algorithm: str, at: float, *, threshold: float = 0.0, limit: int | None = None
    ) -> None:
        """Record that the supersteps of an algorithm, the next of a chain, start."""
        self._algorithm, self._began, self._threshold, self._limit = algorithm, at, threshold, limit
        self._ends: list[float] = []
        self._aggregates: list[float] = []
        self._number += 1

    def superstep(self, number: int, at: float, aggregate: float | None = None) -> None:
        """Record the end of a superstep; a repeated number discards later ones."""
        if number <= len(self._ends):  # repeated: an executor was lost
            del self._ends[number - 1 :], self._aggregates[number - 1 :]
        self._ends.append(at)
        if aggregate is not None:
            self._aggregates.append(aggregate)
        if self.first is None and (left := self.moment(at).remaining) is not None:
            self.first = left.moved(at)

    def end(self, at: float) -> None:
        """Record the end of the run."""
        self.ended = at

    def moment(self, at: float) -> Moment:
        """Return the state of the run at a moment."""
        found = Moment(
            at,
            done=len(self._ends),
            algorithm=self._algorithm,
            aggregate=self._aggregates[-1] if self._aggregates else None,
            first=None if self.first is None else self.first.predicted,
            by=self.expected.source,
        )
        if self.ended is not None:
            whole, nothing = Interval.exact(found.done), Interval.exact(0.0)
            return replace(found, elapsed=self.ended, of=whole, remaining=nothing, state="ended")
        if self._number < 0:
            return replace(found, remaining=self._before(at), state="before")
        return self._running(found)

    def _before(self, at: float) -> Interval | None:
        total, before = self.expected.total, self.expected.before
        if total is None:
            return None
        left = max(total.predicted - before, 0.0) + max(before - at, _OVERRUN * before)
        return total.scaled(left / max(total.predicted, 1e-9))

    def _running(self, moment: Moment) -> Moment:
        """Return a moment with the total number of supersteps, the remaining time, and the pace."""
        parts = self.expected.parts[self._number :]
        known = parts[0] if parts else None
        done, ends = len(self._ends), [self._began, *self._ends]
        seconds = np.diff(ends)
        moment = replace(moment, pace=_pace(seconds))
        curve = np.array(self._aggregates)
        left = supersteps_left(done, known, curve, self._threshold, self._limit)
        if left is None:
            return moment
        count, count_std = left
        of = Interval.spread(count, count_std / max(count, 1e-9))
        most = math.inf if self._limit is None else float(self._limit)
        whole = Interval(*(min(done + each, most) for each in (count, of.low, of.high)))
        found = seconds_left(seconds, known, count, count_std)
        if found is None:
            return replace(moment, of=whole)
        rest, std = found
        since = moment.elapsed - ends[-1]
        # An unusually long superstep does not affect the estimate of later ones.
        rest -= min(since, (1.0 - _OVERRUN) * rest / max(count, 1.0))
        variance = (rest * std) ** 2
        for later in parts[1:]:
            own = float(later.seconds.sum())
            variance += (own * math.hypot(later.iterations_std, later.seconds_std)) ** 2
            rest += own
        rest += self.expected.after
        relative = math.sqrt(variance) / max(rest, 1e-9)
        remaining = Interval.spread(rest, math.sqrt(math.log1p(relative**2)))
        return replace(moment, of=whole, remaining=remaining)


def supersteps_left(
    done: int,
    expected: ExpectedPart | None,
    aggregates: FloatArray,
    threshold: float,
    limit: int | None = None,
) -> tuple[float, float] | None:
    """Return the number of remaining supersteps and its standard deviation; None if unknown.

    Examples
    --------
    A curve that falls tenfold each time has two to go:

    >>> left, std = supersteps_left(3, None, np.array([1e-1, 1e-2, 1e-3]), 0.5e-5)
    >>> round(left)
    3
    >>> supersteps_left(5, None, np.empty(0), 0.0)  # neither a curve nor an expectation
    """
    if len(aggregates) and threshold > 0.0 and aggregates[-1] < threshold:
        return 0.0, 0.0
    most = math.inf if limit is None else float(max(limit - done, 0))
    if expected is not None and expected.iterations_std == 0.0 and done < expected.iterations:
        left, std = expected.iterations - done, 0.0
    else:
        both = (_by_number(done, expected), _by_curve(aggregates, threshold))
        sources = [each for each in both if each is not None]
        if not sources:  # the announced limit; the deviation is that of a uniform distribution
            return None if limit is None else (most, most / math.sqrt(12.0))
        weights = [max(std, 1e-6) ** -2.0 for _, std in sources]
        left = float(np.average([count for count, _ in sources], weights=weights))
        std = sum(weights) ** -0.5
    left = max(left, 1.0)
    if left >= most:
        return most, 0.0 if left - std >= most else 0.5 * std
    return left, std


def _by_number(done: int, expected: ExpectedPart | None) -> tuple[float, float] | None:
    """Return the expected number minus the finished ones; a tenth of these where it is exceeded."""
    if expected is None:
        return None
    least = max(0.1 * done, 1.0)
    std = math.hypot(expected.iterations * expected.iterations_std, _ROUNDING)
    left = expected.iterations - done
    return (left, std) if left >= least else (least, max(std, least))


def _by_curve(aggregates: FloatArray, threshold: float) -> tuple[float, float] | None:
    """Return when the curve crosses the threshold, by a straight line in the logarithm."""
    done = len(aggregates)
    if done < 2 or threshold <= 0.0 or not (aggregates[-2:] > 0.0).all():
        return None
    steps = max(round(_RECENT * done), 1)
    heights = np.log(np.maximum(aggregates[-steps - 1 :], 1e-300) / threshold)
    drops = -np.diff(heights)
    slope, height = float(drops.mean()), float(heights[-1])
    if slope <= 0.0 or height <= 0.0:
        return None
    noise = float(drops.std()) / slope / math.sqrt(len(drops))
    left = height / slope + 0.5  # a run does not end within a superstep
    ahead = left / (left + done)
    return left, math.hypot(math.hypot(noise, _BENT * ahead) * left, _ROUNDING)


def seconds_left(
    seconds: FloatArray, expected: ExpectedPart | None, left: float, left_std: float
) -> tuple[float, float] | None:
    """Return the seconds of the remaining supersteps, and the std of their logarithm.

    Examples
    --------
    >>> left, std = seconds_left(np.array([2.0, 2.0, 2.0]), None, 5.0, 0.0)
    >>> left
    10.0
    >>> seconds_left(np.empty(0), None, 5.0, 0.0)  # nothing is known
    """
    done = len(seconds)
    profile, trust = np.ones(1), 0.0
    if expected is not None and len(expected.seconds):
        profile, trust = expected.seconds, expected.seconds_std**-2.0
    elif not done:
        return None
    total, recent = done + left, max(round(_RECENT * done), 1)
    found = weight = own = 0.0
    if done:
        spent = np.maximum(seconds[-recent:], 1e-12)
        sums = [_work(profile, at, total) for at in range(done - recent, done + 1)]
        predicted_recent = np.maximum(-np.diff(sums), 1e-12)  # prediction of each recent superstep
        found = math.log(float(spent.sum()) / float(predicted_recent.sum()))
        noise = float(np.std(np.log(spent / predicted_recent))) if recent > 1 else _NOISE_OF_ONE
        weight = 1.0 / (noise**2 / recent + 1e-3)  # equal runs differ by 0.03: not tuned
        own = noise / math.sqrt(max(left, 1.0)) if recent > 1 else 0.0  # of the mean of the rest
    rate, std = math.exp(found * weight / (weight + trust)), (weight + trust) ** -0.5
    return rate * _work(profile, done, total), math.hypot(std, own, left_std / max(left, 1.0))


def _work(profile: FloatArray, done: float, total: float) -> float:
    """Return the expected seconds from a superstep on, with the profile stretched to the total."""
    sums = np.concatenate([[0.0], np.cumsum(profile)])
    at = np.interp(done / max(total, 1e-9) * len(profile), np.arange(len(sums)), sums)
    return float((sums[-1] - at) * total / len(profile))


def _pace(seconds: FloatArray) -> Interval | None:
    """Return the recent time per superstep with its 90% interval."""
    if not len(seconds):
        return None
    recent = seconds[-max(round(_RECENT * len(seconds)), 1) :]
    low, high = np.quantile(recent, (0.05, 0.95))
    return Interval(float(recent.mean()), float(low), float(high))
