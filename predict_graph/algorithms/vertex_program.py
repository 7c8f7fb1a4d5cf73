"""Vertex programs: whole new algorithms in a few lines of numpy (Pregel, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph.algorithms.base import Algorithm
from predict_graph.algorithms.parameters import MAX_ITERATIONS, Parameter
from predict_graph.arrays import Array
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from predict_graph.graph import Graph

_CHOICES = {
    "combiner": ("sum", "min", "max"),
    "resend": ("changed", "always"),
    "convergence": ("absolute", "ratio", "fixed-point"),
}


class VertexProgram(Algorithm):
    """An algorithm defined by the state of a vertex, its messages, and its update.

    A superstep sends, combines and updates, in this order: every sender puts its message on each of
    its out-edges; messages to a vertex are combined; `update` returns the new state of all
    vertices. A run ends when the `aggregate` of a superstep is below the threshold. All methods
    take and return whole arrays, one element per vertex; states and messages are 64-bit floats or
    integers, and a state must not be changed in place.

    A run uses a copy of the program, so `initial` may store data for later methods in attributes.

    Raises
    ------
    RequestError
        If a parameter is unknown or not accepted; when a subclass is defined, if one of its
        attributes is.

    References
    ----------
    .. [1] G. Malewicz et al.: Pregel: A System for Large-Scale Graph Processing, SIGMOD 2010,
       section 3.

    Examples
    --------
    The largest id that reaches a vertex:

    >>> class LargestId(VertexProgram):
    ...     name = "largest-id"
    ...     summary = "the largest id that reaches a vertex"
    ...     combiner = "max"
    ...
    ...     def initial(self, graph):
    ...         return np.arange(graph.vertices)
    ...
    ...     def update(self, state, combined, received):
    ...         return np.where(received, np.maximum(state, combined), state)
    >>> from predict_graph.engines.local import LocalEngine
    >>> from predict_graph.graph import check_graph
    >>> LocalEngine().run(LargestId(), check_graph("path:n=4", directed=False)).values
    array([3, 3, 3, 3])
    """

    convergence: ClassVar[str] = "fixed-point"
    declared: ClassVar[tuple[Parameter, ...]] = (MAX_ITERATIONS,)
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "local": "predict_graph.engines.local.program:ProgramKernel",
            "spark": "predict_graph.engines.spark.blocks.vertices:VertexJob",
        }
    )
    combiner: ClassVar[str] = "sum"
    """How messages to one vertex are combined: ``sum``, ``min`` or ``max``."""
    resend: ClassVar[str] = "changed"
    """Senders after the first superstep: vertices whose state ``changed``, or all ``always``."""
    weighted: ClassVar[bool] = False
    """Whether the weight of an edge (1 where a graph has none) multiplies the message that it
    carries (``sum``) or is added to it (``min``, ``max``). Messages are floats then."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for attribute, accepted in _CHOICES.items():
            value = getattr(cls, attribute)
            if value not in accepted:
                raise RequestError(
                    f"{attribute} of the vertex program {cls.__name__} is {value!r}; "
                    f"accepted: {', '.join(accepted)}"
                )
        if not isinstance(cls.message_bytes, int) or cls.message_bytes < 0:
            raise RequestError(
                f"message_bytes of the vertex program {cls.__name__} is {cls.message_bytes!r}; "
                "accepted: a whole number of at least 0"
            )
        if "steady" not in vars(cls):
            cls.steady = cls.resend == "always"

    prior_values: Array | None = None
    """Result of the algorithm that `prior` returns, if any; available from `initial` on."""

    def __init__(self, **parameters: object) -> None:
        for attribute in ("name", "summary"):
            if not isinstance(getattr(self, attribute, None), str):
                raise RequestError(f"the vertex program {type(self).__name__} has no {attribute}")
        super().__init__(**parameters)

    def initial(self, graph: Graph) -> Array:
        """Return the state of each vertex before the first superstep, shape (n,)."""
        raise NotImplementedError(f"{type(self).__name__} has no initial(graph)")

    def starters(self, state: Array, graph: Graph) -> Array | None:
        """Return a mask of the senders in the first superstep, shape (n,); None, the default, for
        all.

        Called only if `resend` is ``changed``.
        """
        return None

    def message(self, state: Array, graph: Graph) -> Array:
        """Return the message of each vertex on each out-edge, shape (n,): the state by default.

        The message of a vertex without out-edges is ignored, so ``state / graph.out_degrees`` is
        valid.
        """
        return state

    def update(self, state: Array, combined: Array, received: Array) -> Array:
        """Return the new state of each vertex, shape (n,), of the same type.

        Parameters
        ----------
        state : ndarray, shape (n,)
        combined : ndarray, shape (n,)
            The messages to each vertex, combined; where there are none, 0 for ``sum``, and for
            ``min`` and ``max`` the largest and the smallest number of the type. May be overwritten.
        received : ndarray of bool, shape (n,)
            Which vertices received a message.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update(state, combined, received)")

    def aggregate(self, old: Array, new: Array) -> float:
        """Return the aggregate for the threshold: the share of changed vertices by default.

        Parameters
        ----------
        old, new : ndarray, shape (n,)
            States before and after a superstep.
        """
        return float(np.count_nonzero(old != new)) / max(len(new), 1)
