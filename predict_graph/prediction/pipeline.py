"""The pipeline of a prediction: request, graph, iterations, work, seconds, scaling, outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeGuard, Unpack, overload

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.cores import meter
from predict_graph.deadline import StopRun, deadline
from predict_graph.engines import Engine, RunProfile, RuntimeEstimate, Workload
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.functions import FunctionPrediction, is_function
from predict_graph.graph import Graph, check_graph
from predict_graph.history import History, check_history
from predict_graph.iterations import (
    EdgeBudget,
    IterationEstimate,
    SamplingCase,
    estimate_iterations,
)
from predict_graph.iterations.budget import DEFAULT_MAX_OVERHEAD, FREE_EDGES, LEAN
from predict_graph.iterations.whole_run import recalled_estimate, whole_run_estimates
from predict_graph.options import PredictOptions, completed, for_function, offers
from predict_graph.prediction.baseline import (
    Baseline,
    baseline_iterations,
    baseline_runtimes,
    baselines_of,
)
from predict_graph.prediction.evidence_plan import EvidencePlan, Spending
from predict_graph.prediction.outcome import Prediction, assembled
from predict_graph.prediction.recalled import (
    from_earlier_runs,
    from_full_run,
    known_runs,
    workloads_on,
)
from predict_graph.prediction.request import Request, check_request, direction, is_local
from predict_graph.prediction.seconds.earlier_runs import (
    of_this_engine,
)
from predict_graph.prediction.stopped_run import StoppedRun


@overload
def predict(
    algorithm: str | Algorithm, graph: Any, **options: Unpack[PredictOptions]
) -> Prediction: ...
@overload
def predict(algorithm: Callable[..., Any], graph: Any, **options: Any) -> FunctionPrediction: ...
@offers(PredictOptions, call=True)
def predict(
    algorithm: str | Algorithm | Callable[..., Any], graph: Any, **options: Any
) -> Prediction | FunctionPrediction:
    """Predict the run of an algorithm on a graph, or of any function of one, without running it.

    Every option counts or is refused: one that neither the method nor the engine reads is an error.

    Parameters
    ----------
    algorithm : str, Algorithm or callable
        Name of a registered algorithm, or one with its parameters; a function of a graph, or its
        name as ``"networkx:betweenness_centrality"``.
    graph : Graph, str, Path, networkx graph or scipy sparse array
        See :func:`~predict_graph.graph.check_graph`.
    {options}
    **arguments
        Keyword arguments of a function, such as ``k=200``; an algorithm has ``parameters``.

    Returns
    -------
    Prediction, or FunctionPrediction of a function

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
        from predict_graph.functions import predict_function

        return predict_function(algorithm, graph, **for_function(options))
    given = completed(PredictOptions, options, "a prediction")
    request = check_request(algorithm, **given)
    kept = check_history(given["history"])
    directed = direction(request.algorithm, given["directed"])
    meter.start()
    if given["spark_reads"] or is_table(graph):
        from predict_graph.prediction.on_cluster import predict_on_cluster

        return predict_on_cluster(
            graph, request, kept, predict_on, directed=directed, ids=given["ids"]
        )
    whole = check_graph(graph, directed=directed, ids=given["ids"], seed=request.seed)
    return predict_on(whole, request, kept, source=graph)


def is_call(
    algorithm: str | Algorithm | Callable[..., Any], options: Mapping[str, Any]
) -> TypeGuard[str | Callable[..., Any]]:
    """Whether the call of a function of Python is meant, rather than an algorithm."""
    local = options.get("engine", "local") == "local"
    return local and not isinstance(algorithm, Algorithm) and is_function(algorithm)


def is_table(graph: Any) -> bool:
    """Whether a graph is a table of Spark."""
    if not type(graph).__module__.startswith("pyspark."):
        return False
    from predict_graph.engines.spark.blocks import edges

    return edges.is_table(graph)


def predict_on(
    graph: Graph,
    request: Request,
    history: History | None,
    *,
    source: Any = None,
    reading_seconds: float = 0.0,
) -> Prediction:
    """Predict with everything checked and read: the stages, one after the other.

    An algorithm with a prior (:attr:`Algorithm.prior`) runs after it, so the seconds of both are
    predicted; iterations and counters are those of the algorithm itself.
    """
    request = replace(request, algorithm=request.algorithm.on(graph))
    chain = request.chain
    algorithms = [part.algorithm for part in chain]
    spending = Spending(request.budget, 0.0, reading_seconds)
    baselines = baselines_of(graph, algorithms, history)
    fresh = bool(request.named) or request.budget.unlimited
    records = [] if fresh else known_runs(graph, algorithms, history)
    own = [of_this_engine(part, request.engine) for part in records]
    if records and all(own):
        return from_earlier_runs(graph, chain, own, spending, source)
    if not is_local(request.engine):  # what is known of it asks for in-degrees, first of all
        for part in chain:
            if part.method.prepares is not None:
                part.method.prepares(graph)
    plan = _evidence_plan(graph, request, baselines, history)
    spending.expects(plan.run_seconds)
    exact: list[IterationEstimate] = []
    started: StoppedRun | None = None
    if records:
        exact = [recalled_estimate(part[0], request.engine.workers) for part in records]
    elif plan.buys_full_run(graph, request, spending):
        before = spending.spent
        profile = _full_run(graph, request, spending, plan.samples_reserve(graph, spending))
        if profile is not None and not profile.stopped:
            exact = whole_run_estimates(profile)
            if plan.local:
                return from_full_run(graph, chain, profile, spending, source)
        elif (
            profile is not None
            and profile.algorithm == request.algorithm.name
            and profile.iterations
        ):
            took = spending.spent - before - profile.phases["setup"]
            started = StoppedRun.of(request, profile, graph.vertices, took)
    levels = plan.levels(graph, request, spending)
    if not levels and not exact:
        return _from_baseline(
            graph, chain, baselines, started, spending, plan.more(graph, 0.0), source
        )
    levels = levels or [LEAN]  # the number of iterations is known; their cost is probed
    probes = request.budget.unlimited or bool(request.probe)
    setups = {} if probes else plan.estimated_setups(levels)
    if started is not None and plan.local:
        setups = started.setups
    context = request.context(history, graph.edges, spending, setups)
    with spending.loading():
        _load_compiled(graph, chain)
    runtime_model = request.runtime_model(request.engine, graph, algorithms, context)
    if not plan.local:
        runtime_model.survey()
    prediction = None
    # What the user named is done, even where the budget is too small for it.
    beyond = request.baseline_would_ignore and plan.cost(graph, levels[0]) > spending.left_at_most

    def left_at_most() -> float:
        return math.inf if beyond else spending.left_at_most

    for level in levels:
        more = [replace(part, max_overhead=level) for part in chain]
        try:
            with deadline(left_at_most):
                if plan.local and prediction is None:
                    runtime_model.survey()
                estimates = exact or estimates_of(graph, more, runtime_model)
        except StopRun:  # not even a small sample ended in time
            if prediction is not None:
                break
            if plan.local:
                return _from_baseline(graph, chain, baselines, started, spending, "", source)
            estimates = [
                baseline_iterations(graph, each, request.engine.workers) for each in baselines
            ]
        if started is not None and not exact:
            estimates = started.weighted(estimates)
        workloads = workloads_on(graph, chain, estimates)
        measured = True
        try:
            with deadline(left_at_most if plan.local else None):
                runtimes = runtime_model.estimate(workloads)
        except StopRun:
            if prediction is not None:
                break
            runtimes = _unmeasured_runtimes(graph, baselines, started, workloads)
            measured = started is not None
        left = plan.more(graph, level)
        prediction = assembled(
            graph, more, estimates, workloads, runtimes, spending, left, source, measured=measured
        )
        if request.within is not None and prediction.relative_width <= request.within:
            break
        if not spending.affords(plan.cost(graph, level)):
            break
    assert prediction is not None
    return prediction


def _evidence_plan(
    graph: Graph, request: Request, baselines: list[Baseline], history: History | None
) -> EvidencePlan:
    """Return the plan of a request; elsewhere, a run takes what is known of that engine."""
    if is_local(request.engine):
        return EvidencePlan.on_this_machine(graph, baselines)
    from predict_graph.prediction.expectation import baseline_prediction

    expected = baseline_prediction(graph, request, history).runtime_seconds.predicted
    return EvidencePlan(baselines, expected, local=False)


_LOADED: set[tuple[str, str, bool]] = set()


def _load_compiled(graph: Graph, chain: Sequence[Request]) -> None:
    """Load, or at first use build, the compiled code of the methods: on a graph of no size."""
    keys = {(part.algorithm.name, part.method.name, graph.directed) for part in chain}
    local = all(runs_here(part.algorithm) for part in chain)
    if keys <= _LOADED or not local or chain[-1].method.estimate is None:
        return
    _LOADED.update(keys)
    small = check_graph("rmat:scale=7,edge_factor=4", directed=graph.directed, seed=1)
    quiet = [
        replace(part, engine=LocalEngine(), progress=lambda text, fraction: None) for part in chain
    ]
    estimates_of(small, quiet)


def _full_run(
    graph: Graph, request: Request, spending: Spending, reserve: float
) -> RunProfile | None:
    """Run the job on this machine until the budget, less a reserve for samples, is spent.

    Returns None if its setup takes longer than that.
    """
    engine = request.engine
    local = engine if type(engine) is LocalEngine else LocalEngine(workers=engine.workers)
    with spending.loading():
        local.load(request.algorithm)
    request.progress("full run on this machine", 0.0)
    with deadline(lambda: spending.left - reserve), suppress(StopRun):
        return local.run(request.algorithm, graph)
    return None


def _from_baseline(
    graph: Graph,
    chain: Sequence[Request],
    baselines: Sequence[Baseline],
    started: StoppedRun | None,
    spending: Spending,
    more: str,
    source: Any,
) -> Prediction:
    """Return a baseline prediction, corrected by a run that was stopped, if there was one."""
    engine = chain[-1].engine
    if started is not None:
        baselines = [*baselines[:-1], baselines[-1].beyond(started.done)]
    estimates = [baseline_iterations(graph, baseline, engine.workers) for baseline in baselines]
    if started is not None:
        estimates = started.weighted(estimates)
    workloads = workloads_on(graph, chain, estimates)
    runtimes = _unmeasured_runtimes(graph, baselines, started, workloads)
    measured = started is not None
    return assembled(
        graph, chain, estimates, workloads, runtimes, spending, more, source, measured=measured
    )


def _unmeasured_runtimes(
    graph: Graph,
    baselines: Sequence[Baseline],
    started: StoppedRun | None,
    workloads: Sequence[Workload],
) -> list[RuntimeEstimate]:
    """Return baseline seconds, or those by the supersteps of a run that was stopped."""
    if started is not None:
        return started.runtimes(workloads)
    return baseline_runtimes(graph, baselines, workloads, LocalEngine())


def estimates_of(
    graph: Graph,
    chain: Sequence[Request],
    runtime_model: Any = None,
) -> list[IterationEstimate]:
    """Estimate the iterations of each algorithm of a chain.

    Parameters
    ----------
    graph : Graph
    chain : sequence of Request
        In the order in which the algorithms run.
    runtime_model : RuntimeModel, optional
        Of the engine: it observes what no method can estimate.
    """
    if chain[-1].method.estimate is None:
        found: list[IterationEstimate] = runtime_model.observe()
        return found
    return [
        estimate_iterations(
            part.method,
            SamplingCase(
                graph=graph,
                algorithm=part.algorithm,
                engine=_counting_engine(part),
                transform=part.transform,
                sampler=part.sampler,
                ratio=part.ratio,
                budget=_edges_for(part, graph),
                rng=np.random.default_rng(part.seed).spawn(3)[0],
                progress=part.progress,
            ),
        )
        for part in chain
    ]


def _edges_for(request: Request, graph: Graph) -> EdgeBudget:
    """Return the edges of samples: small ones cost as much as none, unless the user says less."""
    if "max_overhead" in request.named or request.max_overhead >= DEFAULT_MAX_OVERHEAD:
        return EdgeBudget(graph.edges, request.max_overhead)
    return EdgeBudget(graph.edges, request.max_overhead, FREE_EDGES // 2)


def _counting_engine(request: Request) -> Engine:
    """Return the engine that counts on samples: compiled kernels here, where there are any.

    Iterations and messages are those of the algorithm, whatever runs it; seconds are not.
    """
    engine = request.engine
    if isinstance(engine, LocalEngine) and type(engine).run is LocalEngine.run:
        return engine
    if runs_here(request.algorithm):
        return LocalEngine(workers=engine.workers)
    return engine
