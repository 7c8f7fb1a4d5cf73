"""A resource profile: attributes of a machine with units and spread, and its file format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predict_graph.documents import DocumentKind, usable
from predict_graph.errors import RequestError

PROFILE = DocumentKind("predict-graph resource profile", "resource profile", "calibrate --out")


# Bounds of the cache levels; limits the time of the measurement
WORKING_SETS = (32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20)
"""Working sets in bytes for latency: from the first cache to main memory."""


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
