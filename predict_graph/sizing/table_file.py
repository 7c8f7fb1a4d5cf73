"""Small tables in text files: read with the line of each row, or appended to, never rewritten."""

from __future__ import annotations

import csv
import fcntl
import io
import math
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd

from predict_graph.errors import JobError, RequestError, explained, explained_by_system
from predict_graph.files import check_writable
from predict_graph.inputs import check_there, read_bytes
from predict_graph.texts import to_number


class NoRowsError(RequestError):
    """A table has no rows."""


@dataclass(frozen=True)
class TextTable:
    """The texts of a table, one row a line of the file, whose number is the index."""

    path: Path
    cells: pd.DataFrame
    # Whether a comma may be the decimal one where nothing shows it; else it groups thousands.
    decimal_comma: bool = False

    @classmethod
    def of(cls, table: Any) -> TextTable:
        """Return a table in memory, of pandas or what it can read, as if read from a file."""
        with explained("the runs are no table"):
            table = pd.DataFrame(table.to_pandas() if hasattr(table, "to_pandas") else table)
        lines = range(2, len(table) + 2)
        texts = table.astype(object).where(table.notna(), "").map(str).set_axis(lines)
        return _checked(cls(Path("table"), texts.rename(columns=str)), 1)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.cells]

    def place(self, line: object) -> str:
        """Return ``file:line``."""
        return f"{self.path}:{line}"

    def find(self, names: Sequence[str]) -> str | None:
        """Return the column of one of these names, however it is spelled; the first that exists."""
        there = {name_key(column): column for column in reversed(self.columns)}
        there |= {column: column for column in self.columns}
        return next((there[key] for key in [*names, *map(name_key, names)] if key in there), None)

    def needs(self, what: str, *names: str) -> str:
        """Return the column of one of these names.

        Raises
        ------
        RequestError
            If there is none; names the columns there are.
        """
        column = self.find(names)
        if column is None:
            raise RequestError(
                f"{self.path} has no column {' or '.join(map(repr, names))} for {what}; there are: "
                f"{', '.join(self.columns)}"
            )
        return column

    def where(self, values: Mapping[str, str]) -> pd.Series:
        """Return which rows have these values; numbers are compared as numbers.

        Raises
        ------
        RequestError
            If there is no such column, or no such row.
        """
        chosen = pd.Series(True, self.cells.index)
        for name, value in values.items():
            texts = self.cells[self.needs("--where", name)]
            same = (texts == value) | (pd.to_numeric(texts, errors="coerce") == to_number(value))
            if not (chosen & same).any():
                there = sorted(set(texts[chosen]))
                shown = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
                raise RequestError(f"no row of {self.path} has {name}={value}; there are: {shown}")
            chosen &= same
        return chosen

    def plain(self, column: str) -> pd.Series:
        """Return the cells of a column, numbers with a decimal point and no grouping.

        A comma as in ``5,25`` says that commas of the column are decimal, one as in ``1,234.5``
        that they group thousands; where nothing does, ``"12,345"`` is thousands in files with
        commas between the values. Spaces and apostrophes group digits, too.
        """
        cells = self.cells[column].str.replace(_SPACED, _without_signs, regex=True)
        grouped, decimal = cells.str.match(_GROUPED), cells.str.match(_DECIMAL_COMMA)
        either, fractions = cells[grouped & decimal], (decimal & ~grouped).any()
        known = fractions != (grouped & ~decimal).any()
        if len(either) and not known and (fractions or self.decimal_comma):
            raise RequestError(
                f"{self.place(either.index[0])}: {column} is {either.iloc[0]!r}, which may be a "
                "fraction or thousands; accepted: a point before a fraction, no sign of thousands"
            )
        if fractions:
            european = decimal | cells.str.match(_POINTS)
            cells = cells.mask(european, cells.str.replace(".", "").str.replace(",", "."))
        return cells.mask(grouped, cells.str.replace(",", ""))

    def numbers(
        self,
        column: str,
        accepted: str = "a number above 0",
        *,
        least: float = math.ulp(0.0),
        most: float = sys.float_info.max,
        whole: bool = False,
    ) -> pd.Series:
        """Return the numbers in a column, of this range and kind.

        Raises
        ------
        RequestError
            If a cell has none; names file, line and value, and what is accepted.
        """
        values = self.plain(column).map(to_number)
        fine = values.between(least, most) & (values % 1 == 0 if whole else True)
        if not fine.all():
            raise self.refusal(column, fine, accepted)
        return values

    def refusal(self, column: str, fine: pd.Series, accepted: str) -> RequestError:
        """Return the error for the first cell of a column that is not fine."""
        place, text = self.place(fine.idxmin()), self.cells[column][~fine].iloc[0][:60]
        return RequestError(f"{place}: {column} is {text!r}; accepted: {accepted}")


def _without_signs(found: re.Match[str]) -> str:
    """Return a number without the spaces or apostrophes between groups of its digits."""
    return found[0].replace(found[1], "")


def name_key(name: str) -> str:
    """Return the letters and digits of a name, in lower case, by which names are compared.

    Examples
    --------
    >>> name_key("#Cores"), name_key("wall time"), name_key("Machine_Type")
    ('cores', 'walltime', 'machinetype')
    """
    return "".join(sign for sign in name.lower() if sign.isalnum())


def read_table(path: str | os.PathLike[str]) -> TextTable:
    """Read a table whose first line names its columns.

    Tabs, semicolons, bars, commas or blanks stand between the values: what the header has most
    often, and as often as the row below it. Lines that begin with ``#`` are comments, except for a
    header of that kind before numbers, as in ``#Cores,Time``; lines of dashes are rules. Spaces
    around names and values do not count, nor do empty values after the last column.

    Raises
    ------
    RequestError
        If the file cannot be read, has no header or no rows, names a column twice, or a row has
        more or fewer values than there are columns.
    """
    path = Path(path)
    lines = _read_lines(path)
    mark = _delimiter(lines)
    number, columns, rows = _header_and_rows(path, _cells(path, lines, mark))
    while not columns[-1]:
        columns.pop()
    for line, cells in rows:
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            raise RequestError(
                f"{path}:{line}: the row has {len(cells)} values, but the header {len(columns)}"
            )
    kept, numbers = [cells[: len(columns)] for _, cells in rows], [line for line, _ in rows]
    texts = pd.DataFrame(kept, numbers, columns, dtype=object)
    return _checked(TextTable(path, texts, mark != ","), number)


def _checked(table: TextTable, line: int) -> TextTable:
    """Return a table if its columns have different names, and it has rows."""
    twice = table.cells.columns[table.cells.columns.duplicated()]
    if len(twice):
        raise RequestError(f"{table.place(line)}: the column {twice[0]!r} comes twice")
    if table.cells.empty:
        raise NoRowsError(f"{table.path} has a header but no rows")
    return table


@contextmanager
def appended_table(
    path: str | os.PathLike[str], columns: Sequence[str], *, wait: bool = False
) -> Iterator[Callable[[Mapping[str, object]], None]]:
    """Create or continue a CSV file; yield what appends a row, then on the disk.

    Only one process at a time appends; others are refused, or `wait`. A last line with fewer values
    than columns, as a crash leaves, is dropped; one without an end only, as an editor, gets one.

    Raises
    ------
    RequestError
        If the file has other columns, is being written, or cannot be.
    JobError
        If a row cannot be written.
    """
    header = _line(columns)
    with explained_by_system(f"cannot write {path}"):
        path = check_writable(path)
        file = open(path, "a+b", buffering=0)  # noqa: SIM115

    def write(content: bytes) -> None:
        with explained_by_system(f"writing {path} failed", JobError):
            while content:
                content = content[os.write(file.fileno(), content) :]
            os.fsync(file)

    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise RequestError(
                f"{path} is being written by another process; accepted: another file, or waiting "
                "for its end"
            ) from None
        content = path.read_bytes()
        first, end, _ = content.partition(b"\n")
        if first.rstrip(b"\r") + end != header and (end or not header.startswith(first)):
            found = first.decode(errors="replace").strip()
            raise RequestError(
                f"{path} begins with {found[:200]!r}, but needs the columns "
                f"{header.decode().strip()}; accepted: another file"
            )
        left = _ROWS.sub(b"", content, count=1)
        cells = next(csv.reader(io.StringIO(left.decode(errors="replace"), newline="")), [])
        whole = end and _ROWS.fullmatch(left + b"\n") and len(cells) == len(columns)
        file.truncate(len(content) - (0 if whole else len(left)))
        write(b"\n" if whole else b"" if end else header)
        yield lambda row: write(_line([row[name] for name in columns]))


def _line(cells: Sequence[object]) -> bytes:
    """Return cells as a line of a CSV file, its end included."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


Line = tuple[int, list[str]]
# Whole rows: a value that begins with a quote may continue on the next line.
_ROWS = re.compile(rb'(?:(?:[^"\n]+|(?<![^,\n])"(?:[^"]|"")*+"|(?<=[^,\n])")*+\n)*+')
_GROUPED = re.compile(r"[~≈> -]*[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?(?![0-9,])")
_POINTS = re.compile(r"[~≈> -]*[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?![0-9.,])")
_SPACED = re.compile(r"^-?[0-9]{1,3}(?=([ \u00a0\u2009\u202f'’]))(?:\1[0-9]{3})+(?![0-9])")
_DECIMAL_COMMA = re.compile(r"[~≈> -]*(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+(?![0-9.,])")
_RULE = re.compile(r"([-=+|:\s]*[-=]{2}[-=+|:\s]*|(?i:sep)=.\s*|\([0-9]+ rows?\)\s*)$")


def _read_lines(path: Path) -> list[str]:
    check_there(path, "a CSV or TSV file")
    found = read_bytes(path)
    wide = found.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # as Excel and PowerShell write it
    try:
        text = found.decode("utf-16" if wide else "utf-8-sig")
        if "\0" in text:
            raise UnicodeError
    except UnicodeError:
        raise RequestError(
            f"{path} is no text in UTF-8 or UTF-16; accepted: a CSV or TSV file in one of these"
        ) from None
    return text.splitlines(keepends=True)


def _says(line: str) -> bool:
    """Whether a line holds more than blanks, a rule, the separator for Excel, or psql's count."""
    return bool(line.strip()) and _RULE.match(line) is None


def _delimiter(lines: Sequence[str]) -> str:
    """Return what stands between the names of the header, and as often between the first values.

    What stands in quotes does not count.
    """
    said = [re.sub('"[^"]*"', "", line.strip(" \r\n")) for line in lines if _says(line)]
    comments = [*takewhile(lambda line: line.startswith("#"), said)]
    rows = [line for line in said if not line.startswith("#")]
    if not any(map(str.isalpha, "".join(rows[:1]))):  # numbers, below a comment that names them
        rows = [*comments[-1:], *rows]
    header, first = ([line.strip("#| ") for line in rows] + ["", ""])[:2]
    marks = [mark for mark in "\t;|," if mark in header]
    usual = (mark for mark in marks if header.count(mark) == first.count(mark))
    return max(usual, key=header.count, default=[*marks, " " if " " in header else ","][0])


def _cells(path: Path, lines: Sequence[str], mark: str) -> list[Line]:
    """Return line number and values of each line that holds any."""
    said = [line if _says(line) else "\n" for line in lines]
    if mark in "| ":
        said = [re.sub(r"^#\s+", "#", line.strip().strip("|")) + "\n" for line in said]
    reader = csv.reader(said, delimiter=mark, skipinitialspace=mark == " ")
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise RequestError(f"{path}:{reader.line_num}: {error}") from error
    rows = [(number, cells) for number, cells in rows if any(cells)]
    if mark == " " and len({len(cells) for _, cells in rows if cells[0][:1] != "#"}) > 1:
        # Names or values with single blanks in them, in columns that are further apart.
        return [(number, re.split(r"\s{2,}", said[number - 1].strip())) for number, _ in rows]
    return rows


def _header_and_rows(path: Path, lines: Sequence[Line]) -> tuple[int, list[str], list[Line]]:
    """Return the line of the header, the names of the columns, and the rows."""
    if not lines:
        raise NoRowsError(f"{path} is empty; accepted: a table whose first line names its columns")
    rows = [line for line in lines if not line[1][0].startswith("#")]
    number, cells = rows[0] if rows else (lines[-1][0] + 1, [])
    values = [_is_value(cell) for cell in cells]
    before = [line for line in lines if line[1][0].startswith("#") and line[0] < number]
    named = bool(before) and (not rows or all(values) or len(before[-1][1]) == len(cells))
    if named and (not rows or any(values)):
        line, names = before[-1]
        return line, [names[0].lstrip("# "), *names[1:]], rows
    if all(values):
        raise RequestError(
            f"{path}:{number}: the first line has numbers only; accepted: a first line that "
            "names the columns, such as scale,machines,seconds"
        )
    return number, cells, rows[1:]


def _is_value(cell: str) -> bool:
    """Whether a cell is a number or a time rather than a name."""
    return bool(cell) and (not any(map(str.isalpha, cell)) or not math.isnan(to_number(cell)))
