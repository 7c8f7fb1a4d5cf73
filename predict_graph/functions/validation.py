"""A prediction of a function's call beside the real call: predict first, run second, compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.answers import Answer, Table, sure
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError
from predict_graph.functions.child import run_in_child
from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.naming import check_function, with_seed
from predict_graph.functions.prediction import FunctionPrediction, readable_bytes
from predict_graph.functions.predictor import predict_function
from predict_graph.functions.records import keep_run
from predict_graph.functions.reported import reporter
from predict_graph.functions.subject import check_subject
from predict_graph.history import History, check_history
from predict_graph.pictures import Picture
from predict_graph.results import Result

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FunctionComparison", "validate_function"]


@dataclass(frozen=True, eq=False, repr=False)
class FunctionComparison(Result):
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

    def errors(self) -> dict[str, float | None]:
        """Return the errors of runtime, processor seconds and peak memory."""
        found = self.prediction
        peak = found.peak_bytes
        return {
            "runtime_seconds": _error(found.runtime_seconds.predicted, self.runtime_seconds),
            "processor_seconds": _error(found.processor_seconds, self.processor_seconds),
            "peak_memory_bytes": None if peak is None else _error(peak.predicted, self.peak_bytes),
        }

    def inside(self) -> dict[str, bool]:
        """Return whether the truth is in the interval of the runtime."""
        runtime = self.prediction.runtime_seconds
        return {"runtime_seconds": runtime.low <= self.runtime_seconds <= runtime.high}

    @property
    def answer(self) -> Answer:
        """How good the prediction was, first; then the prediction's own answer."""
        own, runtime = self.prediction.answer, self.prediction.runtime_seconds
        error, inside = self.errors()["runtime_seconds"], self.inside()["runtime_seconds"]
        far = "" if error is None else f", {abs(error):.0%} too {'high' if error > 0 else 'low'}"
        sentence = (
            f"took {readable_seconds(self.runtime_seconds)}, predicted "
            f"{readable_seconds(runtime.predicted)} ({sure(runtime.low, runtime.high)}): "
            f"{'inside' if inside else 'outside'} the interval{far}"
        )
        return Answer(
            sentence, own.facts, [self._truth()], own.warnings, own.details, more=own.more
        )

    def _truth(self) -> Table:
        found, errors = self.prediction, self.errors()
        runtime, peak = found.runtime_seconds, found.peak_bytes
        interval = f"{readable_seconds(runtime.low)} to {readable_seconds(runtime.high)}"
        missed = "" if self.inside()["runtime_seconds"] else " (missed)"
        rows = [
            (
                "runtime",
                readable_seconds(runtime.predicted),
                f"{interval}{missed}",
                readable_seconds(self.runtime_seconds),
                _percent(errors["runtime_seconds"]),
            ),
            (
                "processor",
                readable_seconds(found.processor_seconds),
                "",
                readable_seconds(self.processor_seconds),
                _percent(errors["processor_seconds"]),
            ),
        ]
        if peak is not None:
            rows.append(
                (
                    "peak memory",
                    readable_bytes(peak.predicted),
                    f"{readable_bytes(peak.low)} to {readable_bytes(peak.high)}",
                    readable_bytes(self.peak_bytes),
                    _percent(errors["peak_memory_bytes"]),
                )
            )
        columns = ["", "predicted", "90% interval", "actual", "error"]
        return Table("prediction and truth", columns, rows)

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
    function: str | Callable[..., Any],
    graph: Any,
    *,
    arguments: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    graph_form: str | None = None,
    budget: str | float | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    **more: Any,
) -> FunctionComparison:
    """Predict a call of a function, then call it in a process of its own, then compare.

    Parameters
    ----------
    function, graph, arguments, keywords, graph_form, budget, directed, ids, history, seed, progress
        As for :func:`~predict_graph.functions.predict_function`.
    **more
        Keyword arguments of the function.

    Raises
    ------
    RequestError, JobError
        As for a prediction; also if the call fails.
    """
    given = {**(keywords or {}), **more}
    prediction = predict_function(
        function,
        graph,
        arguments=arguments,
        keywords=given,
        graph_form=graph_form,
        budget=budget,
        directed=directed,
        ids=ids,
        history=history,
        seed=seed,
        progress=progress,
    )
    checked = check_function(function, arguments, given, form=graph_form, graph=graph)
    checked = with_seed(checked, seed)
    subject = check_subject(checked, graph, directed=directed, ids=ids, seed=prediction.seed)
    if progress is not None:
        progress("running for real", 0.0)
    case = subject.whole(np.arange(subject.graph.vertices))
    run = run_in_child(case.build, case.call, progress=reporter(checked.form))
    if not run.done:
        raise JobError(f"{checked.name} fails on {subject.graph.name}: {run.sentence}")
    converting = run.convert_seconds if subject.converted else 0.0
    peak = run.peak_bytes + (run.graph_bytes if subject.converted else 0.0)
    kept = check_history(history)
    if kept is not None:
        drivers = drivers_of(subject.graph, np.random.default_rng(prediction.seed))
        keep_run(
            kept,
            checked,
            subject.graph,
            drivers,
            seconds=run.seconds,
            convert_seconds=converting,
            peak_bytes=peak,
        )
    return FunctionComparison(prediction, converting, run.wall, run.seconds, peak)


def _error(predicted: float, actual: float) -> float | None:
    return predicted / actual - 1.0 if actual > 0.0 else None


def _percent(error: float | None) -> str:
    return "" if error is None else f"{error:+.1%}"
