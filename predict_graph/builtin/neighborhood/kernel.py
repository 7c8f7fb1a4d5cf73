"""Neighborhood estimation on one graph, and on a block of one: rows of HyperLogLog registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array, Bytes, FloatArray
from predict_graph.builtin.merging import MAXIMUM, MergingKernel, MergingProgram
from predict_graph.builtin.neighborhood.definition import Neighborhood
from predict_graph.engines.local import kernel
from predict_graph.graph import Graph
from samplers.splitmix import splitmix64

_ESTIMATED = 3.3  # work of an estimate relative to a message; measured


class NeighborhoodKernel(MergingKernel):
    """Neighborhood estimation on one graph."""

    rule = MAXIMUM

    def __init__(
        self, algorithm: Neighborhood, graph: Graph, team: kernel.Team | None = None
    ) -> None:
        n, registers = graph.vertices, algorithm.registers
        super().__init__(graph, team, hashed(np.arange(n), registers))
        # The estimated number of vertices that reach each vertex, including itself.
        self.values = np.empty(n)
        self._sums = np.zeros(len(self._blocks) - 1)
        self._reached: list[float] = []
        self._settle(np.ones(n, np.uint8))

    @staticmethod
    def footprint(algorithm: Neighborhood, id_bytes: int) -> kernel.Footprint:
        """Return its memory: two arrays of counters, degrees, estimates, four marks.

        It includes the work of each vertex, of two supersteps.
        """
        return kernel.Footprint(2 * algorithm.registers + 2 * 8 + 4 + 2 * 8)

    def summary(self) -> dict[str, Any]:
        """Return the neighbourhood function, for 0, 1, … hops, and the effective diameter."""
        return summary_of(self._reached)

    def step(self) -> kernel.Superstep:
        """Run one superstep; its aggregate is the share of vertices whose counter changed."""
        work = self._exchange()
        self._settle(self._changed)
        work = replace(work, vertices=work.vertices + _ESTIMATED * self._changed)
        return self._turn(work, 8 + self._state.shape[1])  # the id of the receiver; a counter

    def stand_for(self, sample: kernel.WeightedSample) -> None:
        """Start with the counters that the sampled vertices have in the whole graph.

        Counters of vertices with weight 0 are empty.
        """
        self._state[:] = hashed(sample.vertices, self._state.shape[1])
        self._state[sample.weights == 0.0] = 0
        self._next[:] = self._state

    def _settle(self, changed: Bytes) -> None:
        """Publish the changed counters for the next superstep, and estimate them."""
        counters = (self._state, self._next)
        sizes = (self.values, self._sums, bias_correction(self._state.shape[1]))
        self._share_blocks(settle, changed, counters, sizes)
        self._reached.append(kernel.ordered_sum(self._sums))


def bias_correction(registers: int) -> float:
    """Return the factor of HyperLogLog for so many registers [3]."""
    return {16: 0.673, 32: 0.697, 64: 0.709}.get(registers, 0.7213 / (1.0 + 1.079 / registers))


def summary_of(reached: list[float]) -> dict[str, Any]:
    """Return the neighbourhood function, for 0, 1, … hops, and the effective diameter."""
    diameter = effective_diameter(np.array(reached))
    return {"neighborhood_function": list(reached), "effective_diameter": diameter}


def effective_diameter(reached: FloatArray, connected: float = 0.9) -> float:
    """Return the distance within which a share of the connected pairs are, interpolated.

    Examples
    --------
    >>> round(effective_diameter(np.array([4.0, 10.0, 14.0, 16.0])), 3)
    2.4
    """
    pairs = reached - reached[0]
    if pairs[-1] <= 0.0:
        return 0.0
    return float(np.interp(connected * pairs[-1], pairs, np.arange(len(pairs))))


@numba.njit(cache=True, nogil=True)
def hash_of(vertex: int, registers: int) -> Any:
    """Return the register in which a vertex counts, and its value there [3]."""
    bits = 0
    while (1 << bits) < registers:
        bits += 1
    x = splitmix64(vertex)
    rest = x >> np.uint64(bits)
    zeros = 1
    while rest & np.uint64(1) == 0 and zeros <= 64 - bits:
        rest >>= np.uint64(1)
        zeros += 1
    return np.int64(x & np.uint64(registers - 1)), zeros


@numba.njit(cache=True, nogil=True)
def hashed(vertices: Any, registers: int) -> Any:
    """Return counters that hold one vertex each: splitmix64 of its id [3]."""
    counters = np.zeros((len(vertices), registers), np.uint8)
    for i in range(len(vertices)):
        register, value = hash_of(vertices[i], registers)
        counters[i, register] = value
    return counters


@numba.njit(cache=True, nogil=True)
def settle(first: int, last: int, blocks: Any, changed: Any, counters: Any, sizes: Any) -> None:
    """Publish the changed counters of some blocks, and estimate how many vertices they hold."""
    published, following = counters
    estimates, sums, alpha = sizes
    registers, powers = published.shape[1], 0.5 ** np.arange(66)
    for block in range(first, last):
        total = 0.0
        for v in range(blocks[block], blocks[block + 1]):
            if changed[v] != 0:
                inverse, empty = 0.0, 0
                for r in range(registers):
                    value = following[v, r]
                    published[v, r] = value
                    inverse += powers[value]
                    empty += value == 0
                estimate = alpha * registers * registers / inverse
                # Linear counting while registers are empty [3].
                if estimate <= 2.5 * registers and empty > 0:
                    estimate = registers * np.log(registers / empty)
                estimates[v] = estimate
            total += estimates[v]
        sums[block] = total


class NeighborhoodProgram(MergingProgram):
    """Vertices send counters that changed; a vertex takes the maximum of each register."""

    algorithm: Neighborhood
    rule = MAXIMUM
    kept = ("state", "estimates")
    kind = "double"

    def first(self, prior: Array | None) -> None:
        """Set counters that hold their own vertex."""
        self.state = hashed(np.asarray(self.block.rows), self.algorithm.registers)
        self.senders = np.ones(self.block.count, bool)
        self.estimates = np.empty(self.block.count)
        self._settle()

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Merge counters, and estimate those that changed."""
        super().receive(offers, senders, sums)
        self._settle()

    def _settle(self) -> None:
        assert self.senders is not None
        bounds = np.array([0, self.block.count])
        changed, counters = self.senders.view(np.uint8), (self.state, self.state)
        sizes = (self.estimates, np.zeros(1), bias_correction(self.algorithm.registers))
        settle(0, 1, bounds, changed, counters, sizes)

    def sums(self) -> dict[str, float]:
        """Count the changed counters, and sum the estimates."""
        return {**super().sums(), "reached": float(self.estimates.sum())}

    def values(self) -> Array:
        """Return the estimated number of vertices that reach each vertex."""
        return self.estimates

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the neighbourhood function, for 0, 1, … hops, and the effective diameter."""
        return summary_of([found["reached"] for found in sums])
