"""What passes between the stages of a prediction on its way from work to seconds.

*Work* is a :class:`Workload`: counters of each iteration, never seconds. An engine's
:class:`Costing` turns it into :class:`Prices`: seconds that several witnesses agree on, and what
setting up, reading and writing take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.base import Engine
from predict_graph.engines.profile import SampleSummary
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph

if TYPE_CHECKING:
    from predict_graph.history import History
    from predict_graph.transforms import Transform

__all__ = [
    "Costing",
    "FixedPurse",
    "KnownSetup",
    "Means",
    "Prices",
    "Purse",
    "StagedSample",
    "Witness",
    "Workload",
]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StagedSample:
    """A sample whose run goes through the stages of the real one, iteration by iteration.

    Parameters
    ----------
    graph : Graph
        The sample.
    weighting : Weighting
        What its vertices stand for.
    prior_values : ndarray, optional
        Result of the algorithm that runs before, for its vertices.
    table : DataFrame
        What its run did, a row an iteration: counters and the working set, no seconds.
    work, whole_work : ndarray of float64, shape (iterations,)
        Work of each iteration on the sample, and on the whole graph.
    summary : SampleSummary
    edge_steps : float
        Work of a run, in edges times iterations.
    seconds : ndarray of float64, shape (iterations,)
        Of its supersteps on this machine, measured once and with counting between them.
    """

    graph: Graph
    weighting: Any
    prior_values: npt.NDArray[Any] | None
    table: pd.DataFrame = field(repr=False)
    work: FloatArray = field(repr=False)
    whole_work: FloatArray = field(repr=False)
    summary: SampleSummary
    edge_steps: float
    seconds: FloatArray = field(repr=False)


@dataclass(frozen=True)
class Workload:
    """What the run of one algorithm will do, iteration by iteration: no seconds.

    Parameters
    ----------
    algorithm : Algorithm
    iterations : int
    table : DataFrame
        A row an iteration: ``iteration``, the counters summed over workers, ``total_vertices``,
        ``working_set_bytes``, ``average_message_bytes``. Empty if only the engine can tell.
    staged : StagedSample, optional
        A sample that goes through the same stages, if the method that estimated the iterations has
        one.
    """

    algorithm: Algorithm
    iterations: int
    table: pd.DataFrame = field(repr=False)
    staged: StagedSample | None = None


class Purse(Protocol):
    """What is left of the budget of a prediction."""

    def affords(self, seconds: float) -> bool:
        """Whether so many more seconds are within the budget."""

    def expects(self, run_seconds: float) -> None:
        """Go by what the run will take, as soon as that is known better: a budget is a share."""

    def loading(self) -> AbstractContextManager[None]:
        """Do not count what is done inside: a process loads its libraries once."""


@dataclass(frozen=True)
class FixedPurse:
    """A purse that is always full, or always empty.

    Parameters
    ----------
    full : bool
    """

    full: bool

    def affords(self, seconds: float) -> bool:
        """Whether it is full."""
        return self.full

    def expects(self, run_seconds: float) -> None:
        """Expect nothing: it makes no difference."""

    def loading(self) -> AbstractContextManager[None]:
        """Count nothing."""
        return nullcontext()


@dataclass(frozen=True)
class KnownSetup:
    """What is known of the setup of an algorithm, so that it need not be done to be timed.

    Parameters
    ----------
    seconds : float
    measured : bool
        Whether a run of this graph measured it; estimated from other graphs otherwise.
    probes : tuple
        Probes of an iteration, by the supersteps of that run.
    """

    seconds: float
    measured: bool
    probes: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Means:
    """What a costing may use, and what the person asked for; None where nothing was asked.

    Parameters
    ----------
    seed : int
    history : History, optional
        Where runs are kept and learned from.
    progress : callable (text, fraction) -> None
    cost_models : mapping of str to (str or None)
        That a person named, or registered; by the name of the algorithm.
    train_ratios : tuple of float, optional
    sampler : str
    ratio : float
    transforms : mapping of str to Transform
        By the name of the algorithm.
    probe : bool, optional
    train_machines : tuple of int, optional
    edges_for_costs : callable, optional
        From the iterations of the run to the edges that all samples which are there for costs alone
        may have together; without it they are drawn in full.
    purse : Purse
        What may be spent; anything by default.
    fresh_samples : bool
        Whether new sample runs on a cluster are wanted although it has lessons.
    setups : mapping of str to KnownSetup
        By algorithm, where setup need not be done, or would cost more than it is worth.
    """

    seed: int
    history: History | None
    progress: Callable[[str, float], None]
    cost_models: Mapping[str, str | None] = field(default_factory=dict)
    train_ratios: tuple[float, ...] | None = None
    sampler: str = "brj"
    ratio: float = 0.1
    transforms: Mapping[str, Transform] = field(default_factory=dict)
    probe: bool | None = None
    train_machines: tuple[int, ...] | None = None
    edges_for_costs: Callable[[int], int] | None = None
    purse: Purse = FixedPurse(full=True)
    fresh_samples: bool = False
    setups: Mapping[str, KnownSetup] = field(default_factory=dict)

    def cost_model(self, algorithm: Algorithm) -> str | None:
        """Return the cost model that a person wants for an algorithm; None for the default."""
        return self.cost_models.get(algorithm.name)


@dataclass(frozen=True)
class Witness:
    """What one source says the iterations take.

    Parameters
    ----------
    name : str
        ``"probe"``, ``"sample run"``, ``"regression"``, ``"sample runs on the cluster"``, ….
    seconds : ndarray of float64, shape (iterations,)
    relative_std : float
        Of what it says; of a regression, its error on runs that were left out.
    weight : float
        Its share in the prediction.
    model : mapping
        Of a regression: ``name``, ``terms`` (seconds a unit), ``r2``, ``rows``, ``runs``,
        ``history_runs``.
    """

    name: str
    seconds: FloatArray = field(repr=False)
    relative_std: float
    weight: float = 1.0
    model: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Prices:
    """What an engine charges for a workload.

    Parameters
    ----------
    witnesses : list of Witness
        With their weights, which add up to 1.
    table : DataFrame
        That of the workload, with ``seconds``; an engine that counts bytes otherwise has its own
        there.
    relative_std : float
        Of the seconds of all iterations together, if the workload is right.
    phases : dict of str to float
        Seconds of setup, read, superstep and write.
    phase_std : float
        Of setting up and reading: the next time differs so much.
    common_std : float
        Of the seconds of all phases, which are off together: of a cluster whose speed is guessed.
    samples : list of SampleSummary
        What was run to find out.
    edge_visits : float
        Edges that this looked at, iteration by iteration.
    warnings : list of str
    at : callable, optional
        From a machine count to the phases there.
    executors : mapping
        On a cluster: bytes that an executor needs, and has.
    more : str
        What a larger budget would buy; empty if nothing.
    """

    witnesses: list[Witness]
    table: pd.DataFrame = field(repr=False)
    relative_std: float
    phases: dict[str, float]
    phase_std: float
    common_std: float = 0.0
    samples: list[SampleSummary] = field(default_factory=list)
    edge_visits: float = 0.0
    warnings: list[str] = field(default_factory=list)
    at: Callable[[int], dict[str, float]] | None = None
    executors: Mapping[str, Any] = field(default_factory=dict)
    more: str = ""


class Costing(Protocol):
    """What an engine charges: made for one prediction, asked stage by stage.

    ``Costing(engine, graph, algorithms, means)``, with the algorithms of a chain in the order in
    which they run.
    """

    reads: ClassVar[frozenset[str]]
    """Options of a prediction that it reads."""

    def __init__(
        self, engine: Engine, graph: AnyGraph, algorithms: Sequence[Algorithm], means: Means
    ) -> None: ...

    def survey(self) -> None:
        """Measure what samples of the graph would disturb; called before any is drawn."""

    def price(self, workloads: Sequence[Workload]) -> list[Prices]:
        """Return what each algorithm of the chain takes; the first one opens and reads."""
