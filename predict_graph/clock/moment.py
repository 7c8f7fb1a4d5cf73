"""What is known at one moment of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval

__all__ = ["Moment", "closing_words"]


@dataclass(frozen=True)
class Moment:
    """What is known at one moment of a run.

    Parameters
    ----------
    elapsed : float
        Seconds by the clock.
    done : float
        Supersteps of the algorithm that runs now, or rounds of an outermost loop, that are done.
    of : Interval, optional
        Supersteps or rounds in all; None where nothing tells.
    remaining : Interval, optional
        Seconds; None where nothing tells.
    state : {'before', 'running', 'ended'}
        Before the first superstep, between that and the end, at the end.
    algorithm : str
        That runs now; a chain has several.
    aggregate : float, optional
        What the threshold is on, after the last superstep.
    pace : Interval, optional
        Seconds of a superstep, lately.
    first : float, optional
        Seconds of the whole run, as they were predicted first.
    by : str
        What that rests on.
    """

    elapsed: float
    done: float
    of: Interval | None = None
    remaining: Interval | None = None
    state: str = "running"
    algorithm: str = ""
    aggregate: float | None = None
    pace: Interval | None = None
    first: float | None = None
    by: str = ""

    @property
    def share(self) -> float:
        """Part of the work that is done: rounds of all rounds, else seconds; 0 if nothing tells."""
        if self.state == "ended":
            return 1.0
        if self.algorithm == "" and self.of is not None and self.of.predicted > 0.0:
            return min(self.done / self.of.predicted, 1.0)
        if self.remaining is None:
            return 0.0
        return min(self.elapsed / max(self.elapsed + self.remaining.predicted, 1e-9), 0.99)

    @property
    def total(self) -> float | None:
        """Seconds of the whole run; None where nothing tells."""
        return None if self.remaining is None else self.elapsed + self.remaining.predicted

    def words(self, what: str = "superstep") -> str:
        """Say how far the run is, and what remains.

        Examples
        --------
        >>> of, remaining = Interval(9.0, 8.0, 10.0), Interval(17.5, 15.0, 20.0)
        >>> Moment(5.0, 2, of, remaining, algorithm="x").words()
        'x: superstep 2 of about 9, 5 s elapsed, 17.5 s left (15 s to 20 s)'
        """
        name = f"{self.algorithm}: " if self.algorithm else ""
        return f"{name}{self.progress(what)}, {readable_seconds(self.elapsed)} elapsed, {self.left}"

    def progress(self, what: str = "superstep") -> str:
        """Say how far the run is."""
        if self.state == "before":
            return "setting up"
        if self.of is None:
            return f"{what} {self.done:.0f}"
        known = "" if self.of.high - self.of.low < 0.5 else "about "
        return f"{what} {self.done:.0f} of {known}{self.of.predicted:.0f}"

    @property
    def left(self) -> str:
        """What remains, in words; where nothing tells, the pace."""
        if self.remaining is not None:
            figure = self.remaining
            low, high = readable_seconds(figure.low), readable_seconds(figure.high)
            return f"{readable_seconds(figure.predicted)} left ({low} to {high})"
        if self.pace is not None:
            low, high = readable_seconds(self.pace.low), readable_seconds(self.pace.high)
            each = readable_seconds(self.pace.predicted)
            return f"{each} each ({low} to {high}), nothing tells how many more"
        return "nothing tells yet how long"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON; docs/json.md describes them."""
        of, left, pace = (
            None if each is None else each.to_dict()
            for each in (self.of, self.remaining, self.pace)
        )
        return {
            "event": {"before": "start", "running": "superstep", "ended": "end"}[self.state],
            "algorithm": self.algorithm,
            "superstep": int(self.done),
            "supersteps": of,
            "elapsed_seconds": self.elapsed,
            "remaining_seconds": left,
            "superstep_seconds": pace,
            "aggregate": self.aggregate,
            "first_prediction_seconds": self.first,
            "by": self.by,
        }


def closing_words(seconds: float, first: float | None, by: str = "") -> str:
    """Say how long a run took, and how good the first prediction was.

    Examples
    --------
    >>> closing_words(10.0, 9.0)
    'took 10 s; the first prediction was 9 s (-10%)'
    >>> closing_words(10.0, None)
    'took 10 s; no prediction was made before this run'
    """
    took = f"took {readable_seconds(seconds)}"
    if not first:
        return f"{took}; no prediction was made before this run"
    error = first / max(seconds, 1e-9) - 1.0
    source = f", by {by}" if by else ""
    return f"{took}; the first prediction was {readable_seconds(first)} ({error:+.0%}){source}"
