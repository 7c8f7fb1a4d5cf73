"""The lines of an event log: one file or a folder of rolled ones, compressed or not."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from predict_graph.errors import RequestError
from predict_graph.inputs import Input
from predict_graph.limits import beyond, check_unpacked, limits

ROLLED = re.compile(r"events_(\d+)_")
_DATABRICKS = re.compile(r"eventlog(?:-[\w.-]+)?$")
BEGIN = b'{"Event":"'  # of each line of a log: by definition
_CHUNK = 1 << 20  # bytes decompressed at a time: limits memory
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
    if not path.is_dir():
        if not path.exists():
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
    """Whether a file begins as an event log does, or it is a folder, as that of a rolled log is."""
    if not path.is_file():
        return path.is_dir()
    return next(log_lines(path), b"").startswith(BEGIN)


def log_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log, of a truncated file those before the damage."""
    for file in log_files(path):
        Input(file).close()  # rejects devices and sockets
        try:
            with file.open("rb") as content:
                yield from _lines(content, file)
        except OSError as error:
            raise RequestError(f"cannot read {file}: {error.strerror}") from error


def _lines(content: IO[bytes], file: Path) -> Iterator[bytes]:
    head = content.read(16)
    content.seek(0)
    for magic, codec in _REFUSED.items():
        if head.startswith(magic):
            raise RequestError(f"{file} is compressed by {codec}; accepted: {_ACCEPTED}")
    for magic, unpacked in _COMPRESSED.items():
        if head.startswith(magic):
            yield from _split(unpacked(content), content, file)
            return
    while line := content.readline(limits().line_bytes + 1):
        _check_line(line, file)
        yield line


def _split(pieces: Iterator[bytes], packed: IO[bytes], file: Path) -> Iterator[bytes]:
    """Yield the lines of decompressed pieces, up to the end or the first damage."""
    rest = b""
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            check_unpacked(str(file), size, packed.tell())
            *lines, rest = (rest + piece).split(b"\n")
            _check_line(rest, file)
            yield from lines
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, 0):
            raise
    if rest:
        yield rest


def _check_line(line: bytes, file: Path) -> None:
    if len(line) > limits().line_bytes:
        raise RequestError(f"{file}: a line is too long; accepted: up to {beyond('line_bytes')}")


def _gzip(content: IO[bytes]) -> Iterator[bytes]:
    unpacked = gzip.GzipFile(fileobj=content)
    return iter(lambda: unpacked.read1(_CHUNK), b"")


def _zstd(content: IO[bytes]) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(content, mode="r"), "zstd") as stream:
        while piece := stream.read(_CHUNK):
            yield piece


_COMPRESSED: dict[bytes, Callable[[Any], Iterator[bytes]]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": _zstd,
}
_REFUSED = {
    b"ZV": "lzf",
    b"LZ4Block": "lz4",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x82SNAPPY\x00": "snappy",
}
