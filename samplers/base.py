"""What every sampler has in common, and what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from samplers.csr import CSRArrays, check_csr
from samplers.splitmix import RandomState, State, new_state

_NO_CAP = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class Visits:
    """What a kernel reports of its run; :class:`Sample` describes its fields."""

    vertices: npt.NDArray[np.integer]
    steps: int = 0
    restarts: int = 0
    dead_ends: int = 0
    unreached: int = 0
    edges_scanned: int = 0
    capped: bool = False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sample(Visits):
    """The vertices that a sampler picked, and how it came by them.

    Parameters
    ----------
    vertices : ndarray of int, shape (k,)
        Distinct vertices in the order of their first visit.
    sampler : str
        Name of the sampler.
    ratio : float
        Requested sampling ratio, k / n.
    requested : int
        Requested number of vertices, ``max(1, round(ratio * n))``.
    steps : int
        Steps walked: moves, refused moves and jumps.
    restarts : int
        Jumps made by chance, with the restart probability.
    dead_ends : int
        Jumps made because the vertex has no edge to leave by.
    unreached : int
        Vertices filled in uniformly from the unvisited ones because the walk had stopped finding
        new vertices.
    edges_scanned : int
        Sum of the out-degrees of `vertices`: the edges that cutting out the subgraph reads.
    seconds : float
        Wall time of the sampling, compilation included when the kernel ran for the first time.
    capped : bool
        True when `max_edges` ended the sampling early.
    """

    sampler: str
    ratio: float
    requested: int
    seconds: float

    @property
    def note(self) -> str:
        """Limitations of the sample; empty when it is as requested."""
        notes = []
        if self.capped:
            notes.append(
                f"the edge cap ended the sampling at {len(self.vertices)} of {self.requested} "
                f"vertices, {self.edges_scanned} edges"
            )
        if self.unreached:
            share = self.unreached / len(self.vertices)
            notes.append(
                f"the walks stopped finding new vertices, so {self.unreached} "
                f"({share:.1%} of the sample) were filled in uniformly"
            )
        return "; ".join(notes)

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return (
            f"Sample({self.sampler!r}, {len(self.vertices)} vertices, {self.edges_scanned} edges "
            f"scanned, {self.steps} steps, {self.seconds:.3g} s{note})"
        )


class Sampler(ABC):
    """Base of the samplers: options are keyword arguments, and only :meth:`sample` computes.

    A subclass sets `name`, checks the options of its ``__init__`` in ``_check_options`` and picks
    vertices in ``_visit``.
    """

    name: ClassVar[str]

    def sample(
        self, csr: Any, ratio: float, random_state: RandomState = None, max_edges: int | None = None
    ) -> Sample:
        """Pick vertices of a graph.

        Parameters
        ----------
        csr : graph-like
            Anything that :func:`samplers.check_csr` accepts.
        ratio : float
            Share of the vertices, in (0, 1].
        random_state : int, numpy.random.Generator or None
            The same seed gives the same sample.
        max_edges : int, optional
            Stop before the out-degrees of the sampled vertices add up to more than this. One
            vertex is always taken.

        Returns
        -------
        Sample
            ``max(1, round(ratio * n))`` distinct vertices, fewer only when `max_edges` ended it.

        Raises
        ------
        ValueError
            If an option, `ratio`, `max_edges` or the graph is wrong.
        """
        self._check_options()
        check_share("ratio", ratio, zero=False)
        check_positive("max_edges", _NO_CAP if max_edges is None else max_edges)
        cap = _NO_CAP if max_edges is None else min(int(max_edges), _NO_CAP)
        state = new_state(random_state)
        graph = check_csr(csr)
        target = max(1, round(ratio * graph.vertices))
        start = time.perf_counter()
        visits = self._visit(graph, target, cap, state)
        seconds = time.perf_counter() - start
        if not isinstance(visits, Visits):
            raise TypeError(f"_visit returned {visits!r}; accepted: Visits of samplers.base")
        return Sample(
            sampler=self.name, ratio=float(ratio), requested=target, seconds=seconds, **vars(visits)
        )

    def _check_options(self) -> None:  # noqa: B027
        """Raise ValueError for a wrong option."""

    @abstractmethod
    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        """Pick `target` vertices."""


def check_share(name: str, value: Any, *, zero: bool) -> None:
    """Raise ValueError unless `value` is between 0 and 1, including 1, and 0 if `zero` is true."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or (value == 0 and not zero):
        raise ValueError(f"{name} is {value!r}; accepted: a number in {'[' if zero else '('}0, 1]")


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} is {value!r}; accepted: an integer >= 1")
