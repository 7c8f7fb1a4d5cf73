"""Scaling times from the machine where they were measured to another one, by profiles."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from predict_graph.resources.profile import WORKING_SETS, ResourceProfile, latency_name


@dataclass(frozen=True)
class Carried:
    """The factor of times between two machines.

    Attributes
    ----------
    compute : float
        Factor on seconds of compiled loops that use all cores.
    single : float
        Factor on seconds of one thread.
    std : float
        Standard deviation of the logarithm of either: the disagreement of the attributes, and
        their measurement error.
    """

    compute: float
    single: float
    std: float


def carried_factor(
    here: ResourceProfile, there: ResourceProfile, working_set: int, least_std: float = 0.1
) -> Carried:
    """Return the factor on the time of a graph algorithm `there`.

    An iteration computes, streams its edges and accesses vertices randomly. The factor is the
    median of the ratios of integer speed, bandwidth, and latency at the working set of the graph,
    since any one may be an outlier: under a CPU quota, other processes evict the caches between
    reads. The disagreement of the three determines the error.

    Parameters
    ----------
    here, there : ResourceProfile
    working_set : int
        Bytes that an iteration accesses.
    least_std : float
        Of factors, which profiles only approximate: calibrated in docs/studies/nimo.md, where the
        median error of carried predictions is 13%, all within the interval.

    Raises
    ------
    RequestError
        If a profile lacks an attribute.
    """
    size = min(WORKING_SETS, key=lambda each: abs(math.log(each / max(working_set, 1))))
    names = ("cpu_cores", "cpu_integer_speed", "cpu_float_speed", "memory_bandwidth")
    cores, integers, floats, bandwidth = (here.value(each) / there.value(each) for each in names)
    latency = there.value(latency_name(size)) / here.value(latency_name(size))
    together = [cores * integers, cores * latency, bandwidth]
    apart = statistics.stdev(map(math.log, together))
    used = (("cpu_integer_speed", "cpu_cores"), (latency_name(size),), ("memory_bandwidth",))
    noise = [_unsureness(names, here, there) for names in used]
    return Carried(
        compute=statistics.median(together),
        single=statistics.median((integers, latency, floats)),
        # The median of the three, like the factor: robust against one attribute with a large error.
        std=math.hypot(apart, statistics.median(noise), least_std),
    )


def _unsureness(names: tuple[str, ...], *profiles: ResourceProfile) -> float:
    """Return the relative standard error of attributes together, from quartiles of repeats."""
    measured = [profile.attributes[name] for profile in profiles for name in names]
    return math.hypot(*(each.spread / math.sqrt(each.repeats) for each in measured))
