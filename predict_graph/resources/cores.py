"""How many cores this process may use: by its affinity, and by the quota of its control groups."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["cores_allowed", "usable_cores"]

_CGROUPS = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """Return the cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def cores_allowed() -> float:
    """Return the cores that this process may keep busy: its affinity, or its quota if less."""
    cores = float(usable_cores())
    quota = _quota()
    return cores if quota is None else min(cores, quota)


def _quota() -> float | None:
    """Return the cores that the control groups of this process allow; None without a limit."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    limits = []
    for line in lines:
        _, controllers, place = line.split(":", 2)
        if controllers == "":
            limits.append(_limit_v2(_CGROUPS / place.lstrip("/")))
        elif "cpu" in controllers.split(","):
            limits += [
                _limit_v1(_CGROUPS / name / place.lstrip("/")) for name in (controllers, "cpu")
            ]
    found = [limit for limit in limits if limit is not None]
    return min(found) if found else None


def _limit_v1(group: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota = int((group / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        period = int((group / "cpu.cfs_period_us").read_text(encoding="ascii"))
        return quota / period if quota > 0 else None
    return None


def _limit_v2(group: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    return None
