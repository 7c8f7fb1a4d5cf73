"""What became of measured runs: columns such as ``status``, ``success`` and ``exit_code``."""

from __future__ import annotations

import re
from collections.abc import Callable

from predict_graph.errors import RequestError
from predict_graph.sizing.table_file import Row, TextTable, name_key

# The time of a run that ended by a timeout, or still runs, is less than what it takes.
_WORDS = {
    word: outcome
    for outcome, words in {
        "ok": "ok success successful succeeded complete completed done finished passed pass true "
        "yes y",
        "failed": "failed failure fail error err oom outofmemory killed cancelled canceled aborted "
        "crashed crash nodefail bootfail preempted lost false no n",
        "timeout": "timeout timedout timelimit timelimitexceeded deadline running",
        "not run": "pending queued waiting submitted accepted configuring skipped",
    }.items()
    for word in words.split()
}
# Job states as squeue abbreviates them, and letters for true and false: also names of regions.
_SHORT = {
    word: outcome
    for outcome, words in {
        "ok": "cd t",
        "failed": "bf ca f nf pr rv se st",
        "timeout": "cg dl r to",
        "not run": "cf pd rq",
    }.items()
    for word in words.split()
}
_MARKS = str.maketrans({**dict.fromkeys("✓✔✅☑", "ok "), **dict.fromkeys("✗✘❌✖☒", "failed ")})


def outcome_columns(table: TextTable) -> dict[str, Callable[[str], str | None]]:
    """Return the columns that hold the outcome of runs, and how to read a cell of each.

    Raises
    ------
    RequestError
        If a status is 0 in some rows and 1 in others, or S and F, or a column such as ``failed``
        has ticks or crosses, which have no agreed meaning.
    """
    found = {}
    for column in table.columns:
        read = _READERS.get(name_key(column))
        if read is None:
            continue
        cells = {row.cells[column] for row in table.rows}
        if read is _word and {"0", "1"} <= cells:
            raise RequestError(
                f"{table.path} has the values 0 and 1 in the column {column!r}, where either "
                "may be the success; accepted: words such as ok and failed, or the name success "
                "or exit_status"
            )
        if read is _failed and any(cell.translate(_MARKS) != cell for cell in cells):
            raise RequestError(
                f"{table.path} has ticks or crosses in the column {column!r}, where either may "
                "be the failure; accepted: words such as yes and no"
            )
        keys = {name_key(cell) for cell in cells}
        known = {read(cell) for cell in cells if name_key(cell) not in _SHORT}
        if read is _word and known == {"unknown"} and "f" in keys and "cd" not in keys:
            raise RequestError(
                f"{table.path} has letters in the column {column!r}, which may be read in several "
                "ways; accepted: words such as ok and failed"
            )
        regions = "unknown" in known or keys <= {"ca", "pr", ""}
        if read is _word and regions and not known - {None, "unknown"} and "cd" not in keys:
            continue  # such as the state of a country
        said = {read(cell) for cell in cells}
        if said != {None}:
            found[column] = _ticked if read is _succeeded and said == {"ok", None} else read
    return found


def read_outcomes(table: TextTable) -> list[str]:
    """Return ``"ok"``, ``"failed"``, ``"timeout"`` or ``"not run"`` for each row."""
    readers = outcome_columns(table)
    return [_outcome(row, readers) for row in table.rows]


def _outcome(row: Row, readers: dict[str, Callable[[str], str | None]]) -> str:
    said = {read(row.cells[column]) for column, read in readers.items()}
    if "unknown" in said:
        said.add("failed")
    return next((one for one in ("not run", "timeout", "failed") if one in said), "ok")


def _word(cell: str) -> str | None:
    """Read a word such as ``SUCCESS``, or an exit status; ``"unknown"`` if it is neither."""
    if re.fullmatch(r"-?[0-9]+(:[0-9]+)?", cell):
        return _exit_status(cell)
    text = cell.translate(_MARKS)
    whole, first = name_key(text), name_key(text.partition(" ")[0])  # CANCELLED by 1000
    known = _WORDS | _SHORT
    return known.get(whole) or known.get(first, "unknown" if cell else None)


def _exit_status(cell: str) -> str | None:
    """Read the exit status of a process, or of SLURM with a signal: ``0:9``."""
    if re.fullmatch(r"-?[0-9]+(\.0)?(:[0-9]+)?", cell):
        return "failed" if cell.replace(":", "").replace(".", "").strip("0") else "ok"
    return _word(cell) if cell else None


def _succeeded(cell: str) -> str | None:
    """Read whether a run succeeded; dates and counts say nothing."""
    found = {"1": "ok", "1.0": "ok", "0": "failed", "0.0": "failed"}.get(cell, _word(cell))
    return found if found in ("ok", "failed", "timeout") and not _is_count(cell) else None


def _ticked(cell: str) -> str | None:
    """Read whether a run succeeded where only successes are noted."""
    return _succeeded(cell) if cell else "failed"


def _failed(cell: str) -> str | None:
    """Read whether a run failed, or its error message; counts say nothing."""
    plain = name_key(cell)
    if plain in ("0", "00", "no", "n", "false", "f"):
        return "ok"
    return None if plain in ("", "none", "null", "nan", "na") or _is_count(cell) else "failed"


def _timed_out(cell: str) -> str | None:
    return {"failed": "timeout"}.get(_failed(cell) or "")


def _is_count(cell: str) -> bool:
    try:
        return float(cell) not in (0.0, 1.0)
    except ValueError:
        return False


_READERS: dict[str, Callable[[str], str | None]] = {
    name: read
    for read, names in (
        (_word, "outcome status state result jobstate jobstatus runstatus finalstatus finalstate"),
        (_succeeded, "success succeeded successful completed finished ok passed issuccess"),
        (_failed, "failed failure error exception oom killed crashed aborted isfailed haserror"),
        (_failed, "errormessage errormsg failurereason signal"),
        (_timed_out, "timedout istimeout"),
        (_exit_status, "exitstatus exitcode rc returncode retcode returnvalue exit errorcode"),
    )
    for name in names.split()
}
