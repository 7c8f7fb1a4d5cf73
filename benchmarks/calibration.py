"""How far is each source of evidence off, and what do runs usually take?

    PREDICT_GRAPH_DATA=… python -m benchmarks.calibration --out docs/studies/calibration.md

(``make calibration``) writes predict_graph/calibration.json. All jobs of the accuracy study on its
graphs, each predicted from samples alone and run twice. The standard deviation of a source is the
least one with which the 90% interval holds in 90% of the cases; an algorithm has its own where it
needs more than all together. The page says how often intervals hold on graphs that are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import predict_graph
from benchmarks.accuracy import JOBS, Case, cases, graph_for, options_of
from benchmarks.common import study_parser, table, write
from predict_graph.algorithms import check_algorithm
from predict_graph.calibration import FILE, log_std, usual_of
from predict_graph.engines import RunProfile
from predict_graph.graph import Graph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.rooted.hops import depth_of
from predict_graph.outcome import Prediction
from predict_graph.prediction.baseline import baselines_of

JSON = Path(predict_graph.__file__).with_name(FILE)
LONG = 0.02  # seconds of a run that cold caches hardly change
METHODS = {"completion": "iterations by completion", "rooted": "iterations by rooted samples"}
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


def rounded(predicted: float, true: float) -> float:
    """Return the logarithmic error of a whole number, less half of one."""
    return max(abs(math.log(predicted / true)) - math.log1p(0.5 / predicted), 0.0)


def measured(case: Case, job: str) -> Iterator[Error | tuple[str, dict[str, float]]]:
    """Yield the errors of one job on one graph, and what its run took."""
    name, parameters = JOBS[job]
    algorithm = check_algorithm(name, parameters)
    if case.name.endswith("(undirected)") and algorithm.undirected:
        return  # the same as the directed one
    graph = graph_for(case, algorithm)
    mine, first, second = (
        Graph(graph.indptr, graph.indices, directed=graph.directed) for _ in range(3)
    )
    found = predict_graph.predict(
        algorithm, mine, history="none", seed=0, **(options_of("samples", algorithm) or {})
    )
    runs = [predict_graph.run(algorithm, own, history="none") for own in (first, second)]
    one, other = (run.runtime_seconds - run.phases["read"] for run in runs)
    apart = math.log(one / other)
    if one >= LONG:
        yield Error(case.name, "equal runs", name, needed(apart))
    else:
        cold = needed(apart, log_std("equal runs", name)) * one
        yield Error(case.name, "cold", name, cold)
    yield from of_samples(case.name, name, found, runs[0])
    yield from of_baselines(case.name, algorithm, graph, runs[0], usual="ε" not in job)


def of_samples(graph: str, name: str, found: Prediction, run: RunProfile) -> Iterator[Error]:
    """Yield the errors of iterations and of the seconds of one, each beside what is known."""
    source, iterations = METHODS.get(found.method["name"]), found.iterations
    assert iterations is not None
    if source:
        spread = math.log(iterations.high / max(iterations.low, 1)) / 2.0 / QUANTILE
        known = math.sqrt(max(spread**2 - log_std(source, name) ** 2, 0.0))
        error = rounded(iterations.predicted, run.iterations)
        yield Error(graph, source, name, needed(error, known))
    source = "seconds by samples"
    each = run.phases["superstep"] / run.iterations
    error = math.log(found.phases["superstep"] / iterations.predicted / each)
    own = found.evidence[-1].log_std ** 2 - log_std(source, name) ** 2
    known = math.sqrt(max(own, 0.0) + log_std("equal runs", name) ** 2)
    yield Error(graph, source, name, needed(error, known))


def of_baselines(
    case: str, algorithm: Any, graph: Graph, run: RunProfile, *, usual: bool
) -> Iterator[Error | tuple[str, dict[str, float]]]:
    """Yield the errors of baselines, and the usual figures of the default parameters."""
    (baseline,) = baselines_of(graph, [algorithm], None)
    name, own = algorithm.name, float(run.iteration_seconds.sum())
    deep = algorithm.by_hops and depth_of(graph) is not None
    source = "iterations by depth" if deep else "usual iterations"
    yield Error(case, source, name, needed(rounded(baseline.iterations, run.iterations)))
    each, said = own / run.iterations, baseline.superstep_seconds / baseline.iterations
    yield Error(case, "usual seconds", name, needed(math.log(said / each)))
    if usual or algorithm.to_dict() == check_algorithm(name).to_dict():
        work = graph.edges + graph.vertices
        prior = run.prior.phases["setup"] if run.prior else 0.0
        setup = max(run.phases["setup"] - prior, 0.0)
        figures = (run.iterations, 1e9 * setup / work, said_as(baseline, each))
        yield name, dict(zip(FIGURES, figures, strict=True))


def said_as(baseline: Any, each: float) -> float:
    """Return the usual ns with which a baseline would have said so many seconds an iteration."""
    said = baseline.superstep_seconds / baseline.iterations
    return usual_of(baseline.algorithm.name).iteration_ns * each / said


def calibrated(errors: list[Error], usual: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the content of the file."""
    stds: dict[str, dict[str, float]] = {}
    for source in sorted({each.source for each in errors} - {"cold"}):
        own = [each for each in errors if each.source == source]
        stds[source] = {"": least(own)}
        for name in sorted({each.algorithm for each in own}):
            std = least([each for each in own if each.algorithm == name])
            if std > stds[source][""]:
                stds[source][name] = std
    medians = {
        name: {key: round(float(np.median([row[key] for row in rows])), 3) for key in FIGURES}
        for name, rows in sorted(usual.items())
    }
    together = {
        key: round(float(np.median([row[key] for row in medians.values()])), 3) for key in FIGURES
    }
    cold = least([each for each in errors if each.source == "cold"], 6)
    return {"cold_seconds": cold, "log_std": stds, "usual": {"": together, **medians}}


def least(errors: list[Error], digits: int = 3) -> float:
    """Return the standard deviation with which 90% of the intervals hold."""
    return round(float(np.quantile([each.needed for each in errors], 0.9)), digits)


def held(errors: list[Error], left_out: str) -> list[bool]:
    """Return whether the intervals of one graph hold with what the other graphs need."""
    others = least([each for each in errors if each.graph != left_out])
    return [each.needed <= others for each in errors if each.graph == left_out]


def summary(errors: list[Error], stds: dict[str, dict[str, float]]) -> list[str]:
    """Return a row for each source and algorithm that has a standard deviation of its own."""
    rows = []
    for source, known in stds.items():
        for name, std in known.items():
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
    arguments.json.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write(arguments.out, summary(errors, found["log_std"]), "sources")
    rows = [
        [name or "all", *(f"{own[key]:g}" for key in FIGURES)]
        for name, own in found["usual"].items()
    ]
    head = ["algorithm", "iterations: median", "setup, ns an edge", "iteration, ns an edge"]
    write(arguments.out, table(head, rows), "usual")


if __name__ == "__main__":
    main()
