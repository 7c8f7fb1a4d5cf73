"""Draw one sample of a graph, and measure its fidelity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from predict_graph.answers import Answer, Table
from predict_graph.comparison.rows import drawn_and_compared
from predict_graph.graph import Graph, check_graph
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture
from predict_graph.results import Result
from predict_graph.seeds import check_seed

_D_STATISTICS = {"in_degree": "in-degree", "out_degree": "out-degree", "hop_plot": "hop plot"}


@dataclass(frozen=True, eq=False, repr=False)
class GraphSample(Result):
    """A sample of a graph.

    Parameters
    ----------
    graph : Graph
        The sample.
    report : dict
        How it was drawn, and how faithful it is.
    """

    graph: Graph
    report: dict[str, Any]

    @property
    def seed(self) -> int:
        """That draws it again."""
        return int(self.report["seed"])

    @property
    def answer(self) -> Answer:
        """Its size, and its properties beside those of the graph."""
        found, frame = self.report, self.to_frame()
        whole = found["graph"]
        distances = found["fidelity"]["d_statistics"]
        return Answer(
            f"sample of {whole['name']} by {found['sampler']}: {found['vertices']:,} of "
            f"{whole['vertices']:,} vertices, {found['edges']:,} of {whole['edges']:,} edges",
            tables=[
                Table(
                    f"sample by {found['sampler']}",
                    ["", "graph", "sample"],
                    [(name.replace("_", " "), *values) for name, *values in frame.values.tolist()],
                ),
                Table(
                    "Kolmogorov–Smirnov D (0 is alike)",
                    [_D_STATISTICS[name] for name in distances],
                    [list(distances.values())],
                ),
            ],
            warnings=[found["note"]] if found["note"] else [],
        )

    @property
    def title(self) -> str:
        """What it is a sample of."""
        return f"sample of {self.report['graph']['name']}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report, ready for JSON."""
        return self.report

    def to_frame(self) -> pd.DataFrame:
        """Return properties of the graph and of the sample, one row each."""
        pairs = {
            name: value
            for name, value in self.report["fidelity"].items()
            if isinstance(value, dict) and {*value} == {"graph", "sample"} and name != "hop_sources"
        }
        rows = [(name, value["graph"], value["sample"]) for name, value in pairs.items()]
        return pd.DataFrame(rows, columns=["property", "graph", "sample"], dtype=object)

    def pictures(self) -> list[Picture]:
        """Return how unlike the graph the sample is."""
        distances = {
            _D_STATISTICS[name]: value
            for name, value in self.report["fidelity"]["d_statistics"].items()
            if value is not None
        }
        said = ", ".join(f"{name} {value:.3g}" for name, value in distances.items())
        title, unit = "How unlike the graph the sample is", "Kolmogorov–Smirnov D, 0 is alike"
        return [dot_picture(title, f"D: {said}.", [*distances], [*distances.values()], xlabel=unit)]


def sample(
    graph: Any,
    ratio: float = 0.1,
    *,
    sampler: str = "brj",
    max_edges: int | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> GraphSample:
    """Draw a sample of a graph, and compare it with the graph.

    Parameters
    ----------
    graph : graph-like
        As for :func:`~predict_graph.predict`.
    ratio : float, default 0.1
        Vertices to draw / vertices of the graph, in (0, 1].
    sampler : str, default "brj"
    max_edges : int, optional
        Stop when the vertices drawn have so many edges.
    directed, ids, seed, progress : optional
        As for :func:`~predict_graph.predict`.

    Raises
    ------
    RequestError
        If the graph cannot be read, the sampler is unknown, or a number is out of range.

    Examples
    --------
    >>> drawn = sample("barabasi-albert:n=1000,m=4,seed=1", 0.2, seed=1)
    >>> drawn.graph.vertices
    200
    """
    entropy = check_seed(seed)
    whole = check_graph(graph, directed=directed, ids=ids, seed=entropy)
    if progress is not None:
        progress("sampling", 0.3)
    drawn, report = drawn_and_compared(whole, sampler, ratio, entropy, max_edges)
    return GraphSample(drawn.graph, report)
