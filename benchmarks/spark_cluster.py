"""A real Spark cluster on one machine: a standalone master and workers, a process each.

Every worker has a loopback address of its own, so that Spark takes it for another host and what
executors read from each other counts as remote. CPU quotas (cgroups, root only) give each worker a
fraction of a core, so that more workers are really faster.

    python -m benchmarks.spark_cluster --workers 2
    python -m benchmarks.spark_cluster --workers 4 --cpu 0.25

prints the master's address and runs until Ctrl-C.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.cpu_quota import CannotEmulateError, CpuQuota

_COMING = 60.0  # seconds
_ON_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass
class Worker:
    """A worker process, its executors included."""

    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the worker and its executors at once, as a crash would."""
        _ended(self.process)


@dataclass
class SparkCluster:
    """A running cluster; :func:`spark_cluster` starts one."""

    master: str
    workers: list[Worker]


@contextmanager
def spark_cluster(
    workers: int,
    *,
    cores: int = 1,
    memory: str = "1200m",
    cpu: float | None = None,
    port: int | None = None,
) -> Iterator[SparkCluster]:
    """Start a master and workers, and stop them in the end by their ids.

    Parameters
    ----------
    workers : int
    cores : int
        That each worker offers.
    memory : str
        That each worker offers.
    cpu : float, optional
        Share of a core that each worker gets, from the start.
    port : int, optional
        Of the master, whose address is what a history knows a cluster by; a free one by default.

    Raises
    ------
    CannotEmulateError
        If there are no CPU quotas here.
    RuntimeError
        If the cluster does not come up; its log is in the text.
    """
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="spark-cluster-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        processes: dict[Path, subprocess.Popen[bytes]] = {}  # by their logs

        def start(
            kind: str, name: str, address: str, *words: str, quota: CpuQuota | None = None
        ) -> subprocess.Popen[bytes]:
            log = folder / f"{name}.log"
            words = (f"org.apache.spark.deploy.{kind}", "--host", address, *words)
            processes[log] = _started(words, address, log, quota)
            stack.callback(_ended, processes[log])
            return processes[log]

        group = f"predict-graph-{os.getpid()}"
        quotas = [CpuQuota(f"{group}-{number}") for number in range(workers if cpu else 0)]
        for quota in quotas:
            stack.callback(quota.remove)
        port, page = port or _free_port(), _free_port()
        master = f"spark://127.0.0.1:{port}"
        ports = ("--port", str(port), "--webui-port", str(page))
        start("master.Master", "master", "127.0.0.1", *ports)
        _until(lambda: _answers(port), processes)
        found = []
        for number in range(workers):
            address = f"127.0.0.{11 + number}"
            options = ["--cores", str(cores), "--memory", memory, "--webui-port", "0"]
            options += ["--work-dir", str(folder / f"work-{number}"), master]
            capped = quotas[number] if quotas else None
            name = f"worker-{number}"
            found.append(Worker(start("worker.Worker", name, address, *options, quota=capped)))
        _until(lambda: _registered(page) >= workers, processes)
        for quota in quotas:
            quota.limit(cpu)
        yield SparkCluster(master, found)


def _started(
    command: Sequence[str], address: str, log: Path, quota: CpuQuota | None
) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": address,
        "SPARK_DAEMON_MEMORY": "256m",
        # Master and workers only start and watch: they need no second core, and no long warm-up.
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "SPARK_LOCAL_DIRS": str(log.with_name(f"local-{log.stem}")),
        "PYSPARK_PYTHON": sys.executable,
    }
    with log.open("wb") as output:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=partial(_before, quota),  # noqa: PLW1509
        )


def _before(quota: CpuQuota | None) -> None:
    """Run in the new process: it ends when we do, however that comes, and has its share of CPU."""
    with suppress(OSError, AttributeError):  # Linux only; elsewhere an orderly end is needed
        ctypes.CDLL(None).prctl(_ON_DEATH_OF_PARENT, signal.SIGKILL)
    if quota is not None:
        quota.enter()


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started: they are in one process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def _registered(page: int) -> int:
    """Return how many workers the master knows, by its status page."""
    address = f"http://127.0.0.1:{page}/json/"
    with suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=2) as answer:
        return int(json.load(answer)["aliveworkers"])
    return 0


def _until(ready: Callable[[], bool], processes: dict[Path, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + _COMING
    while not ready():
        for log, process in processes.items():
            if process.poll() is not None or time.monotonic() > deadline:
                text = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the cluster did not come up; {log.stem} said:\n{text}")
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--memory", default="1200m")
    parser.add_argument("--port", type=int, help="of the master; a free one by default")
    parser.add_argument("--cpu", type=float, help="share of a core of each worker (root only)")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with spark_cluster(**vars(given)) as cluster:
            print(cluster.master, flush=True)
            with suppress(KeyboardInterrupt):
                signal.pause()
    except (CannotEmulateError, RuntimeError) as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
