"""Key input features against the sampling ratio: what figures 4 to 6 have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from benchmarks.common import spread, table
from benchmarks.paper.drawing import Lines, Panel, draw
from benchmarks.paper.graphs import MESH, truth
from benchmarks.paper.page import Settings, percent
from benchmarks.paper.points import OURS, Point, ours, published
from predict_graph.algorithms import Algorithm

FEATURES = {"error": "iterations", "bytes_error": "remote message bytes"}
NAMES = {"brj": "published (BRJ)", OURS: "ours"}
AT = 0.1


@dataclass(frozen=True)
class Sweep:
    """A figure of relative errors against the ratio, and what the paper reports."""

    name: str
    title: str
    jobs: Mapping[str, Algorithm]
    features: tuple[str, ...]
    paper: str
    verdict: str

    def write(self, settings: Settings) -> list[str]:
        points = self.measure(settings)
        self.picture(points, settings)
        lines = [f"The paper: {self.paper}", "", *self.summary(points), ""]
        lines += [f"{self.verdict} {self.correlation(points)}", ""]
        return [*lines, settings.image(self.name, f"errors of {', '.join(self.jobs)}")]

    def measure(self, settings: Settings) -> list[Point]:
        """Predict every job on every graph; what was kept is not measured again."""
        points = settings.load(self.name, Point)
        done = {(point.job, point.graph) for point in points}
        for graph in settings.graphs:
            for job, algorithm in self.jobs.items():
                if (job, graph) in done:
                    continue
                found = [
                    method(job, algorithm, graph, ratio, seed)
                    for method in (published, ours)
                    for ratio in settings.ratios
                    for seed in range(settings.seeds)
                ]
                settings.keep(self.name, found)
                points += found
                at = [p for p in found if p.ratio == AT]
                print(
                    f"{self.name} {graph} {job}: {truth(algorithm, graph).iterations} iterations, "
                    f"at 10% {[(p.method, p.predicted, percent(p.bytes_error)) for p in at]}",
                    flush=True,
                )
        return [p for p in points if p.graph in settings.graphs]

    def summary(self, points: list[Point]) -> list[str]:
        """Median, 90th percentile and worst over graphs and seeds at 10%, the mesh left out."""
        rows = []
        for job in self.jobs:
            for feature in self.features:
                for method, label in NAMES.items():
                    key = (job, method, AT)
                    own = [
                        p for p in points if (p.job, p.method, p.ratio) == key and p.graph != MESH
                    ]
                    errors = spread([getattr(p, feature) for p in own])
                    work = f"{np.median([p.work for p in own]):.0%}"
                    rows.append([job, FEATURES[feature], label, *errors, work])
        head = ["job", "feature", "method", "at 10%: median", "90%", "worst", "work / run"]
        return table(head, rows, text_columns=3)

    def correlation(self, points: list[Point]) -> str:
        """Rank correlation of the published error with the density of samples, over graphs."""
        said = []
        for job in self.jobs:
            own = [
                p
                for p in points
                if (p.job, p.method, p.ratio) == (job, "brj", AT) and p.graph != MESH
            ]
            found = spearmanr([p.density for p in own], [p.error for p in own]).statistic
            said.append(f"{found:.2f} ({job})")
        return (
            "Rank correlation of the published error of iterations, at 10%, with the density of "
            f"the sample: {', '.join(said)}."
        )

    def picture(self, points: list[Point], settings: Settings) -> None:
        panels = [
            [
                Panel(
                    f"{job}, {label}",
                    f"error of {FEATURES[feature]}",
                    lines([p for p in points if (p.job, p.method) == (job, method)], feature),
                )
                for method, label in NAMES.items()
            ]
            for job in self.jobs
            for feature in self.features
        ]
        draw(panels, settings.pictures / f"{self.name}.png")


def lines(points: Sequence[Point], feature: str) -> Lines:
    """A line a graph: the median over the seeds at each ratio."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for graph in dict.fromkeys(p.graph for p in points):
        own = [p for p in points if p.graph == graph]
        ratios = sorted({p.ratio for p in own})
        medians = [
            float(np.median([getattr(p, feature) for p in own if p.ratio == ratio]))
            for ratio in ratios
        ]
        found[graph] = (ratios, medians)
    return found
