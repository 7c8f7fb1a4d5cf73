"""A prediction beside the real run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer
from predict_graph.engines import RunProfile
from predict_graph.intervals import Interval
from predict_graph.outcome.answering import answer_of_comparison
from predict_graph.outcome.picture import pictures_of
from predict_graph.outcome.prediction import Prediction
from predict_graph.pictures import Picture
from predict_graph.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """A prediction beside the real run.

    Errors are signed and relative: predicted / actual - 1.

    Parameters
    ----------
    prediction : Prediction
    actual : RunProfile
    """

    prediction: Prediction
    actual: RunProfile

    def compared(self) -> dict[str, tuple[Interval, float]]:
        """Return prediction and truth of each quantity that both have."""
        run = self.actual
        actual = {
            "iterations": run.iterations,
            "runtime_seconds": run.runtime_seconds,
            **{f"{name}_seconds": seconds for name, seconds in run.phases.items()},
            "processor_seconds": run.processor_seconds,
            "peak_memory_bytes": run.peak_bytes,
        }
        predicted = self.prediction.quantities()
        return {
            name: (predicted[name], float(value))
            for name, value in actual.items()
            if name in predicted and value is not None
        }

    def errors(self) -> dict[str, Any]:
        """Return the error of each quantity, and of each counter."""
        totals, predicted = self.actual.features_total(), self.prediction.features_total()
        return {
            **{name: _error(float(found), real) for name, (found, real) in self.compared().items()},
            "features_total": {name: _error(predicted[name], totals[name]) for name in predicted},
        }

    @property
    def title(self) -> str:
        """What on what."""
        return self.prediction.title

    @property
    def seed(self) -> int | None:
        """That of the prediction."""
        return self.prediction.seed

    def to_frame(self) -> pd.DataFrame:
        """Return the prediction beside the real run, one row for each quantity."""
        import pandas as pd

        errors = self.errors()
        return pd.DataFrame(
            [
                {"quantity": name, **found.to_dict(), "actual": real, "error": errors[name]}
                for name, (found, real) in self.compared().items()
            ]
        )

    def pictures(self) -> list[Picture]:
        """Return what :meth:`plot` draws, and a report shows."""
        return pictures_of(self.prediction, self.actual)

    @property
    def answer(self) -> Answer:
        """What became of the prediction, first; then the prediction's own answer."""
        return answer_of_comparison(self)

    def inside(self) -> dict[str, bool]:
        """Return whether the truth is in each interval."""
        return {
            name: found.contains(real)
            for name, (found, real) in self.compared().items()
            if found.low < found.high or name == "iterations"
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction, the real run and the errors, ready for JSON."""
        errors = self.errors()
        first, ran = self.prediction.prior, self.actual.prior
        if first is not None and ran is not None:
            errors["prior"] = Comparison(first, ran).errors()
        return {
            **self.prediction.to_dict(),
            "actual": _actual(self.actual.to_dict()),
            "errors": errors,
            "inside_interval": self.inside(),
        }


def _actual(found: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON says of a real run, of the JSON of its profile."""
    kept = ("iterations", "runtime_seconds", "phases", "features_total", "per_iteration")
    actual = {name: found[name] for name in (*kept, "processor_seconds", "peak_memory_bytes")}
    if found["prior"] is not None:
        actual["prior"] = _actual(found["prior"])
    return actual


def _error(predicted: float, actual: float) -> float | None:
    """Return predicted / actual - 1; 0 when both are 0, None when only the truth is."""
    if actual == 0:
        return 0.0 if predicted == 0 else None
    return float(predicted) / float(actual) - 1.0
