"""Emulated machines: a CPU quota, and a network of its own with a rate and a delay.

Needs root, control groups, network namespaces and tbf; where one is missing,
:class:`CannotEmulateError` says which.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu_quota import CannotCapError, CpuQuota
from benchmarks.nimo.storage import delay_to, serve_files

_CLONE_NEWNET = 0x40000000
_HERE, _THERE = "10.201.7.1", "10.201.7.2"


class CannotEmulateError(RuntimeError):
    """Something that emulation needs is missing here; the text says what."""


@dataclass(frozen=True)
class Machine:
    """An assignment: the share of a core, and the network to the storage."""

    cpu: float
    rate_mbit: float
    delay_ms: float


class Testbed:
    """A namespace that reaches a storage server over a shaped link, and a CPU quota.

    :class:`CannotEmulateError` says what it needs and is missing here.
    """

    host = _HERE

    def __init__(self, files: Path) -> None:
        self._stack = ExitStack()
        self._name = f"pg{os.getpid()}"
        self._folder = files

    def __enter__(self) -> Testbed:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self) -> None:
        if os.geteuid() != 0:
            raise CannotEmulateError("emulated machines need root: quotas and network namespaces")
        name, near, far = self._name, f"{self._name}a", f"{self._name}b"
        try:
            self._quota = CpuQuota(name)
        except CannotCapError as error:
            raise CannotEmulateError(str(error)) from error
        self._stack.callback(self._quota.remove)
        _ran("ip", "netns", "add", name)
        self._stack.callback(_ran, "ip", "netns", "del", name)
        _ran("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        _ran("ip", "addr", "add", f"{_HERE}/24", "dev", near)
        _ran("ip", "link", "set", near, "up")
        for words in (
            ("ip", "addr", "add", f"{_THERE}/24", "dev", far),
            ("ip", "link", "set", far, "up"),
            ("ip", "link", "set", "lo", "up"),
        ):
            _ran("ip", "netns", "exec", name, *words)
        self._near = near
        self._port = serve_files(self._folder, _HERE)
        self._proxies: dict[tuple[int, float], int] = {}

    def become(self, machine: Machine) -> int:
        """Shape quota and link; return the port at which the storage answers."""
        self._quota.limit(machine.cpu)
        rate = f"{machine.rate_mbit:g}mbit"
        _ran(
            *("tc", "qdisc", "replace", "dev", self._near, "root", "tbf"),
            *("rate", rate, "burst", "32kb", "latency", "200ms"),
        )
        return self.delayed(self._port, machine.delay_ms)

    def delayed(self, port: int, delay_ms: float) -> int:
        """Return the port of a proxy to a port of the storage host."""
        if (port, delay_ms) not in self._proxies:
            self._proxies[port, delay_ms] = delay_to((_HERE, port), _HERE, delay_ms / 1e3)
        return self._proxies[port, delay_ms]

    def inside(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a process of the emulated machine, and return what it returns."""
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(1, mp_context=context, initializer=self._enter) as pool:
            return pool.submit(work, *arguments).result()

    def _enter(self) -> None:
        handle = os.open(f"/var/run/netns/{self._name}", os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(handle, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot enter the network namespace")
        self._quota.enter()


def _ran(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise CannotEmulateError(f"emulated machines need {command[0]} (iproute2)") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip()
        raise CannotEmulateError(f"{' '.join(command)} failed: {said}") from error
