"""Figure 9: how much the sampler matters."""

from __future__ import annotations

import numpy as np

from benchmarks.common import table
from benchmarks.paper.drawing import Lines, Panel, draw
from benchmarks.paper.graphs import truth
from benchmarks.paper.page import Settings, percent
from benchmarks.paper.points import OURS, Point, ours, published
from predict_graph.algorithms import SemiClustering, TopKRanking

NAME, TITLE = "figure-9", "Figure 9: sensitivity to the sampler"
GRAPH = "uk-2007-05@100000"
JOBS = {"semi-clustering": SemiClustering(), "top-k": TopKRanking()}
SAMPLERS = {"brj": "BRJ", "rj": "RJ", "mhrw": "MHRW"}
SHOWN = (0.01, 0.1, 0.3)
LABELS = {**SAMPLERS, OURS: "ours"}
PAPER = "on UK, at a ratio of 0.1, BRJ errs less than RJ and MHRW or as much, for both algorithms."
VERDICT = (
    "BRJ is not the best here. RJ, whose samples are nearest to the density of the graph, errs "
    "least of the three; MHRW, whose samples are sparse, takes too long."
)


def measure(settings: Settings, graph: str) -> list[Point]:
    points = settings.load(NAME, Point)
    if points:
        return points
    for job, algorithm in JOBS.items():
        for ratio in settings.ratios:
            for seed in range(settings.seeds):
                points += [
                    published(job, algorithm, graph, ratio, seed, sampler) for sampler in SAMPLERS
                ]
                points.append(ours(job, algorithm, graph, ratio, seed))
        print(f"{NAME} {graph} {job}: {truth(algorithm, graph).iterations} iterations", flush=True)
    settings.keep(NAME, points)
    return points


def medians(points: list[Point], job: str, method: str) -> dict[float, float]:
    own = [p for p in points if (p.job, p.method) == (job, method)]
    return {
        ratio: float(np.median([p.error for p in own if p.ratio == ratio]))
        for ratio in sorted({p.ratio for p in own})
    }


def write(settings: Settings) -> list[str]:
    graph = GRAPH if GRAPH in settings.graphs else settings.graphs[0]
    points = measure(settings, graph)
    panels, rows = [], []
    ratios = [ratio for ratio in SHOWN if ratio in settings.ratios]
    for job in JOBS:
        found = {label: medians(points, job, method) for method, label in LABELS.items()}
        lines: Lines = {label: (list(line), list(line.values())) for label, line in found.items()}
        panels.append(Panel(f"{job}, {graph}", "error of iterations", lines))
        for method, label in LABELS.items():
            own = [p for p in points if (p.job, p.method) == (job, method)]
            at = [p for p in own if p.ratio == 0.1]
            density = f"{np.median([p.density for p in at]):.2f}" if method != OURS else ""
            rows.append(
                [
                    job,
                    str(own[0].truth),
                    label,
                    *(percent(found[label][ratio]) for ratio in ratios),
                    density,
                ]
            )
    draw([panels], settings.pictures / f"{NAME}.png")
    head = ["job", "iterations", "sampler", *(f"{ratio:g}" for ratio in ratios)]
    return [
        f"The paper: {PAPER}",
        "",
        f"Here on {graph}, medians over the seeds; density is edges a vertex of the sample over "
        "those of the graph, at a ratio of 0.1.",
        "",
        *table([*head, "density"], rows, text_columns=3),
        "",
        settings.image(NAME, "errors by sampler"),
        "",
        VERDICT,
    ]
