"""Which configuration to measure next: expected improvement over the best one measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.rows import FloatArray
from costmodels.scaling.points import Columns, gather_points, take_rows
from costmodels.scaling.pooled import Ended, PooledLaw, fit_pooled
from costmodels.scaling.posterior import join_logs, middle_of, sobol_normals
from costmodels.scaling.shapes import LIKE_ANOTHER, Prior, log_shapes

DRAWS = 512  # shapes of the priors, before anything is measured; not tuned
# Improvement is sought in distributions this much wider than predicted: a search that trusts its
# model does not find where it is wrong. With 1 / 1.5 / 2 the searches of C3O for the cheapest took
# 5.3 / 4.9 / 4.6 runs, the simulated ones 5.4 / 5.0 / 5.2; 2 was first chosen on Scout's.
WIDER = 2.0  # docs/studies/cluster-transfer.md
# Runs fail as those near them did: after one failure 70% at the same place, less with the distance
# in e-folds of machines, cores, memory and scale, and less where others succeeded.
FAILS_AGAIN = 0.7  # not tuned
FAILS_WITHIN = 0.5  # as above
LIKE = 0.8  # not tuned: how likely a job is like the one that is named, before it ran


@dataclass(frozen=True)
class Tried:
    """Runs of a job at candidates."""

    # shape (n,): Place among the candidates.
    candidate: npt.NDArray[np.intp]
    # shape (n,): How long each took, or until it was ended.
    seconds: FloatArray
    # ``"ok"``, ``"failed"``, or ``"timeout"``, when it takes longer.
    outcome: Sequence[str]

    def at(self, *outcomes: str) -> npt.NDArray[np.intp]:
        """Return the runs that ended in one of these ways."""
        return np.flatnonzero([one in outcomes for one in self.outcome])


@dataclass(frozen=True)
class Ranking:
    """What each candidate is expected to bring."""

    # shape (n,): Expected improvement on the best run, as a part of what that took or cost; 0 for
    # candidates that were tried. Before the first run: a typical candidate's, over that expected.
    gain: FloatArray
    # shape (n,): Predicted time of a run and its 90% interval; not a number before the first run
    # that succeeded, when times are known up to a factor only.
    seconds: FloatArray
    low: FloatArray
    high: FloatArray
    # shape (n,): Probability that a run takes or costs less than the best so far.
    beats: FloatArray
    # shape (n,): Probability that a run succeeds, and within the deadline where there is one.
    chance: FloatArray
    # The best run so far: its candidate.
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
    like: Sequence[PooledLaw] = (),
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
    like : sequence of PooledLaw, optional
        Of a past job that is said to be like this one, such as at several sizes.

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
    limit = np.inf if deadline is None else deadline
    succeeded = tried.at("ok")
    if len(succeeded):
        samples = _measured(candidates, tried, priors, like)
        low, seconds, high = np.exp(np.quantile(samples, (0.05, 0.5, 0.95), axis=0))
    else:
        samples = _expected(candidates, priors, like)
        seconds = low = high = np.full(count, np.nan)
    succeeds = chance = _succeeds(candidates, tried)
    if len(succeeded):
        allowed = samples <= np.log(limit)
        chance = succeeds * allowed.mean(axis=0)
    costs = samples + log_rate
    medians = pd.Series(tried.seconds[succeeded]).groupby(tried.candidate[succeeded]).median()
    medians = medians[medians <= limit]
    known: Any = np.log(medians) + log_rate[medians.index]
    best = None if known.empty else int(known.idxmin())
    beats = np.full(count, np.nan)
    if not len(succeeded):
        if deadline is not None:
            costs = costs + samples  # seconds are known up to a factor only
        # By the mean, not its inverse: that would choose what is best if all goes well.
        beyond = np.exp(np.clip(costs - costs.min(axis=1, keepdims=True), 0, 50))
        expected = beyond.mean(axis=0)
        gain = np.median(expected) / expected
    elif best is None:
        # What a candidate brings beside a typical one; only those in time bring anything.
        middle = np.median(samples, axis=0)
        allowed = middle + WIDER * (samples - middle) <= np.log(limit)
        worth = np.exp(np.clip(np.median(costs) - costs, -50, 50))
        gain = np.where(allowed, worth, 0.0).mean(axis=0)
    else:
        middle = np.median(costs, axis=0)
        sought = middle + WIDER * (costs - middle)
        better = np.maximum(0.0, 1 - np.exp(sought - known.min()))
        beats = succeeds * (allowed & (costs < known.min())).mean(axis=0)
        gain = np.where(allowed, better, 0.0).mean(axis=0)
    gain = gain * succeeds
    gain[tried.candidate] = 0.0
    return Ranking(gain, seconds, low, high, beats, chance, best)


def _measured(
    candidates: Columns, tried: Tried, priors: Sequence[Prior], like: Sequence[PooledLaw]
) -> FloatArray:
    """Return equally likely log seconds of the candidates, shape (samples, n).

    They follow a shape of the priors, or those of a job like this one times a factor and a misfit;
    each by how likely it makes what was measured.
    """
    succeeded, late = tried.at("ok"), tried.at("timeout")

    def at(runs: npt.NDArray[np.intp]) -> dict[str, FloatArray]:
        return {"scale": np.ones(len(runs)), **take_rows(candidates, tried.candidate[runs])}

    def over(logs: FloatArray, priors: Sequence[Prior]) -> tuple[float, FloatArray]:
        seconds = tried.seconds / np.exp(logs[tried.candidate])
        points = gather_points(at(succeeded), seconds[succeeded])
        ended = Ended(at(late), seconds[late])
        law, posterior = fit_pooled(points, priors, middle=middle_of(candidates), ended=ended)
        return posterior.evidence, logs + law.draws(candidates)

    evidence, draws = over(np.zeros(len(candidates["machines"])), priors)
    if not like:
        return draws
    others = [over(np.median(law.draws(candidates), axis=0), [LIKE_ANOTHER]) for law in like]
    logs = np.array([evidence, *(one for one, _ in others)])
    odds = np.array([1 - LIKE, *np.full(len(like), LIKE / len(like))]) * np.exp(logs - logs.max())
    counts = np.round(len(draws) * odds / odds.sum()).astype(int)
    every = zip([draws, *(one for _, one in others)], counts.tolist(), strict=True)
    return np.vstack([one[np.linspace(0, len(one) - 1, n).astype(int)] for one, n in every])


def _expected(
    candidates: Columns, priors: Sequence[Prior], like: Sequence[PooledLaw]
) -> FloatArray:
    if like:
        return np.vstack([law.draws(candidates) for law in like])
    middle = middle_of(candidates)
    places = join_logs(candidates) - middle[:, None]
    shapes = np.vstack([prior.draw(sobol_normals(DRAWS)) for prior in priors])
    return log_shapes(shapes, places, middle)


def success_chance(columns: Columns, failed: Columns, fine: Columns) -> FloatArray:
    """Return how likely configurations succeed, by what became of those near them, shape (n,).

    Parameters
    ----------
    columns, failed, fine : mapping of str to ndarray
        ``machines``, and where known ``scale``, ``cores`` and ``memory``, of the configurations, of
        those that failed, and of those that succeeded; of the latter there may be none.

    Examples
    --------
    >>> machines, failed = {"machines": np.array([2.0, 8, 64])}, {"machines": np.array([2.0])}
    >>> success_chance(machines, failed, {}).round(2)
    array([0.3 , 0.95, 1.  ])
    >>> success_chance(machines, failed, {"machines": np.array([8.0])}).round(2)
    array([0.31, 0.99, 1.  ])
    """
    against, for_ = _nearness(columns, failed), _nearness(columns, fine)
    chance: FloatArray = 1 - against / (against + for_ + 1 / FAILS_AGAIN - 1)
    return chance


def _nearness(columns: Columns, others: Columns) -> FloatArray:
    """Return how many of the others there are, each by how near it is."""
    logs = join_logs(columns)
    if not len(others.get("machines", ())):
        return np.zeros(logs.shape[1])
    apart = logs[:, :, None] - join_logs(others)[:, None, :]
    near: FloatArray = np.exp(-(apart**2).sum(axis=0) / FAILS_WITHIN).sum(axis=1)
    return near


def _succeeds(candidates: Columns, tried: Tried) -> FloatArray:
    """Return how likely each candidate succeeds, by the outcomes of runs."""
    fine = set(tried.candidate[tried.at("ok")].tolist())
    failed = set(tried.candidate[tried.at("failed", "timeout")].tolist()) - fine
    against, for_ = (take_rows(candidates, sorted(places)) for places in (failed, fine))
    return success_chance(candidates, against, for_)
