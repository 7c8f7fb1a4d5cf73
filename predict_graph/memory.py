"""Memory of this machine and of its processes, with the limits that hold for this process."""

from __future__ import annotations

import ctypes
import gc
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from predict_graph.machine import control_groups, system_text

_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def resident_memory(process: int | None = None) -> int:
    """Return the bytes that a process, by default this one, holds in memory; 0 if it has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(process).memory_info().rss)
    return 0


def started_memory(process: int | str) -> int:
    """Return the bytes that the processes below a process hold, beside what they share (Linux)."""
    total = 0
    with suppress(OSError):  # of one that ends now
        for file in Path(f"/proc/{process}/task").glob("*/children"):
            for child in system_text(file).split():
                sizes = system_text(Path(f"/proc/{child}/smaps_rollup"))
                total += 1024 * sum(map(int, re.findall(r"Private_\w+: +(\d+)", sizes)))
                total += started_memory(child)
    return total


def forget_peak() -> None:
    """Let the peak of this process's memory begin anew (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident_peak() -> int:
    """Return the most bytes that this process has held in memory since :func:`forget_peak`."""
    peak = re.search(r"VmHWM:\s*(\d+)", system_text(Path("/proc/self/status")))
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * (whole if peak is None else int(peak[1]))


def trim_memory() -> None:
    """Give the system what this process has freed (glibc)."""
    gc.collect(1)  # garbage among old objects is not worth the time
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def fill_holes(at_once: int = 2**15, most: int = 2**28) -> list[Any]:
    """Fill memory that Python holds without using it, which no trimming gives back.

    A small call that fits there seems to take none, unlike a large one. Python has pools for
    objects of each multiple of 16 bytes up to 512; each is filled until the process grows, so many
    bytes at once, and at most so many in all, which limits the time.
    """
    kept, left, before, head = [], most, resident_memory(), sys.getsizeof(b"")
    for size in range(512, 32, -16):  # large ones first: they take the pools that are all free
        while left > 0:
            kept.append([bytes(size - head) for _ in range(at_once // size)])
            left -= at_once
            now = resident_memory()
            grown, before = now - before, now
            if grown - sys.getsizeof(kept[-1]) > 0.5 * at_once:
                break
    return kept


def available_memory() -> int:
    """Return the bytes that a process can take if it starts when this one has ended.

    The least of what the machine has left, what control groups (version 1 or 2) leave, and limits
    of the process; what this process holds counts as free.
    """
    own = resident_memory()
    rooms = [int(room) + own for room in (psutil.virtual_memory().available, *cgroup_rooms())]
    limits = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    rooms += [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return max(min(rooms), 0)


def cgroup_rooms() -> Iterator[int]:
    """Yield what each control group above this process has left of its limit.

    Memory of cached files counts as left: the system takes it back before it stops a process.
    """
    for group in control_groups("memory"):
        for limit, usage, cached in _FILES:
            with suppress(OSError, ValueError):  # "max" is no number: there is no limit
                most, held = (int((group / name).read_text()) for name in (limit, usage))
                statistics = (group / "memory.stat").read_text().split()
                fields = dict(zip(statistics[::2], statistics[1::2], strict=True))
                yield most - held + int(fields.get(cached, 0))
