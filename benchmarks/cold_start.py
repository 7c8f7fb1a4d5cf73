"""How accurate is the runtime model of clusters with few runs there, or none?

The bundled reference runs are predicted with a graph size, or a machine count, left out: as if the
cluster had only the other runs of the algorithm, and the reference cluster only other algorithms.
Work is that counted in the run, so that only seconds differ.

    python -m benchmarks.cold_start --out docs/studies/cold-start.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.common import Row, study_parser, table, write
from predict_graph.intervals import QUANTILE
from predict_graph.prediction.seconds.cluster.costs import (
    ClusterCosts,
    ClusterSpeed,
    costs_of,
    lines_of,
    log_factors,
    measured_parts,
)
from predict_graph.prediction.seconds.cluster.runs import (
    WARM_UP,
    ClusterRun,
    rows_of_run,
    shipped_names,
    shipped_runs,
)
from predict_graph.prediction.seconds.cluster.runtime_model import deviations

_SAME_SIZE = 0.98  # of the edges of the largest run: walk samples have about as many


def other_reference(name: str) -> ClusterCosts:
    """Return reference costs without any run of an algorithm: those of a similar one."""
    pair = ("connected-components", "pagerank")
    if name.startswith("graph"):
        pair = ("graphx:connectedComponents", "graphx:pageRank")
    costs = costs_of(shipped_runs(next(each for each in pair if each != name)))
    others = (measured_parts(shipped_runs(other)) for other in shipped_names() if other != name)
    common = lines_of(part for parts in others for part in parts if part[0] == "opening")
    return replace(costs, lines={**costs.lines, **common})


def left_out() -> Iterator[tuple[str, str, list[ClusterRun], ClusterRun]]:
    """Yield algorithm, what is left out, the known runs, and a run to predict."""
    for name in shipped_names():
        runs = shipped_runs(name)
        targets = [run for run in runs if run.purpose != WARM_UP]
        size = _SAME_SIZE * max(run.edges for run in targets)
        smaller = [run for run in runs if run.edges <= size]
        if sum(run.informative for run in smaller) > 2:
            for run in targets:
                if run.edges > size and not run.cold:
                    yield name, "larger graph", smaller, run
        for machines in (1, 2):
            known = [run for run in runs if run.machines == machines]
            if sum(run.informative for run in known) < 2:
                continue
            for run in targets:
                if run.machines != machines and (run.cold or run.summary.sampler != "brj"):
                    yield name, f"from {machines} machines to {run.machines}", known, run


def predicted(run: ClusterRun, costs: ClusterCosts) -> tuple[float, float]:
    """Return measured and predicted seconds of a run, without writing."""
    sizes = run.machines, run.edges
    phases = costs.phases(rows_of_run(run), *sizes, opens=run.cold, before=run.before)
    measured, seconds = (
        sum(each[name] for name in ("setup", "read", "superstep"))
        for each in (run.record.phases, phases)
    )
    return measured + (run.session_seconds if run.cold else 0.0), seconds


def replayed() -> Iterator[Row]:
    """Yield a row for each reference run that is left out."""
    for name, what, known, run in left_out():
        reference = other_reference(name)
        speed = ClusterSpeed({name: log_factors(known, reference)})
        costs = reference.scaled(speed.factors(name), known)
        measured, seconds = predicted(run, costs)
        error, std = math.log(seconds / measured), math.hypot(*deviations(known, speed))
        yield {"way": what, "error": error, "held": abs(error) <= QUANTILE * std}


def report(rows: pd.DataFrame) -> list[str]:
    """Return the table."""
    cells = []
    for way, own in rows.groupby("way", sort=False):
        factors = np.exp(np.quantile(np.abs(own.error), [0.5, 0.9, 1.0]))
        numbers = [*(f"{each:.2f}" for each in factors), f"{own.error.mean():+.2f}"]
        cells.append(["reference runs", way, str(len(own)), *numbers, f"{own.held.mean():.0%}"])
    head = ["cluster", "runs there", "runs", "factor: median", "90%", "worst", "bias"]
    return table([*head, "in interval"], cells, text_columns=2)


def main() -> None:
    """Predict the reference runs."""
    given = study_parser(__doc__).parse_args()
    write(given.out, report(pd.DataFrame(replayed())), "runs")


if __name__ == "__main__":
    main()
