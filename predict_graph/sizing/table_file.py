"""Small tables in text files: CSV or TSV, with the line of each row for the errors."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from predict_graph.errors import RequestError
from predict_graph.inputs import read_bytes


@dataclass(frozen=True)
class Row:
    """One row: its texts by column, and where it is."""

    path: Path
    line: int
    cells: dict[str, str]
    decimal_comma: bool = False

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.path}:{self.line}"

    def plain(self, column: str) -> str:
        """Return a cell whose number, if it is one, has a decimal point and no grouping.

        A comma is the decimal one, except in files with commas between the values, where a quoted
        cell such as ``"12,345"`` has groups of thousands. Spaces and apostrophes group digits, too.
        """
        text = self.cells[column]
        if spaced := _SPACED.match(text):
            text = spaced[0].replace(spaced[1], "") + text[spaced.end() :]
        if not self.decimal_comma and _GROUPED.match(text):
            return text.replace(",", "")
        if _DECIMAL_COMMA.match(text):
            return text.replace(".", "").replace(",", ".")
        return text


@dataclass(frozen=True)
class TextTable:
    """Columns and rows of a file."""

    path: Path
    columns: list[str]
    rows: list[Row]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The texts, one row a line of the file, which is the index."""
        return pd.DataFrame([row.cells for row in self.rows], [row.line for row in self.rows])

    def find(self, names: Sequence[str]) -> str | None:
        """Return the column of one of these names, however it is spelled; the first that exists."""
        there = {name_key(column): column for column in reversed(self.columns)}
        return next((there[key] for key in map(name_key, names) if key in there), None)

    def needs(self, column: str, what: str) -> str:
        """Return `column` if the table has it.

        Raises
        ------
        RequestError
            If not; names the columns there are.
        """
        if column not in self.columns:
            raise RequestError(
                f"{self.path} has no column {column!r} for {what}; there are: "
                f"{', '.join(self.columns)}"
            )
        return column


def number(
    row: Row,
    column: str,
    accepted: str,
    *,
    least: float = 0.0,
    most: float = sys.float_info.max,
    whole: bool = False,
) -> float:
    """Return the number in a column of a row, of this range and kind.

    Raises
    ------
    RequestError
        If it is none; names file, line and value, and what is accepted.
    """
    try:
        value = float(row.plain(column))
    except ValueError:
        value = math.nan
    if not least <= value <= most or (whole and value != int(value)):
        raise RequestError(
            f"{row.place}: {column} is {row.cells[column][:60]!r}; accepted: {accepted}"
        )
    return value


def positive(row: Row, column: str) -> float:
    """Return the positive, finite number in a column of a row, or refuse what is there."""
    return number(row, column, "a number above 0", least=math.ulp(0.0))


def name_key(name: str) -> str:
    """Return the letters and digits of a name, in lower case, by which names are compared.

    Examples
    --------
    >>> name_key("#Cores"), name_key("wall time"), name_key("Machine_Type")
    ('cores', 'walltime', 'machinetype')
    """
    return "".join(sign for sign in name.lower() if sign.isalnum())


def table_line(cells: Sequence[object]) -> bytes:
    """Return cells as a line of a CSV file, its end included."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def read_table(path: Path) -> TextTable:
    """Read a table whose first line names its columns.

    Tabs, semicolons, bars, commas or blanks stand between the values: the first of these that the
    header has. Lines that begin with ``#`` are comments, except for a header of that kind before
    numbers, as in ``#Cores,Time``; lines of dashes are rules. Spaces around names and values do not
    count, nor do empty values after the last column.

    Raises
    ------
    RequestError
        If the file cannot be read, has no header or no rows, names a column twice, or a row has
        more or fewer values than there are columns.
    """
    lines = _read_lines(path)
    mark = _delimiter(lines)
    number, columns, rows = _header_and_rows(path, _cells(path, lines, mark))
    while not columns[-1]:
        columns.pop()
    twice = next((name for name, count in Counter(columns).items() if count > 1), None)
    if twice is not None:
        raise RequestError(f"{path}:{number}: the column {twice!r} comes twice")
    if not rows:
        raise RequestError(f"{path} has a header but no rows")
    found = []
    for line, cells in rows:
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()
        if len(cells) != len(columns):
            raise RequestError(
                f"{path}:{line}: the row has {len(cells)} values, but the header {len(columns)}"
            )
        found.append(Row(path, line, dict(zip(columns, cells, strict=True)), mark != ","))
    return TextTable(path, columns, found)


Line = tuple[int, list[str]]
_GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?$")
_SPACED = re.compile(r"-?[0-9]{1,3}(?=([ \u00a0\u2009\u202f'’]))(?:\1[0-9]{3})+(?![0-9])")
_DECIMAL_COMMA = re.compile(r"-?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+(?![0-9,])")
_RULE = re.compile(r"[-=+|:\s]*[-=]{2}[-=+|:\s]*$")


def _read_lines(path: Path) -> list[str]:
    try:
        if str(path) != "-" and not path.exists():
            raise RequestError(f"there is no file {path}; accepted: a CSV or TSV file")
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(f"{path} is no text; accepted: a CSV or TSV file") from None
    except OSError as error:  # a name that is too long
        raise RequestError(f"cannot read {path}: {error.strerror}") from error
    if "\0" in text:
        raise RequestError(f"{path} is no text; accepted: a CSV or TSV file")
    return text.splitlines(keepends=True)


def _says(line: str) -> bool:
    """Whether a line holds more than blanks, or a rule under a header."""
    return bool(line.strip()) and _RULE.match(line) is None


def _delimiter(lines: Sequence[str]) -> str:
    """Return what stands between the names of the header."""
    header = ""
    for line in filter(_says, lines):
        comment = line.lstrip().startswith("#")
        if comment or not header or any(sign.isalpha() for sign in line):
            header = line.strip().strip("#| ")
        if not comment:
            break
    return next((mark for mark in ("\t", ";", "|", ",", " ") if mark in header), ",")


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
        raise RequestError(f"{path} is empty; accepted: a table whose first line names its columns")
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
    try:
        float(cell)
    except ValueError:
        return bool(cell) and not any(sign.isalpha() for sign in cell)
    return True
