"""Parameters that name vertices: ids that are resolved in the graph before a run."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from predict_graph.algorithms.base import Algorithm
from predict_graph.algorithms.parameters import Parameter
from predict_graph.arrays import Array, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.readers.layout import fields_of


class NamedVertices(Algorithm):
    """An algorithm with a parameter that names vertices of its graph.

    They are resolved once, in the user's graph (:meth:`on`). In any other graph, such as a sample
    or a generated one, the vertices with most edges represent them: a sample may lack the named
    vertices, and nothing spreads from a vertex without edges.
    """

    named_by: ClassVar[str]
    """The parameter: comma-separated ids, or None for the vertex with most out-edges."""
    several: ClassVar[bool] = True
    """Whether it names more than one vertex; the id of a single one may have a comma."""
    spread_by: ClassVar[str] = "out_degrees"
    """The relevant degrees: ``in_degrees`` if messages go against the edges."""

    known: IntArray | None = None
    """The vertices of the graph in which they were resolved, or None."""
    _among = 0  # the vertices of that graph

    def __init__(self, **parameters: object) -> None:
        name = self.named_by
        if name in parameters:
            parameters[name] = check_ids(name, parameters[name], several=self.several)
        super().__init__(**parameters)

    @property
    def ids(self) -> tuple[str, ...]:
        """The given ids, without duplicates."""
        text = self.parameters[self.named_by]
        if text is None:
            return ()
        return tuple(dict.fromkeys(_split(str(text)))) if self.several else (str(text).strip(),)

    def on(self, graph: Any) -> Self:
        """Return the algorithm with its vertices resolved in a graph, unless they are already."""
        if self.known is not None:
            return self
        if self.ids:
            known = _looked_up(self.named_by, self.ids, graph)
            placed = self._with(known, graph.vertices)
            if graph.labels is not None:
                placed.named = {"vertices": known.tolist()}
            return placed
        degrees = getattr(graph, self.spread_by, None)
        return self._with(None if degrees is None else self.vertices_in(degrees), graph.vertices)

    def within(self, graph: Any) -> Self:
        """Return the algorithm resolved for any graph: with its own vertices, or substitutes."""
        settled = self.on(graph)
        if settled.known is None or settled._among == graph.vertices:
            return settled
        return self._with(settled.vertices_in(getattr(graph, self.spread_by)), graph.vertices)

    def as_in(self, other: NamedVertices) -> Self:
        """Return the algorithm with the vertices resolved by another one."""
        return self._with(other.known, other._among)

    def _with(self, known: IntArray | None, among: int) -> Self:
        placed = copy(self)
        placed.known, placed._among = known, among
        return placed

    @property
    def count(self) -> int:
        """The number of named vertices."""
        return max(len(self.ids), 1)

    def vertices_in(self, degrees: Array) -> IntArray:
        """Return the vertices, or substitutes in the graph with these degrees.

        A graph with fewer vertices than are named has some of them several times.
        """
        if self.known is not None and len(degrees) == self._among:
            return self.known
        from samplers.search import largest  # imported here because it loads numba

        return np.resize(largest(degrees, self.count), self.count)


def naming_parameter(name: str, edges: str = "out-edges", *, several: bool) -> Parameter:
    """Return a parameter that names vertices; by default the one with most of some edges."""
    ids = "comma-separated ids of vertices" if several else "id of a vertex"
    return Parameter(name, str, None, f"{ids}; by default the one with most {edges}")


def check_ids(parameter: str, value: Any, *, several: bool = True) -> str | None:
    """Return ids as comma-separated text, or None; in a list, those with commas are quoted.

    The only id of a parameter that names one vertex may have commas itself, or be a tuple of more.

    Examples
    --------
    >>> check_ids("landmarks", [3, "17", "Doe, John"])
    '3,17,"Doe, John"'
    """
    if value is None:
        return None
    lists = (list, tuple, np.ndarray) if several or np.size(value) == 1 else (list, np.ndarray)
    ids = list(value) if isinstance(value, lists) else [value]
    kinds = (str, int, tuple, np.integer)
    right = all(isinstance(each, kinds) and not isinstance(each, bool) for each in ids)
    texts = [str(each) for each in ids]
    if several and not isinstance(value, str):
        texts = ['"{}"'.format(each.replace('"', '""')) if "," in each else each for each in texts]
    text = ",".join(texts)
    if not right or not all(_split(text) if several else [text.strip(), len(ids) == 1]):
        accepted = "comma-separated ids of vertices" if several else "the id of one vertex"
        raise RequestError(f"{parameter} is {value!r}; accepted: {accepted}")
    return text


def _split(text: str) -> list[str]:
    return [each.strip() for each in fields_of(text, ord(","), strict=False)]


def _looked_up(parameter: str, ids: tuple[str, ...], graph: Any) -> IntArray:
    labels = getattr(graph, "labels", False)
    if labels is not None and not isinstance(labels, np.ndarray):
        raise RequestError(
            f"{parameter} is {','.join(ids)!r}, but only Spark knows the ids of this graph; "
            "accepted: a graph that is read here, or none"
        )
    return np.array([vertex_of(parameter, each, labels, graph) for each in ids], np.int64)


def vertex_of(parameter: str, given: str, labels: Array | None, graph: Any) -> int:
    """Return the vertex with an id."""
    ids = np.arange(graph.vertices) if labels is None else labels
    with suppress(ValueError):  # of text that is no number
        at = np.flatnonzero(ids == (int(given) if ids.dtype.kind in "iu" else given))
        if not len(at) and ids.dtype == object:  # such as numbers among texts
            at = np.flatnonzero([str(each) == given for each in ids.tolist()])
        if len(at):
            return int(at[0])
    raise RequestError(
        f"{parameter} has {given}, which is not a vertex of {graph.name}; accepted: ids of "
        f"the graph, such as {ids[0]} and {ids[-1]}"
    )
