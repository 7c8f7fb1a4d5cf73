"""Searches for a good configuration on measured tables: `next`, and what others do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.cluster_peers import log_process
from benchmarks.cluster_tables import c3o_choices, scout_choices, simulated_choices
from costmodels.scaling import Prior, gather_points
from costmodels.scaling.pooled import PooledLaw, fit_pooled
from costmodels.scaling.search import rank_candidates

GOALS = ("fastest", "cheapest")
WITHIN = 1.1
STARTS = 3
LIMIT = 7200.0  # seconds after which Scout's runs were ended

# A problem: its name, the job, and one row a configuration.
CHOICES: dict[str, Callable[[Path], Iterator[tuple[str, str, pd.DataFrame]]]] = {
    "Scout": scout_choices,
    "C3O": c3o_choices,
    "simulated": simulated_choices,
}


class Search:
    """Configurations of one job, tried until one is within 10% of the best."""

    def __init__(self, runs: pd.DataFrame, goal: str) -> None:
        self.runs = runs.reset_index(drop=True)
        self.rate = np.ones(len(runs))
        if goal == "cheapest":
            self.rate = (self.runs.machines * self.runs.price_per_hour / 3600).to_numpy()
        self.ok = self.runs.completed.to_numpy(bool)
        self.seconds = self.runs.seconds.to_numpy(float)
        cost = np.where(self.ok, self.seconds * self.rate, np.inf)
        self.over = cost / cost.min()
        self.good = self.over <= WITHIN
        names = ("machines", "cores", "memory")
        self.columns = {name: self.runs[name].to_numpy(float) for name in names}

    def found(self, choose: Callable[[list[int]], int], start: int | None) -> tuple[int, float]:
        """Return how many runs it takes, and the time or cost of the first, over the best."""
        done = [] if start is None else [start]
        while not any(self.good[i] for i in done):
            done.append(choose(done))
        return len(done), float(self.over[done[0]])

    def law(self, priors: list[Prior]) -> PooledLaw:
        """Return what a past job teaches, all of whose configurations were measured."""
        known = {name: column[self.ok] for name, column in self.columns.items()}
        points = gather_points({"scale": np.ones(self.ok.sum()), **known}, self.seconds[self.ok])
        return fit_pooled(points, priors)

    def ours(self, priors: list[Prior], like: list[PooledLaw], done: list[int]) -> int:
        places = np.array(done, np.intp)
        late = self.seconds >= LIMIT
        outcome = ["ok" if self.ok[i] else "timeout" if late[i] else "failed" for i in done]
        tried = pd.DataFrame(
            {"candidate": places, "seconds": self.seconds[places], "outcome": outcome}
        )
        ranking, _ = rank_candidates(self.columns, tried, priors, rate=self.rate, like=like)
        return max(set(range(len(self.runs))) - set(done), key=lambda i: ranking["gain"][i])

    def process(self, rng: np.random.Generator, done: list[int]) -> int:
        """Gaussian process with expected improvement, after three random runs."""
        left = [i for i in range(len(self.runs)) if i not in done]
        known = [i for i in done if self.ok[i]]
        if len(done) < 3 or len(known) < 2:
            return int(rng.choice(left))
        X = pd.DataFrame(self.columns)
        cost = np.log(self.seconds * self.rate)
        mean, deviation = log_process(X.iloc[known], np.exp(cost[known]), X.iloc[left])
        gap = cost[known].min() - mean
        z = gap / np.maximum(deviation, 1e-9)
        return left[int(np.argmax(gap * norm.cdf(z) + deviation * norm.pdf(z)))]


def search_lengths(
    problems: list[tuple[str, str, pd.DataFrame]],
    elsewhere: Prior,
    history: Callable[[str], Prior] | None,
) -> pd.DataFrame:
    """Return runs of each search until one within 10% of the best, the successful one counted.

    Parameters
    ----------
    problems : list of (str, str, DataFrame)
    elsewhere : Prior
        Learnt from other sources.
    history : callable, optional
        Takes the job; the prior of the other jobs of the source.
    """
    found: list[tuple[str, str, str, float, float]] = []
    for problem, job, runs in problems:
        kinds: dict[str, tuple[list[Prior], bool]] = {"next": ([elsewhere], False)}
        fellows = [runs for name, other, runs in problems if other == job and name != problem]
        if history is not None:
            known = [history(job), elsewhere]
            kinds["next, history"] = known, False
            if fellows:
                kinds["next, history, like"] = known, True
        for goal in GOALS:
            search = Search(runs, goal)
            good = int(search.good.sum())
            # Of n in random order, g of them good, the first good one comes in the mean at:
            expected = (len(runs) + 1) / (good + 1)
            usual = float(search.over[search.ok].mean())
            found.append(("random (expected)", problem, goal, expected, usual))
            for name, (priors, alike) in kinds.items():
                # Another size of the job, or with other settings.
                like = [Search(fellows[0], goal).law(priors)] if alike else []
                choose = partial(search.ours, priors, like)
                found.append((f"{name}, from nothing", problem, goal, *search.found(choose, None)))
                for draw in range(STARTS):
                    start = int(np.random.default_rng(draw).integers(len(runs)))
                    ran = search.found(choose, start)
                    found.append((f"{name}, from a random run", problem, goal, *ran))
            for draw in range(STARTS):
                rng = np.random.default_rng(draw)
                choose = partial(search.process, rng)
                ran = search.found(choose, int(rng.integers(len(runs))))
                found.append(("Gaussian process, from a random run", problem, goal, *ran))
    return pd.DataFrame(found, columns=["search", "problem", "goal", "runs", "first"])
