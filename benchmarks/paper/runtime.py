"""Runtime against the sampling ratio, without and with history: figures 7 and 8."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.paper import timing
from benchmarks.paper.drawing import Panel, draw
from benchmarks.paper.kept import append, load
from benchmarks.paper.page import Settings, percent, quantiles, table
from benchmarks.paper.sweep import lines
from benchmarks.paper.timing import Timed
from predict_graph.algorithms import Algorithm

RATIOS = (0.01, 0.05, 0.1, 0.2)
NAMES = {"brj": "published (BRJ)", "ours": "ours"}
PAST = {False: "without history", True: "with history"}
AT = 0.1


@dataclass(frozen=True)
class Runtime:
    """A figure of relative errors of runtime.

    Parameters
    ----------
    name : str
        Of the section.
    algorithm : Algorithm
    paper, verdict : str
        What the paper reports; how ours compares, and why.
    """

    name: str
    algorithm: Algorithm
    paper: str
    verdict: str

    def write(self, settings: Settings) -> list[str]:
        kept = settings.kept(self.name)
        found = load(kept, Timed) or self.measure(settings)
        self.picture(found, settings)
        spreads = [t.spread for t in found]
        text = [
            f"The paper: {self.paper}",
            "",
            f"Graphs of more than a million edges, {settings.threads}. The superstep phase is "
            f"compared, as in the paper, with the median of {settings.seeds} real runs, each in a "
            "process of its own and in turns with the predictions; of one job they differ by "
            f"{min(spreads):.0%} to {max(spreads):.0%}, slowest over fastest. "
            "History is one real run of each of the other graphs.",
            "",
            *self.summary(found),
            "",
            *([self.verdict, ""] if self.verdict else []),
            settings.image(self.name, f"errors of the runtime of {self.algorithm.name}"),
            "",
        ]
        for past, label in PAST.items():
            text += [f"**{label.capitalize()}**, ours (published):", ""]
            text += [*self.grid([t for t in found if t.history is past]), ""]
        return text[:-1]

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
        append(found, Timed, settings.kept(self.name))
        return found

    def summary(self, found: list[Timed]) -> list[str]:
        graphs = list(dict.fromkeys(t.graph for t in found))
        rows = []
        for past, when in PAST.items():
            for method, label in NAMES.items():
                own = [t for t in found if (t.method, t.history) == (method, past)]
                r2 = [np.median([t.r2 for t in own if t.graph == graph]) for graph in graphs]
                errors = quantiles([t.error for t in own if t.ratio == AT])
                rows.append([when, label, errors, *(f"{value:.2f}" for value in r2)])
        head = ["cost model", "method", "at 10%: median", "p90", "worst"]
        return table([*head, *(f"R2, {graph}" for graph in graphs)], rows, text_columns=2)

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

    def grid(self, found: list[Timed]) -> list[str]:
        """A row a graph, a column a ratio: medians over the seeds."""
        ours = lines([t for t in found if t.method == "ours"], "error")
        theirs = lines([t for t in found if t.method == "brj"], "error")
        ratios = sorted({t.ratio for t in found})
        rows = []
        for graph, (_, errors) in ours.items():
            one = next(t for t in found if t.graph == graph)
            cells = [
                f"{percent(mine)} ({percent(other)})"
                for mine, other in zip(errors, theirs[graph][1], strict=True)
            ]
            rows.append([graph, f"{one.truth:.3g}", f"{one.spread:.0%}", *cells])
        head = ["graph", "seconds", "spread of runs", *(f"{ratio:g}" for ratio in ratios)]
        return table(head, rows)
