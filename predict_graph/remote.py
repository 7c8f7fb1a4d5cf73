"""Files at addresses: of the web, and of all file systems that pyarrow and fsspec know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path, PosixPath
from typing import Any

from predict_graph.errors import RequestError, explained
from predict_graph.limits import check_limit, limits

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # one letter would be a drive
_CREDENTIALS = re.compile(r"https?://[^/?#]*@|[a-z0-9+.-]+://[^/?#@]*:[^/?#]*@", re.IGNORECASE)
_WEB = ("http", "https")
_ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}  # Hadoop's names of object stores, and Google's


class Address(PosixPath):
    """An address as a path, which has a name and suffixes.

    Examples
    --------
    >>> address = Address.of("https://host/web/edges.csv.gz?token=1")
    >>> str(address), address.name, address.suffix
    ('https://host/web/edges.csv.gz?token=1', 'edges.csv.gz', '.gz')
    >>> str(Address.of("s3://bucket/a//b.csv?next=http://c"))
    's3://bucket/a//b.csv?next=http://c'
    """

    @classmethod
    def of(cls, text: str) -> Address:
        """Return the address of a text; an empty host, which a path would drop, is kept."""
        kept = re.sub(r"/+(?=\?|$)", "", text).replace(":///", "://-/", 1)
        scheme, mark, rest = kept.partition("://")
        return cls(scheme + mark + rest.replace("//", "/\0/"))

    def __str__(self) -> str:
        text = super().__str__().replace(":/", "://", 1).replace("://-/", ":///")
        return text.replace("/\0/", "//")

    @property
    def name(self) -> str:
        """The last part, without what a query adds."""
        return super().name.partition("?")[0]

    @property
    def scheme(self) -> str:
        """What stands before the colon."""
        return str(self).partition(":")[0].lower()

    def files(self) -> dict[str, Address]:
        """Return the files below a folder by their paths from it; nothing if it is a file."""
        if self.scheme in _WEB:  # it has no folders
            return {}
        from pyarrow import fs

        with explained(f"{self} cannot be read"):
            system, path = _filesystem(self)
            if system.get_file_info(path).type != fs.FileType.Directory:
                return {}
            found = system.get_file_info(fs.FileSelector(path, recursive=True))
        folder, mark, query = str(self).partition("?")
        below = (each.path.removeprefix(path).lstrip("/") for each in found if each.is_file)
        return {each: Address.of(f"{folder}/{each}{mark}{query}") for each in below}

    def blocks(self) -> Iterator[bytes]:
        """Open it; return its content block by block."""
        with explained(f"{self} cannot be read"):
            stream = self._opened()
        return self._read(stream)

    def _opened(self) -> Any:
        if self.scheme in _WEB:
            from urllib.request import urlopen

            return urlopen(str(self), timeout=limits().stream_seconds)
        system, path = _filesystem(self)
        return system.open_input_stream(path, compression=None)

    def _read(self, stream: Any) -> Iterator[bytes]:
        with explained(f"{self} cannot be read"), stream:
            yield from iter(partial(stream.read, 1 << 19), b"")
            if missing := getattr(stream, "length", None):  # of the web, urllib does not look
                raise OSError(f"it ended {missing} bytes before its end")


def address_of(text: str) -> Address | None:
    """Return the address that a text is, None if it is none.

    Examples
    --------
    >>> address_of("s3://bucket/edges.csv")
    Address('s3://bucket/edges.csv')
    >>> address_of("rmat:scale=4")
    """
    if _CREDENTIALS.match(text):
        raise RequestError("the address holds a user or a password; accepted: one without")
    return Address.of(text) if _ADDRESS.match(text) else None


def copied(address: Address, files: Mapping[str, Address], folder: Path) -> Path:
    """Copy a file, or the files of a folder, into a folder of this machine, within the limits.

    Raises
    ------
    RequestError
        If it cannot be read, or is larger than the limits say.
    """
    whole, size = folder / address.name, 0
    for below, file in (files or {"": address}).items():
        target = whole / below
        if ".." in target.parts:
            raise RequestError(f"{address} has a file {below!r}; accepted: names without ..")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as copy:
            for block in file.blocks():
                copy.write(block)
                size += len(block)
                check_limit("unpacked_bytes", size, f"{address} is too large")
    return whole


def _filesystem(address: Address) -> tuple[Any, str]:
    """Return the file system of an address, and the path there."""
    from pyarrow import fs

    scheme = _ALIASES.get(address.scheme, address.scheme)
    rest = str(address).partition(":")[2]
    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(f"{scheme}:{rest}")
        return found
    except ValueError as error:
        if "nrecognized" not in str(error):
            raise
    try:
        system, path = import_module("fsspec.core").url_to_fs(str(address))
    except (ImportError, ValueError):
        raise RequestError(
            f"{address} has the scheme {scheme!r}; accepted: s3, gs, abfs, hdfs, https, file, and "
            "those that fsspec knows where it is installed"
        ) from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path
