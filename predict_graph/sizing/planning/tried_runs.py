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
    has_failed,
    has_timed_out,
    measured_columns,
    time_factor,
)
from predict_graph.sizing.planning.candidates import TYPE_NAMES, Candidates
from predict_graph.sizing.table_file import Row, TextTable, positive, read_table

__all__ = ["TriedRuns", "read_tried"]


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
        Of `collect` or any table with a type, machines and seconds. A run failed when the column
        ``outcome``, ``exit_status`` or ``completed`` says so; the outcome ``timeout`` says that it
        takes longer.
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
    said: list[str] = []
    rows = _of_scale(table, names.get("scale"), scale)
    kinds = _types(table, rows, candidates)
    known = [(row, kind) for row, kind in zip(rows, kinds, strict=True) if kind in candidates.types]
    unknown = sorted({kind for kind in kinds if kind not in candidates.types})
    if unknown and not known:
        raise RequestError(
            f"the runs of {path} are on {', '.join(unknown[:5])}, which {candidates.path} does not "
            f"describe; accepted: {', '.join(candidates.types)}"
        )
    if unknown:
        said.append(
            f"{len(rows) - len(known)} runs on {', '.join(unknown[:5])} do not count: "
            f"{candidates.path} does not describe these types"
        )
    others: list[tuple[str, int]] = []
    places, seconds, outcomes = [], [], []
    factor = time_factor(names["seconds"])
    for row, kind in known:
        count = positive(row, names["machines"])
        place = candidates.place(kind, count)
        if place is None:
            one = (kind, int(count))
            if one not in others:
                others.append(one)
            place = len(candidates.entries) + others.index(one)
        places.append(place)
        outcomes.append(_outcome(row))
        taken = row.cells[names["seconds"]]
        failed = outcomes[-1] == "failed"  # whose time says nothing
        seconds.append(1.0 if failed and not taken else positive(row, names["seconds"]) * factor)
    tried = Tried(np.array(places, np.intp), np.array(seconds), outcomes)
    said += _contradictions(tried, [row for row, _ in known], [*candidates.entries, *others])
    if known and "ok" not in outcomes:
        said.append(
            f"all {len(known)} runs failed; what is next is by what other jobs did, away from them"
        )
    return TriedRuns(tried, others, tuple(said))


def _is_empty(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return sum(1 for line in file if line.strip()) < 2
    except OSError:
        return False  # read_table says what is wrong


def _of_scale(table: TextTable, name: str | None, scale: float | None) -> list[Row]:
    if name is None:
        if scale is not None:
            raise RequestError(f"{table.path} has no column for the scale; accepted: no --scale")
        return table.rows
    scales = sorted({positive(row, name) for row in table.rows})
    if scale is None:
        if len(scales) > 1:
            shown = ", ".join(f"{value:g}" for value in scales[:5])
            raise RequestError(
                f"{table.path} has runs of the scales {shown}; accepted: --scale with one of them"
            )
        return table.rows
    return [row for row in table.rows if positive(row, name) == scale]


def _types(table: TextTable, rows: Sequence[Row], candidates: Candidates) -> list[str]:
    name = next((name for name in TYPE_NAMES if name in table.columns), None)
    if name is not None:
        return [row.cells[name] for row in rows]
    if len(candidates.types) > 1:
        raise RequestError(
            f"{table.path} has no column for the machine type, and {candidates.path} has "
            f"{len(candidates.types)}; accepted: a column {' or '.join(TYPE_NAMES)}"
        )
    return [next(iter(candidates.types))] * len(rows)


def _outcome(row: Row) -> str:
    if not has_failed(row):
        return "ok"
    return "timeout" if has_timed_out(row) else "failed"


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
