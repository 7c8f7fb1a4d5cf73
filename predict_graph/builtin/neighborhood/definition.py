"""Neighborhood estimation: vertices within a number of hops (PREDIcT, section 5; HADI)."""

from __future__ import annotations

from predict_graph.algorithms import MAX_ITERATIONS, Algorithm, Parameter
from predict_graph.builtin.parts import parts_of
from predict_graph.errors import RequestError

# Limits of the registers: HyperLogLog's corrections are valid from 16 (Flajolet et al., 2007)
_LEAST, _MOST = 16, 4096


class Neighborhood(Algorithm):
    """Estimate the neighbourhood function and the effective diameter with HyperLogLog counters.

    Each vertex holds a counter of the vertices that reach it, starting with itself. In superstep h
    it takes the maximum of each register over its counter and those received from in-neighbours,
    which counts the vertices within h hops. A vertex whose counter changed sends it in the next
    superstep. A run ends when the share of vertices whose counter changed is below `tau`. The
    neighbourhood function N(h) is the sum of all counters after superstep h; the effective diameter
    is the distance within which 90% of the connected pairs reach each other (section 4.1).

    Counting the vertices that reach a vertex, rather than those that it reaches, gives the same
    N(h) and lets messages follow the edges.

    Parameters
    ----------
    registers : int
        Bytes of a counter, a power of two from 16 to 4096; the relative standard error of one
        counter is 1.04 / sqrt(registers). 64 by default.
    tau : float
        0.001 by default.
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] U Kang, C. E. Tsourakakis, A. P. Appel, C. Faloutsos, J. Leskovec: HADI: Mining Radii of
       Large Graphs, TKDD 2011.
    .. [2] P. Boldi, M. Rosa, S. Vigna: HyperANF, WWW 2011.
    .. [3] P. Flajolet, E. Fusy, O. Gandouet, F. Meunier: HyperLogLog, AofA 2007.
    """

    name = "neighborhood"
    summary = "neighbourhood function and effective diameter, HyperLogLog counters"
    convergence = "ratio"
    weighted = False
    by_hops = True
    runs_on, sampled_by = parts_of(__name__, "Neighborhood", rooted="counters_recipe")
    declared = (
        Parameter("registers", int, 64, "bytes of a counter, a power of two", _LEAST, _MOST),
        Parameter("tau", float, 0.001, "stop when a smaller share of counters changes", 0.0, 1.0),
        MAX_ITERATIONS,
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.message_bytes = 8 + self.registers
        if self.registers & (self.registers - 1):
            raise RequestError(
                f"registers is {self.registers}; accepted: a power of two from {_LEAST} to {_MOST}"
            )

    @property
    def registers(self) -> int:
        """Bytes of a counter."""
        return int(self.parameters["registers"])  # type: ignore[arg-type]
