"""How well is a run on a cluster priced of which nothing, or only other algorithms, are known?

Real runs of histories, each of one cluster, are priced by the bundled reference runs:
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

import numpy as np

from benchmarks.common import Row, table, write
from predict_graph.history import History
from predict_graph.prediction.seconds.cluster.cluster_speed import (
    UNKNOWN,
    Level,
    level_of_observed,
    logs_of,
    seconds_of,
    shipped_costs,
)
from predict_graph.prediction.seconds.cluster.reference_runs import NAMES
from predict_graph.prediction.seconds.cluster.sample_runs import WARM_UP, ClusterRun
from predict_graph.prediction.seconds.cluster.training_runs import cluster_run

QUANTILE = 1.645  # by definition: of 90% intervals
WAYS = ("none", "other algorithms", "the algorithm")
ABOUT = """\
How accurate are the bundled reference runs for a cluster on which nothing, or only other
algorithms, ran?

    python -m benchmarks.cold_start --history NAME=FILE.sqlite … --out docs/studies/cold-start.md

Runs on clusters other than that of the reference runs (two workers without a quota, on a machine
with two cores) are estimated from these, with the work that was counted in the run, so that only
seconds differ. *Runs* are cold ones, of whole graphs and of samples. The factor is the larger of
predicted / measured and its inverse; the bias is the mean of its logarithm; *in interval* is the
share inside the 90% interval.

A cluster without any runs is taken to be 1.6 times as slow as the reference, with a standard
deviation of 0.8 of the logarithm: from half to six times as slow. These workers have 0.2 to 0.4 of
a core and are two to nine times as slow; those of most users have whole cores.""".splitlines()


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


def judged(cluster: str, runs: dict[str, list[ClusterRun]]) -> list[Row]:
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
            ways: dict[str, Level] = {"none": UNKNOWN}
            if others:
                ways["other algorithms"] = level_of_observed(others, own=False)
            if rest:
                ways["the algorithm"] = level_of_observed([logs_of(rest, costs)], own=True)
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


def report(rows: Sequence[Row]) -> list[str]:
    """Return the study."""
    cells = []
    clusters = list(dict.fromkeys(row["cluster"] for row in rows))
    for cluster in [*clusters, "all"]:
        for way in WAYS:
            own = [row for row in rows if row["way"] == way and cluster in (row["cluster"], "all")]
            if own:
                errors = np.array([row["error"] for row in own])
                factors = np.exp(np.quantile(np.abs(errors), [0.5, 0.9, 1.0]))
                held = np.mean([row["held"] for row in own])
                cells.append(
                    [
                        *(cluster, way, str(len(own)), *(f"{each:.2f}" for each in factors)),
                        *(f"{errors.mean():+.2f}", f"{held:.0%}"),
                    ]
                )
    head = ["cluster", "runs there", "runs", "factor: median", "90%", "worst", "bias"]
    return [
        *("# Clusters without runs", "", *ABOUT, ""),
        *table([*head, "in interval"], cells, text_columns=2),
    ]


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
    write(given.out, report(rows))


if __name__ == "__main__":
    main()
