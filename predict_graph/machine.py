"""Which machine this is, in words that stay the same, and which control groups limit a process."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path

_CGROUPS, _LISTED = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


@lru_cache(maxsize=1)
def machine_identity() -> str:
    """Return processor model, number of logical cores and architecture.

    Costs learned on one machine say nothing of another; runs are comparable when this text is the
    same. It has no host name, so that the nodes of a uniform cluster count as one machine, and no
    clock rate or free memory, which change.

    Examples
    --------
    >>> machine_identity() == machine_identity()
    True
    """
    return f"{_processor()}, {os.cpu_count() or 1} cores, {platform.machine() or 'unknown'}"


def _processor() -> str:
    for line in system_text(Path("/proc/cpuinfo")).splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model") and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.system() or "unknown processor"


def control_groups(controller: str) -> list[Path]:
    """Return the control groups of this process that may limit it, and those around them."""
    found: list[Path] = []
    for line in system_text(_LISTED).splitlines():
        _, controllers, place = line.split(":", 2)
        roots = [_CGROUPS] if controllers == "" else []
        if controller in controllers.split(","):
            roots = [_CGROUPS / controllers, _CGROUPS / controller]
        for root in roots:
            group = root / place.lstrip("/")
            found += [group, *(each for each in group.parents if each.is_relative_to(root))]
    return [*dict.fromkeys(found)]


def system_text(file: Path) -> str:
    """Return a file of the system; nothing if it is not there."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
