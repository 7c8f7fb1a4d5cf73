"""How much a prediction may spend: a share of the run that it predicts, or seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from predict_graph.errors import RequestError

__all__ = ["DEFAULT_BUDGET", "Budget", "check_budget"]

DEFAULT_BUDGET = "5%, 2m"  # of nine days 5% are eleven hours, and two minutes tell enough
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}  # by definition: seconds
_FREE_SECONDS = 1.0  # 5% of 20 s: what a prediction may take in any case; a choice


@dataclass(frozen=True)
class Budget:
    """Seconds, a share of the predicted run, or a share and at most so many seconds.

    What is None is no limit.
    """

    share: float | None = None
    seconds: float | None = None

    def allows(self, predicted: float) -> float:
        """Return the seconds that a prediction of a run of `predicted` seconds may take.

        Examples
        --------
        >>> Budget(share=0.05).allows(200.0), Budget(seconds=30.0).allows(200.0)
        (10.0, 30.0)
        >>> Budget(share=0.05, seconds=120.0).allows(86400.0)
        120.0
        """
        if self.share is None:
            return predicted if self.seconds is None else self.seconds
        return max(min(self.share * predicted, self.most), _FREE_SECONDS)

    @property
    def most(self) -> float:
        """Seconds that may be spent, however long the run is."""
        return math.inf if self.seconds is None else self.seconds

    @property
    def text(self) -> str:
        """As a person writes it."""
        parts = [] if self.share is None else [f"{100.0 * self.share:g}%"]
        parts += [] if self.seconds is None else [f"{self.seconds:g}s"]
        return ", ".join(parts) or "none"


def check_budget(value: Any) -> Budget:
    """Return a budget from ``5%``, ``30s``, ``5%, 10m``, a number of seconds, ``none`` or None.

    Raises
    ------
    RequestError
        If it is none of these, or not above 0.

    Examples
    --------
    >>> check_budget("5%"), check_budget("2m").seconds, check_budget("none")
    (Budget(share=0.05, seconds=None), 120.0, Budget(share=None, seconds=None))
    """
    if isinstance(value, Budget):
        return value
    text = "none" if value is None else str(value).strip().lower()
    if text == "none":
        return Budget()
    share, comma, most = text.partition(",")
    amount, unit = _amount(share)
    if unit == "%" and 0.0 < amount <= 100.0:
        longest, unit = _amount(most) if comma else (math.inf, "")
        if unit in ("", *_UNITS) and longest > 0.0:
            longest *= _UNITS.get(unit, 1.0)
            return Budget(amount / 100.0, None if math.isinf(longest) else longest)
    elif unit in ("", *_UNITS) and 0.0 < amount < math.inf and not comma:
        return Budget(seconds=amount * _UNITS.get(unit, 1.0))
    raise RequestError(
        f"the budget is {value!r}; accepted: a share of the run such as 5%, a time such as 30s or "
        "10m, a share and a time at most such as '5%, 10m', or none"
    )


def _amount(text: str) -> tuple[float, str]:
    """Return number and unit; a number below 0 if there is none."""
    text = text.strip()
    number = text.rstrip("%hmins")
    try:
        return float(number), text[len(number) :]
    except ValueError:
        return -1.0, ""
