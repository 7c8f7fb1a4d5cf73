"""Runtime against the sampling ratio, without and with history: figures 7 and 8."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common import spread, table
from benchmarks.paper import timing
from benchmarks.paper.drawing import Panel, draw
from benchmarks.paper.page import Settings, percent
from benchmarks.paper.sweep import lines
from benchmarks.paper.timing import Timed
from predict_graph.algorithms import Algorithm

RATIOS = (0.01, 0.05, 0.1, 0.2)
NAMES = {"brj": "published (BRJ)", "ours": "ours"}
PAST = {False: "without history", True: "with history"}
AT = 0.1


@dataclass(frozen=True)
class Runtime:
    """A figure of relative errors of runtime, and what the paper reports."""

    name: str
    title: str
    algorithm: Algorithm
    paper: str
    verdict: str

    def write(self, settings: Settings) -> list[str]:
        found = settings.load(self.name, Timed) or self.measure(settings)
        self.picture(found, settings)
        spreads = [t.spread for t in found]
        return [
            f"The paper: {self.paper}",
            "",
            f"Graphs of more than a million edges, {settings.threads}. The superstep phase is "
            f"compared with the median of {settings.seeds} real runs, each in a process of its "
            f"own; those of one job differ by {min(spreads):.0%} to {max(spreads):.0%}. History "
            "is one real run of each of the other graphs.",
            "",
            *self.summary(found),
            "",
            self.verdict,
            "",
            settings.image(self.name, f"errors of the runtime of {self.algorithm.name}"),
        ]

    def measure(self, settings: Settings) -> list[Timed]:
        timing.ready(self.algorithm)
        ratios = tuple(ratio for ratio in RATIOS if ratio in settings.ratios)
        found: list[Timed] = []
        with tempfile.TemporaryDirectory() as folder:
            past = [timing.run_for_real(self.algorithm, name) for name in settings.large]
            history = timing.history_of(past, Path(folder) / "history.sqlite")
            for name in settings.large:
                own = timing.measured(self.algorithm, name, ratios, settings.seeds, history)
                found += own
                errors = [
                    (t.method, PAST[t.history], percent(t.error)) for t in own if t.ratio == AT
                ]
                print(
                    f"{self.name} {name} {own[0].truth:.3g} s, spread {own[0].spread:.0%}, "
                    f"load average {os.getloadavg()[0]:.1f}: {errors}",
                    flush=True,
                )
        settings.keep(self.name, found)
        return found

    def summary(self, found: list[Timed]) -> list[str]:
        graphs = list(dict.fromkeys(t.graph for t in found))
        rows = []
        for past, when in PAST.items():
            for method, label in NAMES.items():
                own = [t for t in found if (t.method, t.history) == (method, past)]
                r2 = [np.median([t.r2 for t in own if t.graph == graph]) for graph in graphs]
                errors = spread([t.error for t in own if t.ratio == AT])
                rows.append([when, label, *errors, *(f"{value:.2f}" for value in r2)])
        head = ["cost model", "method", "at 10%: median", "90%", "worst"]
        return table([*head, *(f"R², {graph}" for graph in graphs)], rows, text_columns=2)

    def picture(self, found: list[Timed], settings: Settings) -> None:
        panels = [
            [
                Panel(
                    f"{when}, {label}",
                    "error of superstep seconds",
                    lines([t for t in found if (t.method, t.history) == (method, past)], "error"),
                )
                for method, label in NAMES.items()
            ]
            for past, when in PAST.items()
        ]
        draw(panels, settings.pictures / f"{self.name}.png")
