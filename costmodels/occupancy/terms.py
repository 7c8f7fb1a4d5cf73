"""Candidate terms of an occupancy predictor: attributes over their reference, inverses, bends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from costmodels.arrays import FloatArray

SHAPES = ("linear", "piecewise")
_POWERS = ("speed", "bandwidth", "rate", "throughput", "cores", "mhz", "ghz", "iops")
_RESOURCES = {
    "compute": ("cpu", "memory", "mem", "core", "cache", "integer", "float"),
    "network": ("network", "net", "link", "remote"),
    "disk": ("disk", "storage", "io", "spindle"),
}


class Attribute(NamedTuple):
    """What one column of a profile is."""

    # ``"compute"``, ``"network"``, ``"disk"`` or ``"data"``.
    resource: str
    # Whether more of it makes a task faster, so that it enters as its inverse.
    power: bool


def attribute_of(name: str) -> Attribute:
    """Return what a column is, from the words of its name.

    ``cpu_speed`` and ``network_bandwidth`` are powers of two resources, ``network_latency`` is a
    delay; a name of no resource, such as ``edges`` or ``input_bytes``, is of the data.

    Examples
    --------
    >>> attribute_of("Network latency (ms)")
    Attribute(resource='network', power=False)
    >>> attribute_of("cpu_speed").power, attribute_of("edges").resource
    (True, 'data')
    """
    words = "".join(sign if sign.isalnum() else " " for sign in name.lower()).split()
    resource = next(
        (kind for kind, known in _RESOURCES.items() if any(word in known for word in words)), "data"
    )
    return Attribute(resource, any(word in _POWERS for word in words))


def reference_row(table: FloatArray) -> int:
    """Return the row nearest to the median of each column: the reference assignment."""
    spread = table.std(axis=0)
    spread[spread == 0.0] = 1.0
    return int(np.argmin(np.abs((table - np.median(table, axis=0)) / spread).sum(axis=1)))


def reference_values(table: FloatArray) -> FloatArray:
    """Return what each column is divided by: the reference, or the largest where that has 0."""
    reference, largest = np.abs(table[reference_row(table)]), np.abs(table).max(axis=0)
    largest[largest == 0.0] = 1.0
    return np.asarray(np.where(reference == 0.0, largest, reference))


@dataclass(frozen=True)
class Term:
    """One term: an attribute or its inverse, and from where on it counts."""

    column: int
    # Of the attribute.
    name: str
    inverse: bool
    # With one, the term is what exceeds it, and 0 below.
    bend: float | None = None

    def values(self, normalised: FloatArray) -> FloatArray:
        """Return the term for each row of a normalised table."""
        entered = normalised[:, self.column]
        if self.inverse:
            entered = 1.0 / np.maximum(entered, 1e-12)
        return entered if self.bend is None else np.maximum(entered - self.bend, 0.0)

    def __str__(self) -> str:
        text = f"1/{self.name}" if self.inverse else self.name
        return text if self.bend is None else f"max({text} - {self.bend:.3g}, 0)"

    def times(self, coefficient: float) -> str:
        """Return the term times a coefficient."""
        text = str(self)
        return f"{coefficient:.4g}" + (text[1:] if text.startswith("1/") else f" {text}")


def candidate_terms(
    normalised: FloatArray, names: Sequence[str], shape: str, most_bends: int = 8
) -> list[Term]:
    """Return the terms that a predictor may take, the more usual ones first.

    A power such as a speed enters as its inverse, a delay as it is, and each the other way round as
    well. A piecewise-linear predictor may bend between any two values that were measured, where
    an operating system begins or ceases to hide a delay (section V-B.4); of very many values, at
    `most_bends` of them.

    Examples
    --------
    >>> import numpy as np
    >>> found = candidate_terms(np.array([[1.0], [2.0], [4.0]]), ["speed"], "piecewise")
    >>> [str(term) for term in found]
    ['1/speed', 'speed', 'max(1/speed - 0.5, 0)', 'max(speed - 2, 0)']
    """
    found = []
    for column, name in enumerate(names):
        values = normalised[:, column]
        if np.ptp(values) == 0.0:
            continue
        both = (True, False) if (values > 0).all() else (False,)
        orders = both if attribute_of(name).power else both[::-1]
        found += [Term(column, name, inverse) for inverse in orders]
    if shape != "piecewise":
        return found
    bent = []
    for term in found:
        inner = np.unique(term.values(normalised))[1:-1]
        if len(inner) > most_bends:
            inner = np.quantile(inner, np.linspace(0.0, 1.0, most_bends), method="nearest")
        bent += [Term(term.column, term.name, term.inverse, float(at)) for at in np.unique(inner)]
    return found + bent
