"""Files as streams of bytes: decompressed as they are read, cut at line ends."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import zipfile
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, iterdecode, iterencode
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from predict_graph.errors import RequestError, explained
from predict_graph.inputs import Input
from predict_graph.limits import check_limit, check_unpacked, limits
from predict_graph.stopwatch import imported

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
"""Compressions by their suffixes."""

# By definition of the formats; a frame that is passed over may come first in zstd data.
_MAGIC = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<zstd>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)|(?P<bz2>BZh)"
    rb"|(?P<xz>\xfd7zXZ)"
)
# These limit memory, and what is read before the first line is known: bytes.
_READ = 1 << 19  # limits what is read at a time
_BLOCK = 1 << 22  # limits what is unpacked at a time


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
    return (path.with_suffix("").suffix.lower(), last) if last in COMPRESSIONS else (last, "")


class Content:
    """What a file or a stream holds, decompressed; opened once and read once.

    Parameters
    ----------
    path : Path
        ``-`` is standard input.

    Attributes
    ----------
    path : Path
    stream : bool
        Whether it can be read only once: standard input, a FIFO.
    compression : str or None
        By its first bytes: ``gzip``, ``zstd``, ``bz2``, ``xz``, ``zip`` or None.
    suffix : str
        Of the format; of a ZIP archive without one, that of the file in it.
    start : bytes
        What it begins with, decompressed and without blanks, some thousands of bytes; of text in
        UTF-16, the same in UTF-8.

    Raises
    ------
    RequestError
        If it cannot be read, is empty or damaged, or its name promises a compression that its
        content has not.
    """

    def __init__(self, path: Path) -> None:
        self._input = Input(path)
        self.path, self.stream = self._input.path, self._input.stream
        self.suffix = suffixes_of(self.path)[0]
        try:
            first = self._input.peek(4, _READ)
            if not first:
                raise RequestError(f"{self.path} is empty")
            self.compression = self._found(first)
            self._blocks = self._unpacked()
            self.start = self._peeked()
        except BaseException:
            self._input.close()
            raise

    def blocks(self) -> Generator[bytes, None, None]:
        """Yield the decompressed content, from its beginning on; this works once.

        Raises
        ------
        RequestError
            If it is damaged, or unpacks to more than the limits say.
        """
        try:
            yield from self._blocks
        finally:
            self.close()

    def lines(self) -> Iterator[bytearray]:
        """Yield the same in blocks of whole lines; UTF-16, as Windows writes it, as UTF-8."""
        decoded = iterencode(iterdecode(self.blocks(), "utf-16"), "utf-8")
        with explained(f"{self.path} begins as UTF-16, but is not"):
            yield from line_blocks(decoded if self._wide else self.blocks(), self.path)

    @property
    def packed_bytes(self) -> int:
        """Bytes of the file, or of what a stream has sent so far."""
        return self._input.taken if self.stream else os.stat(self.path).st_size

    def close(self) -> None:
        """Close it without reading the rest."""
        self._input.close()

    def _found(self, first: bytes) -> str | None:
        if magic := _MAGIC.match(first):
            return magic.lastgroup
        promised = COMPRESSIONS.get(suffixes_of(self.path)[1])
        if promised == "zip" and first.startswith(b"PK") and not self.stream:
            return promised
        if promised:
            raise RequestError(f"{self.path} is not {promised} data, as its suffix says it is")
        return None

    def _peeked(self) -> bytes:
        """Read blocks up to one that is not blank, some thousand bytes at most, and keep them."""
        taken: list[bytes] = []
        start = b""
        while not start and sum(map(len, taken)) < _BLOCK and (block := next(self._blocks, b"")):
            taken.append(block)
            start = block.removeprefix(BOM_UTF8).lstrip()[:4096]
        self._blocks = chain(taken, self._blocks)
        self._wide = start.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        return start.decode("utf-16", "ignore").lstrip().encode() if self._wide else start

    def _unpacked(self) -> Iterator[bytes]:
        """Yield what is in the file, as much as the limits allow, and say what is damaged."""
        if self.compression is None:
            yield from iter(partial(self._input.read, _BLOCK), b"")
            return
        with explained(f"{self.path}: the {self.compression} data are damaged"):
            count = 0
            for block in self._decompressed():
                count += len(block)
                check_unpacked(str(self.path), count, self.packed_bytes)
                yield block

    def _decompressed(self) -> Iterator[bytes]:
        if self.compression == "xz":
            yield from _xz_members(self._input)
            return
        with self._opened() as file:
            yield from iter(partial(file.read, _BLOCK), b"")

    def _opened(self) -> Any:
        """Return the content as a file."""
        if self.compression == "gzip":
            return gzip.GzipFile(fileobj=self._input)
        if self.compression == "zip":
            return self._member()
        pa = imported("pyarrow")
        return pa.CompressedInputStream(pa.PythonFile(self._input, mode="r"), self.compression)

    def _member(self) -> Any:
        """Open the only file of an archive."""
        packed = zipfile.ZipFile(self.path)
        members = [each for each in packed.infolist() if each.filename and not each.is_dir()]
        members = [each for each in members if not each.filename.startswith("__MACOSX/")]
        if len(members) != 1:
            raise RequestError(f"{self.path} holds {len(members)} files; accepted: one")
        member = members[0]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RequestError(f"{self.path} is packed otherwise than usual; accepted: deflate")
        self.suffix = self.suffix or suffixes_of(Path(member.filename))[0]
        return packed.open(member)


def line_blocks(blocks: Iterable[bytes], path: Path = Path("text")) -> Iterator[bytearray]:
    r"""Join and cut blocks of bytes so that each one ends with a line end.

    Examples
    --------
    >>> list(line_blocks([b"1 2\n3", b" 4\n5 6"]))
    [bytearray(b'1 2\n'), bytearray(b'3 4\n'), bytearray(b'5 6\n')]

    Raises
    ------
    RequestError
        If a line is longer than the limits say.
    """
    rest = bytearray()
    for block in blocks:
        begin = len(rest)
        rest += block
        if cut := rest.rfind(b"\n", begin) + 1:
            whole, rest = rest, rest[cut:]
            del whole[cut:]
            yield whole
        else:
            check_limit("line_bytes", len(rest), f"{path}: a line is too long")
    if rest:
        yield rest + b"\n"


def _xz_members(packed: Input) -> Iterator[bytes]:
    """Yield what the members of an xz file hold; ``LZMAFile`` would end at a damaged one."""
    data = packed.read(_READ)
    while data:
        member = lzma.LZMADecompressor(memlimit=2 * limits().document_bytes)
        while not member.eof:
            if block := member.decompress(data, _BLOCK):
                yield block
            data = packed.read(_READ) if member.needs_input else b""
            if member.needs_input and not data:
                raise EOFError("it ends before its end")
        data = member.unused_data
        while not (data := data.lstrip(b"\0")) and (more := packed.read(_READ)):  # padding
            data = more
