"""Which configuration to measure next: expected improvement over the best one measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costmodels.scaling.points import gather_points
from costmodels.scaling.pooled import (
    QUANTILES,
    join_logs,
    middle_of,
    pooled_law,
    sobol_normals,
    weigh_shapes,
)
from costmodels.scaling.shapes import AXES, Prior, log_shapes

__all__ = ["Ranking", "Tried", "rank_candidates"]

FloatArray = npt.NDArray[np.float64]
Columns = Mapping[str, FloatArray]

DRAWS = 512  # shapes of the priors, before anything is measured
LEVEL = 0.9
# Improvement is sought in distributions this much wider than predicted: a search that trusts its
# model does not find where it is wrong. Chosen among 1, 1.5, 2 and 3 on Scout's ten workloads.
WIDER = 2.0
# A configuration that failed is as likely to fail again as one like it: 70% at the same place,
# less with the distance in e-folds of machines, cores and memory.
FAILS_AGAIN = 0.7
FAILS_WITHIN = 0.5


@dataclass(frozen=True)
class Tried:
    """Runs of a job at candidates.

    Attributes
    ----------
    candidate : ndarray of int, shape (n,)
        Place among the candidates.
    seconds : ndarray, shape (n,)
        How long each took, or until it was ended.
    outcome : sequence of str, length n
        ``"ok"``, ``"failed"``, or ``"timeout"``, which tells that it takes longer.
    """

    candidate: npt.NDArray[np.intp]
    seconds: FloatArray
    outcome: Sequence[str]

    def at(self, *outcomes: str) -> npt.NDArray[np.intp]:
        """Return the runs that ended in one of these ways."""
        return np.flatnonzero([one in outcomes for one in self.outcome])


@dataclass(frozen=True)
class Ranking:
    """What each candidate is expected to bring.

    Attributes
    ----------
    gain : ndarray, shape (n,)
        Expected improvement on the best run, as a part of what that took or cost; 0 for candidates
        that were tried. Before the first run it is that on a typical candidate.
    seconds, low, high : ndarray, shape (n,)
        Predicted time of a run and its 90% interval; not a number before the first run that
        succeeded, when times are known up to a factor only.
    chance : ndarray, shape (n,)
        Probability that a run succeeds, and within the deadline where there is one.
    best : int or None
        The best run so far: its candidate.
    """

    gain: FloatArray
    seconds: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    best: int | None

    @property
    def order(self) -> npt.NDArray[np.intp]:
        """Candidates by falling gain."""
        return np.argsort(-self.gain, kind="stable")


def rank_candidates(
    candidates: Columns,
    tried: Tried,
    priors: Sequence[Prior],
    *,
    rate: FloatArray | None = None,
    deadline: float | None = None,
) -> Ranking:
    """Rank candidates by what measuring them is expected to bring.

    Parameters
    ----------
    candidates : mapping of str to ndarray, shape (n,)
        ``machines``, and where known ``scale``, ``cores`` and ``memory`` of a machine.
    tried : Tried
        Runs so far; may be none.
    priors : sequence of Prior
        Equally likely.
    rate : ndarray, shape (n,), optional
        Cost of a second; by default 1, which makes the fastest the best.
    deadline : float, optional
        Seconds that a run may take: only configurations within it count.

    Returns
    -------
    Ranking

    References
    ----------
    Jones, Schonlau, Welch: Efficient global optimization of expensive black-box functions, Journal
    of Global Optimization 13 (1998); as CherryPick (NSDI 2017) uses it, but for the model.

    Examples
    --------
    >>> from costmodels.scaling import shipped_prior
    >>> machines = np.array([2.0, 4, 8, 16])
    >>> none = Tried(np.array([], dtype=int), np.array([]), [])
    >>> found = rank_candidates({"machines": machines}, none, [shipped_prior()])
    >>> float(machines[found.order[0]])
    16.0
    """
    count = len(candidates["machines"])
    log_rate = np.zeros(count) if rate is None else np.log(rate)
    succeeded = tried.at("ok")
    if len(succeeded):
        samples, weights = _measured(candidates, tried, priors)
        middle = _quantile(samples, weights, 0.5)
        ends = [_quantile(samples, weights, q) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]
        seconds, low, high = (np.exp(x) for x in (middle, *ends))
    else:
        samples, weights = _expected(candidates, priors)
        seconds = low = high = np.full(count, np.nan)
    chance = _succeeds(candidates, tried)
    allowed = np.ones_like(samples, dtype=bool)
    if deadline is not None and len(succeeded):
        allowed = samples <= np.log(deadline)
        chance = chance * (weights @ allowed)
    costs = samples + log_rate
    best = _best(tried, succeeded, log_rate, deadline)
    if best is None:
        # What a candidate brings beside a typical one; only those in time bring anything.
        if deadline is not None and not len(succeeded):
            costs = costs + samples  # how long a second is, is not known: neither slow nor dear
        target = float(np.median(costs))
        worth = np.exp(np.clip(target - costs, -50, 50))
        gain = weights @ np.where(allowed, worth, 0.0)
    else:
        middle = np.median(costs, axis=0)
        sought = middle + WIDER * (costs - middle)
        of_best = float(np.log(np.median(_times(tried, succeeded, best))) + log_rate[best])
        gain = weights @ np.where(allowed, np.maximum(0.0, 1 - np.exp(sought - of_best)), 0.0)
    gain = gain * _succeeds(candidates, tried)
    gain[tried.candidate] = 0.0
    return Ranking(gain, seconds, low, high, chance, best)


def _measured(
    candidates: Columns, tried: Tried, priors: Sequence[Prior]
) -> tuple[FloatArray, FloatArray]:
    """Return log seconds of the candidates by each sample, and how likely each sample is."""
    succeeded = tried.at("ok")
    measured = {name: column[tried.candidate[succeeded]] for name, column in candidates.items()}
    measured.setdefault("scale", np.ones(len(succeeded)))
    points = gather_points(measured, tried.seconds[succeeded])
    middle = middle_of(candidates)
    posterior = weigh_shapes(points, priors, middle=middle)
    samples = pooled_law(posterior, points, middle=middle).draws(candidates)
    weights = np.ones(len(samples))
    late = tried.at("timeout")
    for run in late:  # laws by which it would have been done by then are less likely
        longer = samples[:, tried.candidate[run]].reshape(-1, len(QUANTILES))
        kept = (longer > np.log(tried.seconds[run])).mean(axis=1)
        weights *= np.repeat(np.maximum(kept, 1e-3), len(QUANTILES))
    return samples, weights / weights.sum()


def _expected(candidates: Columns, priors: Sequence[Prior]) -> tuple[FloatArray, FloatArray]:
    middle = middle_of(candidates)
    places = join_logs(candidates) - middle[:, None]
    shapes = np.vstack([prior.draw(sobol_normals(DRAWS)) for prior in priors])
    samples = log_shapes(shapes, places, middle, pressed=True)
    return samples, np.full(len(samples), 1 / len(samples))


def _succeeds(candidates: Columns, tried: Tried) -> FloatArray:
    """Return how likely each candidate succeeds, as far as failures tell."""
    logs = join_logs(candidates)[[AXES.index(name) for name in ("machines", "cores", "memory")]]
    chance: FloatArray = np.ones(logs.shape[1])
    fine = set(tried.candidate[tried.at("ok")].tolist())
    for place in set(tried.candidate[tried.at("failed", "timeout")].tolist()) - fine:
        distance = ((logs - logs[:, [place]]) ** 2).sum(axis=0)
        chance = chance * (1 - FAILS_AGAIN * np.exp(-distance / FAILS_WITHIN))
    return chance


def _times(tried: Tried, runs: npt.NDArray[np.intp], candidate: int) -> FloatArray:
    found: FloatArray = tried.seconds[runs][tried.candidate[runs] == candidate]
    return found


def _best(
    tried: Tried,
    succeeded: npt.NDArray[np.intp],
    log_rate: FloatArray,
    deadline: float | None,
) -> int | None:
    """Return the best candidate that was measured, by the median of its runs."""
    costs = {}
    for place in set(tried.candidate[succeeded].tolist()):
        seconds = float(np.median(_times(tried, succeeded, place)))
        if deadline is None or seconds <= deadline:
            costs[place] = np.log(seconds) + log_rate[place]
    return min(costs, key=lambda place: (costs[place], place)) if costs else None


def _quantile(samples: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    order = np.argsort(samples, axis=0)
    reached = np.cumsum(weights[order], axis=0)
    place = np.minimum((reached < level).sum(axis=0), len(samples) - 1)
    found: FloatArray = np.take_along_axis(samples, order, axis=0)[place, np.arange(len(place))]
    return found
