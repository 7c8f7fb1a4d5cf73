"""Profiles of the executors of a Spark cluster, measured concurrently by one task each."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from predict_graph.engines.spark.session.executors import prepare_executors
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import open_session
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.resources.profile import ResourceProfile


@dataclass(frozen=True)
class Executors:
    """The profiles of the executors of a cluster, by host and number, slowest first.

    A superstep lasts as long as its slowest worker (Ernest, section 4.3): the profile of a cluster
    is that of its slowest executor.
    """

    profiles: dict[str, ResourceProfile]

    @property
    def slowest(self) -> ResourceProfile:
        """The profile of the slowest executor."""
        return next(iter(self.profiles.values()))

    @property
    def verdict(self) -> str:
        """A sentence on which executors to drop: those with less than 85% of the median speed.

        That is twice the spread of repeats on one machine (docs/resources.md).
        """
        middle = statistics.median(map(speed, self.profiles.values()))
        shares = {host: speed(profile) / middle for host, profile in self.profiles.items()}
        slow = [f"{host} ({x:.0%} of the median)" for host, x in shares.items() if x < 0.85]
        if not slow:
            return "no executor is clearly slower than the others"
        return f"drop these executors, which slow down every superstep: {', '.join(slow)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the profiles for JSON."""
        executors = [{"host": host, **one.to_dict()} for host, one in self.profiles.items()]
        return {"schema": 1, "executors": executors, "verdict": self.verdict}


def speed(profile: ResourceProfile) -> float:
    """Return the steps per second of all threads together, in millions."""
    return profile.value("cpu_integer_speed") * profile.value("cpu_cores")


def calibrate_executors(master: str, machines: int) -> Executors:
    """Measure executors concurrently, one task each."""
    settings = SparkSettings(master=master, machines=machines)
    with open_session(settings) as session, spark_failures("measuring executors"):
        prepare_executors(session)
        context: Any = session.spark.sparkContext
        # A barrier stage starts all its tasks at once, one in each free slot.
        rows = context.parallelize(range(machines), machines).barrier().mapPartitions(_measure)
        found = [(f"{host}, {number}", profile) for number, host, profile in rows.collect()]
    return Executors(dict(sorted(found, key=lambda each: speed(each[1]))))


def _measure(numbers: Iterator[int]) -> Iterator[tuple[int, str, ResourceProfile]]:
    """Measure this executor; runs in a task."""
    from pyspark import BarrierTaskContext

    from predict_graph.resources.calibration import calibrate

    task = BarrierTaskContext.get()
    place = task.getTaskInfos()[task.partitionId()].address
    task.barrier()  # start together, so that shared resources such as a disk are contended
    found = calibrate()
    yield from ((number, str(place), found) for number in numbers)
