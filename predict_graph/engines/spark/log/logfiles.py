"""The lines of an event log: one file or a folder of rolled ones, compressed or not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predict_graph.errors import JobError, RequestError
from predict_graph.inputs import Input
from predict_graph.limits import check_limit, check_unpacked

ROLLED = re.compile(r"events_(\d+)_")
_DATABRICKS = re.compile(r"eventlog(?:-[\w.-]+)?$")
BEGIN = b'{"Event":"'  # of each line of a log: by definition
_MAGIC = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<zstd>\x28\xb5\x2f\xfd)|(?P<lzf>ZV)|(?P<snappy>\x82SNAPPY\x00)"
    rb"|(?P<lz4>LZ4Block|\x04\x22\x4d\x18)"
)
_ACCEPTED = (
    "a file, or a folder eventlog_v2_… or of Databricks (eventlog, eventlog-DATE.gz); plain, gzip "
    "or zstd, Spark's default"
)


def log_files(path: Path) -> list[Path]:
    """Return the files of a log in the order in which Spark wrote them.

    A rolled log is a folder ``eventlog_v2_<application>`` of files ``events_<number>_…``; of
    compacted files, the last one ending in ``.compact`` replaces those before it. Databricks writes
    files ``eventlog-<date>.gz`` and, last, ``eventlog``, in a folder for each driver.
    """
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise RequestError(f"there is no event log {path}; accepted: {_ACCEPTED}")
        return [path]
    entries = list(path.iterdir())
    numbered = sorted(
        (int(found.group(1)), file.name.endswith(".compact"), file)
        for file in entries
        if (found := ROLLED.match(file.name))
    )
    if numbered:
        last = max((place for place, (_, compact, _f) in enumerate(numbered) if compact), default=0)
        return [file for _, _, file in numbered[last:]]
    dated = [file for file in entries if _DATABRICKS.match(file.name) and file.is_file()]
    if dated:
        return sorted(dated, key=lambda file: (file.name == "eventlog", file.name))
    logs = sorted(each for each in entries if not each.name.startswith(".") and is_event_log(each))
    if len(logs) == 1:
        return log_files(logs[0])
    if logs:
        raise RequestError(
            f"the folder {path} has {len(logs)} event logs; accepted: one of them, such as "
            f"{logs[0]}"
        )
    raise RequestError(f"the folder {path} has no files of an event log; accepted: {_ACCEPTED}")


def is_event_log(path: Path) -> bool:
    """Whether a file begins as an event log does, or it is a folder, as that of a rolled log is.

    A compressed one that is cut off may have no line that can be read.
    """
    unread = BEGIN if path.suffix in (".gz", ".zstd") else b""
    return os.path.isdir(path) or (
        os.path.isfile(path) and next(lines_of(path), unread).startswith(BEGIN)
    )


def lines_of(file: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the lines of a file of a log, from a byte of its unpacked content on.

    Of a truncated file they are those before the damage. A last line without its end may have more
    to come.

    Raises
    ------
    RequestError
        If it cannot be read, is compressed otherwise, unpacks to too much, or a line is too long.
    JobError
        If it has less than that.
    """
    rest = b""
    for piece in _pieces(file, start):
        *lines, rest = (rest + piece).split(b"\n")
        check_limit("line_bytes", len(rest), f"{file}: a line is too long")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _pieces(file: Path, start: int, at_once: int = 1 << 16) -> Iterator[bytes]:
    """Yield the unpacked content of a file from byte `start` on, up to the first damage.

    What is unpacked `at_once` is lost where it is damaged.
    """
    import pyarrow as pa

    Input(file).close()  # rejects devices and sockets
    size = 0
    try:
        with file.open("rb") as content:
            magic = _MAGIC.match(content.read(16))
            codec = magic and magic.lastgroup
            if codec in ("lzf", "lz4", "snappy"):
                raise RequestError(f"{file} is compressed by {codec}; accepted: {_ACCEPTED}")
            stream: Any = content
            if codec:
                content.seek(0)
                stream = pa.CompressedInputStream(pa.PythonFile(content, mode="r"), codec)
            else:
                size = content.seek(min(start, file.stat().st_size))
            while piece := stream.read(at_once):
                size += len(piece)
                if codec:
                    check_unpacked(str(file), size, content.tell())
                yield piece[max(len(piece) - (size - start), 0) :]
    except OSError as error:
        if error.errno:  # else what is unpacked is damaged, or not whole yet
            raise RequestError(f"cannot read {file}: {error.strerror}") from error
    if size < start:
        raise JobError(
            f"the event log {file} was cut short while it was watched: {start} bytes were read of "
            f"it, now it has {size}"
        )
