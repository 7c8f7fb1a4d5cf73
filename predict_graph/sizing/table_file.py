"""Small tables in text files: CSV or TSV, with the line of each row for the errors."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from predict_graph.errors import RequestError
from predict_graph.inputs import read_bytes

__all__ = ["Row", "TextTable", "positive", "read_table", "table_line"]


@dataclass(frozen=True)
class Row:
    """One row: its texts by column, and where it is."""

    path: Path
    line: int
    cells: dict[str, str]

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class TextTable:
    """Columns and rows of a file."""

    path: Path
    columns: list[str]
    rows: list[Row]

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


def positive(row: Row, column: str) -> float:
    """Return the number in a column of a row.

    Raises
    ------
    RequestError
        If it is no positive, finite number; names file, line and value.
    """
    text = row.cells[column]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise RequestError(f"{row.place}: {column} is {text[:60]!r}; accepted: a number above 0")
    return value


def table_line(cells: Sequence[object]) -> bytes:
    """Return cells as a line of a CSV file, its end included."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def read_table(path: Path) -> TextTable:
    """Read a table whose first line names its columns, with commas, semicolons or tabs between.

    Lines that begin with ``#`` are comments, except for a header of that kind before numbers, as
    in ``#Cores,Time``. Spaces around names and values do not count.

    Raises
    ------
    RequestError
        If the file cannot be read, has no header or no rows, names a column twice, or a row has
        more or fewer values than there are columns.
    """
    lines = list(_lines(path))
    if not lines:
        raise RequestError(f"{path} is empty; accepted: a table whose first line names its columns")
    header_line, header, rows = _split_header(path, lines)
    columns = [name.strip() for name in header]
    for name in columns:
        if columns.count(name) > 1:
            raise RequestError(f"{path}:{header_line}: the column {name!r} comes twice")
    if not rows:
        raise RequestError(f"{path} has a header but no rows")
    found = []
    for line, cells in rows:
        if len(cells) != len(columns):
            raise RequestError(
                f"{path}:{line}: the row has {len(cells)} values, but the header {len(columns)}"
            )
        texts = (cell.strip() for cell in cells)
        found.append(Row(path, line, dict(zip(columns, texts, strict=True))))
    return TextTable(path, columns, found)


Line = tuple[int, list[str]]


def _lines(path: Path) -> Iterator[Line]:
    """Yield line number and values of each line that is not blank."""
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
    reader = csv.reader(text.splitlines(keepends=True), delimiter=_delimiter(text))
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise RequestError(f"{path}:{reader.line_num}: {error}") from error


def _delimiter(text: str) -> str:
    """Return what stands between the values of the first line that has any such thing."""
    for line in text.splitlines():
        for mark in ("\t", ";", ","):
            if mark in line:
                return mark
    return ","


def _split_header(path: Path, lines: Sequence[Line]) -> tuple[int, list[str], list[Line]]:
    comments = [line for line in lines if line[1][0].lstrip().startswith("#")]
    rows = [line for line in lines if not line[1][0].lstrip().startswith("#")]
    if rows and not all(_is_number(cell) for cell in rows[0][1]):
        return rows[0][0], rows[0][1], rows[1:]
    before = [line for line in comments if not rows or line[0] < rows[0][0]]
    if not before:
        raise RequestError(
            f"{path}:{rows[0][0]}: the first line has numbers only; accepted: a first line that "
            "names the columns, such as scale,machines,seconds"
        )
    number, cells = before[-1]
    return number, [cells[0].lstrip().lstrip("#"), *cells[1:]], rows


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
