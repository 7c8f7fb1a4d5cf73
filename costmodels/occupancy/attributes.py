"""Attributes of resources and data: to what they belong, and how they enter a time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Attribute", "attribute_of"]

_POWERS = ("speed", "bandwidth", "rate", "throughput", "cores", "mhz", "ghz", "iops")
_RESOURCES = {
    "compute": ("cpu", "memory", "mem", "core", "cache", "integer", "float"),
    "network": ("network", "net", "link", "remote"),
    "disk": ("disk", "storage", "io", "spindle"),
}


@dataclass(frozen=True)
class Attribute:
    """One column of a profile.

    Attributes
    ----------
    name : str
    resource : str
        ``"compute"``, ``"network"``, ``"disk"`` or ``"data"``.
    power : bool
        Whether more of it makes a task faster, so that it enters as its inverse.
    """

    name: str
    resource: str
    power: bool


def attribute_of(name: str) -> Attribute:
    """Return what a column is, from the words of its name.

    ``cpu_speed`` and ``network_bandwidth`` are powers of two resources, ``network_latency`` is a
    delay; a name of no resource, such as ``edges`` or ``input_bytes``, is of the data.

    Examples
    --------
    >>> attribute_of("network_latency_ms")
    Attribute(name='network_latency_ms', resource='network', power=False)
    >>> attribute_of("cpu_speed").power, attribute_of("edges").resource
    (True, 'data')
    """
    words = name.lower().replace("-", "_").split("_")
    resource = next(
        (kind for kind, known in _RESOURCES.items() if any(word in known for word in words)), "data"
    )
    return Attribute(name, resource, any(word in _POWERS for word in words))
