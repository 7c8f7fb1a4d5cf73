"""How many edges the samples may touch: overhead is budgeted in edges, not in vertices.

A tenth of the vertices is no tenth of the work: 10% of the vertices of an R-MAT graph by biased
random jump hold 66% of its edges (docs/design-notes.md, fact 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from predict_graph.errors import RequestError

__all__ = [
    "DEFAULT_MAX_OVERHEAD",
    "FREE_EDGES",
    "LEAN",
    "LONG_RUN",
    "EdgeBudget",
    "check_max_overhead",
]

DEFAULT_MAX_OVERHEAD = 0.6  # judgement: docs/studies/overhead.md has what it comes to
FREE_EDGES = 600_000  # judgement: docs/studies/constants.md
"""Edges of samples whose work nobody notices: some milliseconds an iteration."""

LEAN = 0.02  # a choice: see below
"""Overhead up to which nothing is calibrated: it would cost as much as the samples."""

LONG_RUN = 20  # judgement: docs/studies/constants.md
"""Iterations from which a run counts as long."""
_LONG_RUN_SHARE = 0.1  # a choice: docs/studies/overhead.md
# Completed samples use about half of it; judgement: docs/studies/constants.md.
_LONG_RUN_OVERHEAD = 0.2
_COMPLETION_SHARE, _CALIBRATION_SHARE = 0.58, 0.25  # judgement (docs/studies/overhead.md)


@dataclass(frozen=True)
class EdgeBudget:
    """Edges per iteration that all samples together may touch, and who gets them.

    Parameters
    ----------
    edges : int
        Edges of the graph.
    max_overhead : float
        Edges of all samples / edges of the graph, at most; 0.6 by default. A graph of fewer than
        a million edges may use 600,000 all the same: that is milliseconds.
    free_edges : int, optional
        What may be used in any case.

    Examples
    --------
    >>> EdgeBudget(64_000_000, 0.5).total
    32000000
    """

    edges: int
    max_overhead: float = DEFAULT_MAX_OVERHEAD
    free_edges: int | None = None

    def for_run(self, iterations: float) -> EdgeBudget:
        """Return the budget for samples of a run of so many iterations.

        Samples of a long run take long too: by default, they get less than those of a short one.

        Examples
        --------
        >>> EdgeBudget(64_000_000).for_run(30).total
        12800000
        """
        if self._saves(iterations):
            return EdgeBudget(self.edges, _LONG_RUN_OVERHEAD, FREE_EDGES // 2)
        return self

    def share(self, iterations: int) -> float:
        """Return edges of the samples / edges of the graph, at most, for a run of so many.

        A long run pays for itself sooner, and its samples take as long in proportion: by default,
        those of a run of 20 iterations or more cost a tenth of it.

        Examples
        --------
        >>> EdgeBudget(1000).share(10), EdgeBudget(1000).share(30), EdgeBudget(1000, 0.3).share(30)
        (0.6, 0.1, 0.3)
        """
        if self._saves(iterations):
            return _LONG_RUN_SHARE
        return self.max_overhead

    def _saves(self, iterations: float) -> bool:
        """Whether the samples of such a run get less: not if the user says what they may have."""
        return self.max_overhead == DEFAULT_MAX_OVERHEAD and iterations >= LONG_RUN

    @property
    def total(self) -> int:
        """Edges per iteration over all samples."""
        free = self.free_edges
        if free is None:
            free = FREE_EDGES if self.max_overhead >= DEFAULT_MAX_OVERHEAD else 0
        return max(int(self.max_overhead * self.edges), free, 1)

    @property
    def for_completion(self) -> int:
        """Share of the completed samples."""
        return int(_COMPLETION_SHARE * self.total)

    @property
    def for_calibration(self) -> int:
        """Share of the walk samples that completion is held against."""
        return int(_CALIBRATION_SHARE * self.total)

    @property
    def for_costs(self) -> int:
        """Share of the samples that train the cost model."""
        return int((1.0 - _COMPLETION_SHARE - _CALIBRATION_SHARE) * self.total)


_MOST_OVERHEAD = 1e6  # times the edges of the graph; a choice: more is a slip


def check_max_overhead(value: float | None) -> float:
    """Return the overhead that the user allows.

    Raises
    ------
    RequestError
        If it is not a positive number, or so large that edges could not be counted.
    """
    if value is None:
        return DEFAULT_MAX_OVERHEAD
    if not isinstance(value, Real) or not 0 < value <= _MOST_OVERHEAD:
        raise RequestError(
            f"max overhead is {value!r}; accepted: a positive number, such as 0.6, up to "
            f"{_MOST_OVERHEAD:g}"
        )
    return float(value)
