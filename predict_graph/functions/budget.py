"""How much a prediction may spend: a share of the run that it predicts, or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from predict_graph.errors import RequestError

__all__ = ["DEFAULT_BUDGET", "Budget", "check_budget"]

DEFAULT_BUDGET = "5%"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}  # by definition: seconds
_FREE_SECONDS = 1.0  # 5% of 20 s: what a prediction may take in any case; a choice


@dataclass(frozen=True)
class Budget:
    """Seconds or a share of the predicted run; the other one is None. Both None: no limit."""

    share: float | None = None
    seconds: float | None = None

    def allows(self, predicted: float) -> float:
        """Return the seconds that a prediction of a run of `predicted` seconds may take.

        Examples
        --------
        >>> Budget(share=0.05).allows(200.0), Budget(seconds=30.0).allows(200.0)
        (10.0, 30.0)
        """
        if self.seconds is not None:
            return self.seconds
        if self.share is None:
            return predicted
        return max(self.share * predicted, _FREE_SECONDS)

    @property
    def text(self) -> str:
        """As a person writes it."""
        if self.share is not None:
            return f"{self.share:.3g}".rstrip("0") if self.share > 1 else f"{self.share:.3%}"
        return "none" if self.seconds is None else f"{self.seconds:g}s"


def check_budget(value: Any) -> Budget:
    """Return a budget from ``5%``, ``30s``, ``10m``, a number of seconds, ``none`` or None.

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
    number, unit = text.rstrip("%hmins"), text[len(text.rstrip("%hmins")) :]
    try:
        amount = float(number)
    except ValueError:
        amount = -1.0
    if unit == "%" and 0.0 < amount <= 100.0:
        return Budget(share=amount / 100.0)
    if unit in ("", *_UNITS) and 0.0 < amount < float("inf"):
        return Budget(seconds=amount * _UNITS.get(unit, 1.0))
    raise RequestError(
        f"the budget is {value!r}; accepted: a share of the run such as 5%, a time such as 30s or "
        "10m, or none"
    )
