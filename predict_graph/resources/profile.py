"""A resource profile: attributes of a machine with units and spread, and its file format."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.documents import DocumentKind, usable
from predict_graph.errors import RequestError

PROFILE = DocumentKind("predict-graph resource profile", "resource profile", "calibrate --out")


# Working sets in bytes for latency, from the first cache to main memory: bounds of the cache
# levels; limits the time of the measurement.
WORKING_SETS = (32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20)


def latency_name(size: int) -> str:
    """Return the name of the attribute.

    Examples
    --------
    >>> latency_name(32 << 10), latency_name(128 << 20)
    ('memory_latency_32k', 'memory_latency_128m')
    """
    return f"memory_latency_{size >> 10}k" if size < 1 << 20 else f"memory_latency_{size >> 20}m"


@dataclass(frozen=True)
class Measured:
    """One attribute.

    Other processes only make measurements slower. The capacity of a machine is therefore the
    quartile on the faster side, which is robust against single values.

    Attributes
    ----------
    value : float
        Better quartile of the repeats; positive.
    unit : str
    spread : float
        Interquartile range of the repeats relative to the value.
    repeats : int
    """

    value: float
    unit: str
    spread: float
    repeats: int

    @classmethod
    def of(cls, values: Sequence[float], unit: str, *, less_is_better: bool = False) -> Measured:
        """Return the better quartile of repeats, and their interquartile range relative to it.

        Examples
        --------
        >>> Measured.of([1.0, 2.0, 4.0, 5.0, 5.0], "MB/s")
        Measured(value=5.0, unit='MB/s', spread=0.6, repeats=5)
        >>> Measured.of([1.0, 2.0, 4.0, 5.0, 5.0], "ms", less_is_better=True)
        Measured(value=2.0, unit='ms', spread=1.5, repeats=5)
        """
        low, high = np.quantile(values, (0.25, 0.75)).tolist()
        value = low if less_is_better else high
        return cls(value, unit, (high - low) / value, len(values))


@dataclass(frozen=True)
class ResourceProfile:
    """Attributes of one machine.

    Attributes
    ----------
    machine : str
        Processor model, cores and architecture.
    measured : str
        Date and time, UTC, ISO 8601.
    seconds : float
        Time of the measurement.
    attributes : mapping of str to Measured
    notes : tuple of str
        Failed measurements, with the reason.
    """

    machine: str
    measured: str
    seconds: float
    attributes: Mapping[str, Measured]
    notes: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        """Return the value of an attribute.

        Raises
        ------
        RequestError
            If the profile does not have it.
        """
        if name not in self.attributes:
            raise RequestError(
                f"the profile of {self.machine} has no {name!r}; it has: "
                f"{', '.join(self.attributes) or 'nothing'}"
            )
        return self.attributes[name].value

    def row(self) -> dict[str, float]:
        """Return the values by name, as a row of a table of assignments."""
        return {name: measured.value for name, measured in self.attributes.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain values."""
        attributes = {name: dict(vars(each)) for name, each in self.attributes.items()}
        return PROFILE.complete(vars(self) | {"attributes": attributes, "notes": list(self.notes)})


def write_profile(profile: ResourceProfile, path: Path) -> None:
    """Write a profile as JSON.

    Raises
    ------
    RequestError, JobError
        If the file cannot be written; an existing one is unchanged.
    """
    PROFILE.write(profile.to_dict(), path)


def read_profile(path: Path) -> ResourceProfile:
    """Read a profile.

    Raises
    ------
    RequestError
        If the file is missing, not a profile, of a newer version, or has a non-positive value.
    """
    document = PROFILE.read(Path(path))
    with usable(path, "profile"):
        attributes = {
            str(name): Measured(
                float(each["value"]), str(each["unit"]), float(each["spread"]), int(each["repeats"])
            )
            for name, each in document["attributes"].items()
        }
        profile = ResourceProfile(
            machine=str(document["machine"]),
            measured=str(document["measured"]),
            seconds=float(document["seconds"]),
            attributes=attributes,
            notes=tuple(str(note) for note in document.get("notes", ())),
        )
    for name, one in attributes.items():
        if not 0 < one.value < math.inf:
            raise RequestError(f"{path}: {name} is {one.value:g}; accepted: a number above 0")
    return profile


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
