"""The prior that comes with the package, learnt from all shared tables.

    python -m benchmarks.cluster_prior --data FOLDER --out costmodels/scaling/prior.json

A job is what a source measured under one name; its contexts (parameters, machine types) count as
one job together. Where a table has several sizes of a job's data, they are contexts once more, with
the size as the scale.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd

from benchmarks.cluster_tables import SOURCES, points_of
from benchmarks.common import study_parser
from costmodels.scaling import Prior, learn_prior
from costmodels.scaling.priors import prior_to_plain
from costmodels.scaling.shapes import BASE


def measured_tables(data: Path, left_out: str = "") -> list[tuple[str, pd.DataFrame]]:
    """Return name and runs of each context of all sources but one."""
    sources = {source: read for source, read in SOURCES.items() if source != left_out}
    return [(f"{source}: {job}", runs) for source in sources for job, runs in sources[source](data)]


def prior_of(tables: list[tuple[str, pd.DataFrame]], base: Prior = BASE) -> Prior:
    """Return the prior of jobs, given as name and runs of each context."""
    jobs: dict[str, list] = {}
    for job, runs in tables:
        jobs.setdefault(job, []).append(points_of(runs))
    learnt = learn_prior(jobs, base)
    # What was believed before any table is no cluster that a job might be of.
    return replace(learnt, parent=None) if base is BASE else learnt


def main() -> None:
    parser = study_parser(__doc__, cluster_tables=True)
    parser.set_defaults(out=Path("costmodels/scaling/prior.json"))
    options = parser.parse_args()
    tables = measured_tables(options.data)
    learnt = {"learnt_from": sorted({job for job, _ in tables})} | prior_to_plain(prior_of(tables))
    text = json.dumps(learnt, indent=1, default=float)
    options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
