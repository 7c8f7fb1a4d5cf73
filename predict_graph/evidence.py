"""The loop of a prediction: over sources of evidence, the least expensive first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from predict_graph.outcome import Prediction

# The source that recalls runs of the same job on the same graph.
EARLIER_RUNS = "earlier runs of this graph"


class Source(Protocol):
    """A source of evidence; its deadline ends it while it works."""

    def cost(self, case: Any, evidence: Any) -> float:
        """Return the expected seconds: 0, by default, if asked anyway, infinity if not at all."""
        return 0.0

    def estimate(self, case: Any, evidence: Any) -> Any:
        """Return what it says, given what other sources say; None if it did not end in time.

        What it returns is ``complete`` if nothing can be known better.
        """


def predicted(case: Any, sources: Iterable[Source]) -> Prediction:
    """Predict with everything checked and read: from one source of evidence after the other.

    Until one knows everything, or the interval is as narrow as the user wants it.

    Parameters
    ----------
    case : Case or FunctionCase
        Knows whether so many seconds are within the budget (``affords``) and whether the interval
        is narrow enough (``near_enough``), and makes the prediction (``combined``).
    sources : iterable of Source
    """
    evidence: list[Any] = []
    for source in sources:
        cost = source.cost(case, evidence)
        if cost > 0.0 and not case.affords(cost):
            continue
        found = source.estimate(case, evidence)
        if found is None:
            continue
        evidence.append(found)
        if found.complete or case.near_enough(evidence):
            break
    prediction: Prediction = case.combined(evidence)
    return prediction
