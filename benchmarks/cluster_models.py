"""Every cluster-scaling model on measured runs: what it predicts for configurations it never saw.

    python -m benchmarks.cluster_models --data FOLDER --out docs/studies/cluster-models.md

FOLDER holds c3o-pagerank.tsv, c3o-sort.tsv, c3o-kmeans.tsv (the runs published with C3O, Will et
al., IC2E 2021) and ernest-rcv1.csv (the example of the Ernest paper's tool).
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny problems: threads only wait for each other

import numpy as np
import pandas as pd

from benchmarks.cluster_peers import LAWS, PEERS, judged
from benchmarks.cluster_tables import c3o, c3o_growth, drawn_runs
from benchmarks.common import study_parser, table, write
from costmodels.scaling import AutoScaling, Ernest, Masha

SHOTS = (3, 4, 5)
DRAWS = 2


MODELS: dict[str, Callable[[], Any]] = {
    "auto": AutoScaling,
    "ernest, as published": PEERS["Ernest, as published"],
    "ernest": Ernest,
    "masha": Masha,
    "usl": LAWS["USL"],
    "power-law": LAWS["power law"],
    "product": LAWS["product of powers"],
    "gradient boosting": PEERS["gradient boosting"],
}


Case = tuple[str, pd.DataFrame, pd.DataFrame]  # a job, runs to fit and runs to predict


def scale_out(data: Path) -> Iterator[Case]:
    """Runs on 2, 4, 6 and 8 machines; unknown are those on 10 and 12."""
    for job, runs in c3o(data):
        known, unknown = runs[runs.machines <= 8], runs[runs.machines >= 10]
        if known.machines.nunique() >= 3 and len(unknown):
            yield job, known, unknown


def few_shot(data: Path, shots: int) -> Iterator[Case]:
    """Single runs at a few machine counts drawn at random; the other machine counts are unknown."""
    rng = np.random.default_rng(7)
    for job, runs in c3o(data):
        counts = runs.machines.unique()
        if len(counts) > shots:
            for _ in range(DRAWS):
                yield job, *drawn_runs(runs, counts, shots, rng)


def growth(data: Path) -> Iterator[Case]:
    """Up to three quarters of the data on up to 8 machines; unknown are all data on 12."""
    for job, runs in c3o_growth(data):
        known = runs[(runs.scale <= 75) & (runs.machines <= 8)]
        unknown = runs[(runs.scale == 100) & (runs.machines == 12)]
        if known.scale.nunique() >= 2 and known.machines.nunique() >= 3 and len(unknown):
            yield job, known, unknown


def evaluate(cases: list[Case]) -> pd.DataFrame:
    """Return one row for each case and model: mean absolute % error, coverage, width."""
    found = []
    for job, known, unknown in cases:
        for name, make in MODELS.items():
            try:
                figures = judged(make, known, unknown)
            except ValueError:  # too few points for this model
                figures = (np.nan,) * 3
            found.append((name, job, *figures))
    return pd.DataFrame(found, columns=["model", "job", "error", "held", "width"])


def figure(found: pd.DataFrame, name: str) -> str:
    """Return the mean over the jobs of the error of a model, with its intervals."""
    mine = found[found.model == name]
    by_job = mine.groupby("job")[["error", "held"]].mean().mean()
    text = f"{by_job.error:.1f}"
    if not math.isnan(by_job.held):
        text += f" ({by_job.held:.0f}%, ×{mine.width.median():.2f})"
    refused = int(mine.error.isna().sum())
    return text + (f", {refused} refused" if refused else "")


def noise_floor(cases: list[Case]) -> float:
    """Return the error of a prediction that knows the median of the unknown runs."""
    errors = []
    for job, _, unknown in cases:
        medians = unknown.groupby(["scale", "machines"]).seconds.transform("median")
        errors.append((job, 100 * (medians / unknown.seconds - 1).abs().mean()))
    return pd.DataFrame(errors, columns=["job", "error"]).groupby("job").error.mean().mean()


def main() -> None:
    parser = study_parser(__doc__, cluster_tables=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tests = {"scale-out": list(scale_out(options.data))}
    tests |= {f"{shots} runs": list(few_shot(options.data, shots)) for shots in SHOTS}
    tests["growth"] = list(growth(options.data))
    found = {test: evaluate(cases) for test, cases in tests.items()}
    rows = [[name, *(figure(found[test], name) for test in tests)] for name in MODELS]
    rows.append(["noise floor", *(f"{noise_floor(cases):.1f}" for cases in tests.values())])
    lines = table(["model", *(f"{test} ({len(cases)})" for test, cases in tests.items())], rows)
    write(options.out, lines, "errors")


if __name__ == "__main__":
    main()
