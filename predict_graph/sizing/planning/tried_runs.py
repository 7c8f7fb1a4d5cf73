"""Measured runs of a job on candidate configurations, the failed ones among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from costmodels.scaling.search import Tried
from predict_graph.errors import RequestError
from predict_graph.sizing.measuring.measurements import (
    CONTRADICTION,
    TYPE_NAMES,
    JobRun,
    job_runs,
    measured_columns,
)
from predict_graph.sizing.planning.candidates import Candidates
from predict_graph.sizing.table_file import Row, TextTable, read_table


@dataclass(frozen=True)
class TriedRuns:
    """Runs so far.

    Attributes
    ----------
    tried : Tried
        Places count the candidates first, then `others`.
    others : list of (str, int)
        Configurations that were measured and are no candidates, of types that are.
    warnings : tuple of str
    """

    tried: Tried
    others: list[tuple[str, int]]
    warnings: tuple[str, ...]


def read_tried(path: Path, candidates: Candidates, scale: float | None = None) -> TriedRuns:
    """Read the runs of a job; a file without rows has none.

    Parameters
    ----------
    path : Path
        Of `collect` or any table with a type, machines and seconds, as
        :func:`~predict_graph.sizing.measuring.measurements.job_runs` reads it.
    candidates : Candidates
    scale : float, optional
        Only runs of this scale count.

    Raises
    ------
    RequestError
        If a column is missing, a value is wrong, all types are unknown, or several scales were
        measured and none is chosen.
    """
    if _is_empty(path):
        return TriedRuns(Tried(np.array([], np.intp), np.array([]), []), [], ())
    table = read_table(path)
    names = measured_columns(table)
    runs, said = job_runs(table, names)
    runs = _of_scale(table, runs, "scale" in names, scale)
    kinds = _types(table, runs, candidates)
    known = [(run, kind) for run, kind in zip(runs, kinds, strict=True) if kind in candidates.types]
    unknown = sorted({kind for kind in kinds if kind not in candidates.types})
    if unknown and not known:
        raise RequestError(
            f"the runs of {path} are on {', '.join(unknown[:5])}, which {candidates.path} does not "
            f"describe; accepted: {', '.join(candidates.types)}"
        )
    if unknown:
        said.append(
            f"{len(runs) - len(known)} runs on {', '.join(unknown[:5])} do not count: "
            f"{candidates.path} does not describe these types"
        )
    others: list[tuple[str, int]] = []
    places, seconds, outcomes = [], [], []
    for run, kind in known:
        place = candidates.place(kind, run.machines)
        if place is None:
            one = (kind, int(run.machines))
            if one not in others:
                others.append(one)
            place = len(candidates.entries) + others.index(one)
        places.append(place)
        outcomes.append(run.outcome)
        seconds.append(1.0 if run.outcome == "failed" else run.seconds)  # whose time says nothing
    tried = Tried(np.array(places, np.intp), np.array(seconds), outcomes)
    said += _contradictions(tried, [run.row for run, _ in known], [*candidates.entries, *others])
    if known and "ok" not in outcomes:
        said.append(
            f"all {len(known)} runs failed; what is next is estimated from other jobs, away from "
            "them"
        )
    return TriedRuns(tried, others, tuple(said))


def _is_empty(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return sum(1 for line in file if line.strip()) < 2
    except OSError:
        return False  # read_table says what is wrong


def _of_scale(
    table: TextTable, runs: list[JobRun], scaled: bool, scale: float | None
) -> list[JobRun]:
    if scale is not None and not scaled:
        raise RequestError(f"{table.path} has no column for the scale; accepted: no --scale")
    scales = sorted({run.scale for run in runs})
    if scale is None and len(scales) > 1:
        shown = ", ".join(f"{value:g}" for value in scales[:5])
        raise RequestError(
            f"{table.path} has runs of the scales {shown}; accepted: --scale with one of them"
        )
    return [run for run in runs if scale is None or run.scale == scale]


def _types(table: TextTable, runs: Sequence[JobRun], candidates: Candidates) -> list[str]:
    found = [run.machine_type for run in runs if run.machine_type is not None]
    if len(found) == len(runs):
        return found
    if len(candidates.types) > 1:
        raise RequestError(
            f"{table.path} has no column for the machine type, and {candidates.path} has "
            f"{len(candidates.types)}; accepted: a column {' or '.join(TYPE_NAMES[:2])}"
        )
    return [next(iter(candidates.types))] * len(runs)


def _contradictions(
    tried: Tried, rows: Sequence[Row], entries: Sequence[tuple[str, int]]
) -> list[str]:
    """Return sentences on configurations whose runs do not agree."""
    said = []
    for place in sorted(set(tried.candidate.tolist())):
        mine = [int(i) for i in np.flatnonzero(tried.candidate == place)]
        kind, count = entries[place]
        done = [i for i in mine if tried.outcome[i] == "ok"]
        if len(done) < len(mine) and done:
            said.append(
                f"{kind} x {count} failed ({_line(rows, mine, done)}) and succeeded "
                f"({rows[done[0]].place}); it counts as one that succeeds"
            )
        if len(done) > 1:
            ordered = sorted(done, key=lambda i: tried.seconds[i])
            fast, slow = ordered[0], ordered[-1]
            if tried.seconds[slow] > CONTRADICTION * tried.seconds[fast]:
                said.append(
                    f"{rows[fast].place} and line {rows[slow].line} contradict each other: "
                    f"{kind} x {count} in {tried.seconds[fast]:.4g} s and "
                    f"{tried.seconds[slow]:.4g} s; the median counts"
                )
    return said


def _line(rows: Sequence[Row], mine: Sequence[int], done: Sequence[int]) -> str:
    failed = next(i for i in mine if i not in done)
    return rows[failed].place
