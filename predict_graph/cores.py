"""How many cores this process may use, and how long it waited for one.

Linux counts of each thread the seconds in which it ran, and those in which it was ready to run and
no core was free (``schedstat``); of a control group those in which its quota held it back
(``cpu.stat``); of a virtual machine those that its host gave to others (steal, proc(5)).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from predict_graph.machine import control_groups, system_text


def usable_cores() -> int:
    """Return the cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def cores_allowed() -> float:
    """Return the cores that this process may keep busy: its affinity, or its quota if less."""
    quotas = [quota for group in control_groups("cpu") for quota in _quota(group)]
    return min([float(usable_cores()), *quotas])


NOTED = 1.1  # a documented limit of the slowdown (docs/budget.md)


@dataclass(frozen=True)
class Load:
    """What slowed this process down: shares of the time in which it wanted a core."""

    waited: float = 0.0
    throttled: float = 0.0
    stolen: float = 0.0

    @property
    def slowdown(self) -> float:
        """How many times longer work takes than without the others, with the same quota.

        Examples
        --------
        >>> Load(waited=0.5).slowdown, Load(throttled=0.5).slowdown
        (2.0, 1.0)
        """
        return 1.0 / max((1.0 - self.waited) * (1.0 - self.stolen), 1e-3)

    @property
    def stretch(self) -> float:
        """Seconds by the clock for each processor second, with a quota too.

        Examples
        --------
        >>> Load(waited=0.25, throttled=0.25).stretch
        2.0
        """
        return 1.0 / max((1.0 - self.waited - self.throttled) * (1.0 - self.stolen), 1e-3)

    @property
    def noted(self) -> bool:
        """Whether others slow work down so much that a prediction has to say so."""
        return self.slowdown >= NOTED

    @property
    def warnings(self) -> list[str]:
        """What slows this process down, and what a prediction assumes about it."""
        found = []
        if self.noted:
            others = [f"{self.waited:.0%} of its time for other programs"]
            if self.stolen > 0.01:
                others.append(f"{self.stolen:.0%} for other guests of its host")
            found.append(
                f"this process waited {' and '.join(others)}, and so does the predicted run; "
                f"without them it is {self.slowdown:.2g} times as fast, which the interval includes"
            )
        if self.throttled >= 0.1:
            found.append(
                f"a CPU quota of {cores_allowed():.2g} cores held this process back for "
                f"{self.throttled:.0%} of its time: the prediction is for the same quota"
            )
        return found

    def to_dict(self) -> dict[str, float]:
        """Return the fields and the slowdown, for JSON."""
        return {**vars(self), "slowdown": self.slowdown}


class LoadMeter:
    """Adds up how long the threads of this process, and its children, ran and waited for a core."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, float]] = {}
        self._ran = self._waited = 0.0
        self._began, self._marked = self.mark(), time.monotonic()

    def start(self, recent: float = 10.0) -> None:
        """Begin to measure for a prediction: from one before, if that was `recent`."""
        if time.monotonic() - self._marked > recent:
            self._began, self._marked = self.mark(), time.monotonic()

    def observe(self) -> None:
        """Count the threads that there are now: those that end are not seen later."""
        with self._lock:
            for name in os.listdir("/proc/self/task"):
                ran, waited = _schedstat(f"self/task/{name}")
                seen = self._seen.get(name, (0.0, 0.0))
                before = seen if ran >= seen[0] else (0.0, 0.0)  # another thread has its number
                self._add(ran - before[0], waited - before[1])
                self._seen[name] = (ran, waited)

    def observe_child(self, process: int) -> None:
        """Count the first thread of a child process that ends now."""
        with self._lock:
            self._add(*_schedstat(process))

    def _add(self, ran: float, waited: float) -> None:
        self._ran, self._waited = self._ran + ran, self._waited + waited

    def mark(self) -> tuple[float, ...]:
        """Return a moment for :meth:`read`: the seconds so far.

        Those that ran, waited, were throttled, stolen, and busy.
        """
        self.observe()
        return self._ran, self._waited, _throttled(), *_machine()

    def read(self, since: tuple[float, ...] | None = None, enough: float = 0.1) -> Load:
        """Return what slowed this process down of late, or since a moment.

        Nothing, where it has worked and waited for less than `enough` seconds.
        """
        before, now = since or self._began, self.mark()
        ran, waited, throttled, stolen, busy = (b - a for a, b in zip(before, now, strict=True))
        whole, used = ran + waited, stolen + busy
        if whole < enough:
            return Load()
        held = min(max(throttled, 0.0), waited)
        share = stolen / used if used > 0.0 else 0.0
        return Load((waited - held) / whole, held / whole, min(max(share, 0.0), 1.0))


def queued(process: int | str = "self") -> float:
    """Return the seconds in which the first thread of a process waited for a core."""
    return _schedstat(process)[1]


def _schedstat(thread: int | str) -> tuple[float, float]:
    ran, waited = (system_text(Path(f"/proc/{thread}/schedstat")).split() or ["0", "0"])[:2]
    return 1e-9 * int(ran), 1e-9 * int(waited)


def _machine() -> tuple[float, float]:
    """Return the seconds that the host gave to others, and those in which the cores were busy."""
    times = psutil.cpu_times()
    busy = sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq"))
    return float(getattr(times, "steal", 0.0)), float(busy)


def _quota(group: Path) -> Iterator[float]:
    """Give the cores that a control group allows, of version 1 or 2, if it has a limit."""
    files = (group / f"cpu.cfs_{name}_us" for name in ("quota", "period"))
    first, period = (system_text(file).split() for file in files)
    for words in (first + period, system_text(group / "cpu.max").split()):
        if len(words) == 2 and words[0] not in ("-1", "max"):
            yield int(words[0]) / int(words[1])


def _throttled() -> float:
    """Return the seconds in which quotas held back the control groups of this process."""
    most = 0.0
    for group in control_groups("cpu"):
        words = system_text(group / "cpu.stat").split()
        fields = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        seconds = 1e-6 * fields.get("throttled_usec", 0)
        most = max(most, seconds, 1e-9 * fields.get("throttled_time", 0))
    return most


meter = LoadMeter()
"""That of this process."""
