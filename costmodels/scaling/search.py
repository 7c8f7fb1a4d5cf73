"""Which configuration to measure next: expected improvement over the best one measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from costmodels.arrays import FloatArray, IntArray
from costmodels.scaling import pooled
from costmodels.scaling.points import Columns, gather_points, take_rows
from costmodels.scaling.shapes import AXES, LIKE_ANOTHER, Prior, log_shapes


def rank_candidates(
    candidates: Columns,
    tried: pd.DataFrame,
    priors: Sequence[Prior],
    *,
    rate: FloatArray | None = None,
    deadline: float = np.inf,
    like: Sequence[pooled.PooledLaw] = (),
    wider: float = 2.0,
) -> tuple[pd.DataFrame, int | None]:
    """Rank candidates by what measuring them is expected to bring.

    Parameters
    ----------
    candidates : mapping of str to ndarray, shape (n,)
        ``machines``, and where known ``scale``, ``cores`` and ``memory`` of a machine.
    tried : DataFrame
        Runs so far; may be none. ``candidate`` is the place among the candidates, ``seconds`` how
        long a run took, or until it was ended, ``outcome`` is ``"ok"``, ``"failed"``, or
        ``"timeout"``, when it takes longer.
    priors : sequence of Prior
        Equally likely.
    rate : ndarray, shape (n,), optional
        Cost of a second; by default 1, which makes the fastest the best. Runs where it is infinite
        show how long others take, but are never the best.
    deadline : float, default infinite
        Seconds that a run may take: only configurations within it count.
    like : sequence of PooledLaw, optional
        Of a past job that is said to be like this one, such as at several sizes.
    wider : float, default 2
        Improvement is sought in distributions this much wider than predicted: a search that trusts
        its model does not find where it is wrong. With 1 / 1.5 / 2 the searches of C3O for the
        cheapest took 5.3 / 4.9 / 4.6 runs, the simulated ones 5.4 / 5.0 / 5.2; 2 was first chosen
        on Scout's (docs/studies/cluster-transfer.md).

    Returns
    -------
    ranking : DataFrame
        One row a candidate: ``gain``, the expected improvement on the best run, as a part of what
        that took or cost, 0 for those that were tried (before the first run: a typical candidate's
        time or cost, over that expected); ``seconds``, ``low`` and ``high``, the predicted time and
        its 90% interval, not a number before the first run that succeeded, when times are known up
        to a factor only; ``beats``, the probability that a run takes or costs less than the best so
        far; ``chance``, that it succeeds, and within the deadline where there is one.
    best : int or None
        The candidate of the best run so far.

    References
    ----------
    Jones, Schonlau, Welch: Efficient global optimization of expensive black-box functions, Journal
    of Global Optimization 13 (1998); as CherryPick (NSDI 2017) uses it, but for the model.

    Examples
    --------
    >>> from costmodels.scaling import shipped_prior
    >>> machines = np.array([2.0, 4, 8, 16])
    >>> none = pd.DataFrame({"candidate": [], "seconds": [], "outcome": []})
    >>> found, best = rank_candidates({"machines": machines}, none, [shipped_prior()])
    >>> float(machines[found["gain"].argmax()])
    16.0
    """
    count = len(candidates["machines"])
    log_rate = np.zeros(count) if rate is None else np.log(rate)
    done = tried[tried["outcome"] == "ok"]
    if len(done):
        samples = _measured(candidates, tried, priors, like)
        low, seconds, high = np.exp(np.quantile(samples, (0.05, 0.5, 0.95), axis=0))
    else:
        samples = _expected(candidates, priors, like)
        seconds = low = high = np.full(count, np.nan)
    fine = set(_places(done).tolist())
    outcomes = [tried[tried["outcome"] == what] for what in ("failed", "timeout")]
    failed, slow = (set(_places(runs).tolist()) - fine for runs in outcomes)
    near = (take_rows(candidates, sorted(places)) for places in (failed, fine, slow))
    succeeds = chance = success_chance(candidates, *near)
    if len(done):
        allowed = samples <= np.log(deadline)
        chance = succeeds * allowed.mean(axis=0)
        middle = np.median(samples, axis=0)
        sought = middle + wider * (samples - middle)
    costs = samples + log_rate
    medians = done.groupby("candidate")["seconds"].median()
    medians = medians[(medians <= deadline) & np.isfinite(log_rate[medians.index])]
    known: Any = np.log(medians) + log_rate[medians.index]
    best = None if known.empty else int(known.idxmin())
    beats = np.full(count, np.nan)
    if done.empty:
        if deadline < np.inf:
            costs = costs + samples  # seconds are known up to a factor only
        # By the mean, not its inverse: that would choose what is best if all goes well.
        beyond = np.exp(np.clip(costs - costs.min(axis=1, keepdims=True), 0, 50))
        expected = beyond.mean(axis=0)
        gain = np.median(expected[np.isfinite(log_rate)]) / expected
    elif best is None:
        # What a candidate brings beside a typical one; only those in time bring anything.
        typical = np.median(costs[:, np.isfinite(log_rate)])
        worth = np.exp(np.clip(typical - costs, -50, 50))
        gain = np.where(sought <= np.log(deadline), worth, 0.0).mean(axis=0)
    else:
        better = np.maximum(0.0, 1 - np.exp(sought + log_rate - known.min()))
        beats = succeeds * (allowed & (costs < known.min())).mean(axis=0)
        gain = np.where(allowed, better, 0.0).mean(axis=0)
    gain = gain * succeeds
    gain[_places(tried)] = 0.0
    found = {"gain": gain, "seconds": seconds, "low": low, "high": high, "beats": beats}
    return pd.DataFrame(found).assign(chance=chance), best


def _places(runs: pd.DataFrame) -> IntArray:
    return runs["candidate"].to_numpy(np.intp)


def _measured(
    candidates: Columns,
    tried: pd.DataFrame,
    priors: Sequence[Prior],
    like: Sequence[pooled.PooledLaw],
    alike: float = 0.8,
) -> FloatArray:
    """Return equally likely log seconds of the candidates, shape (samples, n).

    They follow a shape of the priors, or those of a job like this one times a factor and a misfit;
    each by how likely it makes what was measured. Before that the job is `alike` with so much
    probability; not tuned.
    """

    def over(logs: FloatArray, priors: Sequence[Prior]) -> tuple[float, FloatArray]:
        at, seconds = {}, {}
        for outcome, runs in tried.groupby("outcome"):
            places = _places(runs)
            at[outcome] = {"scale": np.ones(len(runs)), **take_rows(candidates, places)}
            seconds[outcome] = runs["seconds"].to_numpy() / np.exp(logs[places])
        points = gather_points(at["ok"], seconds["ok"])
        ended = pooled.Ended(at["timeout"], seconds["timeout"]) if "timeout" in at else None
        law = pooled.fit_pooled(points, priors, middle=pooled.middle_of(candidates), ended=ended)
        return law.evidence, logs + law.draws(candidates)

    evidence, draws = over(np.zeros(len(candidates["machines"])), priors)
    if not like:
        return draws
    others = [over(np.median(_of(law, candidates), axis=0), [LIKE_ANOTHER]) for law in like]
    logs = np.array([evidence, *(one for one, _ in others)])
    odds = np.array([1 - alike, *np.full(len(like), alike / len(like))]) * np.exp(logs - logs.max())
    counts = np.round(len(draws) * odds / odds.sum()).astype(int)
    every = zip([draws, *(one for _, one in others)], counts.tolist(), strict=True)
    return np.vstack([one[np.linspace(0, len(one) - 1, n).astype(int)] for one, n in every])


def _of(law: pooled.PooledLaw, candidates: Columns) -> FloatArray:
    """Return equally likely log seconds of another job, at the scale it was measured at.

    What is not known of its machines is that of the middle of the candidates.
    """
    scale, known = np.exp(law.measured.middle[AXES.index("scale")]), law.measured.points.columns
    own = {
        name: each if name in known else each / np.exp(np.log(each).mean())
        for name, each in candidates.items()
    }
    return law.draws({**own, "scale": np.full(len(candidates["machines"]), scale)})


def _expected(
    candidates: Columns, priors: Sequence[Prior], like: Sequence[pooled.PooledLaw], draws: int = 512
) -> FloatArray:
    """Return equally likely log seconds, up to a factor, before anything is measured."""
    if like:
        return np.vstack([_of(law, candidates) for law in like])
    middle = pooled.middle_of(candidates)
    places = pooled.join_logs(candidates) - middle[:, None]
    shapes = np.vstack([prior.draw(pooled.sobol_normals(draws)) for prior in priors])
    return log_shapes(shapes, places, middle)


# Of machines of a scale, cores and memory, whether more are easier: cores may need memory
_EASIER = np.array((True, False, True))[:, None, None]
_AGAIN, _WITHIN = 0.7, 0.5  # chance of a second failure at one place; e-folds squared: not tuned


def success_chance(
    columns: Columns, failed: Columns, fine: Columns, slow: Columns | None = None
) -> FloatArray:
    """Return how likely configurations succeed, by what became of those near them, shape (n,).

    Runs fail as those near them did: less with the distance in e-folds of machines of a scale,
    cores and memory, and less where others succeeded. Fewer machines of a scale or less memory are
    at no distance from a failure, and what is no harder than a success does not fail, unless the
    failure was no harder than one either; but they are from a run that a timeout ended, which
    another type of machine may do in time.

    Parameters
    ----------
    columns, failed, fine : mapping of str to ndarray
        ``machines``, and where known ``scale``, ``cores`` and ``memory``, of the configurations, of
        those that failed, and of those that succeeded; of the latter there may be none.
    slow : mapping, optional
        Likewise, of those that a timeout ended.

    Examples
    --------
    >>> machines, failed = {"machines": np.array([1.0, 2, 8, 64])}, {"machines": np.array([2.0])}
    >>> success_chance(machines, failed, {}).round(2)
    array([0.3 , 0.3 , 0.95, 1.  ])
    >>> success_chance(machines, failed, {"machines": np.array([1.0])}).round(2)
    array([0.79, 0.45, 0.95, 1.  ])
    """
    contradicted = _no_harder(failed, fine)
    proven = _no_harder(columns, fine)[:, None] & ~contradicted
    apart = _apart(columns, failed)
    apart = np.where(_EASIER & ~contradicted, np.maximum(apart, 0.0), apart)
    near, for_, late = (
        np.exp(-(each**2).sum(axis=0) / _WITHIN)
        for each in (apart, _apart(columns, fine), _apart(columns, slow or {}))
    )
    against = (near * ~proven).sum(axis=1) + late.sum(axis=1)
    return np.asarray(1 - against / (against + for_.sum(axis=1) + 1 / _AGAIN - 1))


def _no_harder(columns: Columns, fine: Columns) -> Any:
    """Return which configurations are no harder than one that succeeded, shape (n,)."""
    apart = _apart(columns, fine)
    return ((apart == 0) | _EASIER & (apart > 0)).all(axis=0).any(axis=1)


def _apart(columns: Columns, others: Columns) -> FloatArray:
    """Return the distances of configurations from others by axis, shape (3, n, m)."""
    each, other = map(_places_by_load, (columns, others))
    return np.asarray(each[:, :, None] - other[:, None, :])


def _places_by_load(columns: Columns) -> FloatArray:
    """Return the logarithms of machines of a scale, cores and memory, shape (3, n)."""
    machines = columns.get("machines", np.zeros(0)) / columns.get("scale", 1.0)
    logs = pooled.join_logs({**columns, "machines": machines})
    return np.delete(logs, AXES.index("scale"), axis=0)
