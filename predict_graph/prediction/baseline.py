"""What a run on this machine will take, before anything of it is measured: the first source.

A baseline is free. It says what a better answer may cost, and whether one is worth having: a run of
less than a second had better be run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from predict_graph import engines
from predict_graph.algorithms import Algorithm
from predict_graph.calibration import Usual, beyond_cache, log_std, reverse_ns, usual_of
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.iterations.estimate import IterationEstimate, iteration_interval
from predict_graph.iterations.rooted.sample import depth_of

# Name of the method of an estimate that is none.
BASELINE = "baseline estimate"


@dataclass(frozen=True)
class Baseline:
    """What one algorithm of a chain will take on this machine, roughly.

    Parameters
    ----------
    algorithm : Algorithm
    iterations : float
    setup_seconds, superstep_seconds : float
        Of all supersteps.
    runs : int
        Of the history behind it; 0 without any.
    iterations_std : float
        Of log(estimated / true).
    converges : bool
        Whether runs usually converge within the limit of iterations.
    """

    algorithm: Algorithm
    iterations: float
    setup_seconds: float
    superstep_seconds: float
    runs: int
    iterations_std: float
    converges: bool

    def quantile(self, share: float) -> float:
        """Return the seconds within which such a share of runs ends."""
        deviations = NormalDist().inv_cdf(share)
        factor = math.exp(deviations * math.hypot(self.iterations_std, self.relative_std))
        most = self.algorithm.max_iterations / max(self.iterations, 1.0)
        factor = min(factor, most * math.exp(deviations * self.relative_std))
        return self.setup_seconds + self.superstep_seconds * factor

    @property
    def relative_std(self) -> float:
        """Of the seconds of its iterations: by how much graphs differ on one machine."""
        return log_std("usual seconds", self.algorithm.name)


def baselines_of(
    graph: AnyGraph, algorithms: Sequence[Algorithm], history: History | None
) -> list[Baseline]:
    """Return what compiled runs of the algorithms of a chain will take on this machine.

    They come from runs of other graphs in the history of this machine, or else from the usual
    figures of the algorithm. Where an algorithm crosses the graph from end to end, a breadth-first
    search counts the supersteps.

    Parameters
    ----------
    graph : AnyGraph
    algorithms : sequence of Algorithm
    history : History or None

    Examples
    --------
    A search that reaches less than half of the vertices says nothing of the iterations:

    >>> from networkx import disjoint_union, path_graph, star_graph
    >>> from predict_graph.algorithms import check_algorithm
    >>> from predict_graph.graph import check_graph
    >>> graph = check_graph(disjoint_union(star_graph(5), path_graph(100)))
    >>> (found,) = baselines_of(graph, [check_algorithm("connected-components")], None)
    >>> found.iterations == usual_of("connected-components").iterations
    True
    """
    work = _work_of(graph)
    baselines = []
    for algorithm in algorithms:
        usual, runs = _usual(algorithm, graph.vertices, history)
        depth, each = None, usual.iteration_ns
        if isinstance(graph, Graph):
            depth = depth_of(graph) if algorithm.by_hops else None
            each *= algorithm.relative_work(graph)
        expected = usual.iterations if depth is None else depth + 1.0
        iterations = min(expected, float(algorithm.max_iterations))
        source = "usual iterations" if depth is None else "iterations by depth"
        baselines.append(
            Baseline(
                algorithm,
                iterations,
                1e-9 * (usual.setup_ns + reversing(algorithm, graph)) * work,
                1e-9 * each * beyond_cache(work) * work * iterations,
                runs,
                log_std(source, algorithm.name),
                # The usual run of one whose median is the limit has not converged there.
                converges=algorithm.known_work or expected < algorithm.max_iterations,
            )
        )
    return baselines


def _work_of(graph: AnyGraph | RunRecord) -> int:
    # The time of a superstep no longer falls with fewer edges (measured).
    return max(graph.edges + graph.vertices, 5_000)


def reversing(algorithm: Algorithm, graph: AnyGraph | RunRecord) -> float:
    """Return the ns of setup, per edge and vertex, in which a graph (of a run) is reversed."""
    needed = graph.directed and not algorithm.undirected
    return reverse_ns() * beyond_cache(_work_of(graph)) if needed else 0.0


def baseline_iterations(graph: AnyGraph, baseline: Baseline, workers: int) -> IterationEstimate:
    """Return a baseline as an iteration estimate: a wide interval, and rough counters.

    Examples
    --------
    >>> from predict_graph.algorithms import check_algorithm
    >>> from predict_graph.graph import check_graph
    >>> graph, labels = check_graph("cycle:n=50"), check_algorithm("label-propagation")
    >>> found = baseline_iterations(graph, baselines_of(graph, [labels], None)[0], 2)
    >>> found.counters["active_vertices"].tolist() == [50] * found.iterations
    True
    """
    algorithm, middle = baseline.algorithm, baseline.iterations
    counts = iteration_interval(middle, baseline.iterations_std, algorithm.max_iterations)
    iterations, converges = counts[0], baseline.converges
    # Messages of an iteration / of the one before.
    decay = 1.0 if algorithm.steady or algorithm.all_send else 0.5
    share = decay ** np.arange(iterations)
    active, sent = graph.vertices * share, graph.edges * share
    volume = sent * float(algorithm.message_bytes)
    counters = engines.counters_of(active, sent, volume, workers, graph.vertices)
    threshold = algorithm.threshold(graph.vertices)
    curve = threshold * 10.0 ** np.minimum(np.arange(iterations)[::-1] / 2.0, 300.0)
    curve = curve if algorithm.convergence == "absolute" else np.minimum(curve, 1.0)  # a share
    return IterationEstimate(BASELINE, middle, *counts, curve, converges, counters=counters)


# Engines of others take so many times as long as compiled ones, with a deviation of its logarithm
# of 1 (measured).
_SLOWER = 40.0


def baseline_runtime(
    baseline: Baseline, workload: engines.Workload, engine: engines.Engine, read: float
) -> engines.RuntimeEstimate:
    """Return a baseline as the runtime estimate of an engine, with the seconds of reading."""
    each, std = baseline.superstep_seconds / max(baseline.iterations, 1.0), baseline.relative_std
    setup, name = baseline.setup_seconds, "runs of other graphs" if baseline.runs else BASELINE
    if type(engine) is not LocalEngine:
        if engine.name == "spark":
            # Seconds of the compiled kernels, and what Spark adds however small the graph: session
            # start-up, and a superstep (0.5 s for 128 vertices: docs/studies/spark.md).
            setup, each = setup + 8.0, each + 0.3
        else:
            setup, each = _SLOWER * setup, _SLOWER * each
        std = 1.0
    evidence = engines.Evidence(name, np.full(workload.iterations, each), std)
    return workload.runtime(evidence, log_std("usual seconds") / 2.0, setup=setup, read=read)


def _usual(algorithm: Algorithm, vertices: int, history: History | None) -> tuple[Usual, int]:
    """Return the usual figures: medians of the history, or those of the algorithm.

    Only iterations of runs with the same parameters count, whatever their limit of iterations was,
    unless a lower limit stopped them.
    """
    here, usual = ({"name": "local"}, machine_identity()), usual_of(algorithm.name)
    expected = max(algorithm.usual_iterations(usual.iterations, vertices), 1.0)
    # Of other graphs only the messages are known, not the work.
    known = None if algorithm.known_work else history
    found = [] if known is None else known.training_runs(algorithm.name, *here)
    if not found:
        return replace(usual, iterations=expected), 0
    ended = [run for run in found if run.converged or run.iterations >= algorithm.max_iterations]
    own = {name: value for name, value in algorithm.to_dict().items() if name != "max_iterations"}
    same = [float(run.iterations) for run in ended if own.items() <= run.parameters.items()]
    rows = []
    for run in found:
        work = _work_of(run)
        each = float(engines.per_iteration(run.rows)["seconds"].mean())
        setup = max(1e9 * float(run.phases["setup"]) / work - reversing(algorithm, run), 0.0)
        rows.append((setup, 1e9 * each / work / beyond_cache(work)))
    setup_ns, iteration_ns = map(float, np.median(np.array(rows), axis=0))
    return Usual(float(np.median(same or [expected])), setup_ns, iteration_ns), len(rows)
