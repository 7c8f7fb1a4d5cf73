"""NIMO's evaluation (2005, section V) remade on emulated machines of this one.

    python -m benchmarks.nimo --out docs/studies/nimo.md

Five shares of a core times ten networks (two rates, five delays) are 50 assignments, as in the
paper; every program runs on each of them. Points are kept in a file as they come, and the same
command goes on from there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common import study_parser, table, write
from benchmarks.nimo import evaluation
from benchmarks.nimo.machines import CannotEmulateError, Machine, Testbed, testbed
from benchmarks.nimo.measuring import profiled, run_once
from benchmarks.nimo.programs import PROGRAMS, make_input

CPUS = (0.25, 0.35, 0.5, 0.7, 1.0)
RATES = (20.0, 80.0)
DELAYS = (0.0, 3.0, 6.0, 12.0, 25.0)
COUNTS = (4, 6, 8, 10, 14)
SHAPES = ("linear", "auto")


def measure(bed: Testbed, points: Path, only: list[str]) -> pd.DataFrame:
    """Run what is not in the file yet."""
    machines = [Machine(*each) for each in product(CPUS, RATES, DELAYS)]
    profiles = profiled(bed, machines)
    done = set(pd.read_csv(points).set_index(_KEY).index) if points.exists() else set()
    wanted = list(product(only or PROGRAMS, machines))
    for number, (program, machine) in enumerate(wanted):
        key = (program, *astuple(machine))
        if key in done:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            seen = run_once(bed, machine, program, Path(scratch))
        row = pd.DataFrame([dict(zip(_KEY, key, strict=True)) | profiles[machine] | seen])
        row.to_csv(points, mode="a", header=not points.exists(), index=False)
        print(f"{number + 1} of {len(wanted)}: {key}: {seen['seconds']:.2f} s", flush=True)
    return pd.read_csv(points)


_KEY = ["program", "cpu", "rate", "delay"]


def table_two(runs: pd.DataFrame) -> list[str]:
    """Accuracy of 50-way cross-validation, as Table II."""
    rows = []
    for shape in SHAPES:
        found = pd.DataFrame(_of_programs(partial(_validated, shape=shape), runs)).T
        found.loc["all"] = found.mean()
        rows += [[shape, str(name), *_cells(row)] for name, row in found.iterrows()]
    return table(["model", "program", *map(str, found.columns)], rows, text_columns=2)


def _validated(part: pd.DataFrame, shape: str) -> dict[str, float]:
    return evaluation.summary_row(evaluation.cross_validation(part, evaluation.one_changed, shape))


def table_three(runs: pd.DataFrame) -> list[str]:
    """Accuracy by the size and the choice of the training set, as Table III: means of programs."""
    found = _of_programs(_by_training, runs)
    every = pd.DataFrame([row for rows in found.values() for row in rows])
    means = every.groupby(["runs", "choice"], sort=False).mean()
    rows = [[*map(str, key), *_cells(row)] for key, row in means.iterrows()]
    return table(["runs", "choice", *map(str, means.columns)], rows, text_columns=2)


def _by_training(part: pd.DataFrame) -> list[dict[Any, Any]]:
    rows = []
    chosen = evaluation.actively(part, max(COUNTS))
    choices = {"one resource changed": evaluation.one_changed, "random": evaluation.everything}
    for count in COUNTS:
        for name, choice in choices.items():
            trials = evaluation.cross_validation(part, choice, "auto", count, every=5)
            rows.append({"runs": count, "choice": name, **trials.mean().to_dict()})
        if count > evaluation.STARTED:
            found = evaluation.metrics_of(part, chosen[:count], "auto")
            rows.append({"runs": count, "choice": "active", **found})
    return rows


def _of_programs(work: Callable[[pd.DataFrame], Any], runs: pd.DataFrame) -> dict[str, Any]:
    """Call a function for the runs of each program, side by side."""
    parts = {str(n): p.reset_index(drop=True) for n, p in runs.groupby("program", sort=False)}
    with ProcessPoolExecutor() as pool:
        return dict(zip(parts, pool.map(work, parts.values()), strict=True))


def _cells(row: pd.Series) -> list[str]:
    return [f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}" for value in row]


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--points", type=Path, default=Path("nimo-points.csv"))
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, help="programs to measure")
    parser.add_argument("--no-measuring", action="store_true", help="use the points there are")
    given = parser.parse_args()
    if given.no_measuring:
        points = pd.read_csv(given.points)
    else:
        try:
            with tempfile.TemporaryDirectory() as files, testbed(Path(files)) as bed:
                make_input(Path(files))
                points = measure(bed, given.points, given.only)
        except CannotEmulateError as error:
            sys.exit(f"skipped: {error}")
    text = ["## Cross-validation (Table II)", "", *table_two(points), ""]
    text += ["## Training sets (Table III)", "", *table_three(points)]
    write(given.out, text, "runs")


if __name__ == "__main__":
    main()
