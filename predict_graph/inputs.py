"""Opening what a user names, once and within the limits: a file, ``-``, a FIFO, an address.

Devices have no end and are refused. A stream is read as it comes; one that sends nothing for too
long, or too much, is given up.
"""

from __future__ import annotations

import io
import json
import os
import select
import stat
from itertools import chain
from pathlib import Path
from typing import Any

from predict_graph.errors import RequestError, explained, explained_by_system
from predict_graph.limits import beyond, check_limit, limits
from predict_graph.remote import Address

STANDARD_INPUT = Path("/dev/stdin")


def _at_once(path: str, flags: int) -> int:
    """Open a file; a FIFO without waiting for who writes."""
    return os.open(path, flags | os.O_NONBLOCK)


class Input(io.RawIOBase):
    """A file or stream that is open for reading."""

    def __init__(self, path: Path) -> None:
        self.path = STANDARD_INPUT if str(path) == "-" else path
        self._ahead = b""
        self.taken = 0  # bytes so far, those looked at included
        self._file: io.FileIO | None = None
        self._remote = path.blocks() if isinstance(path, Address) else None
        self.stream = self._remote is not None
        if self.stream:
            return
        with explained(f"{self.path} cannot be read"):
            facts = os.stat(self.path)
            self._check(facts.st_mode)  # opening a device can already do something
            self._file = open(self.path, "rb", buffering=0, opener=_at_once)  # noqa: SIM115
            facts = os.fstat(self._file.fileno())
            self._check(facts.st_mode)
        self.stream, self._state = stat.S_ISFIFO(facts.st_mode), (facts.st_size, facts.st_mtime_ns)

    def _check(self, mode: int) -> None:
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            special = "a socket" if stat.S_ISSOCK(mode) else "a device"
            kind = "a folder" if stat.S_ISDIR(mode) else special
            raise RequestError(
                f"{self.path} is {kind}; accepted: a file, - for standard input, or a FIFO"
            )

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""
        most = 1 << 16 if size is None or size < 0 else size
        if not self._ahead:
            self._ahead = self._taken(most)
        content, self._ahead = self._ahead[:most], self._ahead[most:]
        return content

    def _taken(self, most: int) -> bytes:
        """Return what the file or stream holds next."""
        with explained_by_system(f"{self.path} cannot be read"):
            if self._file is None:
                content = b"" if self._remote is None else next(self._remote, b"")
            else:
                if self.stream:
                    self._wait(self._file)
                content = self._file.read(most) or b""
                now = os.fstat(self._file.fileno())
                if not (content or self.stream or (now.st_size, now.st_mtime_ns) == self._state):
                    raise RequestError(f"{self.path} changed while it was read")
        self.taken += len(content)
        if self.stream:
            check_limit("unpacked_bytes", self.taken, f"{self.path} sends too much")
        return content

    def peek(self, least: int, size: int) -> bytes:
        """Return some bytes that are read again, `least` of them if there are so many."""
        ahead = b""
        while len(ahead) < least and (more := self.read(size)):
            ahead += more
        self._ahead = ahead
        return ahead

    def _wait(self, file: io.FileIO) -> None:
        waiting = select.poll()
        waiting.register(file, select.POLLIN)
        if not waiting.poll(1e3 * limits().stream_seconds):
            raise RequestError(
                f"{self.path} sent nothing for too long; accepted: silence of up to "
                f"{beyond('stream_seconds')}"
            )

    def close(self) -> None:
        """Close it; a second time does nothing."""
        if self._file is not None:
            self._file.close()
        super().close()


def check_there(path: str | os.PathLike[str], accepted: str) -> None:
    """Refuse a file that is not there; standard input is."""
    with explained_by_system(f"cannot read {path}"):  # a name that is too long
        there = str(path) == "-" or Path(path).exists()
    if not there:
        raise RequestError(f"there is no file {path}; accepted: {accepted}")


def read_bytes(path: Path) -> bytes:
    """Return the content of a small file: a model, a profile, a design."""
    content = io.BytesIO()
    with Input(path) as file:
        while block := file.read(1 << 16 if file.stream else 1 << 20):
            content.write(block)
            check_limit("document_bytes", content.tell(), f"{path} is too large to be read whole")
    return content.getvalue()


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return parse_json(read_bytes(path), str(path))


def parse_json(text: bytes | str, what: str) -> Any:
    """Return what a JSON text says.

    Examples
    --------
    >>> parse_json('[{"a]": "{"}]', "a text")
    [{'a]': '{'}]
    """
    plain = text if isinstance(text, str) else text.decode("utf-8-sig")
    try:
        found = json.loads(plain)
    except RecursionError:
        raise RequestError(f"{what} is nested too deeply for this Python") from None
    most = limits().nesting
    marks = plain.count("[") + plain.count("{")  # of most files, these are few enough
    if marks > most and _is_deeper(found, most):
        raise RequestError(f"{what} is nested too deeply; accepted: up to {beyond('nesting')}")
    return found


def _is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects are in each other more than so many times."""
    level = [value]
    for _ in range(most):
        lists = [each for each in level if isinstance(each, list)]
        lists += [[*each.values()] for each in level if isinstance(each, dict)]
        level = [*chain.from_iterable(lists)]
    return any(isinstance(each, list | dict) for each in level)
