"""Progress of a running job: what is done, the remaining time, and its interval."""

from predict_graph.clock.expected import Expected, ExpectedPart, read_expected
from predict_graph.clock.loops import remaining_of
from predict_graph.clock.moment import Moment, closing_words
from predict_graph.clock.supersteps import SuperstepClock

__all__ = [
    "Expected",
    "ExpectedPart",
    "Moment",
    "SuperstepClock",
    "closing_words",
    "read_expected",
    "remaining_of",
]
