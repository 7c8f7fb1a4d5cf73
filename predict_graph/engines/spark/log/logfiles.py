"""The lines of an event log: one file or a folder of rolled ones, compressed or not."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from predict_graph.errors import RequestError
from predict_graph.inputs import Input
from predict_graph.limits import beyond, check_unpacked, limits

ROLLED = re.compile(r"events_(\d+)_")
_DATABRICKS = re.compile(r"eventlog(?:-[\w.-]+)?$")
_LZ4_BLOCK = b"LZ4Block"
_CHUNK = 1 << 20  # bytes decompressed at a time: limits memory
_BLOCK_BYTES = 1 << 26  # limits memory: Spark's settings allow blocks of at most half of it
_ACCEPTED = (
    "a file, or a folder eventlog_v2_… or of Databricks (eventlog, eventlog-DATE.gz); plain, gzip, "
    "zstd, lz4 or snappy (not lzf)"
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
    inside = [folder for folder in entries if folder.is_dir()]
    if dated:
        return sorted(dated, key=lambda file: (file.name == "eventlog", file.name))
    if len(inside) == 1:
        return log_files(inside[0])
    raise RequestError(f"the folder {path} has no files of an event log; accepted: {_ACCEPTED}")


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
    if head.startswith(b"ZV"):
        raise RequestError(f"{file} is compressed by lzf; accepted: {_ACCEPTED}")
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
    except (EOFError, zlib.error, struct.error, OSError) as error:
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


def _arrow(content: IO[bytes], compression: str) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(content, mode="r"), compression) as stream:
        while piece := stream.read(_CHUNK):
            yield piece


def _lz4_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """Decompress the format of Spark's lz4 codec: blocks with a header of 21 bytes each."""
    import pyarrow as pa

    codec = pa.Codec("lz4_raw")
    while header := content.read(21):
        magic, token, packed, plain, _ = struct.unpack("<8sBiii", header)
        if magic != _LZ4_BLOCK:
            raise EOFError
        block = _block(content, packed)
        if packed:
            stored = token & 0xF0 == 0x10
            yield block if stored else codec.decompress(block, _checked(plain)).to_pybytes()


def _snappy_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """Decompress the format of Spark's snappy codec: blocks, each after its length.

    A block starts with the length of its content: seven bits per byte, the lowest first.
    """
    import pyarrow as pa

    codec = pa.Codec("snappy")
    content.read(16)
    while header := content.read(4):
        block = _block(content, *struct.unpack(">i", header))
        plain = 0
        for place, byte in enumerate(block[:5]):
            plain |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                break
        yield codec.decompress(block, _checked(plain)).to_pybytes()


def _block(content: IO[bytes], size: int) -> bytes:
    block = content.read(_checked(size))
    if len(block) < size:
        raise EOFError
    return block


def _checked(size: int) -> int:
    if not 0 <= size <= _BLOCK_BYTES:
        raise EOFError
    return size


_COMPRESSED: dict[bytes, Callable[[Any], Iterator[bytes]]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": partial(_arrow, compression="zstd"),
    b"\x04\x22\x4d\x18": partial(_arrow, compression="lz4"),
    _LZ4_BLOCK: _lz4_blocks,
    b"\x82SNAPPY\x00": _snappy_blocks,
}
