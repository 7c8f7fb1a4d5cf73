"""A prediction of a function's call beside the real call: predict first, run second, compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.answers import Answer, Table, sure
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError
from predict_graph.functions.child import run_in_child
from predict_graph.functions.prediction import FunctionPrediction, readable_bytes
from predict_graph.functions.predictor import PredictionRun
from predict_graph.functions.records import keep_run
from predict_graph.functions.reported import reporter
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ValidatedCall(Result):
    """A prediction of a call beside the call itself.

    Errors are signed and relative: predicted / actual - 1.

    Parameters
    ----------
    prediction : FunctionPrediction
    convert_seconds, call_seconds : float
        Of the real run: building the library's graph (0 if a user gave one), and the call by the
        clock.
    processor_seconds : float
        Of the call, over all threads.
    peak_bytes : float
        Growth of the resident memory, with the library's graph.
    """

    prediction: FunctionPrediction
    convert_seconds: float
    call_seconds: float
    processor_seconds: float
    peak_bytes: float

    @property
    def runtime_seconds(self) -> float:
        """Conversion and call."""
        return self.convert_seconds + self.call_seconds

    def _compared(self) -> dict[str, tuple[Interval, float, Callable[[float], str]]]:
        """Return prediction, truth and format of each quantity."""
        found = self.prediction
        processor = Interval(*(3 * [found.processor_seconds]))
        pairs: dict[str, tuple[Interval, float, Callable[[float], str]]] = {
            "runtime_seconds": (found.runtime_seconds, self.runtime_seconds, readable_seconds),
            "processor_seconds": (processor, self.processor_seconds, readable_seconds),
        }
        if found.peak_bytes is not None:
            pairs["peak_memory_bytes"] = (found.peak_bytes, self.peak_bytes, readable_bytes)
        return pairs

    def errors(self) -> dict[str, float | None]:
        """Return the errors of runtime, CPU seconds and peak memory."""
        found: dict[str, float | None] = {
            name: predicted.predicted / actual - 1.0 if actual > 0.0 else None
            for name, (predicted, actual, _) in self._compared().items()
        }
        return {"peak_memory_bytes": None} | found

    def inside(self) -> dict[str, bool]:
        """Return whether the truth is in the interval of the runtime."""
        return {"runtime_seconds": self.prediction.runtime_seconds.contains(self.runtime_seconds)}

    @property
    def answer(self) -> Answer:
        """How good the prediction was, first; then the prediction's own answer."""
        own, runtime = self.prediction.answer, self.prediction.runtime_seconds
        errors, inside = self.errors(), self.inside()["runtime_seconds"]
        error = errors["runtime_seconds"]
        far = "" if error is None else f", {abs(error):.0%} too {'high' if error > 0 else 'low'}"
        sentence = (
            f"took {readable_seconds(self.runtime_seconds)}, predicted "
            f"{readable_seconds(runtime.predicted)} ({sure(runtime.low, runtime.high)}): "
            f"{'inside' if inside else 'outside'} the interval{far}"
        )
        rows = []
        for name, (predicted, actual, shown) in self._compared().items():
            interval = f"{shown(predicted.low)} to {shown(predicted.high)}"
            interval += "" if self.inside().get(name, True) else " (missed)"
            rows.append(
                (
                    name.rpartition("_")[0].replace("_", " "),
                    shown(predicted.predicted),
                    interval if predicted.low < predicted.high else "",
                    shown(actual),
                    "" if errors[name] is None else f"{errors[name]:+.1%}",
                )
            )
        columns = ["", "predicted", "90% interval", "actual", "error"]
        table = Table("prediction and truth", columns, rows)
        return Answer(sentence, own.facts, [table], own.warnings, own.details, more=own.more)

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
        actual = {
            "runtime_seconds": self.runtime_seconds,
            "convert_seconds": self.convert_seconds,
            "call_seconds": self.call_seconds,
            "peak_memory_bytes": self.peak_bytes,
        }
        frame = self.prediction.to_frame()
        frame["actual"] = frame["quantity"].map(actual)
        return frame.assign(error=frame["predicted"] / frame["actual"].where(lambda x: x > 0) - 1.0)

    def pictures(self) -> list[Picture]:
        """Return the pictures of the prediction."""
        return self.prediction.pictures()

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction, the real run and the errors, ready for JSON."""
        return {
            **self.prediction.to_dict(),
            "actual": {
                "runtime_seconds": self.runtime_seconds,
                "phases": {"convert": self.convert_seconds, "call": self.call_seconds},
                "processor_seconds": self.processor_seconds,
                "peak_memory_bytes": self.peak_bytes,
            },
            "errors": self.errors(),
            "inside_interval": self.inside(),
        }


def validate_function(
    function: str | Callable[..., Any], graph: Any, **options: Any
) -> ValidatedCall:
    """Predict a call of a function, then call it in a process of its own, then compare.

    Options are those of :func:`~predict_graph.functions.predict_function`, whose errors it raises;
    also if the call fails.
    """
    predicting = PredictionRun(function, graph, **options)
    prediction, subject = predicting.predict(), predicting.subject
    predicting.progress("running for real", 0.0)
    case = subject.whole(np.arange(subject.graph.vertices))
    run = run_in_child(case.build, case.call, progress=reporter(subject.function.form))
    if not run.done:
        raise JobError(f"{subject.function.name} fails on {subject.graph.name}: {run.sentence}")
    converting = run.convert_seconds if subject.converted else 0.0
    peak = run.peak_bytes + (run.graph_bytes if subject.converted else 0.0)
    if predicting.history is not None:
        keep_run(predicting.history, subject.function, subject.graph, predicting.target, run)
    return ValidatedCall(prediction, converting, run.wall, run.seconds, peak)
