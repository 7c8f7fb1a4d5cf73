"""Predict a function of the atlas from the size of a graph that is not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from predict_graph.answers import readable_bytes
from predict_graph.errors import RequestError
from predict_graph.functions.atlas import atlas_points, compiled_alternatives
from predict_graph.functions.evidence import estimates_of
from predict_graph.functions.growth import NOTHING, extrapolate, grown_bytes
from predict_graph.functions.naming import TABLES, GraphFunction
from predict_graph.intervals import Interval
from predict_graph.memory import available_memory
from predict_graph.outcome import PeakMemory, Prediction
from predict_graph.outcome.verdict import verdict_of

# Bytes of a vertex and of an edge, undirected and directed: measured on graphs of up to 800,000
# edges without attributes, each within 12% (igraph and scipy: 30% below 100,000 edges).
_BYTES = {
    "networkx": ((330.0, 216.0), (538.0, 203.0)),
    "igraph": ((42.0, 36.0), (43.0, 36.0)),
    "networkit": ((31.0, 25.0), (63.0, 23.0)),
    "scipy": ((14.0, 26.0), (12.0, 14.0)),
    **dict.fromkeys(("edges", *TABLES), ((15.0, 19.0), (14.0, 19.0))),
    "graph": ((12.0, 8.0), (12.0, 4.0)),
}


@dataclass(frozen=True)
class GraphSize:
    """How large a graph is, in place of the graph.

    Parameters
    ----------
    vertices, edges : float
        As the user counts: an undirected edge once.
    directed : bool, default False
    """

    vertices: float
    edges: float
    directed: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, least in (("vertices", 2), ("edges", 1)):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and least <= value < 2**63):
                raise RequestError(f"{name} are {value!r}; accepted: {least} or more, below 2^63")
            object.__setattr__(self, name, float(value))  # powers of numpy's integers overflow
        most = self.vertices * (self.vertices - 1) / (1 if self.directed else 2)
        if self.edges > most:
            raise RequestError(
                f"edges are {self.edges:g}, but {self.vertices:g} vertices have at most {most:g}"
            )

    def bytes(self, form: str) -> float:
        """Return the memory that it takes in a form of :data:`~.naming.FORMS`."""
        vertex, edge = _BYTES[form][self.directed]
        return vertex * self.vertices + edge * self.edges

    def drivers(self) -> dict[str, float]:
        """Return the drivers (:mod:`~.growth`) that a size says, if each vertex reaches all.

        By these alone, runs of the atlas are predicted as well as by those of a graph of each kind
        (60 functions, the kind of their graph left out: both within a factor of 1.2 in the median).
        """
        n, m = self.vertices, self.edges * (1 if self.directed else 2)
        sizes = {"vertices": n, "edges": m, "vertices_squared": n**2, "vertices_cubed": n**3}
        return {**sizes, "reached_vertices": n**2, "reached_edges": n * m}


def predict_by_size(
    function: GraphFunction, size: GraphSize, *, directed: bool | None = None, **options: Any
) -> Prediction:
    """Predict a call of a function of the atlas on a graph that is not there.

    Of the options of :func:`~predict_graph.predict` only the direction counts: nothing is run, read
    or drawn, and so no progress is made.

    Raises
    ------
    RequestError
        If the atlas does not have the function with these arguments, or an option would not count.
    """
    unread = [name for name, value in options.items() if value is not None and name != "progress"]
    if unread:
        raise RequestError(f"{unread[0]} does not count for the size of a graph; leave it out")
    if directed is not None:
        size = replace(size, directed=directed)
    known, drivers = atlas_points(function), size.drivers()
    call = extrapolate(known, drivers, "", names=(*drivers, NOTHING))
    if call is None:
        raise RequestError(
            f"the atlas has no runs of {function.name} with such arguments, so that the size of a "
            "graph is not enough; accepted: the graph itself"
        )
    held = [(each.drivers, each.peak_bytes) for each in known]
    peak = grown_bytes(held, drivers, kinds=[each.graph for each in known])
    graph = size.bytes(function.form)
    peak += Interval(graph, graph / 1.15, 1.15 * graph)
    memory = PeakMemory(peak, float(available_memory()))
    others = [] if memory.fits is False else compiled_alternatives(function, call.cost, drivers)
    runtime = Interval.spread(call.cost, call.log_std)
    phases = {"call": call.cost}
    counts = {"vertices": int(size.vertices), "edges": int(size.edges)}
    return Prediction(
        algorithm=function.describe(),
        graph={"name": "a graph", **counts, "directed": size.directed},
        engine=function.engine,
        seed=None,
        runtime_seconds=runtime,
        phases=phases,
        evidence=estimates_of(call, [], known, None),
        warnings=[
            "only the size of the graph is known: one of that size may take much longer, and "
            "building it for the library takes time on top"
        ],
        verdict=verdict_of(runtime, phases, memory=memory),
        processor_seconds=call.cost,
        advice=[*([] if memory.fits else _smaller_forms(size, function.form)), *others],
    )


def _smaller_forms(size: GraphSize, own: str) -> list[str]:
    """Return the advice to take the graph in a form that is smaller than a function's own."""
    forms = {"predict-graph": "graph", "scipy": "scipy", "igraph": "igraph", "networkx": "networkx"}
    held, here = {name: size.bytes(form) for name, form in forms.items()}, size.bytes(own)
    smaller = [f"{readable_bytes(least)} in {name}" for name, least in held.items() if least < here]
    said = f"a library with a smaller form of the graph: {', '.join(smaller)}"
    return [f"{said}, but {readable_bytes(here)} in {own}"] if smaller else []
