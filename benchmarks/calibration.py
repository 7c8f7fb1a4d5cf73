"""How far is each source of evidence off, and what do runs usually take?

    PREDICT_GRAPH_DATA=… python -m benchmarks.calibration --out docs/studies/calibration.md

(``make calibration``) writes predict_graph/calibration.json. All jobs of the accuracy study on its
graphs, each predicted from samples alone and run. The standard deviation of a source is the
least one with which the 90% interval holds in 90% of the cases; an algorithm has its own where it
needs more than all together. The page says how often intervals hold on graphs that are left out.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import predict_graph
from benchmarks.accuracy import JOBS, cases, graph_for, options_of
from benchmarks.accuracy import Case as StudyCase
from benchmarks.common import study_parser, table, write
from predict_graph.algorithms import check_algorithm
from predict_graph.calibration import FILE, beyond_cache, calibration, log_std, usual_of
from predict_graph.engines import RunProfile
from predict_graph.graph import Graph, check_graph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.rooted.sample import depth_of
from predict_graph.options import PredictOptions, completed
from predict_graph.outcome import Prediction
from predict_graph.prediction.baseline import baselines_of, reversing
from predict_graph.prediction.case import Case
from predict_graph.prediction.counting import estimates_of, load_compiled
from predict_graph.prediction.request import check_request
from predict_graph.prediction.sources import LEVELS

JSON = Path(predict_graph.__file__).with_name(FILE)
FEWEST = 20  # cases from which an algorithm has a deviation of its own
METHODS = {"completion": "iterations by completion", "rooted": "iterations by rooted samples"}
ELSEWHERE = ("equal runs", "seconds by a replay")  # measured by other studies
SIZES = (
    "wiki-Vote",
    "web-NotreDame",
    "rmat:scale=18,edge_factor=16,seed=1",
    "rmat:scale=21,edge_factor=16,seed=1",
)
COSTS = ("fixed", "edge_ns", "sampled_edge_ns")
FIGURES = ("iterations", "setup_ns", "iteration_ns")


@dataclass(frozen=True)
class Error:
    """The standard deviation that a source needs for its interval to hold in one case."""

    graph: str
    source: str
    algorithm: str
    needed: float


def needed(error: float, known: float = 0.0) -> float:
    """Return it, for the logarithm of predicted / true; `known` is what a case itself says."""
    return math.sqrt(max((error / QUANTILE) ** 2 - known**2, 0.0))


def measured(case: StudyCase, job: str) -> Iterator[Error | tuple[str, dict[str, float]]]:
    """Yield the errors of one job on one graph, and what its run took."""
    name, parameters = JOBS[job]
    algorithm = check_algorithm(name, parameters)
    if case.name.endswith("(undirected)") and algorithm.undirected:
        return  # the same as the directed one
    graph = graph_for(case, algorithm)
    mine, own = (Graph(graph.indptr, graph.indices, directed=graph.directed) for _ in range(2))
    options = options_of("samples", algorithm) or {}
    found = predict_graph.predict(algorithm, mine, history="none", seed=0, **options)
    run = predict_graph.run(algorithm, own, history="none")
    yield from of_samples(case.name, name, found, run)
    yield from of_baselines(case.name, algorithm, graph, run)


def of_samples(graph: str, name: str, found: Prediction, run: RunProfile) -> Iterator[Error]:
    """Yield the errors of iterations and of the seconds of one, each beside what is known."""
    source, iterations = METHODS.get(found.method["name"]), found.iterations
    assert iterations is not None
    if source:
        spread = math.log(iterations.high / max(iterations.low, 1)) / 2.0 / QUANTILE
        known = math.sqrt(max(spread**2 - log_std(source, name) ** 2, 0.0))
        error = math.log(iterations.predicted / run.iterations)
        yield Error(graph, source, name, needed(error, known))
    source = "seconds by samples"
    each = run.phases["superstep"] / run.iterations
    error = math.log(found.phases["superstep"] / iterations.predicted / each)
    own = found.evidence[-1].log_std ** 2 - log_std(source, name) ** 2
    known = math.sqrt(max(own, 0.0) + log_std("equal runs", name) ** 2)
    yield Error(graph, source, name, needed(error, known))


def of_baselines(
    case: str, algorithm: Any, graph: Graph, run: RunProfile
) -> Iterator[Error | tuple[str, dict[str, float]]]:
    """Yield the errors of baselines, and the usual figures of the default parameters."""
    (baseline,) = baselines_of(graph, [algorithm], None)
    name, own = algorithm.name, float(run.iteration_seconds.sum())
    deep = algorithm.by_hops and depth_of(graph) is not None
    source = "iterations by depth" if deep else "usual iterations"
    yield Error(case, source, name, needed(math.log(baseline.iterations / run.iterations)))
    each, said = own / run.iterations, baseline.superstep_seconds / baseline.iterations
    yield Error(case, "usual seconds", name, needed(math.log(said / each)))
    if algorithm.to_dict() == check_algorithm(name).to_dict():
        work = graph.edges + graph.vertices
        prior = run.prior.phases["setup"] if run.prior else 0.0
        setup = 1e9 * (run.phases["setup"] - prior) / work - reversing(algorithm, graph)
        figures = (run.iterations, max(setup, 0.0), said_as(baseline, each))
        yield name, dict(zip(FIGURES, figures, strict=True))


def said_as(baseline: Any, each: float) -> float:
    """Return the usual ns with which a baseline would have said so many seconds an iteration."""
    said = baseline.superstep_seconds / baseline.iterations
    return usual_of(baseline.algorithm.name).iteration_ns * each / said


def calibrated(errors: list[Error], usual: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the content of the file; that of equal runs stays (docs/studies/overhead.md)."""
    stds = {name: calibration()["log_std"][name] for name in ELSEWHERE}
    for source in sorted({each.source for each in errors}):
        own = [each for each in errors if each.source == source]
        stds[source] = {"": least(own)}
        for name in sorted({each.algorithm for each in own}):
            alone = [each for each in own if each.algorithm == name]
            std = least(alone)
            if std > stds[source][""] and len(alone) >= FEWEST:
                stds[source][name] = std
    medians = {
        name: {key: round(float(np.median([row[key] for row in rows])), 3) for key in FIGURES}
        for name, rows in sorted(usual.items())
    }
    together = {
        key: round(float(np.median([row[key] for row in medians.values()])), 3) for key in FIGURES
    }
    cold = calibration()["cold_seconds"]
    return {"cold_seconds": cold, "log_std": stds, "usual": {"": together, **medians}}


def reversal() -> float:
    """Return the nanoseconds of reversing a graph, per edge and vertex in cache: the median."""
    found = []
    for text in SIZES:
        graph = check_graph(text, seed=0)
        work, started = graph.edges + graph.vertices, time.process_time()
        _ = graph.reverse
        found.append(1e9 * (time.process_time() - started) / work / beyond_cache(work))
    return round(float(np.median(found)), 3)


def sampling_costs(name: str) -> dict[str, float]:
    """Return what samples of an algorithm take: fixed, by edges, by sampled edges (NNLS).

    Relative errors count, so that graphs of all sizes do.
    """
    algorithm, rows, seconds = check_algorithm(name), [], []
    request = check_request(algorithm, **completed(PredictOptions, {"seed": 0}, "a study"))
    for text in SIZES:
        for level in (LEVELS[0], LEVELS[2]):
            graph = check_graph(text, directed=not algorithm.undirected, seed=0)
            chain = Case.of(graph, request, None).chain
            load_compiled(graph, chain)
            started = time.process_time()
            estimates_of(graph, [replace(chain[-1], max_overhead=level)])
            seconds.append(time.process_time() - started)
            rows.append(
                [1.0, 1e-9 * graph.edges * beyond_cache(graph.edges), 1e-9 * graph.edges * level]
            )
    weights = 1.0 / np.array(seconds)
    found, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(rows)))
    return {key: round(float(each), 4) for key, each in zip(COSTS, found, strict=True)}


def least(errors: list[Error]) -> float:
    """Return the standard deviation with which 90% of the intervals hold."""
    return round(float(np.quantile([each.needed for each in errors], 0.9)), 3)


def held(errors: list[Error], left_out: str) -> list[bool]:
    """Return whether the intervals of one graph hold with what the other graphs need."""
    others = least([each for each in errors if each.graph != left_out])
    return [each.needed <= others for each in errors if each.graph == left_out]


def summary(errors: list[Error], stds: dict[str, dict[str, float]]) -> list[str]:
    """Return a row for each source and algorithm that has a standard deviation of its own."""
    rows = []
    for source in sorted({each.source for each in errors}):
        for name, std in stds[source].items():
            own = [e for e in errors if e.source == source and name in ("", e.algorithm)]
            holds = [each for graph in {e.graph for e in own} for each in held(own, graph)]
            worst = max(each.needed for each in own)
            cells = [str(len(own)), f"{std:.3f}", f"{np.mean(holds):.0%}", f"{worst:.2f}"]
            rows.append([source, name or "all", *cells])
    head = ["source", "algorithm", "n", "standard deviation", "interval holds, graph left out"]
    return table([*head, "most that is needed"], rows, text_columns=2)


def main() -> None:
    """Run the jobs, write the file, and the page."""
    parser = study_parser(__doc__)
    parser.add_argument("--groups", default="shared,other,generated,mesh")
    parser.add_argument("--json", type=Path, default=JSON)
    arguments = parser.parse_args()
    turned = reversal()
    errors: list[Error] = []
    usual: dict[str, list[dict[str, float]]] = {}
    for case in cases(set(arguments.groups.split(","))):
        for job in JOBS:
            for each in measured(case, job):
                if isinstance(each, Error):
                    errors.append(each)
                else:
                    usual.setdefault(each[0], []).append(each[1])
        print(case.name, flush=True)
    found = calibrated(errors, usual)
    costs = {name: sampling_costs(name) for name in sorted(usual)}
    most = {key: max(own[key] for own in costs.values()) for key in COSTS}
    found |= {"sampling": {"": most, **costs}, "reverse_ns": turned}
    arguments.json.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write(arguments.out, summary(errors, found["log_std"]), "sources")
    rows = [
        [name or "all", *(f"{own[key]:g}" for key in FIGURES)]
        for name, own in found["usual"].items()
    ]
    head = ["algorithm", "iterations: median", "setup, ns an edge", "iteration, ns an edge"]
    write(arguments.out, table(head, rows), "usual")
    rows = [
        [name or "all", *(f"{own[key]:g}" for key in COSTS)]
        for name, own in found["sampling"].items()
    ]
    head = ["algorithm", "fixed, s", "ns an edge of the graph", "ns an edge of the samples"]
    write(arguments.out, table(head, rows), "sampling")


if __name__ == "__main__":
    main()
