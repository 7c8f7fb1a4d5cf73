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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import combinations, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import nnls

import predict_graph
from benchmarks.accuracy import GENERATED, cases, jobs_of, options_of
from benchmarks.common import Row, study_parser, table, write
from predict_graph import calibration
from predict_graph.algorithms import check_algorithm
from predict_graph.engines import RunProfile
from predict_graph.graph import Graph, check_graph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.rooted.sample import depth_of
from predict_graph.options import PredictOptions, completed
from predict_graph.outcome import Prediction
from predict_graph.prediction.baseline import baselines_of, reversing
from predict_graph.prediction.case import Case
from predict_graph.prediction.request import check_request
from predict_graph.prediction.sources import LEVELS, estimates_of, load_compiled

JSON = Path(predict_graph.__file__).with_name(calibration.FILE)
FEWEST = 20  # cases from which an algorithm has a deviation of its own
METHODS = {"completion": "iterations by completion", "rooted": "iterations by rooted samples"}
ELSEWHERE = "seconds by a replay"  # measured by another study
SIZES = ("wiki-Vote", "web-NotreDame", GENERATED[2], "rmat:scale=21,edge_factor=16,seed=1")
COSTS = ("fixed", "edge_ns", "sampled_edge_ns")


class Error(NamedTuple):
    """The standard deviation that a source needs for its interval to hold in one case."""

    graph: str
    source: str
    algorithm: str
    needed: float


def needed(error: float, known: float = 0.0) -> float:
    """Return it, for the logarithm of predicted / true; `known` is what a case itself says."""
    return math.sqrt(max((error / QUANTILE) ** 2 - known**2, 0.0))


def seconds_of_jobs(_: int) -> dict[tuple[str, str], float]:
    """Return the seconds of all jobs on some graphs, in a process of its own."""
    jobs = product(filter(None, calibration.calibration()["usual"]), SIZES[:3])
    return {job: predict_graph.run(*job, history="none").runtime_seconds for job in jobs}


def of_equal_runs() -> Iterator[Error]:
    """Yield by how much runs differ from one process to another, beside what cold caches take."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        found = list(pool.map(seconds_of_jobs, range(6)))
    for one, other in combinations(found, 2):
        for (name, graph), seconds in one.items():
            cold, error = calibration.cold_seconds() / seconds, seconds / other[name, graph]
            yield Error(graph, "equal runs", "", needed(math.log(error), cold))


def of_samples(case: str, name: str, found: Prediction, run: RunProfile) -> Iterator[Error]:
    """Yield the errors of iterations and of the seconds of one, each beside what is known."""
    source, iterations = METHODS.get(found.method["name"]), found.iterations
    if source:
        spread = math.log(iterations.high / max(iterations.low, 1)) / 2.0 / QUANTILE
        known = math.sqrt(max(spread**2 - calibration.log_std(source, name) ** 2, 0.0))
        error = math.log(iterations.predicted / run.iterations)
        yield Error(case, source, name, needed(error, known))
    source = "seconds by samples"
    each = run.phases["superstep"] / run.iterations
    error = math.log(found.phases["superstep"] / iterations.predicted / each)
    own = found.evidence[-1].log_std ** 2 - calibration.log_std(source, name) ** 2
    yield Error(case, source, name, needed(error, math.sqrt(max(own, 0.0))))


def of_baseline(
    case: str, algorithm: Any, graph: Graph, run: RunProfile
) -> tuple[list[Error], Row]:
    """Return the errors of the baseline estimate, and what the run took.

    The ns of an iteration are those with which the baseline would have estimated its seconds.
    """
    (baseline,) = baselines_of(graph, [algorithm], None)
    name, each = algorithm.name, float(run.iteration_seconds.sum()) / run.iterations
    deep = algorithm.by_hops and depth_of(graph) is not None
    source = "iterations by depth" if deep else "usual iterations"
    factor = each / (baseline.superstep_seconds / baseline.iterations)
    errors = [
        Error(case, source, name, needed(math.log(run.iterations / baseline.iterations))),
        Error(case, "usual seconds", name, needed(math.log(factor))),
    ]
    prior = run.prior.phases["setup"] if run.prior else 0.0
    setup = 1e9 * (run.phases["setup"] - prior) / (graph.edges + graph.vertices)
    return errors, {
        "algorithm": name,
        "iterations": run.iterations,
        "setup_ns": max(setup - reversing(algorithm, graph), 0.0),
        "iteration_ns": calibration.usual_of(name).iteration_ns * factor,
    }


def calibrated(errors: pd.DataFrame, usual: pd.DataFrame) -> dict[str, Any]:
    """Return the content of the file, but for what samples cost."""
    stds = {ELSEWHERE: calibration.calibration()["log_std"][ELSEWHERE]}
    for source, own in errors.groupby("source"):
        stds[source] = {"": least(own)}
        for name, alone in own.groupby("algorithm"):
            std = least(alone)
            if std > stds[source][""] and len(alone) >= FEWEST:
                stds[source][name] = std
    medians = usual.groupby("algorithm").median().round(3)
    together = {"": medians.median().round(3).to_dict()}
    cold = calibration.cold_seconds()
    return {"cold_seconds": cold, "log_std": stds, "usual": together | medians.T.to_dict()}


def reversal() -> float:
    """Return the nanoseconds of reversing a graph, per edge and vertex in cache: the median."""
    found = []
    for text in SIZES:
        graph = check_graph(text, seed=0)
        work, started = graph.edges + graph.vertices, time.process_time()
        _ = graph.reverse
        found.append(1e9 * (time.process_time() - started) / work / calibration.beyond_cache(work))
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
            of_graph = graph.edges * calibration.beyond_cache(graph.edges, calibration.SAMPLED)
            rows.append([1.0, 1e-9 * of_graph, 1e-9 * graph.edges * level])
    weights = 1.0 / np.array(seconds)
    found, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(rows)))
    return {key: round(float(each), 4) for key, each in zip(COSTS, found, strict=True)}


def least(errors: pd.DataFrame) -> float:
    """Return the standard deviation with which 90% of the intervals hold.

    Of equal runs 95%: these follow each other within a minute, and others differ more.
    """
    share = 0.95 if errors.source.iloc[0] == "equal runs" else 0.9
    return round(float(errors.needed.quantile(share)), 3)


def held(errors: pd.DataFrame, left_out: str) -> list[bool]:
    """Return whether the intervals of one graph hold with what the other graphs need."""
    out = errors.graph == left_out
    return list(errors[out].needed <= least(errors[~out]))


def summary(errors: pd.DataFrame, stds: dict[str, dict[str, float]]) -> list[str]:
    """Return a row for each source and algorithm that has a standard deviation of its own."""
    rows = []
    for source, of_source in errors.groupby("source"):
        for name, std in stds[source].items():
            own = of_source[of_source.algorithm == name] if name else of_source
            holds = [each for graph in own.graph.unique() for each in held(own, graph)]
            cells = [source, name or "all", str(len(own)), f"{std:.3f}", f"{np.mean(holds):.0%}"]
            rows.append([*cells, f"{own.needed.max():.2f}"])
    head = ["source", "algorithm", "n", "standard deviation", "interval holds, graph left out"]
    return table([*head, "most that is needed"], rows, text_columns=2)


def main() -> None:
    """Run the jobs, write the file, and the page."""
    parser = study_parser(__doc__)
    arguments = parser.parse_args()
    errors = [*of_equal_runs()]
    usual: list[Row] = []
    for case in cases({"shared", "other", "generated", "mesh"}):
        for _, algorithm, graph in jobs_of(case):
            given = {"history": "none", "seed": 0, **(options_of("samples", algorithm) or {})}
            prediction = predict_graph.predict(algorithm, graph.fresh(), **given)
            run = predict_graph.run(algorithm, graph.fresh(), history="none")
            errors += of_samples(case.name, algorithm.name, prediction, run)
            of_this, figures = of_baseline(case.name, algorithm, graph, run)
            errors += of_this
            if algorithm.to_dict() == check_algorithm(algorithm.name).to_dict():
                usual.append(figures)
        print(case.name, flush=True)
    found = calibrated(pd.DataFrame(errors), pd.DataFrame(usual))
    costs = {name: sampling_costs(name) for name in found["usual"] if name}
    most = {key: max(own[key] for own in costs.values()) for key in COSTS}
    found |= {"sampling": {"": most, **costs}, "reverse_ns": reversal()}
    JSON.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write(arguments.out, summary(pd.DataFrame(errors), found["log_std"]), "sources")
    heads = {
        "usual": ["iterations: median", "setup, ns an edge", "iteration, ns an edge"],
        "sampling": ["fixed, s", "ns an edge of the graph", "ns an edge of the samples"],
    }
    for section, head in heads.items():
        rows = [
            [name or "all", *(f"{value:g}" for value in figures.values())]
            for name, figures in found[section].items()
        ]
        write(arguments.out, table(["algorithm", *head], rows), section)


if __name__ == "__main__":
    main()
