"""Carrying seconds from the machine where they were learned to another one, by their profiles."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from predict_graph.resources.memory import WORKING_SETS, latency_name
from predict_graph.resources.profile import ResourceProfile

__all__ = ["Carried", "carried_factor"]

# Of a factor between machines: no profile says everything. Of the carried predictions of
# docs/studies/nimo.md the median is wrong by 13%, and no interval misses.
_LEAST_STD = 0.1
# A spread beyond this is worth a second calibration: runs in a row were less apart, but for the
# disk of a machine that others use too (docs/resources.md).
_WIDE = 0.5


@dataclass(frozen=True)
class Carried:
    """How much longer the same work takes elsewhere.

    Attributes
    ----------
    compute : float
        Factor on seconds of compiled loops that use all cores.
    single : float
        Factor on seconds of one thread.
    std : float
        Standard deviation of the logarithm of either: how far the attributes disagree, and how sure
        their values are.
    unsure : tuple of str
        Attributes whose repeats were far apart, in either profile.
    """

    compute: float
    single: float
    std: float
    unsure: tuple[str, ...] = ()


def carried_factor(here: ResourceProfile, there: ResourceProfile, working_set: int) -> Carried:
    """Return how much longer a graph algorithm takes `there`.

    An iteration computes, streams its edges and looks vertices up at random. The factor is the
    median of how the speed of integers, the bandwidth, and the latency at the working set of the
    graph differ, as any one of them may be an outlier: under a quota, a chain of reads finds its
    caches emptied by others. How far the three disagree says how sure the factor is.

    Parameters
    ----------
    here, there : ResourceProfile
    working_set : int
        Bytes that an iteration touches.

    Raises
    ------
    RequestError
        If a profile lacks an attribute.
    """
    size = min(WORKING_SETS, key=lambda each: abs(math.log(each / max(working_set, 1))))
    cores = here.value("cpu_cores") / there.value("cpu_cores")
    threads = [
        _ratio(here, there, "cpu_integer_speed"),
        1.0 / _ratio(here, there, latency_name(size)),
        _ratio(here, there, "cpu_float_speed"),
    ]
    together = [threads[0] * cores, threads[1] * cores, _ratio(here, there, "memory_bandwidth")]
    logs = [math.log(factor) for factor in together]
    middle = sum(logs) / len(logs)
    apart = math.sqrt(sum((value - middle) ** 2 for value in logs) / (len(logs) - 1))
    used = (("cpu_integer_speed", "cpu_cores"), (latency_name(size),), ("memory_bandwidth",))
    noise = [_unsureness(names, here, there) for names in used]
    return Carried(
        compute=statistics.median(together),
        single=statistics.median(threads),
        # Like the factor, the median of the three: one attribute that is unsure moves neither.
        std=math.hypot(apart, statistics.median(noise), _LEAST_STD),
        unsure=tuple(
            name
            for names in used
            for name in names
            if max(profile.attributes[name].spread for profile in (here, there)) > _WIDE
        ),
    )


def _unsureness(names: tuple[str, ...], *profiles: ResourceProfile) -> float:
    """Return the relative standard error of attributes together, from quartiles of repeats."""
    measured = [profile.attributes[name] for profile in profiles for name in names]
    return math.hypot(*(each.spread / math.sqrt(each.repeats) for each in measured))


def _ratio(here: ResourceProfile, there: ResourceProfile, name: str) -> float:
    return here.value(name) / there.value(name)
