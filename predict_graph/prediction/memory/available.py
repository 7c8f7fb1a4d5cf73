"""How much memory a new process may take: the machine's, and the limits that hold for this one."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress

import psutil

from predict_graph.cores import control_groups

_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def resident_memory() -> int:
    """Return the bytes that this process holds in memory."""
    return int(psutil.Process().memory_info().rss)


def available_memory() -> int:
    """Return the bytes that a process can take if it starts when this one has ended.

    The least of what the machine has left, what control groups (version 1 or 2) leave, and limits
    of the process; what this process holds counts as free.
    """
    own = resident_memory()
    rooms = [int(psutil.virtual_memory().available) + own]
    rooms += [room + own for room in cgroup_rooms()]
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            rooms.append(limit)
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
