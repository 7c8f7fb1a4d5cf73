"""All settings of a Spark session in one object."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.cores import usable_cores
from predict_graph.engines.spark.session.graphframes import graphframes_conf
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from predict_graph.engines.spark.log.eventlog import EventLog

_MASTER = "PREDICT_GRAPH_SPARK_MASTER"
_LOCAL = re.compile(r"local(?:\[([1-9][0-9]{0,2}|\*)\])?")
_MEMORY = re.compile(r"[1-9][0-9]{0,18}[kmgt]", re.IGNORECASE)  # digits of a long of Java
_UNITS = {"t": 1 << 40, "g": 1 << 30, "m": 1 << 20, "k": 1 << 10, "b": 1}  # by definition

# Measurements need these; with other values supersteps would shuffle all data.
_OF_LOGS = [f"spark.eventLog.{name}" for name in ("enabled", "dir", "compress", "rolling.enabled")]
_NEEDED = (*_OF_LOGS, "spark.sql.shuffle.partitions")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_PARAMETERS = {
    "spark.master": "master",
    "spark.executor.instances": "machines",
    "spark.cores.max": "machines",
    "spark.executor.cores": "cores",
    "spark.executor.memory": "memory",
}


@dataclass(frozen=True)
class SparkSettings:
    """A Spark cluster and the resources of a job on it.

    Parameters
    ----------
    master : str
        ``local[N]``, ``local-cluster[…]``, ``spark://host:port``, ``yarn``, …; by default that of
        the variable ``PREDICT_GRAPH_SPARK_MASTER``, or ``local``.
    machines : int
        Executors; a job waits until all have registered. A local master is one process with as
        many threads as all of them have cores.
    cores : int
        Cores of an executor; of ``local[N]`` without both, N, and of ``local[*]`` all cores.
    memory : str
        Memory of an executor, in Spark's notation.
    conf : mapping of str to str
        Further Spark settings, which override ours, except those of the event log and of
        the number of partitions.
    graphframes_jar : str or Path, optional
        JVM half of GraphFrames, for jobs that use it: a jar or Maven coordinates; see
        :func:`~predict_graph.engines.spark.session.graphframes.graphframes_conf`.
    folder : str or Path, optional
        Where this process and the executors pass files to each other: a folder that all of them
        see, or a URL that Spark supports. The folder for temporary files by default.
    in_open_session : bool
        Whether the session belongs to the user and stays open.
    checkpoint : str or Path, optional
        Where checkpoints are stored, so that a run continues after an executor is
        lost: a folder, or a URL that Spark supports, readable and writable for every executor.
    checkpoint_interval : int, optional
        Supersteps between checkpoints; 10 by default.

    Raises
    ------
    RequestError
        If a value is not accepted.
    """

    master: str = field(default_factory=lambda: os.environ.get(_MASTER) or "local")
    machines: int = 1
    cores: int = 1
    memory: str = "1g"
    conf: Mapping[str, str] = field(default_factory=dict)
    graphframes_jar: str | Path | None = None
    folder: str | Path | None = None
    in_open_session: bool = False
    checkpoint: str | Path | None = None
    checkpoint_interval: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("machines", 4096), ("cores", 1024)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or not 1 <= int(value) <= most:
                raise RequestError(f"{name} is {value}; accepted: 1 to {most}")
        self._take_threads()
        if not _MEMORY.fullmatch(str(self.memory)):
            raise RequestError(f"memory is {self.memory!r}; accepted: a size such as 900m or 4g")
        object.__setattr__(self, "memory", memory_text(self.memory))
        for key, value in self.conf.items():
            _check_own(key, value)
            if self.local and key == "spark.driver.memory":
                raise RequestError(f"conf has {key}; accepted for {self.master}: the memory")
        if self.graphframes_jar is not None:
            graphframes_conf(self.graphframes_jar)
        if self.folder is not None and self.address is None and not os.path.isdir(self.folder):
            raise RequestError(f"there is no folder {self.folder} to put graphs in")
        self._check_checkpoint()

    def _take_threads(self) -> None:
        """Take the threads of ``local[N]`` for the cores, unless machines or cores are given.

        The master is ``local`` then: runs with other threads are on the same cluster.
        """
        if not self.local:
            return
        named = _LOCAL.fullmatch(self.master)
        if named is None:
            raise RequestError(f"master is {self.master}; accepted: local, local[N] or local[*]")
        asked = self.machines * self.cores
        every = usable_cores() if asked == 1 else asked
        threads = every if named[1] == "*" else int(named[1] or asked)
        if asked == 1:
            object.__setattr__(self, "cores", threads)
        elif asked != threads:
            raise RequestError(
                f"master is {self.master}, but machines are {self.machines} and cores "
                f"{self.cores}; accepted: local[{asked}], or local"
            )
        object.__setattr__(self, "master", "local")

    def _check_checkpoint(self) -> None:
        interval = self.checkpoint_interval
        if self.checkpoint is None:
            if interval is not None:
                raise RequestError(
                    f"the checkpoint interval is {interval}, but no checkpoint folder is given; "
                    "accepted: both, or neither"
                )
            return
        if interval is None:
            object.__setattr__(self, "checkpoint_interval", 10)
        elif not isinstance(interval, Integral) or int(interval) < 1:
            raise RequestError(f"the checkpoint interval is {interval}; accepted: at least 1")
        place = str(self.checkpoint)
        if not place or (not _ADDRESS.match(place) and not os.path.isdir(place)):
            raise RequestError(
                f"there is no folder {place!r} for checkpoints; accepted: an existing one "
                "visible to all executors, or an address such as hdfs://host/folder"
            )

    def checkpoints(self, iterations: int) -> int:
        """Return the number of checkpoints of a run; the last state is always stored."""
        if self.checkpoint_interval is None:
            return 0
        return -(-iterations // self.checkpoint_interval)

    @property
    def address(self) -> str | None:
        """The folder, if it is a URL."""
        return str(self.folder) if _ADDRESS.match(str(self.folder)) else None

    @property
    def local(self) -> bool:
        """Whether Spark is a single process on this machine."""
        return is_local(self.master)

    @property
    def executors(self) -> int:
        """The number of processes that work and exchange records."""
        return 1 if self.local else self.machines

    @property
    def partitions(self) -> int:
        """The number of partitions of every table."""
        return self.machines * self.cores

    def on(self, machines: int) -> SparkSettings:
        """Return the same settings with another number of machines."""
        return replace(self, machines=machines)

    def describe(self, log: EventLog | None = None) -> dict[str, Any]:
        """Return the settings that affect speed, for JSON and to match earlier runs.

        ``executors_lost`` is the number of executors that a run with this `log` has lost, which
        excludes it from training.
        """
        more: Any = {"partitions_per_core": 1, "checkpoint_interval": self.checkpoint_interval}
        if self.in_open_session:
            more["session"] = "open"
        lost = 0 if log is None else log.executors_lost(self.executors)
        return described(self.master, (self.machines, self.cores, self.memory), lost, **more)

    @property
    def sql_conf(self) -> dict[str, str]:
        """Settings of tables, which can be set in a session that shares its executors.

        Tables keep their partitions, and joins do not change their kind during a run, so that
        supersteps are alike and their times comparable. Plans in the event log are truncated,
        because writing them takes part of every superstep.
        """
        return {
            "spark.sql.shuffle.partitions": str(self.partitions),
            "spark.sql.leafNodeDefaultParallelism": str(self.partitions),
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.sql.join.preferSortMergeJoin": "false",
            "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
            "spark.sql.ui.explainMode": "simple",
        }

    def session_conf(self, event_logs: Path, *, java_works: bool = False) -> dict[str, str]:
        """Return all settings of the session: ours, overridden by the user's.

        In addition to settings of tables, a job starts only when all its executors have registered.
        Where Java does little but pass arrays on, its optimising compiler costs more than it saves:
        without it, runs of seconds to minutes took 0.6 to 0.7 times as long, supersteps with the
        largest messages 0.8 times (docs/studies/beside-graphx.md). Collecting garbage in one thread
        and a small heap at first save an eighth of the memory of executors with one core.
        """
        # Over TCP, partial packets wait for the acknowledgement of the previous packet, which Linux
        # delays by 40 ms: most of the time of a small task. Socket paths must be short, and
        # temporary folders of YARN containers have long ones.
        sockets_of_files = hasattr(socket, "AF_UNIX") and not self.master.startswith("yarn")
        ours = {
            **self.sql_conf,
            "spark.default.parallelism": str(self.partitions),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
            "spark.shuffle.reduceLocality.enabled": "false",
            "spark.sql.warehouse.dir": (event_logs.parent / "warehouse").as_uri(),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.executor.memory": self.memory,
            "spark.executor.cores": str(self.cores),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": event_logs.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.python.unix.domain.socket.enabled": str(sockets_of_files).lower(),
        }
        if not java_works:
            one = " -XX:+UseSerialGC -Xms48m" if self.cores == 1 else ""
            for side in ("driver", "executor"):
                ours[f"spark.{side}.defaultJavaOptions"] = f"-XX:TieredStopAtLevel=1{one}"
        if self.local:  # one process does all work, with the memory of the driver
            ours["spark.driver.memory"] = self.memory
        else:
            ours["spark.cores.max"] = str(self.machines * self.cores)
            ours["spark.executor.instances"] = str(self.machines)
        if self.local or self.master.startswith(("spark://127.", "spark://localhost:")):
            ours["spark.driver.host"] = ours["spark.driver.bindAddress"] = "127.0.0.1"
        merged = {**ours, **self.conf}
        for name, found in graphframes_conf(self.graphframes_jar).items():
            merged[name] = ",".join([found, *filter(None, [self.conf.get(name)])])
        return merged

    @property
    def session_master(self) -> str:
        """The master to connect to; ``local`` gets the threads of all machines."""
        return f"local[{self.machines * self.cores}]" if self.local else self.master


def _check_own(key: object, value: object) -> None:
    """Reject a setting that Spark would not accept, or that another parameter sets."""
    if not isinstance(key, str) or not key.startswith("spark.") or not isinstance(value, str):
        raise RequestError(
            f"conf has {key!r}: {value!r}; accepted: names that begin with spark., and text"
        )
    if key in _PARAMETERS:
        raise RequestError(f"conf has {key}; accepted: the parameter {_PARAMETERS[key]}")
    if key in _NEEDED:
        raise RequestError(f"conf has {key}, which the spark engine needs for itself")


def heap_bytes(memory: str) -> int:
    """Return the bytes of a size in Spark's notation; without a unit it is in MiB.

    Examples
    --------
    >>> heap_bytes("2g"), heap_bytes("900M"), heap_bytes("1024") == heap_bytes("1gb")
    (2147483648, 943718400, True)
    """
    number = memory.lower().rstrip("bkmgt")
    return int(number) * _UNITS[memory.lower()[len(number) :][:1] or "m"]


def memory_text(memory: str) -> str:
    """Return the one text that equal sizes have, by which runs in the history are found.

    Examples
    --------
    >>> memory_text("2048m"), memory_text("2G"), memory_text("900m")
    ('2g', '2g', '900m')
    """
    size = heap_bytes(memory)
    return next(f"{size // each}{unit}" for unit, each in _UNITS.items() if size % each == 0)


def described(master: str, size: tuple[int, int, str], lost: int, **more: Any) -> dict[str, Any]:
    """Return how a cluster is described: by its machines, their cores and their memory."""
    machines, cores, memory = size
    named = "local" if is_local(master) else master
    resources = {"machines": machines, "cores": cores, "memory": memory}
    ran = {"workers": machines, "executors_lost": lost}
    return {"name": "spark", "master": named, **resources, **more, **ran}


def is_local(master: str) -> bool:
    """Whether a master is a single process, whose threads do the work.

    Examples
    --------
    >>> [is_local(master) for master in ("local", "local[4]", "local-cluster[2,1,1024]")]
    [True, True, False]
    """
    return master == "local" or master.startswith("local[")
