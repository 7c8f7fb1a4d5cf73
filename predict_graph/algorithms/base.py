"""The interface of an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

from predict_graph.algorithms.parameters import MAX_ITERATIONS, Parameter, Value, check_parameters
from predict_graph.errors import RequestError
from predict_graph.plugin_files import code_digest
from predict_graph.plugins import blamed_on, loaded


class Algorithm:
    """An iterative graph algorithm: its name, its parameters and how it converges.

    A subclass defines the result; the kernel of an engine computes it.

    Parameters
    ----------
    **parameters
        Values by the names in `declared`; others keep their defaults.

    Raises
    ------
    RequestError
        If a parameter is unknown or its value is not accepted.
    """

    name: ClassVar[str]
    """The name in the registry."""
    summary: ClassVar[str]
    """One-line description."""
    convergence: ClassVar[str]
    """Compared with the threshold: an ``absolute`` aggregate, ``ratio`` or ``fixed-point``."""
    steady: ClassVar[bool] = False
    """Whether every iteration does the same work, so that timing a few is sufficient."""
    by_hops: ClassVar[bool] = False
    """Whether it ends when values have crossed the graph, so that its depth in hops matters."""
    java_works: ClassVar[bool] = False
    """Whether Java does the work on Spark, as that of GraphX; compiled kernels do otherwise."""
    all_send: ClassVar[bool] = False
    """Whether all vertices send in every iteration, however many change."""
    known_work: ClassVar[bool] = False
    """Whether its iterations and messages are known without sample runs."""
    mixes: ClassVar[bool] = False
    """Whether all values mix from the first iteration on, so that it shows how fast they do."""
    uneven: ClassVar[bool] = False
    """Whether its first superstep says nothing of what later ones take."""
    undirected: ClassVar[bool] = False
    """Whether it needs undirected graphs; directed ones then get each edge in both directions."""
    weighted: ClassVar[bool] = True
    """Whether weights of edges count; if not, a column of weights that is named is refused."""
    declared: ClassVar[tuple[Parameter, ...]]
    """The declared parameters."""
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Maps an engine to a kernel or program, or its ``"module:attribute"``, loaded on first use."""
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Maps a method of estimating iterations to its part for this algorithm, likewise."""
    named: Mapping[str, Any] = MappingProxyType({})
    """What earlier runs have to share besides the parameters, as ids are no part of a graph."""

    message_bytes: int = 16
    """Usual size of a message, with the id of its receiver."""

    def __init__(self, **parameters: object) -> None:
        self.parameters: Mapping[str, Value] = check_parameters(
            self.name, self.declared, parameters
        )

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.set_parameters.items())
        return f"{type(self).__name__}({given})"

    @property
    def max_iterations(self) -> int:
        """The limit of iterations of a run; the usual one if there is no parameter for it."""
        return int(self.parameters.get("max_iterations", MAX_ITERATIONS.default))  # type: ignore[arg-type]

    def on(self, graph: Any) -> Self:
        """Return the algorithm resolved for the user's graph; unchanged by default.

        An algorithm resolves what depends on its graph, such as vertices named by a parameter, once
        and before any run; samples of the graph then use the result.

        Raises
        ------
        RequestError
            If a parameter does not fit the graph.
        """
        return self

    def resolved(self, graph: Any) -> Self:
        """Return the algorithm resolved for the user's graph (:meth:`on`), which suits it.

        Raises
        ------
        RequestError
            If the graph is directed and must not be, or a parameter does not fit it.
        """
        for each in (self, self.prior):
            if each is not None and each.undirected and graph.directed:
                raise RequestError(
                    f"{each.name} ignores the direction of edges, but {graph.name} is directed; "
                    "accepted: --undirected, directed=False"
                )
        return self.on(graph)

    def within(self, graph: Any) -> Self:
        """Return the algorithm resolved for any graph, such as a sample; unchanged by default."""
        return self

    @property
    def contraction(self) -> float:
        """The factor by which an iteration shrinks the aggregate at least, if values mix."""
        return 1.0

    @property
    def prior(self) -> Algorithm | None:
        """The algorithm whose result is the input of this one; it runs first, on the same graph."""
        return None

    def usual_iterations(self, by_default: float, vertices: int) -> float:
        """Return the iterations on so many vertices, if default parameters take `by_default`."""
        return by_default

    def relative_work(self, graph: Any) -> float:
        """Return the work of an iteration per edge and vertex, relative to usual graphs."""
        return 1.0

    def part_for(self, engine: str) -> Any:
        """Return the kernel or program of an engine for this algorithm, or None."""
        return loaded(self.runs_on.get(engine))

    def part_of(self, method: str) -> Any:
        """Return the part of a method of estimating iterations for this algorithm, or None."""
        return loaded(self.sampled_by.get(method))

    def threshold(self, vertices: int) -> float:
        """Return the convergence threshold on a graph with so many vertices.

        It is the parameter ``tau`` if there is one, or less than one vertex of all.

        Raises
        ------
        RequestError
            If the convergence is not a fixed point, and there is no ``tau``.
        """
        if "tau" in self.parameters:
            return float(self.parameters["tau"])  # type: ignore[arg-type]
        if self.convergence == "fixed-point":
            return 0.5 / max(vertices, 1)
        raise RequestError(f"{self.name} has neither a parameter tau nor a threshold(vertices)")

    @property
    def set_parameters(self) -> dict[str, Value]:
        """The parameters that have a value."""
        return {name: value for name, value in self.parameters.items() if value is not None}

    @property
    def built_in(self) -> bool:
        """Whether it is an algorithm of this package."""
        return type(self).__module__.partition(".")[0] == "predict_graph"

    def named_in_errors(self) -> AbstractContextManager[None]:
        """Turn errors of the user's code into sentences that name the algorithm, file and line."""
        return nullcontext() if self.built_in else blamed_on("algorithm", self.name)

    @cached_property
    def code(self) -> str:
        """A digest of the user's code; empty for an algorithm of this package."""
        return "" if self.built_in else code_digest(type(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that are set and the code, for JSON and to match earlier runs."""
        return {**self.set_parameters, **({"code digest": self.code} if self.code else {})}
