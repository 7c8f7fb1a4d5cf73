"""A command watched from outside: time, processor, bytes; the command itself runs unchanged.

NIMO is noninvasive (section I): its input is available for any process on any system.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from predict_graph.cores import cores_allowed
from predict_graph.errors import JobError, RequestError, explained_by_system
from predict_graph.sizing.measuring.collecting import start
from predict_graph.sizing.quantities import check_count


@dataclass(frozen=True)
class Observation:
    """What was seen of one run.

    Attributes
    ----------
    seconds : float
        By the wall clock.
    cpu_seconds : float
        Of all its processes, in user and system mode.
    cores : float
        That it could have kept busy: its own degree of parallelism, or what it was allowed if that
        is less.
    read_bytes, written_bytes : int
        Through system calls, wherever they went: files, pipes, sockets read as files.
    disk_bytes : int
        Of these, what reached the disk.
    network_bytes : int
        Sent and received by the whole machine meanwhile, without the loopback device.
    exit_status : int
    """

    seconds: float
    cpu_seconds: float
    cores: float
    read_bytes: int
    written_bytes: int
    disk_bytes: int
    network_bytes: int
    exit_status: int

    @property
    def utilization(self) -> float:
        """Part of its cores that was busy, U of Algorithm 1."""
        return min(self.busy_cores / self.cores, 1.0)

    @property
    def busy_cores(self) -> float:
        """Cores that it kept busy on average."""
        return self.cpu_seconds / self.seconds

    @property
    def data_bytes(self) -> int:
        """Bytes that flowed through, D of Algorithm 1; at least one."""
        return max(self.read_bytes + self.written_bytes, 1)

    def network_share(self, network_rate: float = 1.0, disk_rate: float = 1.0) -> float:
        """Return the part of the time of an average I/O that the network takes (step 3).

        Parameters
        ----------
        network_rate, disk_rate : float
            Bytes a second of either, as a resource profile has them; any common unit.
        """
        network, disk = self.network_bytes / network_rate, self.disk_bytes / disk_rate
        return network / (network + disk) if network + disk > 0 else 0.0


def watch(command: Sequence[str], *, parallelism: int = 1, out: int | None = None) -> Observation:
    """Run a command to its end, and say what it did.

    Parameters
    ----------
    command : sequence of str
    parallelism : int, default 1
        Cores that the command itself would use, given as many: its threads or processes.
    out : int, optional
        Descriptor of the file that takes its standard output; as that of this process by default.

    Raises
    ------
    RequestError
        If there is no command, or the parallelism is below 1.
    JobError
        If the command cannot be started.
    """
    if not command:
        raise RequestError("there is no command to profile; accepted: -- COMMAND…")
    parallelism = check_count("the parallelism is", parallelism)
    moved = _network_bytes()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started, traffic = time.perf_counter(), None
    with explained_by_system(f"cannot run {command[0]}", JobError):
        process = start(command, always=True, stdout=out)
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - started
        # Of a process that has ended and is not waited for yet: with all that it waited for.
        with suppress(psutil.Error):  # of another user
            traffic = psutil.Process(process.pid).io_counters()
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return Observation(
        seconds=seconds,
        cpu_seconds=busy,
        cores=min(float(parallelism), cores_allowed()),
        read_bytes=traffic.read_chars if traffic else 0,
        written_bytes=traffic.write_chars if traffic else 0,
        disk_bytes=traffic.read_bytes + traffic.write_bytes if traffic else 0,
        network_bytes=max(_network_bytes() - moved, 0),
        exit_status=process.returncode,
    )


def _network_bytes() -> int:
    """Return the bytes that all devices but loopback ones have moved."""
    every = psutil.net_io_counters(pernic=True).items()
    return sum(each.bytes_sent + each.bytes_recv for name, each in every if name[:2] != "lo")
