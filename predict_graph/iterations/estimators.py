"""The registry of methods that estimate iterations."""

from __future__ import annotations

from predict_graph.algorithms import Algorithm
from predict_graph.errors import RequestError, unknown_name
from predict_graph.iterations.estimate import IterationEstimate
from predict_graph.iterations.method import Method, SamplingCase
from predict_graph.plugins import Registry, blamed_on

_REPLAY = "replay"  # exact, so that it excludes all other methods

METHODS: Registry[Method] = Registry(
    "method",
    "predict_graph.methods",
    {
        "completion": "predict_graph.iterations.method:COMPLETION",
        "rooted": "predict_graph.iterations.method:ROOTED",
        "published": "predict_graph.iterations.published:PUBLISHED",
        "observed": "predict_graph.iterations.method:OBSERVED",
        _REPLAY: "predict_graph.iterations.method:TWIN",
    },
)
"""In order of preference: the first one that suits an algorithm is its default."""


def methods_for(algorithm: Algorithm) -> list[str]:
    """Return the names of the methods that suit an algorithm, the default first."""
    found = [name for name in METHODS.names() if METHODS.get(name).suits(algorithm)]
    return [_REPLAY] if _REPLAY in found else found


def check_method(method: str | None, algorithm: Algorithm) -> Method:
    """Return a method; by default the preferred one of an algorithm.

    Completion if the algorithm runs on completed samples, rooted samples if it propagates changes
    until few are left, otherwise the published method.

    Raises
    ------
    RequestError
        If the method is unknown, or does not suit the algorithm.
    """
    accepted = methods_for(algorithm)
    if method is None:
        return METHODS.get(METHODS.preferred(algorithm.name) or accepted[0])
    if method not in accepted:
        raise unknown_name(f"method for {algorithm.name}", method, accepted)
    return METHODS.get(method)


def estimate_iterations(method: Method, case: SamplingCase) -> IterationEstimate:
    """Estimate the iterations of a run.

    Raises
    ------
    RequestError
        If the graph has no vertices.
    JobError
        If a registered method fails, or does not return an estimate.
    """
    if case.graph.vertices == 0:
        raise RequestError(f"the graph {case.graph.name!r} has no vertices")
    if method.estimate is None:
        raise RequestError(f"{case.algorithm.name} is observed by its engine; accepted: predict")
    if METHODS.origin(method.name) == "built-in":
        return method.estimate(case)
    with blamed_on("method", method.name):
        found = method.estimate(case)
        if not isinstance(found, IterationEstimate):
            raise TypeError(f"returned {type(found).__name__}; accepted: an IterationEstimate")
        return found
