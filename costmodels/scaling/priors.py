"""Priors of scaling models: the one that comes with the package, and those of past jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from costmodels.scaling.points import Points
from costmodels.scaling.pooled import Measured, weigh_shapes
from costmodels.scaling.shapes import MISFITS, NAMES, NOISES, Prior

# Contexts of a job that are used, those with the most configurations: a job counts once
# however many it has, and further ones cost time.
MOST_CONTEXTS = 12  # not tuned: bounds the time

_FAMILY = {"names": list(NAMES), "misfits": list(MISFITS), "noises": list(NOISES)}
_ARRAYS = ("mean", "covariance", "spreads")


def learn_prior(
    jobs: Mapping[str, Sequence[Points]],
    base: Prior | None = None,
    *,
    rounds: int = 5,
    worth: float = 2.0,
) -> Prior:
    """Learn what the jobs of a cluster have in common.

    Expectation and maximisation: the shapes that fit each past job, weighed by the prior, are the
    next prior, along with two jobs' worth of `base`.

    Parameters
    ----------
    jobs : mapping of str to sequence of Points
        Measured configurations by job; several sets of one job, such as its contexts, count as one
        job together, each by how many configurations it has.
    base : Prior, optional
        The prior below; by default that of the package.
    rounds : int, default 5
        Of expectation and maximisation.
    worth : float, default 2
        Jobs that the prior below counts for: with 1 to 4 all sources of
        docs/studies/cluster-transfer.md were as good, with less a history of one or two jobs began
        to do harm.

    Returns
    -------
    Prior
        Whose parent is `base`.

    Raises
    ------
    ValueError
        If there is no job with two machine counts.

    References
    ----------
    Robbins: An empirical Bayes approach to statistics, Berkeley Symposium (1956).
    """
    below = shipped_prior() if base is None else base
    useful = {
        name: sorted(kept, key=len, reverse=True)[:MOST_CONTEXTS]
        for name, sets in jobs.items()
        if (kept := [p for p in sets if len(np.unique(p.columns["machines"])) > 1])
    }
    if not useful:
        raise ValueError("no past job was measured at two machine counts, so none can teach")
    prior, total = below, worth + len(useful)
    for _ in range(rounds):
        means = worth * below.mean
        squares = worth * (below.covariance + np.outer(below.mean, below.mean))
        spreads = worth * below.spreads
        for sets in useful.values():
            every = sum(len(points) for points in sets)
            for points in sets:
                found = weigh_shapes(Measured(points), [prior])
                counts = len(points) / every
                share = counts * found.weights.sum(axis=0)
                means = means + share @ found.shapes
                squares = squares + (found.shapes.T * share) @ found.shapes
                spreads = spreads + counts * found.weights.sum(axis=1).reshape(spreads.shape)
        mean = means / total
        prior = Prior(mean, squares / total - np.outer(mean, mean), spreads / total)
    return replace(prior, jobs=len(useful), parent=below)


def prior_to_plain(prior: Prior) -> dict[str, Any]:
    """Return a prior as plain values for JSON, without what it was learnt on top of."""
    arrays = {name: getattr(prior, name).tolist() for name in _ARRAYS}
    return {**_FAMILY, **arrays, "jobs": prior.jobs}


def prior_from_plain(plain: Mapping[str, Any]) -> Prior:
    """Return the prior that :func:`prior_to_plain` made `plain` of.

    Raises
    ------
    ValueError
        If it is of another family of shapes.

    Examples
    --------
    >>> plain = prior_to_plain(shipped_prior())
    >>> prior_to_plain(prior_from_plain(plain)) == plain
    True
    """
    if any(plain[name] != values for name, values in _FAMILY.items()):
        raise ValueError("the prior is of another family of shapes")
    arrays: dict[str, Any] = {name: np.array(plain[name], np.float64) for name in _ARRAYS}
    return Prior(**arrays, jobs=int(plain["jobs"]))


@lru_cache(maxsize=1)
def shipped_prior() -> Prior:
    """Return the prior that comes with the package.

    It was learnt from public measurements by ``python -m benchmarks.cluster_prior``, which
    lists them, and counts two jobs against those of a cluster's own history.
    """
    text = (files("costmodels.scaling") / "prior.json").read_text(encoding="utf-8")
    return prior_from_plain(json.loads(text))
