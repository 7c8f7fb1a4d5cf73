"""Executors that a run lost: what was measured then is no measure of the algorithm."""

from __future__ import annotations

import pandas as pd

__all__ = ["executors_lost"]


def executors_lost(executors: pd.DataFrame, since: float, machines: int) -> int:
    """Return how many executors went away during a run, or were not there to begin with.

    A run that ends all the same has computed again what they had, on others or on new ones that
    had yet to warm up: its times are not those of a run on so many machines.

    Parameters
    ----------
    executors : DataFrame
        Of an event log: ``executor, added, removed``; ``removed`` is NaN for those that stayed.
    since : float
        When the run began, in seconds since 1970.
    machines : int
        Executors that the run should have.

    Examples
    --------
    >>> stayed, left = float("nan"), 60.0
    >>> executors = pd.DataFrame({"executor": ["0", "1"], "removed": [stayed, left]})
    >>> executors_lost(executors, since=50.0, machines=2)
    1
    >>> executors_lost(executors, since=70.0, machines=2)  # one short from the beginning
    1
    >>> executors_lost(executors.iloc[:1], since=50.0, machines=1)
    0
    """
    if not len(executors):
        return 0
    gone = int((executors["removed"] >= since).sum())
    there = int(executors["removed"].isna().sum())
    return max(gone, machines - there, 0)
