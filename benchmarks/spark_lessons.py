"""How well do the sample runs of one graph predict the real runs of another on the same cluster?

Takes what `benchmarks.spark_accuracy --keep DIR` kept: for each algorithm, the sample runs of each
graph serve as the lesson for the real runs of each other one, as a prediction would take them,
and those of all other graphs together.
Nothing runs on Spark here. A prediction then takes what the estimate of iterations takes.

    PREDICT_GRAPH_DATA=… python -m benchmarks.spark_lessons DIR
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.spark_accuracy import kept_in, predicted, row, summary, written
from predict_graph.engines import RunProfile
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph
from predict_graph.prediction import Comparison
from predict_graph.prediction.request import check_request, direction
from predict_graph.prediction.road import estimates_of
from predict_graph.prediction.seconds.cluster.learning import Learned
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun


@dataclass(frozen=True)
class Kept:
    """Sample runs and real runs of one algorithm on one graph."""

    algorithm: str
    graph: str
    samples: list[list[ClusterRun]]  # of each algorithm of the chain
    runs: dict[int, RunProfile]


def lessons_of(content: dict[str, Any]) -> Kept:
    first = next(iter(content["runs"].values()))
    name = str(first.graph["name"])
    return Kept(first.algorithm, name, content["samples"], content["runs"])


def compared(lessons: list[Kept], target: Kept, seed: int) -> list[dict[str, Any]]:
    """Predict the real runs of a graph from the sample runs of others."""
    some = next(iter(target.runs.values())).engine
    engine = SparkEngine(master=some["master"], workers=1, memory=some["memory"])
    request = check_request(target.algorithm, engine=engine, seed=seed)
    graph = check_graph(target.graph, directed=direction(request.algorithm, None))
    started = time.perf_counter()
    parts = request.chain
    estimates = estimates_of(graph, parts)
    seconds = time.perf_counter() - started
    samples = [
        [
            replace(run, elsewhere=lesson is not target)
            for lesson in lessons
            for run in lesson.samples[place]
        ]
        for place in range(len(parts))
    ]
    learned = Learned(samples, [[] for _ in parts])
    trained = {run.machines for run in samples[-1]}
    rows = []
    for machines, run in target.runs.items():
        there = engine.on(machines)
        comparison = Comparison(predicted(graph, request, estimates, learned, there, seconds), run)
        own = row(comparison, machines, [run], machines in trained)
        rows.append({"lesson": ", ".join(lesson.graph for lesson in lessons), **own})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    kept = [lessons_of(content) for content in kept_in(given.folder)]
    rows: list[dict[str, Any]] = []
    for target in kept:
        same = [lesson for lesson in kept if lesson.algorithm == target.algorithm]
        others = [lesson for lesson in same if lesson is not target]
        for lessons in [*([lesson] for lesson in same), *([others] if len(others) > 1 else [])]:
            rows += compared(lessons, target, given.seed)
    table = pd.DataFrame(rows)
    own = table["lesson"] == table["graph"]
    several = table["lesson"].str.contains(", ")
    for part, title in (
        (table[~own & ~several], "Lessons of another graph"),
        (table[several], "Lessons of all other graphs together"),
        (table[own], "Its own"),
    ):
        if len(part):
            print("\n".join([f"# {title}", "", *summary(part), *written(part), ""]))


if __name__ == "__main__":
    main()
