"""Speed of the disk that holds a folder: writes, reads, and the time of one commit."""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from predict_graph.errors import JobError, explained_by_system
from predict_graph.resources.profile import Measured
from predict_graph.timing import clock


def measure_storage(folder: Path) -> dict[str, Measured]:
    """Measure the disk that holds `folder`; its reads only if they can bypass the page cache."""
    with (
        explained_by_system(f"cannot measure the disk below {folder}", JobError),
        tempfile.TemporaryDirectory(prefix="predict-graph-", dir=folder) as place,
    ):
        return _measured(Path(place) / "disk")


def _measured(
    file: Path, blocks: int = 48, repeats: int = 5, window: float = 0.2
) -> dict[str, Measured]:
    """Measure in some seconds; docs/resources.md has the spread of consecutive runs."""
    block = os.urandom(1 << 20)
    megabytes = blocks * len(block) / 1e6
    writes, reads, commits = [], [], []
    begun = clock.wall()
    for _ in range(repeats):
        with file.open("wb", buffering=0) as out:
            writes.append(megabytes / _write(out, block, blocks))
        seconds = _read_directly(file, len(block))
        if seconds is not None:
            reads.append(megabytes / seconds)
        started = clock.wall()
        with file.open("wb", buffering=0) as out:
            while clock.wall() - started < window:
                commits.append(1e3 * _write(out, b"x" * 512))
        if clock.wall() - begun > 5.0:  # seconds: a slow disk
            break
    found = {"disk_write_bandwidth": Measured.of(writes, "MB/s")}
    if reads:
        found["disk_read_bandwidth"] = Measured.of(reads, "MB/s")
    found["disk_latency"] = Measured.of(commits, "ms", less_is_better=True)
    return found


def _write(out: IO[bytes], block: bytes, blocks: int = 1) -> float:
    """Return the seconds until so many blocks are on the disk."""
    begun = clock.wall()
    for _ in range(blocks):
        out.write(block)
    os.fsync(out.fileno())
    return clock.wall() - begun


def _read_directly(file: Path, block: int) -> float | None:
    """Return the seconds to read without the page cache; None where that is not supported."""
    with suppress(OSError):
        handle = os.open(file, os.O_RDONLY | os.O_DIRECT)
        with open(handle, "rb", buffering=0) as content, mmap.mmap(-1, block) as aligned:
            begun = clock.wall()
            while content.readinto(aligned):
                pass
            return clock.wall() - begun
    return None
