"""Figures 4 to 6 and 9, and the algorithms of the extended version: errors against the ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr

from benchmarks.common import keep, kept, spread, table
from benchmarks.paper.drawing import Lines, Panel, draw
from benchmarks.paper.graphs import MESH
from benchmarks.paper.points import OURS, point
from predict_graph import algorithms

FEATURES = {"error": "iterations", "bytes_error": "remote message bytes"}
RATIOS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
SHOWN = (0.01, 0.1, 0.3)
AT = 0.1


@dataclass(frozen=True)
class Figure:
    """What is predicted, by which methods; where a graph is named, samplers are compared on it."""

    jobs: Mapping[str, algorithms.Algorithm]
    features: tuple[str, ...] = ("error",)
    graph: str | None = None
    methods: Mapping[str, str] = field(
        default_factory=lambda: {"brj": "published (BRJ)", OURS: "ours"}
    )


FIGURES = {
    "figure-4": Figure(
        {f"PageRank, ε = {e:g}": algorithms.PageRank(epsilon=e) for e in (0.01, 0.001)}
    ),
    "figure-5": Figure(
        {
            f"semi-clustering, τ = {tau:g}": algorithms.SemiClustering(tau=tau)
            for tau in (0.01, 0.001)
        }
    ),
    "figure-6": Figure({"top-k, τ = 0.001": algorithms.TopKRanking(tau=0.001)}, tuple(FEATURES)),
    "extended": Figure(
        {
            "connected components": algorithms.ConnectedComponents(),
            "neighborhood, τ = 0.001": algorithms.Neighborhood(tau=0.001),
        },
        tuple(FEATURES),
    ),
    "figure-9": Figure(
        {"semi-clustering": algorithms.SemiClustering(), "top-k": algorithms.TopKRanking()},
        graph="uk-2007-05@100000",
        methods={"brj": "BRJ", "rj": "RJ", "mhrw": "MHRW", OURS: "ours"},
    ),
}


def measured(figure: Figure, graphs: Sequence[str], seeds: int, file: Path | None) -> pd.DataFrame:
    """Predict every job on every graph; what is kept in a file is not measured again."""
    points = kept(file)
    done = {(row["job"], row["graph"]) for row in points}
    for graph in [figure.graph] if figure.graph else graphs:
        for job, algorithm in figure.jobs.items():
            if (job, graph) not in done:
                found = [
                    {"job": job, **point(algorithm, graph, method, ratio, seed)}
                    for method in figure.methods
                    for ratio in RATIOS
                    for seed in range(seeds)
                ]
                keep(file, *found)
                points += found
                print(f"{graph} {job}: {found[0]['truth']} iterations", flush=True)
    return pd.DataFrame(points)


def tables(figure: Figure, points: pd.DataFrame) -> list[str]:
    """Return the table of a figure, and how errors follow the density of the samples."""
    return by_sampler(figure, points) if figure.graph else over_graphs(figure, points)


def over_graphs(figure: Figure, points: pd.DataFrame) -> list[str]:
    """Median, 90th percentile and worst over graphs and seeds at 10%, the mesh left out."""
    rows, said = [], []
    points = points[(points["ratio"] == AT) & (points["graph"] != MESH)]
    for job in figure.jobs:
        by_method = dict(iter(points[points["job"] == job].groupby("method")))
        for feature in figure.features:
            for method, label in figure.methods.items():
                errors = spread(by_method[method][feature])
                work = f"{by_method[method]['work'].median():.0%}"
                rows.append([job, FEATURES[feature], label, *errors, work])
        walks = by_method["brj"]
        said.append(f"{spearmanr(walks['density'], walks['error']).statistic:.2f} ({job})")
    head = ["job", "feature", "method", "at 10%: median", "90%", "worst", "work / run"]
    correlation = (
        "Rank correlation of the published error of iterations, at 10%, with the density of "
        f"the sample: {', '.join(said)}."
    )
    return [*table(head, rows, text_columns=3), "", correlation]


def by_sampler(figure: Figure, points: pd.DataFrame) -> list[str]:
    """Median error of iterations by ratio, and the density of the samples at 10%."""
    rows = []
    for job in figure.jobs:
        for method, label in figure.methods.items():
            own = points[(points["job"] == job) & (points["method"] == method)]
            errors = own.groupby("ratio")["error"].median()
            density = own[own["ratio"] == AT]["density"].median()
            cells = [percent(errors[ratio]) for ratio in SHOWN]
            cells.append("" if method == OURS else f"{density:.2f}")
            rows.append([job, str(own["truth"].iloc[0]), label, *cells])
    head = ["job", "iterations", "sampler", *(f"{ratio:g}" for ratio in SHOWN)]
    return table([*head, "density"], rows, text_columns=3)


def percent(value: float) -> str:
    """Return a signed relative error, in the width of a table."""
    return f"{value:+.0%}".replace("+0%", "0%").replace("-0%", "0%")


def picture(figure: Figure, points: pd.DataFrame, path: Path) -> None:
    """Draw the errors: a line a graph in panels of the methods, or a line a sampler."""
    by_job = {job: points[points["job"] == job] for job in figure.jobs}

    def panel(title: str, part: pd.DataFrame, by: str, feature: str = "error") -> Panel:
        return Panel(title, f"error of {FEATURES[feature]}", lines(part, by, feature))

    if figure.graph:
        named = {job: own.replace(figure.methods) for job, own in by_job.items()}
        rows = [[panel(f"{job}, {figure.graph}", own, "method") for job, own in named.items()]]
    else:
        rows = [
            [
                panel(f"{job}, {label}", own[own["method"] == method], "graph", feature)
                for method, label in figure.methods.items()
            ]
            for job, own in by_job.items()
            for feature in figure.features
        ]
    draw(rows, path)


def lines(points: pd.DataFrame, by: str, feature: str = "error") -> Lines:
    """Return a line for each value of a column: the median over the seeds at each ratio."""
    medians = points.groupby([by, "ratio"], sort=False)[feature].median()
    return {
        str(name): (own.index.get_level_values("ratio").tolist(), own.tolist())
        for name, own in medians.groupby(level=0, sort=False)
    }
