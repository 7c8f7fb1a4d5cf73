"""Walk samples, runs of an algorithm on them, and the published method (PREDIcT, section 3.2)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Real

import numpy as np

from predict_graph import engines
from predict_graph.algorithms import Algorithm
from predict_graph.arrays import IndexArray, IntArray
from predict_graph.deadline import StopRun
from predict_graph.errors import JobError, RequestError
from predict_graph.graph import Graph
from predict_graph.iterations import estimate
from predict_graph.iterations.method import SamplingCase
from predict_graph.plugins import Registry, blamed_on
from predict_graph.results import Value
from predict_graph.table import Table
from predict_graph.transforms import Transform
from samplers import SAMPLERS as BUILT_IN_SAMPLERS
from samplers import Sampler
from samplers.csr import induced_csr

SAMPLERS: Registry[type[Sampler]] = Registry("sampler", "predict_graph.samplers", BUILT_IN_SAMPLERS)


@dataclass(frozen=True, eq=False, repr=False)
class WalkSample(Value):
    """A sample of the vertices of a graph, with its induced subgraph."""

    sampler: str
    ratio: float
    vertices: IndexArray
    graph: Graph
    seconds: float
    note: str


@dataclass(frozen=True)
class SampleRun:
    """The run of an algorithm on a sample, and its threshold."""

    profile: engines.RunProfile
    threshold: float
    summary: engines.SampleSummary


def check_ratio(ratio: float) -> float:
    """Return a sampling ratio.

    Raises
    ------
    RequestError
        If it is outside (0, 1].
    """
    if not isinstance(ratio, Real) or isinstance(ratio, bool) or not 0.0 < ratio <= 1.0:
        raise RequestError(f"ratio is {ratio!r}; accepted: greater than 0 and at most 1")
    return float(ratio)


def draw_sample(
    graph: Graph, sampler: str, ratio: float, rng: np.random.Generator, max_edges: int | None = None
) -> WalkSample:
    """Draw a sample and induce its subgraph.

    Parameters
    ----------
    graph : Graph
    sampler : str
        Name of a registered sampler.
    ratio : float
        Vertices to draw / vertices of the graph.
    rng : Generator
    max_edges : int, optional
        Largest number of edges of the sample; its walk ends earlier then.

    Raises
    ------
    RequestError
        If the sampler is unknown, or a number is out of range.
    JobError
        If a registered sampler fails, or does not return distinct vertices.
    """
    started = time.perf_counter()
    chosen, share = SAMPLERS.get(sampler), check_ratio(ratio)
    # Only some edges of the sampled vertices stay inside the sample, but all of them are read: the
    # factor of 8 limits the time.
    if max_edges is not None and not (isinstance(max_edges, Real) and 0 < max_edges < np.inf):
        raise RequestError(f"max_edges is {max_edges!r}; accepted: a number above 0")
    scanned = None if max_edges is None else int(np.ceil(8 * max_edges))
    with blamed_on("sampler", sampler):
        drawn = chosen().sample(graph, share, random_state=rng, max_edges=scanned)
        kept = np.asarray(drawn.vertices)
        said, capped, wanted = drawn.note, drawn.capped, drawn.requested
    try:
        if kept.ndim != 1 or kept.dtype.kind not in "iu" or not kept.size:
            found = f"{kept.dtype} of shape {kept.shape}"
            raise ValueError(f"vertices must be a vector of integers, not {found}")
        if len(kept) < wanted and (max_edges is None or not capped):
            raise ValueError(f"{len(kept)} of {wanted}; accepted: fewer only if max_edges ended it")
        if max_edges is not None:
            within = np.cumsum(edges_by_later_position(graph, kept))
            kept = kept[: max(int(np.searchsorted(within, max_edges, side="right")), 1)]
        vertices = np.sort(kept)
        subgraph = graph.subgraph(vertices)
    except ValueError as error:
        raise JobError(f"the sampler {sampler!r} returned wrong vertices: {error}") from error
    notes = [said] if said and not capped else []
    if len(kept) < wanted:
        notes.append(f"ended at {len(kept)} of {wanted} vertices: the budget of edges")
    ratio, seconds = len(kept) / max(graph.vertices, 1), time.perf_counter() - started
    return WalkSample(sampler, ratio, vertices, subgraph, seconds, "; ".join(notes))


def run_sample(
    sample: WalkSample,
    algorithm: Algorithm,
    engine: engines.Engine,
    transform: Transform,
    threshold: float,
    *,
    purpose: str,
    max_iterations: int | None = None,
) -> SampleRun:
    """Run an algorithm on a sample under the transformed threshold.

    Raises
    ------
    StopRun
        If the deadline passes.
    """
    started = time.perf_counter()
    threshold_of_sample = transform.sample_threshold(threshold, sample.ratio)
    profile = engine.run(
        algorithm, sample.graph, threshold=threshold_of_sample, max_iterations=max_iterations
    )
    if profile.stopped:
        raise StopRun
    sizes = (sample.ratio, sample.graph.vertices, sample.graph.edges)
    seconds = sample.seconds + time.perf_counter() - started
    summary = engines.SampleSummary(
        sample.sampler, *sizes, profile.iterations, seconds, purpose, sample.note
    )
    return SampleRun(profile, threshold_of_sample, summary)


def counters_by(profile: engines.RunProfile, case: SamplingCase, iterations: int) -> Table:
    """Return the counters of the real run, extrapolated from those of a sample run."""
    rows = engines.spread_evenly(engines.per_iteration(profile.rows), case.engine.workers)
    by_vertices = case.graph.vertices / max(int(profile.graph["vertices"]), 1)
    by_edges = case.graph.edges / max(int(profile.graph["edges"]), 1)
    return extrapolated(rows, iterations, by_vertices, by_edges)


def extrapolated(rows: Table, iterations: int, vertex_factor: float, edge_factor: float) -> Table:
    """Return the counters of the real run from those of a sample run, iteration by iteration.

    Features that grow with vertices are scaled by ``e_V = |V_G| / |V_S|``, those that grow with
    edges by ``e_E = |E_G| / |E_S|`` (section 3.3); the size of a message and the number of
    iterations are not scaled.

    Parameters
    ----------
    rows : Table
        One row an iteration of the sample run.
    iterations : int
        Of the real run. The last row of the sample stands for all iterations that it lacks.
    vertex_factor, edge_factor : float
        e_V and e_E.

    Returns
    -------
    Table
        `iterations` rows.
    """
    scaled = rows.take(np.minimum(np.arange(iterations), len(rows) - 1))
    factors = dict.fromkeys(engines.COUNTERS, edge_factor)
    factors |= dict.fromkeys(("active_vertices", "total_vertices"), vertex_factor)
    return Table({name: scaled.floats(name) * factor for name, factor in factors.items()})


def edges_by_later_position(graph: Graph, members: IndexArray) -> IntArray:
    """Count the edges among members, at the later of their two ends.

    The running sum is the number of edges among the first 1, 2, … members.
    """
    starts, targets, _ = induced_csr(graph.indptr, graph.indices, members)
    later = np.maximum(np.repeat(np.arange(len(members)), np.diff(starts)), targets)
    return np.bincount(later, minlength=len(members))


def estimate_by_sample_runs(
    case: SamplingCase, repeats: int = 3, method_std: float = 0.18
) -> estimate.IterationEstimate:
    """Return the median iterations of walk samples (PREDIcT, section 3.2).

    It is repeated `repeats` times for the spread. Samples have their full size regardless of the
    budget of edges, as published. `method_std` is of log(predicted / true), of BRJ at 10%
    (docs/design-notes.md, fact 1).
    """
    algorithm, threshold = case.algorithm, case.threshold
    runs: list[SampleRun] = []
    for repeat in range(repeats):
        case.progress(f"sample run {repeat + 1} of {repeats}", repeat / repeats)
        sample = draw_sample(case.graph, case.sampler, case.ratio, case.rng)
        given = sample, algorithm, case.engine, case.transform, threshold
        runs.append(run_sample(*given, purpose="iterations"))
    # The aggregate of the sample is 1 / ratio times that of the graph: undo the transform.
    curves = [np.asarray(run.profile.convergence) * (threshold / run.threshold) for run in runs]
    crossings = [float(run.profile.iterations) for run in runs]
    centre = float(np.median(crossings))
    spread = float(np.std(np.log(crossings), ddof=1)) if repeats > 1 else 0.0
    std = float(np.hypot(spread, method_std))
    counts = estimate.iteration_interval(centre, std, algorithm.max_iterations)
    warnings, converged = [], all(run.profile.converged for run in runs)
    if not converged:
        warnings.append(
            f"a sample run did not converge within {algorithm.max_iterations} iterations"
        )
    largest = max((run.profile for run in runs), key=lambda profile: int(profile.graph["edges"]))
    if not largest.graph["edges"]:
        warnings.append(
            "the samples that counters are extrapolated from have no edges, so messages count as "
            "0; allow a larger ratio or more overhead"
        )
    return estimate.IterationEstimate(
        "published",
        centre,
        *counts,
        curve=estimate.mean_curve(curves, counts[0]),
        converged=converged,
        samples=[run.summary for run in runs],
        warnings=warnings,
        counters=counters_by(largest, case, counts[0]),
    )
