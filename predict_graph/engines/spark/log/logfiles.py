"""The lines of an event log: one file or a folder of rolled ones, compressed or not."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from predict_graph.errors import RequestError
from predict_graph.inputs import Input
from predict_graph.limits import beyond, check_unpacked, limits

__all__ = ["ROLLED", "log_files", "log_lines"]

ROLLED = re.compile(r"events_(\d+)_")
_DATABRICKS = re.compile(r"eventlog(?:-[\w.-]+)?$")
_ZSTD, _LZ4_FRAME, _LZ4_BLOCK = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"LZ4Block"
_SNAPPY = b"\x82SNAPPY\x00"
_CHUNK = 1 << 20  # a choice: bytes that are unpacked at a time
# Spark writes blocks of 32 KiB, at most 32 MiB by its settings; a larger one is damage.
_BLOCK_BYTES = 1 << 26  # a choice: twice the most
_ACCEPTED = (
    "a file, or a folder eventlog_v2_… or of Databricks (eventlog, eventlog-DATE.gz); plain, gzip, "
    "zstd, lz4 or snappy (not lzf)"
)


def log_files(path: Path) -> list[Path]:
    """Return the files of a log in the order in which Spark wrote them.

    A rolled log is a folder ``eventlog_v2_<application>`` of files ``events_<number>_…``; of the
    files that were compacted, only the one ending in ``.compact`` and those after it count. That of
    Databricks has files ``eventlog-<date>.gz`` and ``eventlog``, which is written last.

    Raises
    ------
    RequestError
        If there is nothing, or a folder that is no rolled log.
    """
    if not path.is_dir():
        if not path.exists():
            raise RequestError(f"there is no event log {path}; accepted: {_ACCEPTED}")
        return [path]
    numbered = [
        (int(found.group(1)), file.name.endswith(".compact"), file)
        for file in path.iterdir()
        if (found := ROLLED.match(file.name))
    ]
    dated = [file for file in path.iterdir() if _DATABRICKS.match(file.name) and file.is_file()]
    if dated and not numbered:
        return sorted(dated, key=lambda file: (file.name == "eventlog", file.name))
    inside = [folder for folder in path.iterdir() if folder.is_dir()]
    if len(inside) == 1 and not numbered:  # Databricks has a folder for each driver
        return log_files(inside[0])
    if not numbered:
        raise RequestError(f"the folder {path} has no files of an event log; accepted: {_ACCEPTED}")
    numbered.sort()
    last = max((place for place, (_, compact, _f) in enumerate(numbered) if compact), default=0)
    return [file for _, _, file in numbered[last:]]


def log_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the lines of a log; where a file was cut off, what came before.

    Parameters
    ----------
    path : Path
    start : int
        Byte of a plain file to begin at.

    Raises
    ------
    RequestError
        If it cannot be read, or is compressed as nothing here can read.
    """
    for file in log_files(path):
        Input(file).close()  # refuses devices and sockets
        try:
            with file.open("rb") as content:
                yield from _lines(content, file, start)
        except OSError as error:
            raise RequestError(f"cannot read {file}: {error.strerror}") from error


def _lines(content: IO[bytes], file: Path, start: int) -> Iterator[bytes]:
    head = content.read(16)
    content.seek(start)
    if head.startswith(b"\x1f\x8b"):
        unpacked = gzip.GzipFile(fileobj=content)
        yield from _split(iter(lambda: unpacked.read1(_CHUNK), b""), content, file)
    elif head.startswith(_ZSTD):
        yield from _split(_arrow(content, "zstd"), content, file)
    elif head.startswith(_LZ4_FRAME):
        yield from _split(_arrow(content, "lz4"), content, file)
    elif head.startswith(_LZ4_BLOCK):
        yield from _split(_lz4_blocks(content), content, file)
    elif head.startswith(_SNAPPY):
        yield from _split(_snappy_blocks(content), content, file)
    elif head.startswith(b"ZV"):
        raise RequestError(f"{file} is compressed by lzf; accepted: {_ACCEPTED}")
    else:
        most = limits().line_bytes
        while line := content.readline(most + 1):
            _check_line(line, file)
            yield line


def _split(pieces: Iterator[bytes], packed: IO[bytes], file: Path) -> Iterator[bytes]:
    """Yield the lines that pieces make up, until they end or cannot be unpacked any more.

    Raises
    ------
    RequestError
        If they are more than the limits say, or one is too long.
    """
    rest = bytearray()
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            check_unpacked(str(file), size, packed.tell())
            cut = piece.rfind(b"\n")
            if cut < 0:
                rest += piece
                _check_line(rest, file)
                continue
            rest += piece[:cut]
            yield from bytes(rest).split(b"\n")
            rest = bytearray(piece[cut + 1 :])
    except (EOFError, zlib.error, struct.error, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, 0):
            raise
    if rest:
        yield bytes(rest)


def _check_line(line: bytes | bytearray, file: Path) -> None:
    if len(line) > limits().line_bytes:
        raise RequestError(f"{file}: a line is too long; accepted: up to {beyond('line_bytes')}")


def _arrow(content: IO[bytes], compression: str) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(content, mode="r"), compression) as stream:
        while piece := stream.read(_CHUNK):
            yield piece


def _lz4_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """Take apart what Spark's lz4 codec writes: blocks with a header of 21 bytes each."""
    import pyarrow as pa

    codec = pa.Codec("lz4_raw")
    while header := content.read(21):
        magic, token, packed, plain, _ = struct.unpack("<8sBiii", header)
        if magic != _LZ4_BLOCK:
            raise EOFError
        if not (0 <= packed <= _BLOCK_BYTES and 0 <= plain <= _BLOCK_BYTES):
            raise EOFError
        block = content.read(packed)
        if len(block) < packed:
            raise EOFError
        if packed:
            stored = token & 0xF0 == 0x10
            yield block if stored else codec.decompress(block, plain).to_pybytes()


def _snappy_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """Take apart what Spark's snappy codec writes: blocks with their length before them."""
    import pyarrow as pa

    codec = pa.Codec("snappy")
    content.read(16)
    while header := content.read(4):
        (packed,) = struct.unpack(">i", header)
        if not 0 <= packed <= _BLOCK_BYTES:
            raise EOFError
        block = content.read(packed)
        if len(block) < packed:
            raise EOFError
        plain = _varint(block)
        if plain > _BLOCK_BYTES:
            raise EOFError
        yield codec.decompress(block, plain).to_pybytes()


def _varint(block: bytes) -> int:
    """Return the number that a snappy block begins with: the size of its content."""
    value = 0
    for place, byte in enumerate(block[:5]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return value
