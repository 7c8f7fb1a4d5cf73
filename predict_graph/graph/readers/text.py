"""Edge lists as text: SNAP files, CSV and TSV; how lines are laid out is in :mod:`layout`.

What is right in a block of lines is read at once, what is wrong row by row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from predict_graph.arrays import Array, Bytes, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeBlock, EdgeList, EdgeSource
from predict_graph.graph.readers.layout import (
    LARGEST_ID,
    NUMBER,
    ONE_COLUMN,
    SAMPLE,
    FirstData,
    Layout,
    fields_of,
    first_data,
    layout_of,
)
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import whole_number
from predict_graph.stopwatch import imported

_OTHER = re.compile(rb'(?i)(<(?:!doctype|html|[?]xml)\b)|((?:[\[{]\s*)+"|\[\s*\[\d+,)|version http')


def open_text(content: Content, wanted: EdgeList, further: Sequence[Path] = ()) -> EdgeSource:
    """Open an edge list, with `further` files that continue it; the first ones show the layout.

    Raises
    ------
    RequestError
        If no file holds a line of data or the first lines are not those of an edge list.
    """
    parts, held, sample = _parts(content, further), list[tuple[Path, FirstData]](), bytearray()
    while len(sample) < SAMPLE and (more := next(parts, None)):
        again = held and more[1].text == held[0][1].text  # a header, which Spark repeats
        sample += more[1].block.partition(b"\n")[2] if again else more[1].block
        held.append(more)
    if not held:
        raise RequestError(f"{content.path} has no edges")
    path, found = held[0]
    layout = layout_of(replace(found, block=sample), path, content.suffix, wanted)
    header = found.text if layout.header else None

    def edges() -> Iterator[EdgeBlock]:
        for file, part in chain(held, parts):
            if part.text == header:
                part.blank()
            yield from scan_blocks(file, part.blocks(), layout, line=part.number - 1)

    bipartite = layout.columns.bipartite
    return EdgeSource(edges(), directed=layout.directed, bipartite=bipartite, notes=layout.notes)


# APOC of Neo4j writes rows of nodes, then those of relationships, whose first columns are empty.
_NODE = re.compile(rb'^(?!\xef\xbb\xbf|"?_id\b|,|"",)[^\n]+', re.MULTILINE)


def _parts(content: Content, further: Sequence[Path]) -> Iterator[tuple[Path, FirstData]]:
    """Yield each file with where its data begin, but those without data."""
    for each in chain([content], map(Content, further)):
        if other := _OTHER.match(each.start):
            kinds = ("a pointer of Git LFS", "a page of HTML or XML", "JSON")
            raise RequestError(
                f"{each.path} holds {kinds[other.lastindex or 0]}; accepted: a list of edges"
            )
        lines = each.lines()
        if each.start.startswith((b"_id,_labels,", b'"_id","_labels",')):
            lines = (bytearray(_NODE.sub(b"", block)) for block in lines)
        found = first_data(map(_without_attributes, lines) if b"{" in each.start else lines)
        if found.text:
            yield each.path, found


_ATTRIBUTES = re.compile(rb"([,;\t]?)\{(['\"}][^\n]*)")
_WEIGHT = re.compile(rb"['\"]weight['\"]:[ ]*([^,}\s]+)")


def _without_attributes(block: bytearray) -> bytearray:
    """Return lines without the dictionaries that networkx writes after edges, but their weight."""

    def weight(found: re.Match[bytes]) -> bytes:
        if not found[2].rstrip().endswith(b"}"):
            return found[0]
        value = _WEIGHT.search(found[2])
        return b"" if value is None else found[1] + value[1]

    return bytearray(_ATTRIBUTES.sub(weight, block))


LARGEST_WEIGHT = float(np.finfo(np.float32).max)
_WHOLE = re.compile(r"([0-9]+)(?:\.0+)?")
_CONTROLS = bytes([*range(9), *range(14, 32), 127])
_FLOAT = re.compile(rb'(?<![^\s,;|"])([0-9]+)\.0+(?![^\s,;|"])')  # a whole number
# Where text ids may begin with the mark of a comment, that of a comment is followed by a blank, a
# control character or another mark.
_COMMENTS = {
    False: re.compile(rb"^[ \t\r]*[#%][^\n]*", re.MULTILINE),
    True: re.compile(rb"^[ \t\r]*[#%](?=[\x00-\x20#%])[^\n]*", re.MULTILINE),
}


def scan_blocks(
    path: Path, blocks: Iterator[bytearray], layout: Layout, line: int = 0
) -> Iterator[EdgeBlock]:
    """Yield the edges of blocks of whole lines; errors number them from `line` + 1 on.

    Compiled code scans lines of two whole numbers, pyarrow reads other columns. A block in which
    something is wrong, or that pyarrow could read otherwise, is read row by row.
    """
    for block in blocks:
        found = _pairs_of(block, layout) or _columns_of(block, layout)
        if found is None and not layout.texts and layout.point == ".":
            found = _columns_of(bytearray(_FLOAT.sub(rb"\1", block)), layout)
        found = found or _rows_of(path, block, layout, line)
        line += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
        if found is not None and len(found.sources):
            yield found


def _pairs_of(block: bytearray, layout: Layout) -> EdgeBlock | None:
    """Return the edges of lines of two whole numbers; None if there are other lines."""
    whole = not layout.texts and layout.columns.places == [0, 1]
    found = whole_rows(block, layout.delimiter) if whole else None
    if found is None or not np.all((found[0] == 2) | (found[0] == 0)):
        return None
    return _in_range(found[1].reshape(-1, 2).T, layout)


def whole_rows(block: bytearray, delimiter: int) -> tuple[IntArray, IntArray] | None:
    """Return how many numbers each line has, and all of them; None if some are no whole numbers."""
    lengths = np.empty(len(block), np.int64)  # a line takes a byte at least, a number two
    values = np.empty(len(block) // 2 + 1, np.int64)
    lines, count = _scan(np.frombuffer(block, np.uint8), delimiter, lengths, values)
    return None if count < 0 else (lengths[:lines], values[:count])


@njit(cache=True, nogil=True)
def _scan(buffer: Bytes, delimiter: int, lengths: IntArray, values: IntArray) -> tuple[int, int]:
    """Fill the numbers of lines, and how many each has; return the lengths of both, or -1.

    With pandas a file of 8 million edges took 1.1 times as long, with numpy or pyarrow twice.
    """
    blank = 32 if delimiter else 9  # besides a space
    at, line, count = 0, 0, 0
    while at < len(buffer):
        first, at = count, _after_blanks(buffer, at, blank)
        while buffer[at] != 10:
            if delimiter and count > first:
                if buffer[at] != delimiter:
                    return line, -1
                at = _after_blanks(buffer, at + 1, blank)
            begin, value = at, 0
            while buffer[at] - np.uint8(48) <= 9:
                value = value * 10 + np.int64(buffer[at] - np.uint8(48))  # type: ignore[assignment]
                at += 1
            if not 0 < at - begin <= 18:  # more digits may not fit
                return line, -1
            values[count] = value
            count += 1
            at = _after_blanks(buffer, at, blank)
        lengths[line] = count - first
        at, line = at + 1, line + 1
    return line, count


@njit(cache=True, nogil=True, inline="always")
def _after_blanks(buffer: Bytes, at: int, blank: int) -> int:
    while buffer[at] == 32 or buffer[at] == blank or buffer[at] == 13:
        at += 1
    return at


def _columns_of(block: bytearray, layout: Layout) -> EdgeBlock | None:
    """Return the edges of columns as pyarrow reads them; None if it cannot, or reads otherwise."""
    pa, reader, places = imported("pyarrow"), imported("pyarrow.csv"), layout.columns.places
    content = _without_comments(block, layout)
    if _refused_control(content, layout) or b"\r" in content.replace(b"\r\n", b"\n"):
        return None
    kept, fields = np.isin(np.arange(max(places) + 1), places), np.empty(len(content), np.uint8)
    buffer, width = np.frombuffer(content, np.uint8), layout.width or len(content)
    chosen = fields[: _copy_fields(buffer, layout.delimiter, kept, width, fields)].tobytes()
    if not chosen or (not layout.texts and b"0x" in chosen.lower()):  # hexadecimal numbers
        return None
    types = {f"f{place}": kind for place, kind in zip(places, _types(layout), strict=False)}
    names, mark = [f"f{place}" for place in sorted(places)], chr(layout.delimiter or 32)
    lines = reader.ReadOptions(use_threads=False, block_size=len(chosen) + 1, column_names=names)
    parts = reader.ParseOptions(delimiter=mark, quote_char=b'"' in chosen and '"')
    kinds = reader.ConvertOptions(column_types=types, null_values=[], decimal_point=layout.point)
    try:
        table = reader.read_csv(pa.py_buffer(chosen), lines, parts, kinds)
    except (pa.ArrowException, OverflowError):
        return None
    return _edges_of([table[name].combine_chunks() for name in types], layout)


@njit(cache=True, nogil=True)
def _copy_fields(buffer: Bytes, delimiter: int, kept: Any, width: int, fields: Bytes) -> int:
    """Copy the fields of each line that are kept, without blanks around them; return their length.

    It is 0 if a line lacks one of them, has more than `width`, or a quote does not end its field.
    """
    blank = 32 if delimiter == 9 else 9  # besides a space
    at, size = 0, 0
    while at < len(buffer):
        place, at = 0, _after_blanks(buffer, at, blank)
        while buffer[at] != 10:
            begin, end = at, _field_end(buffer, at, delimiter, blank)
            at = _after_blanks(buffer, end, blank)
            if buffer[at] != 10 and (buffer[at] != delimiter if delimiter else at == end):
                return 0
            if place < len(kept) and kept[place]:
                for each in range(begin, end):
                    fields[size + each - begin] = buffer[each]
                size += end - begin + 1
                fields[size - 1] = delimiter or 32
            elif place >= width and end > begin:
                return 0
            if delimiter and buffer[at] == delimiter:
                at = _after_blanks(buffer, at + 1, blank)
            place += 1
        at += 1
        if 0 < place < len(kept):
            return 0
        if place > 0:
            fields[size - 1] = 10
    return size


@njit(cache=True, nogil=True)
def _field_end(buffer: Bytes, at: int, delimiter: int, blank: int) -> int:
    """Return where a field ends, quoted or plain; of a quote that stays open, its own place."""
    begin = end = at
    if buffer[at] == 34:
        at += 1
        while buffer[at] != 34 or buffer[at + 1] == 34:
            if buffer[at] == 10:
                return begin
            at += 2 if buffer[at] == 34 else 1
        return at + 1
    while buffer[at] != 10 and buffer[at] != delimiter:
        after = _after_blanks(buffer, at, blank)
        if after == at:
            at += 1
            end = at
        elif delimiter:
            at = after
        else:
            break
    return end


def _rows_of(path: Path, block: bytearray, layout: Layout, line: int) -> EdgeBlock | None:
    """Return the edges of rows, or say what is wrong with the first wrong one.

    A field may stand in double quotes, a quote inside it doubled; it cannot hold a line end.
    """
    content = _without_comments(block, layout)
    ids = partial(_text if layout.texts else _id, layout)
    kinds: list[Callable[[str], Any]] = [ids, ids, partial(_weight, layout)]
    columns: list[list[Any]] = [[] for _ in layout.columns.places]
    for number, raw in enumerate(content.split(b"\n"), line + 1):
        if not raw.strip(b" \t\r"):
            continue
        try:
            if _refused_control(raw, layout):
                raise ValueError(
                    f"the line holds a control character, {bytes(raw[:40])!r}; accepted: text, or "
                    "anything with --ids string"
                )
            text = raw.decode("utf-8", "strict" if layout.texts else "replace")
            row = fields_of(text.strip(" \r" if layout.delimiter else " \t\r"), layout.delimiter)
            if len(row) == 1:
                raise ValueError(ONE_COLUMN)
            for column, place, kind in zip(columns, layout.columns.places, kinds, strict=False):
                column.append(kind(row[place] if place < len(row) else ""))
            if layout.width and any(row[layout.width :]):
                raise ValueError("the line has more columns than the first one")
        except ValueError as error:
            reason = getattr(error, "reason", None)  # of text that cannot be decoded
            what = f"the text is not UTF-8: {reason}" if reason else error
            raise RequestError(f"{path}:{number}: {what}") from None
    array = imported("pyarrow").array
    return _edges_of(list(map(array, columns, _types(layout))), layout)


def _types(layout: Layout) -> list[Any]:
    """Return the types of source, target and weight in Arrow."""
    pa = imported("pyarrow")
    ids = pa.large_string() if layout.texts else pa.int64()
    return [ids, ids, pa.float64()]


def _edges_of(columns: list[Any], layout: Layout) -> EdgeBlock | None:
    """Return the edges of columns in Arrow; None if a value is not accepted."""
    source, target, *weights = columns
    if any(not np.all(np.abs(each.to_numpy()) <= LARGEST_WEIGHT) for each in weights):
        return None
    kept = [each.to_numpy().astype(np.float32) for each in weights]
    if layout.texts:
        lengths = imported("pyarrow.compute").binary_length
        if any(np.any(lengths(each).to_numpy() == 0) for each in (source, target)):
            return None
        return EdgeBlock(source.dictionary_encode(), target.dictionary_encode(), *kept)
    return _in_range(np.stack([source.to_numpy(), target.to_numpy()]), layout, *kept)


def _refused_control(content: bytes, layout: Layout) -> bool:
    return not layout.controls and len(content.translate(None, _CONTROLS)) < len(content)


def _without_comments(block: bytearray, layout: Layout) -> bytes:
    if b"#" in block or b"%" in block:
        return _COMMENTS[layout.hash_ids].sub(b"", block)
    return bytes(block)


def _text(layout: Layout, text: str) -> str:
    if not text:
        raise ValueError("an id is missing; accepted: two ids a line, source and target")
    return text


def _id(layout: Layout, text: str) -> int:
    found = _WHOLE.fullmatch(_text(layout, text).strip())  # blanks may stand inside quotes
    if found is None:
        raise ValueError(
            f"{text!r} is not an id; accepted: integers from 0 on, or any text with --ids string"
        )
    value = whole_number(found[1], layout.highest)
    if value is None or value < layout.lowest:
        texts = ", or any text with --ids string" if layout.highest == LARGEST_ID else ""
        raise ValueError(
            f"the id {text} is out of range; accepted: {layout.lowest} to {layout.highest}{texts}"
        )
    return value


def _weight(layout: Layout, text: str) -> float:
    if not text:
        raise ValueError("the line has no weight, although the first one has")
    swapped = {} if layout.point == "." else {ord(","): ".", ord("."): ","}
    plain = text.strip().translate(swapped)
    if not NUMBER.fullmatch(plain) or abs(float(plain)) > LARGEST_WEIGHT:
        raise ValueError(f"{text!r} is not a weight; accepted: finite numbers")
    return float(plain)


def _in_range(ends: IntArray, layout: Layout, *weights: Array) -> EdgeBlock | None:
    """Return edges between whole numbers, in 32 bits if they fit; None if one is out of range."""
    lowest = layout.lowest
    least, most = ends.min(initial=lowest), ends.max(initial=lowest)
    if least < lowest or most > layout.highest:
        return None
    kept = ends.astype(np.int32 if most - lowest < 2**31 else np.int64, "C")
    return EdgeBlock(*np.subtract(kept, lowest, dtype=kept.dtype), *weights)
