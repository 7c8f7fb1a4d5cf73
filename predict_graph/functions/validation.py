"""A prediction of a function's call beside the real call: predict first, run second, compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from predict_graph.engines import RunProfile
from predict_graph.errors import JobError
from predict_graph.functions.child import run_in_child
from predict_graph.functions.forms import failure
from predict_graph.functions.naming import GraphFunction
from predict_graph.functions.predictor import FunctionCase
from predict_graph.functions.records import record_of_call
from predict_graph.graph import Graph
from predict_graph.outcome import Comparison
from predict_graph.table import Table


def validate_function(function: str | Callable[..., Any], graph: Any, **options: Any) -> Comparison:
    """Predict a call of a function, then call it in a process of its own, then compare.

    Options are those of :func:`~predict_graph.predict`, whose errors it raises;
    also if the call fails.
    """
    case = FunctionCase(function, graph, **options)
    prediction, subject = case.predict(), case.subject
    case.progress("running for real", 0.0)
    whole = subject.whole(np.arange(subject.graph.vertices))
    run = run_in_child(whole.build, whole.call, form=subject.function.form)
    if not run.done:
        raise JobError(failure(subject.function, subject.graph, run.sentence))
    if case.history is not None:
        record = record_of_call(subject.function, subject.graph, case.target, run)
        case.history.keep([record])
    phases = {"convert": run.convert_seconds if subject.converted else 0.0, "call": run.wall}
    peak = run.peak_bytes + (run.graph_bytes if subject.converted else 0.0)
    actual = profile_of(subject.function, subject.graph, phases, run.seconds, peak)
    return Comparison(prediction, actual)


def profile_of(
    function: GraphFunction,
    graph: Graph,
    phases: dict[str, float],
    processor_seconds: float,
    peak_bytes: float | None = None,
    **result: Any,
) -> RunProfile:
    """Return the profile of a call."""
    return RunProfile(
        algorithm=function.name,
        parameters=function.arguments,
        graph=graph.describe(),
        engine=function.engine,
        phases=phases,
        rows=Table({}),
        convergence=np.empty(0),
        converged=True,
        result=result,
        processor_seconds=processor_seconds,
        peak_bytes=peak_bytes,
    )
