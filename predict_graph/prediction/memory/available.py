"""How much memory a new process may take: the machine's, and the limits that hold for this one."""

from __future__ import annotations

import resource
from pathlib import Path

import psutil

_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
_GROUPS = Path("/proc/self/cgroup")


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
    rooms += [room + own for room in cgroup_rooms(_GROUPS.read_text() if _GROUPS.exists() else "")]
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            rooms.append(limit)
    return max(min(rooms), 0)


def cgroup_rooms(groups: str, v1: Path = _V1, v2: Path = _V2) -> list[int]:
    """Return what each control group above a process has left of its limit.

    Memory of cached files counts as left: the system takes it back before it stops a process.

    Parameters
    ----------
    groups : str
        Content of ``/proc/PID/cgroup``.
    v1, v2 : Path
        Where the groups are mounted.
    """
    rooms = []
    for line in groups.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            rooms += _rooms(v2, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            rooms += _rooms(v1, path, *names)
    return rooms


def _rooms(root: Path, path: str, limit_name: str, usage_name: str, cached_name: str) -> list[int]:
    rooms = []
    group = root / path.strip("/")
    while True:
        # Inside a container the path may be one that only the host has; its root is then ours.
        limit, usage = _number(group / limit_name), _number(group / usage_name)
        if limit is not None and usage is not None:
            rooms.append(limit - usage + _statistic(group / "memory.stat", cached_name))
        if group == root:
            return rooms
        group = group.parent


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    # Version 1 has no word for "no limit", only a number beyond any memory.
    return int(text) if text.isdigit() and int(text) < 1 << 60 else None


def _statistic(file: Path, name: str) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[0] == name), 0)
