"""One assembly of what the stages say, for this machine or carried to another by its profile."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from predict_graph.cores import Load, meter
from predict_graph.engines import RuntimeEstimate
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.graph import Graph
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.iterations import IterationEstimate
from predict_graph.outcome import Prediction, SourceEstimate
from predict_graph.outcome.verdict import verdict_of
from predict_graph.prediction.baseline import BASELINE
from predict_graph.prediction.memory import peak_memory
from predict_graph.prediction.request import Request, is_local
from predict_graph.resources import ResourceProfile, carried_factor

if TYPE_CHECKING:
    from predict_graph.budget import Spending
    from predict_graph.prediction.sources import Estimate


# What is said of one algorithm of a chain.
Stage = tuple[Request, IterationEstimate, RuntimeEstimate]

_UNSAMPLED = ("whole-run", "history", "replay", BASELINE)  # whose warnings are not of samples


def assembled(graph: AnyGraph, best: Estimate, spending: Spending) -> Prediction:
    """Return the prediction of a chain of algorithms from what the best source says of each.

    On this machine it is for the load that there is now: what others slow down is measured.

    Parameters
    ----------
    graph : AnyGraph
    best : Estimate
    spending : Spending
        Knows what the prediction took.
    """
    chain, estimates, runtimes = best.chain, best.iterations, best.runtimes
    sampled = any(each.method not in _UNSAMPLED and each.low < each.high for each in estimates)
    doubts = graph_doubts(graph) if sampled and isinstance(graph, Graph) else []
    result = _of_stages(graph, [*zip(chain, estimates, runtimes, strict=True)], doubts)
    last, memory = chain[-1], None
    local = is_local(last.engine)
    if last.engine.virtual_workers and isinstance(graph, Graph):
        result = _under(result, meter.read(), measured=best.measured or not local)
    if local and isinstance(graph, Graph):
        memory = peak_memory(graph, last.algorithm, getattr(last.engine, "threads", None))
    return replace(
        result,
        overhead_seconds=spending.reading_seconds + spending.spent,
        loading_seconds=spending.loading_seconds,
        reading_seconds=spending.reading_seconds,
        budget=str(last.budget),
        more=best.more or next((each.more for each in runtimes if each.more), ""),
        verdict=verdict_of(
            result.runtime_seconds,
            result.phases,
            estimated=estimates[-1].method == BASELINE and not best.measured,
            local=local,
            load=result.load,
            memory=memory,
            executors=result.executors,
        ),
    )


def _of_stages(graph: AnyGraph, stages: Sequence[Stage], doubts: list[str]) -> Prediction:
    """Return the prediction of the last algorithm of a chain, with what runs before it on top."""
    prior = _of_stages(graph, stages[:-1], doubts) if len(stages) > 1 else None
    request, estimate, runtime = stages[-1]
    algorithm, limit = request.algorithm, request.algorithm.max_iterations
    warnings = [*(prior.warnings if prior else doubts), *estimate.warnings, *runtime.warnings]
    if not estimate.converged and estimate.iterations >= limit:  # a library has limits of its own
        warnings.append(
            f"the run will probably stop at its limit of {limit} iterations, before it has "
            "converged"
        )
    own, seconds = runtime.evidence, float(runtime.evidence.seconds.sum())
    phases = [each.phases for _, _, each in stages]
    by_machines: list[Mapping[str, float]] = []
    if runtime.at is not None:
        for machines in machine_counts(request.engine.workers):
            there = [each.at(machines) for _, _, each in stages if each.at is not None]
            by_machines.append({"machines": machines, **_runtime(there, stages).to_dict()})
    return Prediction(
        algorithm={"name": algorithm.name, "parameters": algorithm.to_dict()},
        graph=graph.describe(),
        engine=request.engine.describe(),
        seed=request.seed,
        iterations=Interval(estimate.iterations, estimate.low, estimate.high),
        runtime_seconds=_runtime(phases, stages),
        phases={name: sum(each[name] for each in phases) for name in runtime.phases},
        rows=runtime.rows.assign(convergence=estimate.curve),
        samples=[*estimate.samples, *runtime.samples],
        evidence=[SourceEstimate(own.name, seconds, own.relative_std, 1.0, model=dict(own.model))],
        method=_method(request, estimate, graph),
        warnings=list(dict.fromkeys(warnings)),
        prior=prior,
        executors=runtime.executors,
        by_machines=by_machines,
        iteration_std=math.hypot(runtime.relative_std, runtime.common_std),
    )


def machine_counts(target: int, most: int = 4096) -> list[int]:
    """Return the machine counts that a prediction for so many machines says something about.

    At most so many are accepted (:class:`~predict_graph.engines.spark.SparkSettings`).

    Examples
    --------
    >>> machine_counts(5)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]
    >>> machine_counts(4000)[-2:]
    [4000, 4096]
    """
    few = range(1, min(2 * target, 8) + 1)
    many = (12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
    beyond = (min(2 * target, most), *(n for n in many if n <= max(4 * target, 16)))
    return sorted({*few, target, *beyond})


def _method(request: Request, estimate: IterationEstimate, graph: AnyGraph) -> dict[str, Any]:
    """Return how the iterations were estimated: only what the method reads."""
    values = {
        "sampler": request.sampler,
        "ratio": request.ratio,
        "transform": request.transform.name,
        "max_overhead": request.max_overhead,
    }
    read = request.method.reads if estimate.method == request.method.name else frozenset()
    return {
        "name": estimate.method,
        **{name: values[name] for name in values if name in read},
        "threshold": request.algorithm.threshold(graph.vertices),
        "convergence": request.algorithm.convergence,
    }


def _runtime(phases: Sequence[Mapping[str, float]], stages: Sequence[Stage]) -> Interval:
    """Return the interval of a runtime: relative errors of independent parts, added as such.

    Algorithms of a chain have one and the same error if it is that of a cluster.
    """
    total, spreads = 0.0, []
    for seconds, (_, estimate, runtime) in zip(phases, stages, strict=True):
        taken = sum(seconds.values())
        spreads.append(
            math.hypot(
                seconds["superstep"] * math.hypot(estimate.log_std, runtime.relative_std),
                runtime.phase_std * (seconds["setup"] + seconds["read"] + seconds["write"]),
                runtime.common_std * taken,
            )
        )
        total += taken
    same_error = any(runtime.common_std for _, _, runtime in stages)
    spread = sum(spreads) if same_error else math.hypot(*spreads)
    return Interval.spread(total, spread / total if total else 0.0)


def _under(found: Prediction, load: Load, *, measured: bool) -> Prediction:
    """Return the prediction under a load, which may end or double before the run.

    Seconds of a machine without it take longer by as much; reading was measured.
    """
    slower = 1.0 if measured else load.slowdown
    factors = {name: 1.0 if name == "read" else slower for name in found.phases}
    busy = scaled(found, factors, math.log(load.slowdown) / QUANTILE)
    return replace(
        busy,
        warnings=[*found.warnings, *load.warnings],
        prior=found.prior and _under(found.prior, load, measured=measured),
        load=load,
    )


def scaled(found: Prediction, factors: Mapping[str, float], std: float) -> Prediction:
    """Return a prediction whose phases take so many times as long, with another deviation."""
    phases = {name: seconds * factors[name] for name, seconds in found.phases.items()}
    total, own = sum(phases.values()), found.runtime_seconds
    spread = own.log_std if own.low > 0.0 else 0.0
    return replace(
        found,
        phases=phases,
        runtime_seconds=Interval.spread(total, math.hypot(spread, std)),
        rows=found.rows.assign(seconds=found.rows["seconds"] * factors["superstep"]),
        evidence=[
            replace(each, seconds=each.seconds * factors["superstep"]) for each in found.evidence
        ],
        iteration_std=math.hypot(found.iteration_std, std),
    )


def graph_doubts(graph: Graph, fewest: int = 5_000) -> list[str]:
    """Return what about the graph makes samples of it unlike it.

    - Too few vertices for a sample to say anything (docs/iterations.md).
    - No hubs: a mesh or lattice has no small part that behaves like the whole, and its walk samples
      are strips (the premise of section 3.2 of PREDIcT is a scale-free graph).
    """
    if graph.vertices < fewest:
        return [
            f"the graph has only {graph.vertices} vertices: a sample of it is too small to be like "
            "it, and running the job costs less than predicting it"
        ]
    if graph.has_hubs:
        return []
    degrees = graph.degrees
    return [
        f"the graph has no hubs (largest degree {degrees.max()}, mean {degrees.mean():.1f}): if it "
        "is a mesh, samples of it converge unlike the whole"
    ]


def carried(prediction: Prediction, here: ResourceProfile, there: ResourceProfile) -> Prediction:
    """Return what a run takes on another machine; iterations and messages stay as they are.

    Compiled phases take longer by the factor of all cores, or of one thread where they have one, as
    reading and writing have. The interval widens by how far the attributes of the two profiles
    disagree.

    Parameters
    ----------
    prediction : Prediction
        Learned on the machine of `here`.
    here, there : ResourceProfile

    Raises
    ------
    RequestError
        If a profile lacks an attribute.

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, section IV: resource profiles.
    """
    # 16 bytes a vertex, of the state before and after an iteration, are looked up at random.
    factor = carried_factor(here, there, 16 * int(prediction.graph["vertices"]))
    alone = prediction.phases if prediction.engine.get("threads") == 1 else ("read", "write")
    factors = {
        name: factor.single if name in alone else factor.compute for name in prediction.phases
    }
    said = (
        f"carried from {here.machine} (measured {here.measured}) to {there.machine} (measured "
        f"{there.measured}) by their profiles; a run there may show costs that no profile has"
    )
    moved = scaled(prediction, factors, factor.std)
    guessed, times = prediction.method["name"] == BASELINE, (moved.runtime_seconds, moved.phases)
    return replace(
        moved,
        # How much memory is free there is not known.
        verdict=verdict_of(*times, estimated=guessed, local=False, load=prediction.load),
        method={
            **prediction.method,
            "carried": {
                "to": there.machine,
                "compute_factor": factor.compute,
                "thread_factor": factor.single,
                "relative_std": factor.std,
            },
        },
        warnings=[*prediction.warnings, said],
        prior=None if prediction.prior is None else carried(prediction.prior, here, there),
        by_machines=[],
    )
