"""How the lines of an edge list are laid out, and what is wrong with one.

Rules:

- A line whose first character is ``#`` or ``%`` is a comment, anywhere; blank lines do not count.
  Where text ids stand in ``.csv`` and ``.tsv`` files, a blank, a control character or a second mark
  has to follow it.
- The delimiter is that of the first line of data: a comma, a semicolon, a tab (in ``.tsv`` files
  and for text ids), or else any run of blanks.
- The first line of data is a header if neither of its first two fields is a number and either its
  fields name a source and a target (see :mod:`~predict_graph.graph.columns`) or some column is a
  number in every other line. It is an edge if one of its ids comes again, and refused otherwise.
- With a header, columns are found by their names. Where each line has one column more, the first
  is an index without a name; other lines with more columns are refused.
- Without a header the first two columns are the ids and a third is the weight, unless it holds Unix
  times or labels; further columns are ignored.
- Ids are integers if those in the first 64 KiB are all numbers, else text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

from predict_graph.errors import RequestError
from predict_graph.graph.columns import Columns, declared_in, ends_named, find_columns, pair_of
from predict_graph.graph.edge_list import EdgeList
from predict_graph.limits import whole_number

_NUMERIC = re.compile(r"[+-]?(?:[0-9.]|inf|nan)", re.IGNORECASE)  # what may be a damaged weight
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")  # ISO 8601
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
# A line in which a comma is the decimal mark of a number after the first two columns.
_DECIMAL_LINE = re.compile(
    rb"[^,;\t]+([;\t])[^,;\t]+\1(?:[^,;\t]*\1)*[ \t]*\"?[+-]?[0-9]*,[0-9]+\"?[ \r]*(?:\1|$)"
)
_FIELD = rb'[\s,;|"]%b[\s,;|"]'  # with what may be before and after it
LARGEST_ID = 2**63 - 1  # by definition of 64-bit integers
ONE_COLUMN = "the line has one column; accepted: two ids a line, source and target"
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Layout:
    """How the lines of a text file are made.

    Parameters
    ----------
    delimiter : int
        Byte between two columns; 0 for any run of blanks.
    columns : Columns
        Places of the two ids and of the weight.
    width : int
        The number of columns that a line may have; 0 for any.
    header : bool
        True when the first line of data holds the names of the columns.
    texts : bool
        True when ids are text.
    controls : bool
        False when control characters are refused, as in text ids that the user has not declared.
    hash_ids : bool
        True when ids may begin with ``#`` or ``%``.
    point : str
        The decimal mark of weights.
    directed : bool, optional
        What comments or a column say, if they do.
    notes : tuple of str
        What was assumed.
    lowest, highest : int
        The ids that are accepted; the lowest one becomes 0.
    """

    delimiter: int
    columns: Columns
    width: int = 0
    header: bool = False
    texts: bool = False
    controls: bool = True
    hash_ids: bool = False
    point: str = "."
    directed: bool | None = None
    notes: tuple[str, ...] = ()
    lowest: int = 0
    highest: int = LARGEST_ID


@dataclass
class FirstData:
    """Where the data of a text file begin.

    Attributes
    ----------
    block : bytearray
        Whole lines, from the first line of data on.
    text : bytes
        That line, without the blanks around it; empty when there is none.
    number : int
        Its number, from 1 on.
    comments : bytes
        The comments before it, the first kilobytes of them.
    rest : iterator of bytearray
        The blocks that follow.
    """

    block: bytearray
    text: bytes
    number: int
    comments: bytes
    rest: Iterator[bytearray]

    def blocks(self) -> Iterator[bytearray]:
        """Return all blocks of data."""
        return chain([self.block], self.rest)

    def blank(self) -> None:
        """Remove the line but for its end, so that the numbers of the others stay right."""
        del self.block[: self.block.index(b"\n")]

    def lines(self) -> list[bytes]:
        """Return lines that show how all of them are laid out: one if they are plain."""
        sample = bytes(self.block[:SAMPLE])
        sample = sample[: sample.rfind(b"\n") + 1] or bytes(self.block)
        if _PLAIN.fullmatch(sample):
            return [self.text]
        lines = map(bytes.strip, sample.split(b"\n"))
        return [line for line in lines if line and not _COMMENT.match(line)]


SAMPLE = 1 << 16  # bytes of data that decide the layout, as docs/graphs.md says
# Blank lines, comments, and the delimiter as Excel is given it, up to the first line of data.
_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?((?:\s*(?:[#%][^\n]*|(?i:sep=).\r?)?\n)*+)")
_PLAIN = re.compile(rb"(?:[0-9]+[ \t,;][0-9]+\r?\n)+")
_HASH_ID = re.compile(rb"^[#%][^\s#%][^\n]*[,;\t]", re.MULTILINE)
_COMMENT = re.compile(rb"[#%](?:[\s#%]|$|[^,;\t]*$)")


def first_data(blocks: Iterator[bytearray]) -> FirstData:
    """Take blocks up to the first line of data, neither blank nor a comment, and a sample of it."""
    comments, number = b"", 1
    for block in blocks:
        head: Any = _HEAD.match(block)
        number += head[1].count(b"\n")
        lines = map(bytes.strip, bytes(head[1][:SAMPLE]).split(b"\n"))
        comments = (comments + b"".join(line + b"\n" for line in lines if line))[:SAMPLE]
        if head.end() < len(block):
            del block[: head.end()]
            while len(block) < SAMPLE and (more := next(blocks, None)):
                block += more
            line = block[: block.index(b"\n")].strip()
            return FirstData(block, bytes(line), number, comments, blocks)
    return FirstData(bytearray(), b"", number, comments, blocks)


# The first line of KONECT's files, whose two-mode graphs are undirected; comments of SNAP's.
_KONECT = re.compile(rb"%[ \t]*(sym|asym|bip)\b")
_UNDIRECTED = re.compile(
    rb"\b(un)?directed (?:graph|network|edges)"
    rb"|\b(?:graph|network|edges)(?: is| are|:)? (un)?directed"
    rb"|^[#%][ \t]*(un)?directed[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
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
    said = {not any(found.groups()) for found in _UNDIRECTED.finditer(comments)}
    return said.pop() if len(said) == 1 else None


def layout_of(found: FirstData, path: Any, suffix: str, wanted: EdgeList) -> Layout:
    """Return how the lines of a file are laid out.

    Parameters
    ----------
    found : FirstData
        The first lines of data, and the comments before them.
    path : Path or str
        The file, for errors.
    suffix : str
        Of the file.
    wanted : EdgeList
        What the user says.

    Raises
    ------
    RequestError
        If they are not those of an edge list, or do not say what a column holds.
    """
    place, comments = f"{path}:{found.number}", found.comments
    if b"\r" in found.text:
        raise RequestError(
            f"{place}: the line has a carriage return inside; accepted: lines that end with a line "
            "feed, or both"
        )
    delimiter = _delimiter(found.text, suffix, wanted)
    rows = [[field.strip() for field in _split(line, delimiter)] for line in found.lines()]
    if len(rows[0]) < 2:
        raise RequestError(f"{place}: {ONE_COLUMN}")
    header = wanted.header or wanted.named
    notes: list[str] = []
    if wanted.header is None and not header:
        header = _has_header(rows, found.block, place, notes)
    if header and {len(row) - len(rows[0]) for row in rows[1:]} == {1}:
        # An index without a name, as pandas and R write it, or a delimiter at the end of each line
        rows[0].insert(0 if any(row[-1] for row in rows[1:]) else len(rows[0]), "")
    chosen = wanted.source_column is not None
    if not chosen and _is_matrix(rows, header):
        raise RequestError(
            f"{place}: the lines seem to be those of an adjacency matrix; accepted: a list of "
            "edges, or columns by --src-column and --dst-column"
        )
    columns = None
    if not header and not chosen:
        columns = _named_by_comment(comments, delimiter, rows[0], wanted)
    if columns is None:
        names = rows[0] if header else [str(at + 1) for at in range(len(rows[0]))]
        columns = find_columns(names, place, wanted)
        if not header and not chosen:
            columns = _with_weight(columns, rows, wanted, place, notes)
    notes += columns.notes(rows[0] if header else (), wanted)
    data = rows[header:]
    if not chosen and not columns.bipartite and not pair_of(rows[0]):
        _check_ends(data, columns, place)
    texts = wanted.ids == "string"
    if wanted.ids is None:
        ends = columns.places[:2]
        text = next((text for text in _fields(data, ends) if not NUMBER.fullmatch(text)), None)
        texts = text is not None
        if text is not None and all(map(NUMBER.fullmatch, _fields(data[:1], ends))):
            notes.append(f"ids read as text because of {text[:40]!r} (--ids integer refuses it)")
    hash_ids = texts and suffix in (".csv", ".tsv")
    if hash_ids and _HASH_ID.search(comments):
        raise RequestError(
            f"{path}: a line before the first one of data begins with '#' and no blank, which may "
            "be a comment or an id; accepted: a header before it, or a blank after the '#'"
        )
    kinds = _fields(data, [] if columns.kind is None else [columns.kind])
    directed = declared_direction(comments)
    commas = map(_DECIMAL_COMMA.fullmatch, _fields(data, columns.places[2:]))
    konect = comments.startswith(b"% bip") and wanted.bipartite is None
    return Layout(
        delimiter,
        replace(columns, bipartite=columns.bipartite or konect),
        width=len(rows[0]) if header or len(rows[0]) == 2 else 0,
        header=header,
        texts=texts,
        controls=not texts or wanted.ids == "string",
        hash_ids=hash_ids,
        point="," if delimiter in b";\t" and any(commas) else ".",
        directed=declared_in(kinds) if directed is None else directed,
        notes=tuple(notes),
    )


def _has_header(
    rows: list[list[str]], block: bytes | bytearray, place: str, notes: list[str]
) -> bool:
    """Return whether the first line holds the names of columns; add a note if that is a guess."""
    names, data = rows[0], rows[1:]
    numbered = [*filter(None, names)] == [str(at) for at in range(len(names) - (not names[0]))]
    texts = not any(map(NUMBER.fullmatch, _fields(data, [0, 1])))
    if numbered and data and (texts or not names[0]):
        return True  # of columns without names, as pandas writes them
    if any(map(NUMBER.fullmatch, names[:2])) or not data:
        return pair_of(names) and not data
    if pair_of(names) or any(
        not NUMBER.fullmatch(name)
        and all(len(row) > at and NUMBER.fullmatch(row[at]) for row in data)
        for at, name in enumerate(names)
    ):
        return True
    after = bytes(block[block.find(b"\n") :])
    if any(name and re.search(_FIELD % re.escape(name.encode()), after) for name in names[:2]):
        return False
    if after.count(b"\n") > 100:  # a wrong guess harms one edge in a hundred
        shown = ", ".join(names)[:80]
        notes.append(f"the first line, {shown}, read as names of columns (--no-header: an edge)")
        return True
    raise RequestError(
        f"{place}: the first line may hold names of columns, or an edge; accepted: --header or "
        "--no-header (header= of EdgeList)"
    )


def _named_by_comment(
    comments: bytes, delimiter: int, row: list[str], wanted: EdgeList
) -> Columns | None:
    """Return what the last comment names, if that is not the first two of three or more columns."""
    last = comments.strip().rpartition(b"\n")[2].lstrip(b"#% ")
    names = _split(last, delimiter or (ord("\t") if b"\t" in last else 0))
    if len(names) != len(row) or not ends_named(names):
        return None
    try:
        found = find_columns(names, "the comment", wanted)
    except RequestError:
        return None
    return None if found.places[:2] == [0, 1] else found


def _is_matrix(rows: list[list[str]], header: bool) -> bool:
    """Whether lines are rows of zeros and ones, or of zeros on a diagonal, or named twice."""
    if header:
        firsts = [row[0] for row in rows[1:]]
        return len(firsts) > 1 and firsts == rows[0][1 : len(firsts) + 1]
    size = len(rows[0])
    if size < 4 or any(len(row) != size for row in rows):  # no edge and its weight
        return False
    cells = [[float(cell) if NUMBER.fullmatch(cell) else None for cell in row] for row in rows]
    diagonal = {row[at] for at, row in enumerate(cells[:size])}
    return {*chain(*cells)} == {0.0, 1.0} or (len(rows) == size and diagonal == {0.0})


def _check_ends(data: list[list[str]], columns: Columns, place: str) -> None:
    """Refuse columns that hold arrows, heads of adjacency lists, or ids next to properties."""
    one, other = ends = [list(_fields(data, [at])) for at in columns.places[:2]]
    marks = any(not any(map(str.isalnum, chain(*each))) for each in ends)
    heads = all(field.endswith(":") for field in one)
    kinds = [{NUMBER.fullmatch(field) is not None for field in each} for each in ends]
    if len(data) > 1 and all(ends) and (marks or heads or ({True} in kinds and {False} in kinds)):
        raise RequestError(
            f"{place}: the ids would be such as {one[0][:40]!r} and {other[0][:40]!r}, which are "
            "unlike; accepted: the columns of the two ends by --src-column and --dst-column"
        )


def _with_weight(
    columns: Columns, rows: list[list[str]], wanted: EdgeList, place: str, notes: list[str]
) -> Columns:
    """Return the columns of lines without names: two ids, and a third that may be the weight."""
    lengths = [len(row) for row in rows]
    if max(lengths) > 3 and min(lengths) < max(lengths):
        raise RequestError(
            f"{place}: the lines have {min(lengths)} to {max(lengths)} columns; accepted: as many "
            "in each line, an adjacency list in a file whose name ends in .adjlist, or columns "
            "by --src-column and --dst-column"
        )
    if len(rows[0]) < 3:
        return columns
    own = [[row[at] for row in rows if at < len(row)] for at in range(3)]
    times = [all(map(_is_time, column)) for column in own]
    dates = bool(_DATE.match(own[0][0]))
    if times[0] and not times[1] and (dates or all(map(str.isdigit, own[2]))):
        raise RequestError(
            f"{place}: the first column seems to hold times, such as {own[0][0]}; accepted: "
            "--src-column and --dst-column with the numbers of the columns, from 1 on"
        )
    heads, middle, tails = map(set, own)
    words = not any(map(_NUMERIC.match, own[2]))
    if words and heads & tails and not middle & (heads | tails):
        raise RequestError(
            f"{place}: the second column seems to hold labels of edges, such as "
            f"{own[1][0][:40]!r}; accepted: --src-column and --dst-column with the numbers of the "
            "columns, from 1 on"
        )
    if wanted.weight_column is not None or not own[2][0]:
        return columns
    if times[2] or words:
        what = f"{'times' if times[2] else 'labels'}, such as {own[2][0][:40]}"
        notes.append(f"no weights read: the third column holds {what}")
        return columns
    return replace(columns, weight=2)


def _is_time(field: str) -> bool:
    """Whether a field may be a date, or a Unix time in seconds or milliseconds since 1973."""
    value = whole_number(field) or 0
    times = (10**8 <= value / unit < 2**32 for unit in (1, 1000))
    return _DATE.match(field) is not None or any(times)


def _fields(rows: list[list[str]], places: list[int]) -> Iterator[str]:
    """Yield what stands in some columns, row by row."""
    return (row[at] for row in rows for at in places if at < len(row) and row[at])


def _delimiter(line: bytes, suffix: str, wanted: EdgeList) -> int:
    tab, ids = b"\t" in line and suffix != ".csv", wanted.ids
    if tab and ids is None:  # text ids may hold blanks, commas and semicolons
        # Several tabs stand for one, unless the numbers of columns are given.
        kept = [x for x in _split(line, ord("\t")) if x or wanted.source_column is not None]
        tab = not all(map(NUMBER.fullmatch, kept[:2]))
    if decimal := _DECIMAL_LINE.match(line):
        return decimal[1][0]
    line = re.sub(rb'"[^"]*"', b'""', line)  # quoted ids may hold any delimiter
    if tab and (ids != "integer" or suffix == ".tsv"):
        return ord("\t")
    bars = b"" if re.search(rb"^[|]|[ \t]", line) else b"|"
    for byte in b",;" + bars:
        if byte in line:
            return byte
    return ord("\t") if b"\t" in line and suffix == ".tsv" else 0


def _split(line: bytes, delimiter: int) -> list[str]:
    text = line.decode("utf-8", errors="replace").strip(" \r\n" if delimiter else None)
    return fields_of(text, delimiter, strict=False)


def fields_of(text: str, delimiter: int, *, strict: bool = True) -> list[str]:
    """Return the fields of a line, quoted or plain; if not strict, a wrong one is the rest of it.

    Raises
    ------
    ValueError
        If a quoted field does not end, or is not all of its field.
    """
    if '"' not in text:
        plain = text.split(chr(delimiter)) if delimiter else re.split("[ \t\r]+", text)
        return [field.strip(" \t") for field in plain]
    pattern, row, at, between = _field_pattern(delimiter), list[str](), 0, "first"
    while between:
        found = pattern.match(text, at)
        if found is None:
            if not strict:
                return [*row, text[at:].strip().removeprefix('"')]
            if re.compile(r'\s*"(?:[^"]|"")*"').match(text, at):
                raise ValueError("text follows a closing quote")
            raise ValueError("a quoted field does not end on its line")
        row.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        at, between = found.end(), found[3]
    return row


@cache
def _field_pattern(delimiter: int) -> re.Pattern[str]:
    """Return the pattern of a field, quoted or plain, with what is between it and the next one."""
    if not delimiter:
        return re.compile(r'[ \t\r]*(?:"((?:[^"]|"")*)"|([^ \t\r"][^ \t\r]*))([ \t\r]+|\Z)')
    blank, mark = "[ ]" if delimiter == ord("\t") else "[ \t]", re.escape(chr(delimiter))
    plain = rf'(?:(?!{blank})[^{mark}"][^{mark}]*?)?'
    return re.compile(rf'{blank}*(?:"((?:[^"]|"")*)"|({plain})){blank}*({mark}|\Z)')
