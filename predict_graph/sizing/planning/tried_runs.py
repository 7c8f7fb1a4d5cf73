"""Measured runs of a job on candidate configurations, the failed ones included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from costmodels.scaling.search import Tried
from predict_graph.errors import RequestError
from predict_graph.sizing.measuring.measurements import (
    TYPE_NAMES,
    contradictions,
    job_runs,
    measured_columns,
)
from predict_graph.sizing.planning.candidates import Candidates
from predict_graph.sizing.table_file import TextTable, read_table


@dataclass(frozen=True)
class TriedRuns:
    """Runs so far."""

    # Places count the candidates first, then `others`.
    tried: Tried
    # Configurations that were measured and are no candidates, of types that are.
    others: list[tuple[str, int]]
    warnings: tuple[str, ...]


NO_RUNS = TriedRuns(Tried(np.array([], np.intp), np.array([]), []), [], ())


def read_tried(path: Path, candidates: Candidates, scale: float | None = None) -> TriedRuns:
    """Read the runs of a job, of one scale; a file without rows has none."""
    if _is_empty(path):
        return NO_RUNS
    table = read_table(path)
    names = measured_columns(table)
    runs, said = job_runs(table, names)
    runs = _typed(table, _of_scale(table, runs, "scale" in names, scale), candidates)
    known = runs[runs["machine_type"].isin(list(candidates.types))]
    unknown = ", ".join(sorted(set(runs["machine_type"]) - set(candidates.types))[:5])
    if unknown and known.empty:
        raise RequestError(
            f"the runs of {path} are on {unknown}, which {candidates.path} does not "
            f"describe; accepted: {', '.join(candidates.types)}"
        )
    if unknown:
        said.append(
            f"{len(runs) - len(known)} runs on {unknown} do not count: "
            f"{candidates.path} does not describe these types"
        )
    tried = list(zip(known["machine_type"], known["machines"].astype(int), strict=True))
    entries = list(dict.fromkeys([*candidates.entries, *tried]))
    places = np.array([entries.index(one) for one in tried], np.intp)
    # Failed runs have no time.
    seconds = known["seconds"].where(known["outcome"] != "failed", 1.0).to_numpy()
    done = known[known["outcome"] == "ok"]
    said += [*_partly_failed(table, known), *contradictions(done, path)]
    if len(known) and done.empty:
        said.append(
            f"all {len(known)} runs failed; what is next is estimated from other jobs, away from "
            "them"
        )
    others = entries[len(candidates.entries) :]
    return TriedRuns(Tried(places, seconds, known["outcome"].tolist()), others, tuple(said))


def _is_empty(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return sum(1 for line in file if line.strip()) < 2
    except OSError:
        return False  # read_table says what is wrong


def _of_scale(
    table: TextTable, runs: pd.DataFrame, scaled: bool, scale: float | None
) -> pd.DataFrame:
    if scale is not None and not scaled:
        raise RequestError(f"{table.path} has no column for the scale; accepted: no --scale")
    scales = sorted(set(runs["scale"]))
    if scale is None and len(scales) > 1:
        shown = ", ".join(f"{value:g}" for value in scales[:5])
        raise RequestError(
            f"{table.path} has runs of the scales {shown}; accepted: --scale with one of them"
        )
    return runs if scale is None else runs[runs["scale"] == scale]


def _typed(table: TextTable, runs: pd.DataFrame, candidates: Candidates) -> pd.DataFrame:
    if runs["machine_type"].notna().all():
        return runs
    if len(candidates.types) > 1:
        raise RequestError(
            f"{table.path} has no column for the machine type, and {candidates.path} has "
            f"{len(candidates.types)}; accepted: a column {' or '.join(TYPE_NAMES[:2])}"
        )
    return runs.assign(machine_type=next(iter(candidates.types)))


def _partly_failed(table: TextTable, runs: pd.DataFrame) -> list[str]:
    """Return sentences on configurations with failed runs and others."""
    said = []
    for (kind, count), mine in runs.groupby(["machine_type", "machines"], sort=False):
        fine = mine["outcome"] == "ok"
        if fine.any() and not fine.all():
            said.append(
                f"{kind} x {count:g} failed ({table.path}:{mine.index[~fine][0]}) and succeeded "
                f"({table.path}:{mine.index[fine][0]}); it counts as one that succeeds"
            )
    return said
