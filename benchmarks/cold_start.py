"""How well is a run on a cluster priced of which nothing, or only other algorithms, are known?

Real runs of histories, each of one cluster, are priced by the lessons that come with the package:
as they are; at the level that the runs of other algorithms on that cluster tell; and at the level
that runs of the algorithm itself tell, the run itself left out. Work is that of the run, as it was
counted, so that what is off is the seconds alone. Sample runs are judged beside real ones where a
history has few of these: each as a run of its own.

    python -m benchmarks.cold_start --history NAME=FILE.sqlite … --out docs/studies/cold-start.md
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.history import History
from predict_graph.prediction.seconds.cluster.lessons import cluster_run
from predict_graph.prediction.seconds.cluster.level import (
    UNKNOWN,
    Level,
    level_of_told,
    logs_of,
    seconds_of,
    shipped_costs,
)
from predict_graph.prediction.seconds.cluster.sample_runs import WARM_UP, ClusterRun
from predict_graph.prediction.seconds.cluster.shipped_lessons import NAMES

QUANTILE = 1.645  # by definition: of 90% intervals
ABOUT = """\
Written by `python -m benchmarks.cold_start`. Runs on clusters other than the one that the lessons
of the package are of (two workers without quota, on a machine with two cores that did nothing
else), priced by these lessons, the work of each run as it was counted. *Runs* are of whole graphs
and of samples; cold ones alone, as a person's run is. *Off by* is a factor, the larger of
predicted / measured and its inverse; *held* are those inside the 90% interval that the level has.

A cluster of which nothing is known is taken to be 1.6 times as slow as that of the lessons, with a
deviation of 0.8 of the logarithm: from half to six times as slow. That is judgement: these workers
have 0.2 to 0.4 of a core and are two to nine times as slow, those of most people have whole cores.
The deviation of another algorithm on a cluster known by others is 0.25, 0.35 with one other, beside
0.35 for another graph; of the algorithm itself 0.15. Tasks, the driver and the phases differ by 0.2
to 0.5 from algorithm to algorithm, their sum by less.

Before larger tables took longer, before real runs said what an edge takes to read, and with lessons
of GraphX from small graphs, the runs of the first five clusters were off by 1.38, 4.11 and 7.22
(nothing ran there), 1.09, 1.37 and 1.75 (other algorithms), 1.10, 1.34 and 1.56 (the same
algorithm).""".splitlines()


def runs_of(path: Path) -> dict[str, list[ClusterRun]]:
    """Return the cold runs of each algorithm of a history that has one cluster."""
    history = History(path)
    found: dict[str, list[ClusterRun]] = {}
    kept = history.runs()
    for row in kept[kept["algorithm"].isin(NAMES)].to_dict("records"):
        record = history.record(int(row["id"]))
        if record.engine["name"] != "spark":
            continue
        run = cluster_run(record, first=True, elsewhere=True)
        if run.summary.purpose != WARM_UP and record.iterations:
            found.setdefault(record.algorithm, []).append(run)
    return found


def judged(cluster: str, runs: dict[str, list[ClusterRun]]) -> list[dict[str, Any]]:
    """Return a row a cold run, with what each way says of it."""
    rows = []
    for name, own in runs.items():
        costs = shipped_costs(name)
        others = [
            logs_of(each, shipped_costs(other)) for other, each in runs.items() if other != name
        ]
        for run in own:
            if not run.cold:
                continue
            rest = [each for each in own if each is not run]
            ways: dict[str, Level] = {"nothing ran there": UNKNOWN}
            if others:
                ways["other algorithms ran there"] = level_of_told(others, own=False)
            if rest:
                ways["the algorithm ran there"] = level_of_told([logs_of(rest, costs)], own=True)
            for way, level in ways.items():
                measured, said = seconds_of(run, level.applied(costs))
                error = math.log(said / measured)
                rows.append(
                    {
                        "cluster": cluster,
                        "algorithm": name,
                        "way": way,
                        "error": error,
                        "held": abs(error) <= QUANTILE * math.hypot(level.std, costs.relative_std),
                        "seconds": measured,
                    }
                )
    return rows


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Return the study."""
    lines = ["# A cluster never seen", "", *ABOUT, ""]
    lines += [
        "| cluster | known | runs | off by: median | 90% | worst | mean of the logarithms | held |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    clusters = list(dict.fromkeys(row["cluster"] for row in rows))
    ways = list(dict.fromkeys(row["way"] for row in rows))
    for cluster in [*clusters, "all"]:
        for way in ways:
            own = [row for row in rows if row["way"] == way and cluster in (row["cluster"], "all")]
            if not own:
                continue
            errors = np.array([row["error"] for row in own])
            off = np.exp(np.quantile(np.abs(errors), [0.5, 0.9, 1.0]))
            held = np.mean([row["held"] for row in own])
            lines.append(
                f"| {cluster} | {way} | {len(own)} | {off[0]:.2f} | {off[1]:.2f} | {off[2]:.2f} "
                f"| {errors.mean():+.2f} | {held:.0%} |"
            )
    return "\n".join([*lines, ""])


def main() -> None:
    """Judge the runs of the histories."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", nargs="+", required=True, metavar="NAME=FILE")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for each in given.history:
        name, _, path = each.partition("=")
        rows += judged(name, runs_of(Path(path)))
    text = report(rows)
    if given.out is None:
        print(text)
    else:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
