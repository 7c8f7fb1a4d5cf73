"""What remains of a run of supersteps: what was expected, corrected by what has been seen.

How many supersteps are left has two witnesses: what was expected of their number, and the curve of
what the threshold is on, which goes on towards it as it came. What one takes is the expected
seconds of each, at the pace of the last ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from predict_graph.clock.expected import Expected, ExpectedPart, log_std
from predict_graph.clock.moment import Moment
from predict_graph.intervals import Interval

__all__ = ["SuperstepClock", "seconds_left", "supersteps_left"]

FloatArray = npt.NDArray[np.float64]

_RECENT = 0.5  # of the supersteps done, whose pace goes on; judgement (docs/studies/remaining.md)
_WHOLE = 0.5  # std of what is rounded to whole supersteps, 0.29, and more; judgement
# Relative error of extrapolating a curve, at the beginning of a run, where nothing but the curve is
# known, and where its shape was expected. Chosen before any run of docs/studies/remaining.md was
# seen, and left alone since.
_STRAIGHT = {"absolute": 0.35, "ratio": 0.5, "fixed-point": 0.8}
_SHAPED = 0.25  # as above
_NOISE = 0.3  # of log seconds of a superstep, until two have been seen; judgement: as above
_FIRST_NOISE = 0.7  # of the first, in which much is done once: docs/studies/long-runs.md
_LEAST_NOISE = 0.03  # judgement: as above
# Of the logarithm of supersteps / what comes before them: an expectation that is less sure than
# this is so because nobody knows how slow the cluster is, which shows before the first superstep.
_APART = 0.35  # judgement (docs/studies/cold-start.md)
_OVERRUN = 0.05  # of what was expected, when more than it has gone by; judgement: as above


@dataclass
class _Part:
    """The supersteps of one algorithm, as they are done."""

    algorithm: str
    threshold: float = 0.0
    limit: int | None = None
    kind: str = "absolute"
    began: float = 0.0
    ends: list[float] = field(default_factory=list)
    aggregates: list[float] = field(default_factory=list)


class SuperstepClock:
    """Tells, at any moment of a run, what remains of it.

    All times are seconds since the run began.

    Parameters
    ----------
    expected : Expected, optional
        What it was expected to take.
    """

    def __init__(self, expected: Expected | None = None) -> None:
        self.expected = expected
        self._part: _Part | None = None
        self._number = -1
        self.ended: float | None = None
        self._slower = 1.0
        self.first = None if expected is None else expected.total

    def begins(
        self,
        algorithm: str,
        at: float,
        *,
        threshold: float = 0.0,
        limit: int | None = None,
        kind: str = "absolute",
        part: int | None = None,
    ) -> None:
        """Take note that the supersteps of an algorithm begin.

        Parameters
        ----------
        algorithm : str
        at : float
        threshold : float
            The run ends when the aggregate is below it; 0 if that is not known.
        limit : int, optional
            The most supersteps.
        kind : {'absolute', 'ratio', 'fixed-point'}
            What the threshold is on.
        part : int, optional
            Which of the expected parts it is; the next by default.
        """
        if self._part is None:
            self._slower = self._slower_after(at)
        self._part = _Part(algorithm, threshold, limit, kind, at)
        self._number = self._number + 1 if part is None else part

    def superstep(self, number: int, at: float, aggregate: float | None = None) -> None:
        """Take note that a superstep has ended; one that comes again takes those after it back."""
        if self._part is None:
            self.begins("", 0.0)
        assert self._part is not None
        if number <= len(self._part.ends):  # done again: an executor was lost
            del self._part.ends[number - 1 :], self._part.aggregates[number - 1 :]
        self._part.ends.append(at)
        if aggregate is not None:
            self._part.aggregates.append(aggregate)
        if self.first is None:
            self._guess(at)

    def end(self, at: float) -> None:
        """Take note that the run has ended."""
        self.ended = at

    def moment(self, at: float) -> Moment:
        """Return what is known at a moment."""
        part = self._part
        by = "" if self.expected is None else self.expected.source
        first = None if self.first is None else self.first.predicted
        if self.ended is not None:
            done = 0 if part is None else len(part.ends)
            name = "" if part is None else part.algorithm
            last = part.aggregates[-1] if part is not None and part.aggregates else None
            over = Interval(0.0, 0.0, 0.0)
            whole = Interval(done, done, done)
            return Moment(self.ended, done, whole, over, "ended", name, last, first=first, by=by)
        if part is None:
            return Moment(at, 0, None, self._before(at), "before", first=first, by=by)
        of, remaining, pace = self._running(part, at)
        return Moment(
            at,
            len(part.ends),
            of,
            remaining,
            "running",
            part.algorithm,
            part.aggregates[-1] if part.aggregates else None,
            pace,
            first,
            by,
        )

    def _before(self, at: float) -> Interval | None:
        if self.expected is None or self.expected.total is None:
            return None
        total, before = self.expected.total, self.expected.before
        rest = (total.predicted - before) * max(self._slower_after(at), 1.0)
        left = rest + max(before - at, _OVERRUN * before)
        return total.scaled(left / max(total.predicted, 1e-9))

    def _slower_after(self, at: float) -> float:
        """Return by how much supersteps will take longer if what comes before them takes so long.

        By as much, if nobody knew how slow the cluster is; not at all, if the expectation is sure.
        """
        expected = self.expected
        if expected is None or expected.total is None or expected.before <= 0.0 or at <= 0.0:
            return 1.0
        total = expected.total
        std = log_std(total.low, total.high) if total.low > 0.0 else 0.0
        weight = max(1.0 - (_APART / std) ** 2, 0.0) if std > 0.0 else 0.0
        return float((at / expected.before) ** weight)

    def _running(
        self, part: _Part, at: float
    ) -> tuple[Interval | None, Interval | None, Interval | None]:
        """Return how many supersteps there are, the seconds that remain, and the pace."""
        known = self._expected_part
        if known is not None:
            known = replace(known, seconds=self._slower * known.seconds)
        done = len(part.ends)
        seconds = np.diff([part.began, *part.ends])
        pace = _pace(seconds)
        left = supersteps_left(
            done, known, np.array(part.aggregates), part.threshold, part.limit, part.kind
        )
        if left is None:
            return None, None, pace
        count, count_std = left
        of = Interval.spread(count, count_std / max(count, 1e-9)) if count else Interval(0, 0, 0)
        most = math.inf if part.limit is None else float(part.limit)
        whole = Interval(*(min(done + each, most) for each in (count, of.low, of.high)))
        found = seconds_left(seconds, known, count, count_std)
        if found is None:
            return whole, None, pace
        rest, std = found
        since = at - (part.ends[-1] if part.ends else part.began)
        # A superstep that lasts longer than the others says nothing of those after it.
        rest -= min(since, (1.0 - _OVERRUN) * rest / max(count, 1.0))
        variance = (rest * std) ** 2
        for later in self._later_parts:
            own = self._slower * float(later.seconds.sum())
            variance += (own * math.hypot(later.iterations_std, later.seconds_std)) ** 2
            rest += own
        rest += 0.0 if self.expected is None else self.expected.after
        relative = math.sqrt(variance) / max(rest, 1e-9)
        return whole, Interval.spread(rest, math.sqrt(math.log1p(relative**2))), pace

    @property
    def _expected_part(self) -> ExpectedPart | None:
        if self.expected is None or not 0 <= self._number < len(self.expected.parts):
            return None
        return self.expected.parts[self._number]

    @property
    def _later_parts(self) -> tuple[ExpectedPart, ...]:
        return () if self.expected is None else self.expected.parts[self._number + 1 :]

    def _guess(self, at: float) -> None:
        """Keep the first figure there is, if nothing was expected."""
        remaining = self.moment(at).remaining
        if remaining is not None:
            self.first = Interval(at + remaining.predicted, at + remaining.low, at + remaining.high)


def supersteps_left(
    done: int,
    expected: ExpectedPart | None,
    aggregates: FloatArray,
    threshold: float,
    limit: int | None = None,
    kind: str = "absolute",
) -> tuple[float, float] | None:
    """Return how many supersteps are left, and the standard deviation of that; None if unknown.

    Parameters
    ----------
    done : int
    expected : ExpectedPart, optional
    aggregates : ndarray, shape (done,) or (0,)
        What the threshold is on, after each.
    threshold : float
    limit : int, optional
    kind : str

    Examples
    --------
    A curve that falls tenfold each time has two to go:

    >>> left, std = supersteps_left(3, None, np.array([1e-1, 1e-2, 1e-3]), 0.5e-5)
    >>> round(left)
    3
    """
    if len(aggregates) and threshold > 0.0 and aggregates[-1] < threshold:
        return 0.0, 0.0
    witnesses = [
        each
        for each in (
            _by_number(done, expected),
            _by_curve(aggregates, threshold, expected, kind),
        )
        if each is not None
    ]
    most = None if limit is None else float(limit - done)
    if not witnesses:  # the limit as it is announced; the deviation is that of a uniform number
        return None if most is None else (max(most, 0.0), max(most, 0.0) / math.sqrt(12.0))
    weights = np.array([1.0 / max(std, 1e-6) ** 2 for _, std in witnesses])
    left = float(np.average([count for count, _ in witnesses], weights=weights))
    std = float(1.0 / math.sqrt(weights.sum()))
    if expected is not None and expected.iterations_std == 0.0 and done < expected.iterations:
        left, std = expected.iterations - done, 0.0
    left = max(left, 1.0)
    if most is not None and left >= most:
        return max(most, 0.0), 0.0 if left - std >= most else 0.5 * std
    return left, std


def _by_number(done: int, expected: ExpectedPart | None) -> tuple[float, float] | None:
    """Return what is left of the expected number, given that it is more than is done.

    The mean of a normal distribution that is cut off below.
    """
    if expected is None:
        return None
    mean, std = expected.iterations, expected.iterations * expected.iterations_std
    std = math.hypot(std, _WHOLE)
    low = (done + 0.5 - mean) / std
    above = 0.5 * math.erfc(low / math.sqrt(2.0))
    if above < 1e-6:  # far beyond what was thought possible
        return max(0.1 * done, 1.0), max(0.1 * done, 1.0)  # judgement
    ratio = math.exp(-0.5 * low * low) / math.sqrt(2.0 * math.pi) / above
    left = mean + std * ratio - done
    variance = std * std * max(1.0 + low * ratio - ratio * ratio, 0.05)  # judgement: the least
    return left, math.sqrt(variance)


def _by_curve(
    aggregates: FloatArray, threshold: float, expected: ExpectedPart | None, kind: str
) -> tuple[float, float] | None:
    """Return when the curve crosses the threshold, if it goes on as it came.

    Where its shape was expected, that shape is followed, as much faster or slower as it was so far;
    else a straight line in the logarithm.
    """
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
    left, error = height / slope, _STRAIGHT[kind]
    if expected is not None and expected.curve is not None:
        shaped = _along(expected.curve / threshold, heights)
        if shaped is not None:
            left, error = shaped, _SHAPED
    left += 0.5  # a run does not end within a superstep
    ahead = left / (left + done)
    return left, math.hypot(math.hypot(noise, error * ahead) * left, _WHOLE)


def _along(curve: FloatArray, heights: FloatArray) -> float | None:
    """Return the supersteps left along an expected curve; None where it does not fall there."""
    falling = np.minimum.accumulate(np.log(np.maximum(curve, 1e-300)))
    if len(falling) < 2 or falling[-2] <= 0.0:
        return None
    places = np.arange(1.0, len(falling) + 1.0)

    def place(height: float) -> float:
        return float(np.interp(-height, -falling, places))

    if heights[0] > falling[0] or heights[-1] <= falling[-1]:
        return None
    begin, here, end = place(float(heights[0])), place(float(heights[-1])), place(0.0)
    if here - begin < 0.5 or end <= here:
        return None
    if falling[-1] > 0.0:  # it was expected to stop before it crosses
        return None
    return (end - here) * (len(heights) - 1) / (here - begin)


def seconds_left(
    seconds: FloatArray, expected: ExpectedPart | None, left: float, left_std: float
) -> tuple[float, float] | None:
    """Return the seconds of the supersteps that are left, and the std of their logarithm.

    Parameters
    ----------
    seconds : ndarray, shape (done,)
        Of those that are done.
    expected : ExpectedPart, optional
    left, left_std : float
        Supersteps.

    Examples
    --------
    >>> left, std = seconds_left(np.array([2.0, 2.0, 2.0]), None, 5.0, 0.0)
    >>> left
    10.0
    """
    done = len(seconds)
    known = expected is not None and len(expected.seconds) > 0
    if done == 0 and not known:
        return None
    profile = expected.seconds if known and expected is not None else np.ones(1)
    prior_std = expected.seconds_std if expected is not None else 10.0
    total = done + left
    work = _work(profile, done, total)
    recent = max(round(_RECENT * done), 1)
    if done == 0:
        rate, std = 1.0, prior_std
    else:
        spent = np.maximum(seconds[-recent:], 1e-12)
        sums = [_work(profile, at, total) for at in range(done - recent, done + 1)]
        thought = np.maximum(-np.diff(sums), 1e-12)  # of each of the recent ones
        found = math.log(float(spent.sum()) / float(thought.sum()))
        alone = _FIRST_NOISE if done == 1 else _NOISE
        noise = float(np.std(np.log(spent / thought))) if recent > 1 else alone
        own = math.hypot(noise / math.sqrt(recent), _LEAST_NOISE)
        trust = 1.0 / prior_std**2 if known else 0.0
        weight = 1.0 / own**2
        rate = math.exp(found * weight / (weight + trust))
        std = 1.0 / math.sqrt(weight + trust)
    return rate * work, math.hypot(std, left_std / max(left, 1.0))


def _work(profile: FloatArray, done: float, total: float) -> float:
    """Return the expected seconds from a superstep on, with the profile stretched to the total."""
    sums = np.concatenate([[0.0], np.cumsum(profile)])
    at = np.interp(done / max(total, 1e-9) * len(profile), np.arange(len(sums)), sums)
    return float((sums[-1] - at) * total / len(profile))


def _pace(seconds: FloatArray) -> Interval | None:
    """Return what a superstep takes lately, and between what 90% of them are."""
    if not len(seconds):
        return None
    recent = seconds[-max(round(_RECENT * len(seconds)), 1) :]
    low, high = np.quantile(recent, (0.05, 0.95))
    return Interval(float(recent.mean()), float(low), float(high))
