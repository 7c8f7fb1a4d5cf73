"""Drawing samples by several samplers, and measuring each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.comparison.result import SamplerComparison
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.iterations import SAMPLERS, WalkSample, check_ratio, draw_sample, run_sample
from predict_graph.seeds import check_seed
from predict_graph.transforms import default_transform


def drawn_and_compared(
    graph: Graph, sampler: str, ratio: float, seed: int, max_edges: int | None = None
) -> tuple[WalkSample, dict[str, Any]]:
    """Return a sample of a graph, and how it was drawn and how faithful it is."""
    from samplers.fidelity import fidelity_report

    rng = np.random.default_rng(seed)
    drawn = draw_sample(graph, sampler, ratio, rng, max_edges=max_edges)
    report = fidelity_report(graph, drawn.vertices, random_state=rng)
    return drawn, {
        "graph": graph.describe(),
        "sampler": sampler,
        "ratio": drawn.ratio,
        "seed": seed,
        "vertices": drawn.graph.vertices,
        "edges": drawn.graph.edges,
        "seconds": drawn.seconds,
        "note": drawn.note,
        "fidelity": report.to_dict(),
    }


def compare_samplers(
    graphs: Any,
    *,
    samplers: Sequence[str] | None = None,
    algorithms: Sequence[str] = (),
    ratio: float | Sequence[float] = 0.1,
    seeds: int = 1,
    directed: bool | None = None,
    ids: str | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> SamplerComparison:
    """Draw samples of graphs by samplers, and compare them: fidelity, iterations, cost.

    Parameters
    ----------
    graphs : graph-like, or list of them
    samplers : sequence of str, optional
        All registered ones by default.
    algorithms : sequence of str
        For each, the iterations of the sample run under the default transform, those of the real
        run, and the error.
    ratio : float or sequence of float
        Vertices of a sample / vertices of the graph; each of several.
    seeds : int
        Samples by each sampler of each graph at each ratio: from `seed` on.
    directed, ids, seed
        As in :func:`~predict_graph.predict`.
    progress : callable (text, fraction), optional

    Returns
    -------
    SamplerComparison
        With one row a graph, ratio, seed and sampler.

    Raises
    ------
    RequestError
        If a name is unknown, a graph cannot be read, or nothing is to be compared.
    """
    if isinstance(graphs, list | tuple) and not graphs:
        raise RequestError("no graph is given; accepted: one or more")
    # A list of pairs is an edge list: one graph.
    several = isinstance(graphs, list | tuple) and not isinstance(graphs[0], list | tuple)
    sources = graphs if several else [graphs]
    names = list(samplers) if samplers is not None else SAMPLERS.names()
    for name in names:
        SAMPLERS.get(name)
    jobs = [check_algorithm(name) for name in algorithms]
    ratios = [check_ratio(one) for one in (ratio if isinstance(ratio, Sequence) else [ratio])]
    if not ratios:
        raise RequestError("no ratio is given; accepted: one or more")
    if seeds < 1:
        raise RequestError(f"seeds is {seeds}; accepted: 1 or more")
    entropy = check_seed(seed)
    rows: list[dict[str, Any]] = []
    for source in sources:
        graph = check_graph(source, directed=directed, ids=ids, seed=entropy)
        # Each algorithm on the graph as its run would have it: undirected for some.
        whole = {
            job.name: check_graph(source, directed=False, ids=ids, seed=entropy)
            if job.undirected and graph.directed
            else graph
            for job in jobs
        }
        truths = {job.name: LocalEngine().run(job, whole[job.name]).iterations for job in jobs}
        total = len(sources) * len(ratios) * seeds * len(names)
        for share, number, name in product(ratios, range(seeds), names):
            if progress is not None:
                progress(f"{graph.name}: {name}", len(rows) / total)
            drawn, report = drawn_and_compared(graph, name, share, entropy + number)
            rows.append(_row(graph, drawn.graph, report, share))
            for job in jobs:
                own = drawn
                if whole[job.name] is not graph:
                    rng = np.random.default_rng(entropy + number)
                    own = draw_sample(whole[job.name], name, share, rng)
                rows[-1].update(_iterations(whole[job.name], job, own, truths[job.name]))
    return SamplerComparison(rows, [job.name for job in jobs], entropy)


def _row(graph: Graph, sample: Graph, report: dict[str, Any], ratio: float) -> dict[str, Any]:
    fidelity = report["fidelity"]
    return {
        "graph": graph.name,
        "sampler": report["sampler"],
        "ratio": ratio,
        "seed": report["seed"],
        "seconds": round(report["seconds"], 3),
        "edges": sample.edges,
        "edge_share": round(sample.edges / graph.edges, 3),
        "density_ratio": _rounded(fidelity["density_ratio"]),
        **{f"d_{name}": _rounded(value) for name, value in fidelity["d_statistics"].items()},
        "clustering": _rounded(fidelity["clustering"]["sample"]),
        "largest_component": _rounded(fidelity["largest_component"]["sample"]),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 3)


def _iterations(graph: Graph, job: Algorithm, drawn: WalkSample, truth: int) -> dict[str, Any]:
    run = run_sample(
        drawn,
        job,
        LocalEngine(),
        default_transform(job.convergence),
        job.threshold(graph.vertices),
        purpose="iterations",
    )
    found = run.profile.iterations
    return {
        f"{job.name}_sample": found,
        f"{job.name}_graph": truth,
        f"{job.name}_error": round(found / truth - 1.0, 3),
    }
