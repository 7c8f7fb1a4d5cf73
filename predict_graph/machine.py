"""Which machine this is, in words that stay the same from run to run."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path


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
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model") and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.system() or "unknown processor"
