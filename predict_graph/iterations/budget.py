"""The budget of samples, in edges rather than vertices.

A tenth of the vertices can be much more than a tenth of the work: 10% of the vertices of an R-MAT
graph, drawn by biased random jump, hold 66% of its edges (docs/design-notes.md, fact 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from predict_graph.errors import RequestError

DEFAULT_MAX_OVERHEAD = 0.6  # documented default: docs/studies/overhead.md has its cost
FREE_EDGES = 600_000
"""Edges that samples of any graph may have: limits them to a few milliseconds an iteration."""

LEAN = 0.02
"""Overhead up to which even a large graph has a small sample: docs/studies/overhead.md."""


@dataclass(frozen=True)
class EdgeBudget:
    """Edges per iteration that all samples together may have, and how they are shared.

    Parameters
    ----------
    edges : int
        Edges of the graph.
    max_overhead : float
        Edges of all samples / edges of the graph, at most; 0.6 by default. Samples of a
        graph with fewer than a million edges may have 600,000 in any case.
    named : bool
        Whether the user chose it. Other samples of a low overhead may have 300,000 edges in any
        case: they cost as much as none.

    Examples
    --------
    >>> EdgeBudget(64_000_000, 0.5).total
    32000000
    """

    edges: int
    max_overhead: float = DEFAULT_MAX_OVERHEAD
    named: bool = True

    def overhead_of(self, iterations: float, long: int = 20, overhead: float = 0.1) -> float:
        """Return the overhead of samples of a run of so many iterations.

        By default, samples of a long run cost at most a tenth of it (docs/studies/overhead.md).

        Examples
        --------
        >>> EdgeBudget(64_000_000).overhead_of(30)
        0.1
        >>> EdgeBudget(64_000_000, 0.2, named=False).overhead_of(30)
        0.1
        """
        usual = not self.named or self.max_overhead == DEFAULT_MAX_OVERHEAD
        share = overhead if usual and iterations >= long else self.max_overhead
        return min(share, self.max_overhead)

    @property
    def total(self) -> int:
        """Edges per iteration over all samples."""
        free = 0 if self.named else FREE_EDGES // 2
        if self.max_overhead >= DEFAULT_MAX_OVERHEAD:
            free = FREE_EDGES
        return max(int(self.max_overhead * self.edges), free, 1)

    @property
    def for_completion(self) -> int:
        """Edges of the completed samples (their share: docs/studies/overhead.md)."""
        return int(0.58 * self.total)

    @property
    def for_costs(self) -> int:
        """Edges of the samples that train the cost model, likewise."""
        return int(0.17 * self.total)


def check_max_overhead(value: float | None, most: float = 1e6) -> float:
    """Return a valid overhead.

    Raises
    ------
    RequestError
        If it is not a positive number, or so large that edges could not be counted.
    """
    if value is None:
        return DEFAULT_MAX_OVERHEAD
    if not isinstance(value, Real) or not 0 < value <= most:
        raise RequestError(
            f"max overhead is {value!r}; accepted: a positive number, such as 0.6, up to {most:g}"
        )
    return float(value)
