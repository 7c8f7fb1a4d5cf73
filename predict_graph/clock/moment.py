"""The state of a run at one moment: progress, remaining time and intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval


@dataclass(frozen=True)
class Moment:
    """The state of a run at one moment."""

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
        """The completed share of the work: by iterations, else by time; 0 if unknown."""
        if self.state == "ended":
            return 1.0
        if self.algorithm == "" and self.of is not None and self.of.predicted > 0.0:
            return min(self.done / self.of.predicted, 1.0)
        if self.remaining is None:
            return 0.0
        return min(self.elapsed / max(self.elapsed + self.remaining.predicted, 1e-9), 0.99)

    @property
    def total(self) -> float | None:
        """The seconds of the whole run; None if unknown."""
        return None if self.remaining is None else self.elapsed + self.remaining.predicted

    def after(self, seconds: float) -> Moment:
        """Return the state some seconds later, if nothing else is known."""
        rest = None if self.remaining is None else self.remaining.moved(-seconds)
        return replace(self, elapsed=self.elapsed + seconds, remaining=rest)

    def progress(self, what: str = "superstep") -> str:
        """Describe the progress.

        Examples
        --------
        >>> Moment(5.0, 2).progress(), Moment(5.0, 0).progress()  # where nothing counts
        ('superstep 2', 'running')
        """
        if self.state == "before":
            return "setting up"
        if self.of is None:
            return f"{what} {self.done:.0f}" if self.done else "running"
        known = "" if self.of.high - self.of.low < 0.5 else "about "
        return f"{what} {self.done:.0f} of {known}{self.of.predicted:.0f}"

    @property
    def left(self) -> str:
        """The remaining time as text; the pace where it is unknown.

        Examples
        --------
        >>> Moment(5.0, 2, remaining=Interval(17.5, 15.0, 20.0)).left
        '17.5 s left (15 s to 20 s)'
        """
        if self.remaining is not None:
            return _with_ends(self.remaining, "left")
        if self.pace is not None:
            return f"{_with_ends(self.pace, 'each')}, the remaining number is unknown"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON; docs/json.md describes them."""
        fields = asdict(self)  # of intervals as well
        return {
            "event": {"before": "start", "running": "superstep", "ended": "end"}[self.state],
            "algorithm": self.algorithm,
            "superstep": int(self.done),
            "supersteps": fields["of"],
            "elapsed_seconds": self.elapsed,
            "remaining_seconds": fields["remaining"],
            "superstep_seconds": fields["pace"],
            "aggregate": self.aggregate,
            "first_prediction_seconds": self.first,
            "by": self.by,
        }


def _with_ends(seconds: Interval, what: str) -> str:
    middle, low, high = map(readable_seconds, (seconds.predicted, *seconds))
    return f"{middle} {what} ({low} to {high})"


def closing_words(seconds: float, first: float | None, by: str = "") -> str:
    """Describe the runtime of a finished run and the error of its first prediction.

    Examples
    --------
    >>> closing_words(10.0, 9.0)
    'took 10 s; the first prediction was 9 s (-10%)'
    >>> closing_words(10.0, None)
    'took 10 s; no prediction was made before this run'
    >>> closing_words(10.0, 640.0)
    'took 10 s; the first prediction was 10.7 min (64 times as long)'
    >>> closing_words(10.0, 12_340.0)
    'took 10 s; the first prediction was 3.43 h (1,200 times as long)'
    """
    took = f"took {readable_seconds(seconds)}"
    if not first:
        return f"{took}; no prediction was made before this run"
    error = first / max(seconds, 1e-9) - 1.0
    off = f"{error:+.0%}" if error < 1.0 else f"{float(f'{error + 1.0:.2g}'):,g} times as long"
    source = f"; {by}" if by else ""
    return f"{took}; the first prediction was {readable_seconds(first)} ({off}{source})"
