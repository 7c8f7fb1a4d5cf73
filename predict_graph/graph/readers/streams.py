"""Files as streams of bytes: decompressed as they are read, cut at line ends, read ahead."""

from __future__ import annotations

import queue
import threading
import zlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from predict_graph.errors import RequestError

__all__ = ["compression_of", "line_blocks", "raw_blocks", "read_ahead", "suffixes_of"]

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bz2": b"BZh"}
_READ = 1 << 19
_BLOCK = 1 << 22


def suffixes_of(path: Path) -> tuple[str, str]:
    """Return the suffix of the format and the suffix of the compression, lower case.

    Examples
    --------
    >>> suffixes_of(Path("web-NotreDame.txt.gz"))
    ('.txt', '.gz')
    >>> suffixes_of(Path("wing.graph"))
    ('.graph', '')
    """
    last = path.suffix.lower()
    if last in _COMPRESSIONS:
        return path.with_suffix("").suffix.lower(), last
    return last, ""


def compression_of(path: Path) -> str | None:
    """Return how a file is compressed, by its first bytes: ``gzip``, ``zstd``, ``bz2`` or None.

    Raises
    ------
    RequestError
        If the file cannot be read, or its name promises a compression that its content has not.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror}") from error
    if not start:
        raise RequestError(f"{path} is empty")
    for name, magic in _MAGIC.items():
        if start.startswith(magic):
            return name
    promised = _COMPRESSIONS.get(suffixes_of(path)[1])
    if promised:
        raise RequestError(f"{path} is not {promised} data, as its suffix says it is")
    return None


def raw_blocks(path: Path, size: int = _BLOCK) -> Generator[bytes, None, None]:
    """Yield the decompressed content of a file in blocks of at most `size` bytes.

    Raises
    ------
    RequestError
        If the file cannot be read, or its compressed data are damaged or end too early.
    """
    compression = compression_of(path)
    try:
        if compression is None:
            yield from _plain_blocks(path, size)
        elif compression == "gzip":
            yield from _gzip_blocks(path, size)
        else:
            yield from _arrow_blocks(path, compression, size)
    except (zlib.error, EOFError) as error:
        raise RequestError(f"{path}: the {compression} data are damaged: {error}") from error
    except OSError as error:
        if compression in (None, "gzip"):
            raise RequestError(f"{path} cannot be read: {error.strerror}") from error
        raise RequestError(f"{path}: the {compression} data are damaged: {error}") from error


def _plain_blocks(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        while block := file.read(size):
            yield block


def _gzip_blocks(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        packed, members = b"", 0
        member = None
        while packed := packed or file.read(min(size, _READ)):
            if member is None:
                if members:  # zero bytes may follow the last member
                    packed = packed.lstrip(b"\0")
                    if not packed:
                        continue
                member = zlib.decompressobj(wbits=31)
                members += 1
            block = member.decompress(packed, size)
            packed = member.unconsumed_tail
            if member.eof:
                packed, member = member.unused_data, None
            if block:
                yield block
        if member is not None:
            raise EOFError("the file ends before the compressed data do")


def _arrow_blocks(path: Path, compression: str, size: int) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.input_stream(str(path), compression=compression) as stream:
        while block := stream.read(size):
            yield block


def line_blocks(blocks: Iterable[bytes]) -> Iterator[bytearray]:
    r"""Join and cut blocks of bytes so that each one ends with a line end.

    Examples
    --------
    >>> list(line_blocks([b"1 2\n3", b" 4\n5 6"]))
    [bytearray(b'1 2\n'), bytearray(b'3 4\n'), bytearray(b'5 6\n')]
    """
    rest = bytearray()
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            continue
        whole = rest
        whole += memoryview(block)[:cut]
        rest = bytearray(memoryview(block)[cut:])
        yield whole
    if rest:
        rest += b"\n"
        yield rest


def read_ahead(blocks: Iterable[bytes], depth: int = 2) -> Generator[bytes, None, None]:
    """Yield the blocks, made by another thread that is at most `depth` blocks ahead.

    Decompression releases the interpreter, so it runs beside the parsing. An error of the thread
    is raised here.
    """
    ready: queue.Queue[bytes | BaseException | None] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for block in blocks:
                if not put(block):
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = threading.Thread(target=work, name="predict-graph-read-ahead", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()
