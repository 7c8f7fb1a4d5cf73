"""What became of measured runs: columns such as ``status``, ``success`` and ``exit_code``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pandas as pd

from predict_graph.errors import RequestError
from predict_graph.sizing.table_file import TextTable, name_key
from predict_graph.texts import to_number


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    return {word: outcome for outcome, words in table.items() for word in words.split()}


# The time of a run that ended by a timeout, or still runs, is less than what it takes.
_WORDS = _by_word(
    {
        "ok": "ok success successful succeeded complete completed done finished passed pass true "
        "yes y",
        "failed": "failed failure fail error err oom outofmemory killed cancelled canceled aborted "
        "crashed crash nodefail bootfail preempted lost false no n",
        "timeout": "timeout timedout timelimit timelimitexceeded deadline running",
        "not run": "pending queued waiting submitted accepted configuring skipped",
    }
)
# Job states as squeue abbreviates them, and letters for true and false: also names of regions.
_SHORT = _by_word(
    {
        "ok": "cd t",
        "failed": "bf ca f nf pr rv se st",
        "timeout": "cg dl r to",
        "not run": "cf pd rq",
    }
)
_MARKS = str.maketrans({**dict.fromkeys("✓✔✅☑", "ok "), **dict.fromkeys("✗✘❌✖☒", "failed ")})


def read_outcomes(table: TextTable) -> tuple[pd.Series, list[str]]:
    """Return the outcome of each row, and the columns that hold it.

    It is ``"ok"``, ``"failed"``, ``"timeout"`` or ``"not run"``.

    Raises
    ------
    RequestError
        If a status is 0 in some rows and 1 in others, or S and F, or a column such as ``failed``
        has ticks or crosses, which have no agreed meaning, or one such as ``success`` other words.
    """
    found = pd.DataFrame(index=table.cells.index)
    for column in table.columns:
        read = _READERS.get(name_key(column))
        cells = set(table.cells[column])
        numbers = all(to_number(cell) == to_number(cell) for cell in cells - {""})
        counts = read in (_failed, _timed_out) and numbers and any(map(_is_count, cells))
        if read is None or counts or (read is _word and not _is_status(cells, column, table)):
            continue
        if read is _failed and any(cell.translate(_MARKS) != cell for cell in cells):
            raise RequestError(
                f"{table.path} has ticks or crosses in the column {column!r}, where either may "
                "be the failure; accepted: words such as yes and no"
            )
        outcomes = {cell: read(cell) for cell in cells}
        odd = {cell for cell in cells if cell and not outcomes[cell]}
        counts_or_dates = len(odd) == len(cells - {""}) and re.search("[0-9]", "".join(odd))
        if read is _succeeded and odd and not counts_or_dates:
            raise table.refusal(column, ~table.cells[column].isin(odd), "yes or no, or nothing")
        if read is _succeeded and set(outcomes.values()) == {"ok", None}:
            outcomes[""] = "failed"  # only successes are noted
        if set(outcomes.values()) != {None}:
            found[column] = table.cells[column].map(outcomes)
    outcome = pd.Series("ok", found.index)
    for words in (("failed", "unknown"), ("timeout",), ("not run",)):
        outcome[found.isin(words).any(axis=1)] = words[0]
    return outcome, [str(name) for name in found]


def _is_status(cells: set[str], column: str, table: TextTable) -> bool:
    """Whether words are outcomes, and not such as the state of a country."""
    if {"0", "1"} <= cells:
        raise RequestError(
            f"{table.path} has the values 0 and 1 in the column {column!r}, where either may be "
            "the success; accepted: words such as ok and failed, or the name success or exit_status"
        )
    if "0" not in cells and all(map(str.isdigit, cells - {""})):
        return False  # counts, such as a result; of exit statuses some are 0
    keys = {name_key(cell) for cell in cells}
    known = {_word(cell) for cell in cells if cell and name_key(cell) not in _SHORT}
    if "cd" in keys or known - {"unknown"}:
        return True
    if known and "f" in keys:
        raise RequestError(
            f"{table.path} has letters in the column {column!r}, which may be read in several "
            "ways; accepted: words such as ok and failed"
        )
    return not known and not keys <= {"ca", "pr", ""}


def _word(cell: str) -> str | None:
    """Read a word such as ``SUCCESS``, or an exit status; ``"unknown"`` if it is neither."""
    if re.fullmatch(r"-?[0-9]+(:[0-9]+)?", cell):
        return "failed" if cell.replace(":", "").strip("0") else "ok"
    text = cell.translate(_MARKS)
    whole, first = name_key(text), name_key(text.partition(" ")[0])  # CANCELLED by 1000
    known = _WORDS | _SHORT
    return known.get(whole) or known.get(first, "unknown" if cell else None)


def _exit_status(cell: str) -> str | None:
    """Read the exit status of a process, or of SLURM with a signal: ``0:9``."""
    return _word(cell.removesuffix(".0"))


def _succeeded(cell: str) -> str | None:
    """Read whether a run succeeded; dates and counts say nothing."""
    found = {"1": "ok", "1.0": "ok", "0": "failed", "0.0": "failed"}.get(cell, _word(cell))
    return found if found in ("ok", "failed", "timeout") and not _is_count(cell) else None


def _failed(cell: str) -> str | None:
    """Read whether a run failed, or its error message."""
    plain = name_key(cell)
    if plain in ("0", "00", "no", "n", "false", "f"):
        return "ok"
    return None if plain in ("", "none", "null", "nan", "na") else "failed"


def _timed_out(cell: str) -> str | None:
    return {"failed": "timeout"}.get(_failed(cell) or "")


def _is_count(cell: str) -> bool:
    return to_number(cell) not in (0.0, 1.0) and to_number(cell) == to_number(cell)


_READERS: dict[str, Callable[[str], str | None]] = {
    name: read
    for read, names in (
        (_word, "outcome status state result jobstate jobstatus runstatus finalstatus finalstate"),
        (_succeeded, "success succeeded successful completed finished ok passed issuccess"),
        (_failed, "failed failure error exception oom killed crashed aborted isfailed haserror"),
        (_failed, "errormessage errormsg failurereason"),
        (_timed_out, "timedout istimeout"),
        (_exit_status, "exitstatus exitcode rc returncode retcode returnvalue exit errorcode"),
        (lambda cell: _exit_status(cell) if cell.isdigit() else _failed(cell), "signal"),
    )
    for name in names.split()
}
