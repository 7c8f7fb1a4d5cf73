"""How the lines of an edge list are laid out, and what is wrong with one.

Rules:

- A line whose first character is ``#`` or ``%`` is a comment, anywhere; blank lines do not count.
- The delimiter is that of the first line of data: a comma, a semicolon, a tab (in ``.tsv`` files
  and for text ids), or else any run of blanks.
- In ``.csv`` and ``.tsv`` files, the first line of data is a header when neither of its first two
  fields is a number; with text ids, when it names a source and a target in words such as
  ``source``, ``from``, ``src``. In other files it is one when it does so, and the ids are integers.
- Without a header the first two columns are the ids and a third is the weight; further columns are
  ignored. With a header, the columns are found by their names, or else are the first two, and only
  a column called ``weight`` (``weights``, ``w``, ``value``) is a weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from predict_graph.errors import RequestError
from predict_graph.graph.readers import scan

__all__ = [
    "LARGEST_ID",
    "FirstData",
    "Layout",
    "declared_direction",
    "find_columns",
    "first_data",
    "layout_of",
    "scan_error",
    "wrong_field",
]

LARGEST_ID = 2**63 - 1  # by definition: of int64
_SOURCES = ("source", "src", "from", "fromnodeid", "id_1", "node_1", "start", "node1", "id1")
_TARGETS = ("target", "dst", "to", "tonodeid", "id_2", "node_2", "end", "node2", "id2")
_WEIGHTS = ("weight", "weights", "w", "value")


@dataclass(frozen=True)
class Layout:
    """How the lines of a text file are made.

    Parameters
    ----------
    delimiter : int
        Byte between two columns; 0 for any run of blanks.
    source, target : int
        Columns of the two ids.
    weight : int, optional
        Column of the weight.
    exact : bool
        True when a line may have no further column.
    header : bool
        True when the first line of data holds the names of the columns.
    """

    delimiter: int
    source: int = 0
    target: int = 1
    weight: int | None = None
    exact: bool = False
    header: bool = False


def scan_error(
    path: Path, line: int, code: int, field: str, lowest: int = 0, highest: int = LARGEST_ID
) -> RequestError:
    """Say what is wrong in a line, and what is accepted."""
    place = f"{path}:{line}"
    what = {
        scan.NOT_INTEGER: f"{field!r} is not an id; accepted: integers from 0 on, "
        "or any text with --ids string",
        scan.NEGATIVE: f"{field!r} is not an id; accepted: integers from 0 on, "
        "or any text with --ids string",
        scan.EMPTY: "an id is missing; accepted: two ids a line, source and target",
        scan.TOO_LARGE: f"the id {field} is too large; accepted: 0 to {LARGEST_ID}, "
        "or any text with --ids string",
        scan.OUT_OF_RANGE: f"the id {field} is out of range; accepted: {lowest} to {highest}",
        scan.ONE_COLUMN: "the line has one column; accepted: two ids a line, source and target",
        scan.EXTRA: "the line has more columns than the first one",
        scan.MISSING_WEIGHT: "the line has no weight, although the first one has",
        scan.NOT_NUMBER: f"{field!r} is not a weight; accepted: finite numbers",
    }
    return RequestError(f"{place}: {what[code]}")


@dataclass
class FirstData:
    """Where the data of a text file begin.

    Attributes
    ----------
    block : bytearray
        Whole lines, from the first line of data on.
    text : bytes or None
        That line, stripped; None when there is none.
    number : int
        Its number, from 1 on.
    comments : bytes
        The comments before it, the first kilobytes of them.
    rest : iterator of bytearray
        The blocks that follow.
    """

    block: bytearray
    text: bytes | None
    number: int
    comments: bytes
    rest: Iterator[bytearray]

    def blocks(self) -> Iterator[bytearray]:
        """Return all blocks of data."""
        return chain([self.block], self.rest)

    def blank(self) -> None:
        """Overwrite the line by blanks, so that the numbers of the others stay right."""
        stop = self.block.index(b"\n")
        self.block[:stop] = b" " * stop


_KEPT_COMMENTS = 1 << 16  # a choice: bytes
_NOT_BLANK = re.compile(rb"\S")


def first_data(blocks: Iterator[bytearray], comment: bytes = b"#%") -> FirstData:
    """Take blocks up to the first line of data: neither blank nor a comment.

    What comes before is not kept, however much it is.
    """
    comments = bytearray()
    number = 1
    for place, block in enumerate(blocks):
        if place == 0 and block.startswith(b"\xef\xbb\xbf"):
            del block[:3]
        at = 0
        while found := _NOT_BLANK.search(block, at):
            number += block.count(b"\n", at, found.start())
            begin = max(block.rfind(b"\n", at, found.start()) + 1, at)
            stop = block.index(b"\n", found.start())
            line = bytes(block[begin:stop]).strip()
            if line[:1] not in {comment[i : i + 1] for i in range(len(comment))}:
                del block[:begin]
                return FirstData(block, line, number, bytes(comments), blocks)
            if len(comments) < _KEPT_COMMENTS:
                comments += line[:_KEPT_COMMENTS] + b"\n"
            number += 1
            at = stop + 1
        number += block.count(b"\n", at)
    return FirstData(bytearray(), None, number, bytes(comments), blocks)


# The first line of KONECT's files, whose two-mode graphs are undirected; comments of SNAP's.
_KONECT = re.compile(rb"%[ \t]*(sym|asym|bip)\b")
_UNDIRECTED = re.compile(
    rb"\b(un)?directed (?:graph|network|edges)"
    rb"|\b(?:graph|network|edges)(?: is| are|:)? (un)?directed",
    re.IGNORECASE,
)


def declared_direction(comments: bytes) -> bool | None:
    """Return whether the comments of a file say that edges have a direction; None if neither.

    Examples
    --------
    >>> declared_direction(b"% sym unweighted"), declared_direction(b"# Directed graph: a.txt")
    (False, True)
    """
    konect = _KONECT.match(comments)
    if konect:
        return konect[1] == b"asym"
    said = {not (found[1] or found[2]) for found in _UNDIRECTED.finditer(comments)}
    return said.pop() if len(said) == 1 else None


def layout_of(line: bytes, suffix: str, ids: str, place: str) -> Layout:
    """Return how the lines of a file are laid out, from its first one.

    Raises
    ------
    RequestError
        If it has one column; `place` names file and line.
    """
    if b"\r" in line:
        raise RequestError(
            f"{place}: the line has a carriage return inside; accepted: lines that end with a line "
            "feed, or both"
        )
    delimiter = _delimiter(line, suffix, ids)
    fields = _split(line, delimiter)
    if len(fields) < 2:
        raise RequestError(
            f"{place}: the line has one column; accepted: two ids a line, source and target"
        )
    names = [field.strip().strip('"').lower().lstrip("~") for field in fields]
    source, target, weight = find_columns(names)
    named = bool({*names} & {*_SOURCES}) and bool({*names} & {*_TARGETS})
    tabular = suffix in (".csv", ".tsv")
    if ids == "string":
        header = named and tabular
    else:
        header = (named or tabular) and not any(_like_number(name) for name in names[:2])
    if not header:
        weighted = len(names) > 2 and names[2] != ""
        return Layout(delimiter, weight=2 if weighted else None, exact=len(names) == 2)
    return Layout(delimiter, source, target, weight, header=True)


def find_columns(names: list[str]) -> tuple[int, int, int | None]:
    """Return the columns of the source, the target and the weight, by their names.

    The source and the target are the first two columns when the names do not tell.

    Examples
    --------
    >>> find_columns(["weight", "From", "to"])
    (1, 2, 0)
    >>> find_columns(["a", "b", "c"])
    (0, 1, None)
    """
    lower = [name.strip().lower() for name in names]

    def find(accepted: tuple[str, ...]) -> int | None:
        return next((lower.index(name) for name in accepted if name in lower), None)

    source, target, weight = find(_SOURCES), find(_TARGETS), find(_WEIGHTS)
    if source is None or target is None:
        source, target = 0, 1
    return source, target, None if weight in (source, target) else weight


def _delimiter(line: bytes, suffix: str, ids: str) -> int:
    tab = b"\t" in line and (ids == "string" or suffix == ".tsv")
    if tab and suffix != ".csv":  # text ids may hold commas and semicolons
        return ord("\t")
    for byte in b",;":
        if bytes([byte]) in line:
            return byte
    return ord("\t") if tab else 0


def _split(line: bytes, delimiter: int) -> list[str]:
    text = line.decode("utf-8", errors="replace")
    if delimiter == 0:
        return text.split()
    import csv

    try:
        return next(csv.reader([text], delimiter=chr(delimiter)))
    except csv.Error:  # a field beyond 128 KiB, a zero byte
        return text.split(chr(delimiter))


def _like_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] in "+-." and text[1:2].isdigit())


def wrong_field(block: bytearray, at: int, delimiter: int) -> str:
    """Return the field that begins at `at`, for an error."""
    stop = block.find(b"\n", at)
    rest = block[at : stop if stop >= 0 else len(block)].strip(b" \r\t")
    if delimiter:
        field = rest.split(bytes([delimiter]), 1)[0].strip()
    else:
        field = next(iter(rest.split(None, 1)), rest)  # all of it may be form feeds
    text = bytes(field).decode("utf-8", errors="replace")
    return text if len(text) <= 40 else text[:37] + "..."
