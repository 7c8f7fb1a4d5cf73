"""Vertex programs: numpy code of the user for the vertices, compiled loops for the edges.

Messages are pulled along inbound edges by threads that share blocks of rows. When few vertices
send, messages are pushed along their outbound edges instead, so that the work is proportional to
the messages. The direction depends on the messages alone, so the result does not depend on the
number of threads.
"""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any

import numpy as np

from predict_graph.algorithms.vertex_program import VertexProgram
from predict_graph.arrays import Array
from predict_graph.engines.local.edge_loops import MAX, MIN, SUM, identity, pull, push
from predict_graph.engines.local.kernel import SharedRows, Superstep, Team, unsigned
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.plugins import blamed_on
from samplers.csr import frozen

_CODES = {"sum": SUM, "min": MIN, "max": MAX}
# Share of the edges: trades off expensive pushed messages for scanning all edges; not tuned.
PUSH_SHARE = 1 / 4


_NO_WEIGHTS = frozen(np.empty(0, np.float32))
_ALL_SEND = frozen(np.empty(0, np.uint8))


class ProgramKernel(SharedRows):
    """A vertex program on one graph."""

    def __init__(
        self,
        program: VertexProgram,
        graph: Graph,
        team: Team | None = None,
        prior_values: Array | None = None,
    ) -> None:
        self._program = copy(program)  # state that `initial` keeps belongs to this graph
        self._program.prior_values = prior_values
        self._graph = graph
        self._prepare_edges(graph, program, team)
        self._degrees = graph.out_degrees
        self._sends = self._degrees > 0
        self._code = _CODES[program.combiner]
        self._state = self._checked("initial", graph).copy()
        self._state.flags.writeable = False
        self._senders = self._starters()

    def _prepare_edges(self, graph: Graph, program: VertexProgram, team: Team | None) -> None:
        """Store the edges in the layout of the compiled loops, whose rows threads share."""
        super().__init__(graph.reverse, team)
        self._weighted = program.weighted and graph.weights is not None
        self._in, self._out = (
            (rows.indptr, unsigned(rows.indices), rows.weights if self._weighted else _NO_WEIGHTS)
            for rows in (graph.reverse, graph)
        )
        self._reached = graph.in_degrees > 0

    @property
    def values(self) -> Array:
        """The state of each vertex."""
        return self._state

    def step(self) -> Superstep:
        """Send, combine, update."""
        program, old, senders = self._program, self._state, self._senders
        sending = None if senders is None or senders.all() else np.flatnonzero(senders)
        combined, received = self._combined(self._message(), sending)
        new = self._checked("update", old, combined, received, dtype=old.dtype)
        new.flags.writeable = False
        aggregate = self._called(float, "aggregate", old, new)
        if np.isnan(aggregate):
            raise self._wrong("aggregate", "NaN")
        self._state = new
        if program.resend == "changed":
            self._senders = old != new
        return Superstep(aggregate, program.message_bytes, senders)

    def _starters(self) -> Array | None:
        if self._program.resend == "always":
            return None
        starters: Array = self._called(np.asarray, "starters", self._state, self._graph)
        if starters.ndim == 0 and starters.item() is None:
            return None
        if starters.shape == self._state.shape and starters.dtype == np.bool_:
            return starters
        raise self._wrong("starters", _described(starters), "bool, shape", self._state.shape)

    def _message(self) -> Array:
        message = self._checked("message", self._state, self._graph, among=self._sends)
        if not self._program.weighted:
            return message
        message = message.astype(np.float64, copy=False)
        # Edges of unweighted graphs have weight 1
        return message if self._weighted or self._code == SUM else message + 1.0

    def _are_few(self, sending: Array) -> bool:
        """Whether some vertices send so few messages that these are pushed."""
        return bool(self._degrees[sending].sum() <= PUSH_SHARE * self._graph.edges)

    def _combined(self, message: Array, sending: Array | None) -> tuple[Array, Array]:
        """Return the combined messages of all or some vertices, and which vertices received any."""
        combined, nothing = np.empty_like(message), identity(self._code, message.dtype)
        if sending is None:
            self._pull(message, _ALL_SEND, nothing, (combined, self._reached))
            return combined, self._reached.copy()
        received = np.zeros(len(message), np.bool_)
        if self._are_few(sending):
            combined.fill(nothing)
            push(self._code, sending, self._out, frozen(message), (combined, received))
        else:
            senders: Any = self._senders
            offered = np.where(senders, message, nothing)  # the others offer the identity element
            self._pull(offered, frozen(senders.view(np.uint8)), nothing, (combined, received))
        return combined, received

    def _pull(self, offered: Array, senders: Array, nothing: Any, results: Any) -> None:
        self._share(pull, self._code, self._in, (frozen(offered), senders, nothing), results, False)

    def _checked(
        self, method: str, *given: Any, dtype: np.dtype[Any] | None = None, among: Any = True
    ) -> Array:
        """Validate the array that a method returns; convert it to 64-bit integers or floats.

        It has no NaN for the vertices `among` all whose value counts.
        """
        array = self._called(np.asarray, method, *given)
        expected = (self._graph.vertices,)
        if array.shape != expected:
            raise self._wrong(method, _described(array), "shape", expected)
        wanted = dtype or np.dtype(np.float64 if array.dtype.kind == "f" else np.int64)
        known = array.dtype.kind in "biuf" and array.dtype != np.uint64
        if not known or not np.can_cast(array.dtype, wanted, "same_kind"):
            accepted = dtype or "int64 or float64"
            raise self._wrong(method, _described(array), f"{accepted}, shape", expected)
        values = np.ascontiguousarray(array, dtype=wanted)
        with np.errstate(invalid="ignore", over="ignore"):
            suspect = np.isnan(values.sum())  # one pass, a third of the time of searching for NaN
        if suspect and (found := np.isnan(values) & among).any():
            raise self._wrong(method, f"NaN for vertex {int(found.argmax())}")
        return values

    def _called(self, kind: Any, method: str, *given: Any) -> Any:
        """Return what a method of the program returns, which is named in errors that it raises."""
        name = f"{self._program.name}.{method}"
        # A vertex without out-edges may divide by zero; results are checked for NaN.
        with blamed_on("vertex program", name), np.errstate(divide="ignore", invalid="ignore"):
            return kind(getattr(self._program, method)(*given))

    def _wrong(self, method: str, found: str, *accepted: object) -> JobError:
        also = f"; accepted: {' '.join(map(str, accepted))}" if accepted else ""
        return JobError(
            f"the vertex program '{self._program.name}.{method}' returned {found}{also}"
        )


def _described(array: Array) -> str:
    return f"{array.dtype}, shape {array.shape}"


@cache
def warm_up() -> None:
    """Compile the loops for both types of messages, so that no phase includes compilation."""
    indptr, edges = frozen(np.array([0, 1, 2])), frozen(np.array([1, 0], np.uint32))
    for message in (frozen(np.ones(2)), frozen(np.ones(2, np.int64))):
        combined, received = np.empty_like(message), np.zeros(2, np.bool_)
        nothing = identity(SUM, message.dtype)
        rows = (indptr, edges, _NO_WEIGHTS)
        push(SUM, np.array([0]), rows, message, (combined, received))
        pull(0, 2, SUM, rows, (message, _ALL_SEND, nothing), (combined, received), False)
