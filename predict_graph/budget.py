"""What a prediction may cost: a share of the run, seconds, or anything; and what is left of it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from predict_graph.durations import parse_duration
from predict_graph.errors import RequestError

_ACCEPTED = (
    "accepted: a share of the run such as 5%, a time such as 30s or 10m, a share and a time at "
    "most such as '5%, 10m', 0 for a baseline estimate, or unlimited"
)


@dataclass(frozen=True)
class Budget:
    """What a prediction may cost, reading the graph excluded.

    Examples
    --------
    >>> budget = check_budget(None)
    >>> budget.allowed(0.5), budget.allowed(100.0), budget.allowed(86400.0)
    (2.0, 5.0, 120.0)
    >>> check_budget("30s").allowed(5.0), check_budget("10%").allowed(5.0)
    (30.0, 0.5)
    >>> check_budget("5%, 2m") == check_budget("2m, 5%"), check_budget(0).allowed(100.0)
    (True, 0.0)
    >>> print(check_budget("unlimited"), check_budget("none"))
    unlimited unlimited
    """

    share: float | None = None
    seconds: float = math.inf
    least_seconds: float = 0.0

    @property
    def unlimited(self) -> bool:
        """Whether a prediction may cost what it wants."""
        return self == Budget()

    def allowed(self, run_seconds: float) -> float:
        """Return the seconds that a prediction of a run of so many seconds may take."""
        if self.share is None:
            return self.seconds
        return min(max(self.share * run_seconds, self.least_seconds), self.seconds)

    def __str__(self) -> str:
        parts = [] if self.share is None else [f"{100.0 * self.share:g}%"]
        parts += [f"{self.least_seconds:g}s at least"] if self.least_seconds else []
        parts += [] if self.seconds == math.inf else [f"{self.seconds:g}s at most"]
        return ", ".join(parts) or "unlimited"


class Spending:
    """What is left of the budget of one prediction.

    Parameters
    ----------
    budget : Budget
    run_seconds : float
        What the run is estimated to take.
    reading_seconds : float
        Time to read the graph, where only the prediction needed it; not part of the budget.
    """

    def __init__(self, budget: Budget, run_seconds: float, reading_seconds: float = 0.0) -> None:
        self._started = time.perf_counter()
        self._budget = budget
        self._allowed = budget.allowed(run_seconds)
        self.reading_seconds = reading_seconds
        self.loading_seconds = 0.0

    @property
    def spent(self) -> float:
        """Seconds since the prediction began, those of loading compiled code left out."""
        return time.perf_counter() - self._started - self.loading_seconds

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Do not count what is done inside: a process loads compiled code once, run or predict."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.loading_seconds += time.perf_counter() - started

    def expects(self, run_seconds: float) -> None:
        """Go by another figure for what the run will take: one that knows more."""
        self._allowed = self._budget.allowed(run_seconds)

    @property
    def left(self) -> float:
        """Seconds until the budget is spent."""
        return self._allowed - self.spent

    def affords(self, seconds: float) -> bool:
        """Whether so many more seconds are within the budget; infinitely many never are."""
        return seconds <= self.left and seconds < math.inf

    @property
    def left_at_most(self) -> float:
        """Seconds until all work stops, whatever it was expected to take.

        The documented limit is 1.25 times the budget, and the answer has to be put together, too.
        """
        return 1.2 * self._allowed - self.spent


# The larger of 2 seconds, which a user waits without noticing, and 5% of the predicted run, at
# most 2 minutes (docs/budget.md).
DEFAULT_BUDGET = Budget(share=0.05, seconds=120.0, least_seconds=2.0)


def check_budget(value: Any, default: Budget = DEFAULT_BUDGET) -> Budget:
    """Return the budget that a user gives."""
    if value is None or isinstance(value, Budget):
        return default if value is None else value
    with suppress(TypeError, ValueError):
        if isinstance(value, str):
            return _of_text(value.lower())
        if not isinstance(value, bool) and 0.0 <= value < math.inf:
            return Budget(seconds=float(value))
    raise RequestError(f"the budget is {value!r}; {_ACCEPTED}")


def _of_text(text: str) -> Budget:
    if text.strip() in ("unlimited", "none"):  # none: of no limit
        return Budget()
    found: dict[str, float] = {}
    for part in map(str.strip, text.split(",")):
        name, parsed = ("share", _share) if part.endswith("%") else ("seconds", _seconds)
        if name in found:
            raise ValueError(part)
        found[name] = parsed(part)
    return Budget(**found)


def check_within(value: str | float | None) -> float | None:
    """Return how near to the truth a prediction is to be, as a share; None if nobody asked.

    Examples
    --------
    >>> check_within("10%"), check_within("0.2"), check_within(0.2)
    (0.1, 0.2, 0.2)
    """
    if value is None:
        return None
    with suppress(TypeError, ValueError):
        share = _share(text) if "%" in (text := str(value).strip()) else float(value)
        if not isinstance(value, bool) and 0.0 < share <= 1.0:
            return share
    raise RequestError(f"within is {value!r}; accepted: a share between 0 and 1, such as 10%")


def _seconds(text: str) -> float:
    return 0.0 if re.fullmatch(r"0+(\.0*)?s?", text) else parse_duration(text)


def _share(text: str) -> float:
    share = float(text.removesuffix("%")) / 100.0
    if not (text.endswith("%") and 0.0 < share <= 1.0):
        raise ValueError(text)
    return share
