"""What every algorithm declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

from predict_graph.algorithms.parameters import Parameter, Value, check_parameters
from predict_graph.plugins import loaded

__all__ = ["Algorithm", "Usual"]


@dataclass(frozen=True)
class Usual:
    """What is usual for an algorithm: where the first guess of a prediction starts.

    Parameters
    ----------
    iterations : float
    setup_ns, iteration_ns : float
        Of the compiled run on two cores, for each edge and vertex.
    """

    iterations: float
    setup_ns: float
    iteration_ns: float


class Algorithm(ABC):
    """An iterative graph algorithm: its name, its parameters and how it converges.

    A subclass says what is computed; how it is computed is the kernel of an engine.

    Parameters
    ----------
    **parameters
        By the names that `declared` lists; the others keep their defaults.

    Raises
    ------
    RequestError
        If a parameter is unknown or its value is not accepted.
    """

    name: ClassVar[str]
    """Name in the registry."""
    summary: ClassVar[str]
    """What it computes, in one line."""
    convergence: ClassVar[str]
    """What the threshold is on: ``absolute`` aggregate, ``ratio`` or ``fixed-point``."""
    steady: ClassVar[bool] = False
    """Whether every iteration does the same work, so that a few of them show what one costs."""
    by_hops: ClassVar[bool] = False
    """Whether it ends when something has gone from one end of the graph to the other, by hops."""
    known_work: ClassVar[bool] = False
    """Whether how many iterations and messages there are is known before it runs on a sample."""
    undirected: ClassVar[bool] = False
    """Whether it works on undirected graphs, so that directed ones get every edge both ways."""
    declared: ClassVar[tuple[Parameter, ...]]
    """The parameters."""
    usual: ClassVar[Usual | None] = None
    """Medians over graphs of many kinds (benchmarks/first_guess.py), if they are known."""
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Engine to what it runs: a kernel or program, or ``"module:attribute"``, loaded when used."""
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Method of estimating iterations to what it needs for this algorithm, likewise."""
    counted_by: ClassVar[Any] = None
    """What counts its supersteps on a graph that stays on a cluster, likewise; None if nothing."""
    sampling_std: ClassVar[float] = 0.0
    """Standard deviation of log(iterations by samples / true), beyond what they show."""

    def __init__(self, **parameters: object) -> None:
        self.parameters: Mapping[str, Value] = check_parameters(
            self.name, self.declared, parameters
        )

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({given})"

    @property
    def max_iterations(self) -> int:
        """Iterations after which a run stops, converged or not."""
        return int(self.parameters["max_iterations"])  # type: ignore[arg-type]

    def on(self, graph: Any) -> Self:
        """Return the algorithm as it runs on a graph that a person gave: itself, as a rule.

        What an algorithm looks up in its graph, such as vertices that a parameter names, it looks
        up here, once and before anything runs; samples of the graph are then run with what it
        found.

        Raises
        ------
        RequestError
            If a parameter does not fit the graph.
        """
        return self

    @property
    def prior(self) -> Algorithm | None:
        """The algorithm whose result is the input of this one: it runs first, on the same graph."""
        return None

    def part_for(self, engine: str) -> Any:
        """Return what an engine runs for this algorithm, None if it declares nothing for it."""
        return loaded(self.runs_on.get(engine))

    def part_of(self, method: str) -> Any:
        """Return what a method of estimating iterations needs, None if nothing is declared."""
        return loaded(self.sampled_by.get(method))

    @abstractmethod
    def threshold(self, vertices: int) -> float:
        """Return the convergence threshold on a graph of so many vertices."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that are set, for JSON."""
        return {name: value for name, value in self.parameters.items() if value is not None}
