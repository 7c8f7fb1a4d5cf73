"""Emulated machines: a CPU quota, and a network of its own with a rate and a delay.

Needs root, control groups, network namespaces and tbf; where one is missing,
:class:`CannotEmulateError` says which.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cpu_quota import CannotEmulateError, CpuQuota
from benchmarks.nimo.storage import delay_to, serve_files

_CLONE_NEWNET = 0x40000000
_HERE, _THERE = "10.201.7.1", "10.201.7.2"


@dataclass(frozen=True)
class Machine:
    """An assignment: the share of a core, and the network to the storage."""

    cpu: float
    rate_mbit: float
    delay_ms: float


@dataclass
class Testbed:
    """A namespace that reaches a storage server over a shaped link, and a CPU quota."""

    name: str
    link: str
    quota: CpuQuota
    port: int  # of the storage, without a delay
    host: str = _HERE
    _proxies: dict[tuple[int, float], int] = field(default_factory=dict)

    def become(self, machine: Machine) -> int:
        """Shape quota and link; return the port at which the storage answers."""
        self.quota.limit(machine.cpu)
        rate = f"{machine.rate_mbit:g}mbit"
        _ran(f"tc qdisc replace dev {self.link} root tbf rate {rate} burst 32kb latency 200ms")
        return self.delayed(self.port, machine.delay_ms)

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
        handle = os.open(f"/var/run/netns/{self.name}", os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(handle, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot enter the network namespace")
        self.quota.enter()


@contextmanager
def testbed(files: Path) -> Iterator[Testbed]:
    """Set a test bed up whose storage has these files, and take it down in the end."""
    if os.geteuid() != 0:
        raise CannotEmulateError("emulated machines need root: quotas and network namespaces")
    name = f"pg{os.getpid()}"
    near, far = f"{name}a", f"{name}b"
    with ExitStack() as stack:
        quota = CpuQuota(name)
        stack.callback(quota.remove)
        _ran(f"ip netns add {name}")
        stack.callback(_ran, f"ip netns del {name}")
        _ran(f"ip link add {near} type veth peer name {far} netns {name}")
        _ran(f"ip addr add {_HERE}/24 dev {near}")
        _ran(f"ip link set {near} up")
        _ran(f"ip -n {name} addr add {_THERE}/24 dev {far}")
        _ran(f"ip -n {name} link set {far} up")
        _ran(f"ip -n {name} link set lo up")
        yield Testbed(name, near, quota, serve_files(files, _HERE))


def _ran(command: str) -> None:
    words = command.split()
    try:
        subprocess.run(words, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise CannotEmulateError(f"emulated machines need {words[0]} (iproute2)") from None
    except subprocess.CalledProcessError as error:
        raise CannotEmulateError(f"{command} failed: {error.stderr.strip()}") from error
