"""Profiles of the executors of a Spark cluster, measured concurrently by one task each."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import open_session
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.pictures import draw_together
from predict_graph.pictures.panels import dot_picture
from predict_graph.resources.profile import ResourceProfile

# Of the median: limits the speed of executors to keep; twice the spread of repeats on one machine
# (7%, docs/resources.md).
_SLOW = 0.85


@dataclass(frozen=True)
class ExecutorProfile:
    """The profile of one executor."""

    host: str
    profile: ResourceProfile

    @property
    def speed(self) -> float:
        """The steps per second of all its threads together, in millions."""
        return self.profile.value("cpu_integer_speed") * self.profile.value("cpu_cores")


@dataclass(frozen=True)
class Executors:
    """All executors of a cluster, slowest first.

    A superstep lasts as long as its slowest worker (Ernest, section 4.3): the profile of a cluster
    is that of its slowest executor.
    """

    executors: tuple[ExecutorProfile, ...]

    @property
    def slowest(self) -> ExecutorProfile:
        """The slowest executor."""
        return self.executors[0]

    @property
    def verdict(self) -> str:
        """A sentence on which executors to drop."""
        middle = statistics.median(one.speed for one in self.executors)
        slow = [one for one in self.executors if one.speed < _SLOW * middle]
        if not slow:
            return "no executor is clearly slower than the others"
        named = ", ".join(f"{one.host} ({one.speed / middle:.0%} of the median)" for one in slow)
        return f"drop these executors, which slow down every superstep: {named}"

    def to_dict(self) -> dict[str, Any]:
        """Return the profiles for JSON."""
        return {
            "schema": 1,
            "executors": [{"host": one.host, **one.profile.to_dict()} for one in self.executors],
            "verdict": self.verdict,
        }


def calibrate_executors(
    master: str, machines: int, conf: dict[str, str] | None = None
) -> Executors:
    """Measure executors concurrently, one task each."""
    settings = SparkSettings(master=master, machines=machines, conf=conf or {})
    with open_session(settings, name="calibrate") as session, spark_failures("measuring executors"):
        context: Any = session.spark.sparkContext
        # A barrier stage starts all its tasks at once, one in each free slot.
        rows = context.parallelize(range(machines), machines).barrier().mapPartitions(_measure)
        found = [
            ExecutorProfile(f"{host}, {number}", profile)
            for number, host, profile in rows.collect()
        ]
    return Executors(tuple(sorted(found, key=lambda one: one.speed)))


def draw_executors(found: Executors, target: Path) -> None:
    """Draw the speed of each executor."""
    names, speeds = zip(*((one.host, one.speed) for one in found.executors), strict=True)
    title, unit = "Speed of the executors", "million integer steps a second, all threads"
    picture = dot_picture(title, f"{found.verdict}.", names, speeds, xlabel=unit)
    draw_together([picture], "executors, slowest first", target)


def _measure(numbers: Iterator[int]) -> Iterator[tuple[int, str, ResourceProfile]]:
    """Measure this executor; runs in a task."""
    from pyspark import BarrierTaskContext

    from predict_graph.resources.calibration import calibrate

    task = BarrierTaskContext.get()
    place = task.getTaskInfos()[task.partitionId()].address
    task.barrier()  # start together, so that shared resources such as a disk are contended
    found = calibrate()
    yield from ((number, str(place), found) for number in numbers)
