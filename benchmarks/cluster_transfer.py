"""Cluster models and searches on sources that they were not made on.

    python -m benchmarks.cluster_transfer --cache FOLDER --out docs/studies/cluster-transfer.md

The prior of `auto` is learnt from the other sources each time; the bundled one is not used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from benchmarks import cluster_tables as tables
from benchmarks.cluster_peers import LAWS, PEERS, SharedSpeedup, judged
from benchmarks.cluster_prior import measured_tables, prior_of
from benchmarks.cluster_searches import CHOICES, GOALS, search_lengths
from benchmarks.common import study_parser, table, write
from costmodels.scaling import AutoScaling, Prior
from predict_graph.files import written_beside

Contexts = list[tuple[str, pd.DataFrame]]
Case = tuple[str, pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]


JUDGED = {
    "C3O": (tables.c3o, tables.c3o_growth),
    "Scout": (tables.scout, tables.scout_growth),
    "simulated": (tables.simulated, None),
    "GPU joins": (tables.gpu_joins, None),
}
FEWEST = 8  # contexts of a source that are evaluated, if it has as many
SHOTS = (3, 4, 5)
TESTS = ("low two thirds", "low half", "interpolation", *(f"{n} runs" for n in SHOTS), "growth")
BEST_LAW = "best single law"
SHOWN = (*("auto", "auto, history", BEST_LAW, "Ernest, as published"), "C3O's pooled predictor")


def cases(contexts: Contexts, test: str, every: int) -> Iterator[Case]:
    """Yield job, known runs, runs to predict, and other contexts of the job."""
    rng = np.random.default_rng(7)
    for number, (job, runs) in enumerate(contexts):
        split = _split(runs, test, rng)
        if split is not None and number % every == 0:
            others = enumerate(contexts)
            yield job, *split, [r for i, (name, r) in others if name == job and i != number]


def _split(
    runs: pd.DataFrame, test: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    if test == "growth":  # all but the largest data on the more machines is known
        largest, middle = runs.scale.max(), runs.machines.median()
        out = (runs.scale == largest) & (runs.machines > middle)
        known = runs[~out]
        grown = (known.scale == largest).any() and known.machines.nunique() >= 3
        return (known, runs[out]) if grown else None
    counts = np.sort(runs.machines.unique())
    if test.endswith("runs"):
        shots = int(test[0])
        return tables.drawn_runs(runs, counts, shots, rng) if len(counts) > shots else None
    if test == "interpolation":
        kept = counts[::2]
    else:
        share = 2 / 3 if test == "low two thirds" else 1 / 2
        kept = counts[: max(round(len(counts) * share), 3)]
    unknown = runs[~runs.machines.isin(kept)]
    if test == "interpolation":
        unknown = unknown[unknown.machines < kept.max()]
    enough = len(kept) >= 3 and len(unknown)
    return (runs[runs.machines.isin(kept)], unknown) if enough else None


@cache
def elsewhere(data: Path, source: str) -> Prior:
    """Return the prior that all measured sources but one teach."""
    return prior_of(measured_tables(data, left_out=source))


@cache
def history(data: Path, source: str, job: str) -> Prior:
    """Return what the other jobs of a source teach on top of that."""
    own = tables.SOURCES.get(source, JUDGED[source][0])(data)
    below = elsewhere(data, source)
    return replace(prior_of([one for one in own if one[0] != job], below), parent=below)


def predictions(data: Path, source: str, test: str, every: int) -> pd.DataFrame:
    """Return error and share held of each case and model."""
    read = JUDGED[source][test == "growth"]
    found = []
    contexts = list(read(data))
    every = max(min(every, len(contexts) // FEWEST), 1)
    for number, (job, known, unknown, fellows) in enumerate(cases(contexts, test, every)):
        models: dict[str, Callable[[], Any]] = {
            "auto": partial(AutoScaling, prior=elsewhere(data, source)),
            "auto, history": partial(AutoScaling, prior=history(data, source, job)),
        }
        models |= {**PEERS, "C3O's pooled predictor": partial(SharedSpeedup, fellows)}
        for name, make in models.items():
            with suppress(ValueError):  # too few runs for this model
                error, held, _ = judged(make, known, unknown)
                found.append((source, test, job, number, name, error, held))
    columns = ["source", "test", "job", "case", "model", "error", "held"]
    return pd.DataFrame(found, columns=columns)


def searches(data: Path, source: str) -> pd.DataFrame:
    """Return the lengths of the searches of a source."""
    own = partial(history, data, source) if source in tables.SOURCES else None
    found = search_lengths(list(CHOICES[source](data)), elsewhere(data, source), own)
    return found.assign(source=source)


def means(found: pd.DataFrame) -> pd.DataFrame:
    """Return mean error and share held over contexts of a job, then over jobs, by source."""
    by_job = found.groupby(["source", "test", "model", "job"])[["error", "held"]].mean()
    by_source = by_job.groupby(["source", "test", "model"]).mean().reset_index()
    laws = by_source[by_source.model.isin(list(LAWS))]
    best = laws.loc[laws.groupby(["source", "test"]).error.idxmin()] if len(laws) else laws
    return pd.concat([by_source, best.assign(model=BEST_LAW, held=np.nan)])


def prediction_table(found: pd.DataFrame) -> list[str]:
    """Return mean errors and shares held, by source and model; last the measured sources."""
    middles = means(found).set_index(["source", "model", "test"])[["error", "held"]]
    measured = middles[middles.index.get_level_values("source").isin(list(tables.SOURCES))]
    whole = measured.groupby(["model", "test"]).mean()
    rows = []
    for source in (*JUDGED, "measured"):
        for name in SHOWN:
            known = whole.loc[name] if source == "measured" else middles.loc[(source, name)]
            rows.append([source, name, *(_cell(known, test) for test in TESTS)])
    return table(["source", "model", *TESTS], rows, text_columns=2)


def _cell(known: pd.DataFrame, test: str) -> str:
    if test not in known.index:
        return ""
    error, held = known.loc[test]
    return f"{error:.1f}" + ("" if np.isnan(held) else f" ({held:.0f}%)")


def search_table(found: pd.DataFrame) -> list[str]:
    """Return how many runs searches take, by source and way."""
    rows = []
    for (source, name), own in found.groupby(["source", "search"], sort=False):
        cells = []
        for goal in GOALS:
            runs, first = (own[own.goal == goal][column] for column in ("runs", "first"))
            cells += [f"{runs.mean():.1f}", f"{runs.quantile(0.9):.0f}", f"{runs.max():.0f}"]
            drawn = str(name).endswith("random run")
            cells.append("" if drawn else _first(first))
        rows.append([str(source), str(name), *cells])
    head = ["source", "search"]
    for goal in GOALS:
        head += [f"{goal}: mean", "90%", "worst", "first"]
    return table(head, rows, text_columns=2)


def _first(over: pd.Series) -> str:
    """Return the mean over those that succeeded, and how many failed."""
    failed = int(np.isinf(over).sum())
    return f"{over[np.isfinite(over)].mean():.2f}" + (f", {failed} failed" if failed else "")


def main() -> None:
    parser = study_parser(__doc__, cluster_tables=True)
    parser.add_argument(
        "--every",
        type=int,
        default=4,
        help="evaluate one context of so many (1: all; not 3, which takes one size of machine)",
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of finished parts")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.cache.mkdir(parents=True, exist_ok=True)

    def part(name: str, evaluate: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        path = options.cache / f"{name} {options.every}.csv"
        if not path.exists():
            with written_beside(path) as beside:
                evaluate().to_csv(beside, index=False)
            print(name, "done", flush=True)
        return pd.read_csv(path)

    found = [
        part(f"{source} {test}", partial(predictions, options.data, source, test, options.every))
        for source in JUDGED
        for test in TESTS
        if test != "growth" or JUDGED[source][1]
    ]
    sought = [
        part(f"search {source}", partial(searches, options.data, source)) for source in CHOICES
    ]
    write(options.out, prediction_table(pd.concat(found)), "predictions")
    write(options.out, search_table(pd.concat(sought)), "searches")


if __name__ == "__main__":
    main()
