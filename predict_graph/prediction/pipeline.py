"""The pipeline of a prediction: a loop over sources of evidence, the least expensive first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.cores import meter
from predict_graph.deadline import StopRun, deadline
from predict_graph.engines import (
    Engine,
    EstimationContext,
    FixedSpending,
    RunProfile,
    RuntimeEstimate,
    RuntimeModel,
    Workload,
)
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.functions import is_function
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import RunRecord, check_history
from predict_graph.iterations import (
    EdgeBudget,
    IterationEstimate,
    SamplingCase,
    estimate_iterations,
)
from predict_graph.iterations.budget import DEFAULT_MAX_OVERHEAD, FREE_EDGES, LEAN
from predict_graph.iterations.whole_run import recalled_estimate, whole_run_estimates
from predict_graph.options import PredictOptions, completed, for_function, offers
from predict_graph.outcome import Prediction
from predict_graph.prediction.assembly import assembled
from predict_graph.prediction.baseline import baseline_iterations, baseline_runtimes
from predict_graph.prediction.evidence_plan import LEVELS, Case
from predict_graph.prediction.request import Request, check_request, direction
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.earlier_runs import earlier_runtime, of_this_engine
from predict_graph.prediction.stopped_run import StoppedRun


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
        See :func:`~predict_graph.graph.check_graph`.
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
        from predict_graph.functions.predictor import predict_function

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
    return predict_on(Case.of(whole, request, kept, source=graph))


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


def predict_on(case: Case) -> Prediction:
    """Predict with everything checked and read: from one source after the other.

    Earlier runs of this graph; the full run on this machine; samples, as large as the budget
    allows; and if not even small ones are worth it, a baseline estimate. An algorithm with a prior
    (:attr:`Algorithm.prior`) runs after it, so the seconds of both are predicted; iterations and
    counters are those of the algorithm itself.
    """
    found = from_earlier_runs(case)
    if found is not None:
        return found
    expected = case.run_seconds if case.local else unmeasured(case).runtime_seconds.predicted
    case.spending.expects(expected)
    exact = _recalled(case)
    started: StoppedRun | None = None
    if not exact and case.buys_full_run():
        before = case.spending.spent
        profile = _full_run(case)
        if profile is not None and not profile.stopped:
            exact = whole_run_estimates(profile)
            if case.local:
                records = [[record] for record in records_of(profile)]
                return _from_runs(case, records, exact, "full local run", measured=True)
        elif profile is not None and profile.iterations:
            took = case.spending.spent - before - profile.phases["setup"]
            started = StoppedRun.of(case.request, profile, case.graph.vertices, took)
    levels = case.levels()
    if not levels and not exact:
        return unmeasured(case, started, case.more(0.0))
    return _sampled(case, levels or [LEAN], exact, started)


def from_earlier_runs(case: Case) -> Prediction | None:
    """Return the prediction from earlier runs of this job on this graph and engine, if any."""
    own = [of_this_engine(part, case.request.engine) for part in case.records]
    if not own or not all(own):
        return None
    estimates = [recalled_estimate(part[0], case.request.engine.workers) for part in own]
    return _from_runs(case, own, estimates, "earlier runs of this graph", measured=False)


def _recalled(case: Case) -> list[IterationEstimate]:
    """Return the iterations of earlier runs of this graph, by whatever engine."""
    return [recalled_estimate(part[0], case.request.engine.workers) for part in case.records]


def _from_runs(
    case: Case,
    records: Sequence[Sequence[RunRecord]],
    estimates: Sequence[IterationEstimate],
    evidence: str,
    *,
    measured: bool,
) -> Prediction:
    runtimes = [
        earlier_runtime(part, workload, first=number == 0, source=evidence)
        for number, (part, workload) in enumerate(
            zip(records, case.workloads(estimates), strict=True)
        )
    ]
    return _answer(case, case.chain, estimates, runtimes, measured=measured)


def _answer(
    case: Case,
    chain: Sequence[Request],
    estimates: Sequence[IterationEstimate],
    runtimes: Sequence[RuntimeEstimate],
    more: str = "",
    *,
    measured: bool,
) -> Prediction:
    given = (case.graph, chain, estimates, runtimes, case.spending, more, case.source)
    return assembled(*given, measured=measured)


def _sampled(
    case: Case,
    levels: Sequence[float],
    exact: list[IterationEstimate],
    started: StoppedRun | None,
) -> Prediction:
    """Return the prediction from samples of the levels that the budget affords."""
    graph, request, spending = case.graph, case.request, case.spending
    setups = started.setups if started is not None and case.local else {}
    context = request.context(case.history, graph.edges, spending, setups)
    with spending.loading():
        _load_compiled(graph, case.chain)
    runtime_model = request.runtime_model(request.engine, graph, case.algorithms, context)
    # What the user named is done, even where the budget is too small for it.
    beyond = request.baseline_would_ignore and case.cost(levels[0]) > spending.left_at_most

    def left_at_most() -> float:
        return math.inf if beyond else spending.left_at_most

    of_model = left_at_most if case.local else None
    prediction = None
    try:
        with deadline(of_model):
            runtime_model.survey()
        for level in levels:
            chain = [replace(part, max_overhead=level) for part in case.chain]
            estimates = exact or _in_time(case, chain, runtime_model, left_at_most)
            if started is not None and not exact:
                estimates = started.weighted(estimates)
            workloads = case.workloads(estimates)
            try:
                with deadline(of_model):
                    runtimes, measured = runtime_model.estimate(workloads), True
            except StopRun:
                if prediction is not None:
                    raise
                runtimes = _unmeasured_runtimes(case, started, workloads)
                measured = started is not None
            more = case.more(level)
            prediction = _answer(case, chain, estimates, runtimes, more, measured=measured)
            if request.within is not None and prediction.relative_width <= request.within:
                break
            if not spending.affords(case.cost(level)):
                break
    except StopRun:  # not even a small sample ended in time, or a larger one did not
        pass
    return prediction or unmeasured(case, started)


def _in_time(
    case: Case,
    chain: Sequence[Request],
    runtime_model: RuntimeModel,
    left: Callable[[], float],
) -> list[IterationEstimate]:
    """Return the estimates from samples; elsewhere baseline iterations if they do not end."""
    try:
        with deadline(left):
            return estimates_of(case.graph, chain, runtime_model)
    except StopRun:
        if case.local:
            raise
        workers = case.request.engine.workers
        return [baseline_iterations(case.graph, each, workers) for each in case.baselines]


def unmeasured(case: Case, started: StoppedRun | None = None, more: str = "") -> Prediction:
    """Return the prediction of a run without measuring anything of it.

    A baseline estimate, corrected by a run that was stopped, if there was one. Supersteps of a
    library are counted by its replay, which the run needs in any case.
    """
    graph, request, baselines = case.graph, case.request, case.baselines
    if started is not None:
        baselines = [*baselines[:-1], baselines[-1].beyond(started.done)]
    estimates = _recalled(case)
    if request.method.name == "replay" and isinstance(graph, Graph) and not case.local:
        estimates = estimates_of(graph, case.chain)
    workers = request.engine.workers
    estimates = estimates or [baseline_iterations(graph, each, workers) for each in baselines]
    if started is not None:
        estimates = started.weighted(estimates)
    workloads = case.workloads(estimates)
    runtimes = _unmeasured_runtimes(case, started, workloads)
    return _answer(case, case.chain, estimates, runtimes, more, measured=started is not None)


def _unmeasured_runtimes(
    case: Case, started: StoppedRun | None, workloads: Sequence[Workload]
) -> list[RuntimeEstimate]:
    """Return baseline seconds, or those by the supersteps of a run that was stopped."""
    graph, request = case.graph, case.request
    if started is not None and case.local:
        return started.runtimes(workloads)
    # The work of a user's function on Spark is known from runs of it alone.
    known = request.method.estimate is not None and isinstance(graph, Graph)
    if request.engine.name == "spark" and known:
        context = EstimationContext(
            seed=request.seed,
            history=case.history,
            progress=request.progress,
            spending=FixedSpending(full=False),
        )
        model = request.runtime_model(request.engine, graph, case.algorithms, context)
        return model.estimate(workloads)
    return baseline_runtimes(graph, case.baselines, workloads, request.engine, case.history)


_LOADED: set[tuple[str, str, bool]] = set()


def _load_compiled(graph: AnyGraph, chain: Sequence[Request]) -> None:
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


def _full_run(case: Case) -> RunProfile | None:
    """Run the job on this machine until the budget, less a reserve for samples, is spent.

    Returns None if its setup, or the run before it in a chain, takes longer than that.
    """
    request, spending = case.request, case.spending
    engine = request.engine
    local = engine if type(engine) is LocalEngine else LocalEngine(workers=engine.workers)
    with spending.loading():
        local.load(request.algorithm)
    request.progress("full run on this machine", 0.0)
    samples = case.cost(LEVELS[0])
    reserve = samples if spending.affords(samples) else 0.0
    with deadline(lambda: spending.left - reserve), suppress(StopRun):
        profile = local.run(request.algorithm, case.graph)
        return profile if profile.algorithm == request.algorithm.name else None
    return None


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
