"""A share of a core for some processes: a control group with a CPU quota."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PERIOD = 20_000  # microseconds; short, so that what is capped runs smoothly


class CannotEmulateError(RuntimeError):
    """Something that emulation needs is missing here; the text says what."""


class CpuQuota:
    """A control group with a CPU quota, version 1 or 2."""

    def __init__(self, name: str) -> None:
        first = Path("/sys/fs/cgroup/cpu")
        self.version = 1 if first.is_dir() else 2
        self.folder = (first if self.version == 1 else Path("/sys/fs/cgroup")) / name
        try:
            if self.version == 2:
                (self.folder.parent / "cgroup.subtree_control").write_text("+cpu")
            self.folder.mkdir()
        except OSError as error:
            raise CannotEmulateError(f"CPU quotas need root and cgroups: {error}") from error

    def limit(self, cpu: float | None) -> None:
        """Set the share of a core; None lifts it."""
        quota = None if cpu is None else int(cpu * _PERIOD)
        if self.version == 1:
            (self.folder / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(-1 if quota is None else quota))
        else:
            text = "max" if quota is None else str(quota)
            (self.folder / "cpu.max").write_text(f"{text} {_PERIOD}")

    def enter(self) -> None:
        """Put the calling process, and those it starts, in the group."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self) -> None:
        for _ in range(50):
            try:
                self.folder.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:  # its processes are still ending
                time.sleep(0.1)
