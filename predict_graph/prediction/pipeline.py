"""The pipeline of a prediction: its case, its sources of evidence, and the loop over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark import is_table
from predict_graph.evidence import Source, predicted
from predict_graph.functions import is_function
from predict_graph.graph import check_graph
from predict_graph.history import check_history
from predict_graph.options import PredictOptions, completed, for_function, offers
from predict_graph.outcome import Prediction
from predict_graph.prediction.case import Case
from predict_graph.prediction.request import check_request, direction
from predict_graph.prediction.sources import sources_of


@offers(PredictOptions, call=True)
def predict(
    algorithm: str | Algorithm | Callable[..., Any], graph: Any, **options: Any
) -> Prediction:
    """Predict the run of an algorithm on a graph, or of any function of one, without running it.

    Every option counts or is refused: one that neither the method nor the engine reads is an error.

    Parameters
    ----------
    algorithm : str, Algorithm or callable
        Name of a registered algorithm, or one with its parameters; a function of a graph, or its
        name as ``"networkx:betweenness_centrality"``.
    graph : Graph, str, Path, networkx graph or scipy sparse array
        See :func:`~predict_graph.graph.check_graph`. Of some functions of libraries a
        :class:`~predict_graph.GraphSize` is enough.
    {options}
    **arguments
        Keyword arguments of a function, such as ``k=200``; an algorithm has ``parameters``.

    Returns
    -------
    Prediction

    Raises
    ------
    RequestError
        If the graph cannot be read, or an option is wrong or would not be read.
    JobError
        If a sample run fails.

    Examples
    --------
    >>> found = predict("pagerank", "barabasi-albert:n=2000,m=4,seed=1", history="none", seed=1)
    >>> int(found.iterations.predicted)
    10
    """
    if is_call(algorithm, options):
        from predict_graph.functions.predictor import FunctionCase
        from predict_graph.functions.sizes import GraphSize, predict_by_size

        call, given = for_function(algorithm, graph, options)
        if isinstance(graph, GraphSize):
            return predict_by_size(call, graph, **given)
        return FunctionCase(call, graph, **given).predict()
    given = completed(PredictOptions, options, "a prediction")
    request = check_request(algorithm, **given)
    kept = check_history(given["history"])
    directed = direction(request.algorithm, given["directed"], graph)
    if given["spark_reads"] or is_table(graph):
        from predict_graph.prediction.on_cluster import case_on_cluster

        with case_on_cluster(graph, request, kept, directed=directed, ids=given["ids"]) as case:
            return predict_on(*case)
    whole = check_graph(graph, directed=directed, ids=given["ids"], seed=request.seed)
    return predict_on(Case.of(whole, request, kept))


def is_call(
    algorithm: str | Algorithm | Callable[..., Any], options: Mapping[str, Any]
) -> TypeGuard[str | Callable[..., Any]]:
    """Whether the call of a function of Python is meant, rather than an algorithm."""
    local = options.get("engine") in (None, "local")
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    return local and not issubclass(kind, Algorithm) and is_function(algorithm)


def predict_on(case: Case, sources: Iterable[Source] | None = None) -> Prediction:
    """Predict an algorithm with everything checked and read.

    One with a prior (:attr:`Algorithm.prior`) runs after it, so the seconds of both are predicted;
    iterations and counters are those of the algorithm itself.
    """
    with case.request.algorithm.named_in_errors():
        return predicted(case, sources_of(case) if sources is None else sources)
