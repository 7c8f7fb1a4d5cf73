"""Samples of graphs, drawn by samplers, and how faithful each is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.answers import Answer, Table
from predict_graph.comparison.result import D_STATISTICS, SamplerComparison
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import symmetric
from predict_graph.iterations import SAMPLERS, WalkSample, check_ratio, draw_sample, run_sample
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture
from predict_graph.results import Result
from predict_graph.seeds import check_seed
from predict_graph.transforms import default_transform
from samplers.fidelity import PROPERTIES, GraphProperties, fidelity_report, graph_properties


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
        found, frame, titles = self.report, self.to_frame(), PROPERTIES
        whole = found["graph"]
        distances = found["fidelity"]["d_statistics"]
        return Answer(
            f"sample of {whole['name']} by {found['sampler']}: {found['vertices']:,} of "
            f"{whole['vertices']:,} vertices, {found['edges']:,} of {whole['edges']:,} edges",
            tables=[
                Table(
                    f"sample by {found['sampler']}",
                    ["", "graph", "sample"],
                    [(titles.get(name, name), *values) for name, *values in frame.values.tolist()],
                ),
                Table(
                    "Kolmogorov–Smirnov D (0 is alike)",
                    [D_STATISTICS[name] for name in distances],
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
        return {"schema": 1, **self.report}

    def to_frame(self) -> pd.DataFrame:
        """Return properties of the graph and of the sample, one row each."""
        rows = [
            (name, value["graph"], value["sample"])
            for name, value in self.report["fidelity"].items()
            if isinstance(value, dict) and {*value} == {"graph", "sample"} and name != "hop_sources"
        ]
        return pd.DataFrame(rows, columns=["property", "graph", "sample"], dtype=object)

    def pictures(self) -> list[Picture]:
        """Return how unlike the graph the sample is."""
        distances = {
            D_STATISTICS[name]: value
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
    drawn, report = _drawn(whole, sampler, ratio, entropy, max_edges)
    return GraphSample(drawn.graph, report)


def _names(given: str | Iterable[str]) -> list[str]:
    """Return the names that are given, each once; a text is the only one."""
    return [given] if isinstance(given, str) else [*dict.fromkeys(given)]


def _drawn(
    graph: Graph,
    sampler: str,
    ratio: float,
    seed: int,
    max_edges: int | None = None,
    known: GraphProperties | None = None,
) -> tuple[WalkSample, dict[str, Any]]:
    """Return a sample of a graph, and how it was drawn and how faithful it is."""
    rng = np.random.default_rng(seed)
    drawn = draw_sample(graph, sampler, ratio, rng, max_edges=max_edges)
    return drawn, {
        "graph": graph.describe(),
        "sampler": sampler,
        "ratio": drawn.ratio,
        "seed": seed,
        "vertices": drawn.graph.vertices,
        "edges": drawn.graph.edges,
        "seconds": drawn.seconds,
        "note": drawn.note,
        "fidelity": fidelity_report(graph, drawn.vertices, rng, known).to_dict(),
    }


def compare_samplers(
    graphs: Any,
    *,
    samplers: str | Iterable[str] | None = None,
    algorithms: str | Iterable[str] = (),
    ratio: float | Sequence[float] = 0.1,
    seeds: int = 1,
    directed: bool | None = None,
    ids: str | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> SamplerComparison:
    """Draw samples of graphs by samplers, and compare them: fidelity, iterations, cost.

    Parameters
    ----------
    graphs : graph-like, or list of them
    samplers : str or iterable of str, optional
        All registered ones by default.
    algorithms : str or iterable of str
        For each, the iterations of the sample run under the default transform, those of the real
        run, and the error.
    ratio : float or sequence of float
        Vertices of a sample / vertices of the graph; each of several.
    seeds : int
        Samples by each sampler of each graph at each ratio: from `seed` on.
    directed, ids, seed
        As in :func:`~predict_graph.predict`.
    progress : callable (text, fraction), optional

    Returns
    -------
    SamplerComparison
        With one row a graph, ratio, seed and sampler.

    Raises
    ------
    RequestError
        If a name is unknown, a graph cannot be read, or nothing is to be compared.
    """
    # A list of pairs is an edge list: one graph.
    pairs = isinstance(graphs, list | tuple) and isinstance(next(iter(graphs), None), list | tuple)
    sources = [*graphs] if isinstance(graphs, list | tuple) and not pairs else [graphs]
    names = SAMPLERS.names() if samplers is None else _names(samplers)
    ratios = [check_ratio(one) for one in np.ravel(ratio).tolist()]
    for what, given in (("graph", sources), ("sampler", names), ("ratio", ratios)):
        if not given:
            raise RequestError(f"no {what} is given; accepted: one or more")
    for name in names:
        SAMPLERS.get(name)
    jobs = [check_algorithm(name) for name in _names(algorithms)]
    if not isinstance(seeds, Integral) or seeds < 1:
        raise RequestError(f"seeds is {seeds!r}; accepted: 1 or more")
    entropy = check_seed(seed)
    rows: list[dict[str, Any]] = []
    for number, source in enumerate(sources, 1):
        graph = check_graph(source, directed=directed, ids=ids, seed=entropy)
        if any(row["graph"] == graph.name for row in rows):
            graph = graph.described_as(name=f"{graph.name} ({number})")
        known = graph_properties(graph, entropy)
        # Each algorithm on the graph as its run would have it: undirected for some.
        whole = {
            job.name: symmetric(graph) if job.undirected and graph.directed else graph
            for job in jobs
        }
        truths = {job.name: LocalEngine().run(job, whole[job.name]).iterations for job in jobs}
        total = len(sources) * len(ratios) * seeds * len(names)
        for share, number, name in product(ratios, range(seeds), names):
            if progress is not None:
                progress(f"{graph.name}: {name}", len(rows) / total)
            drawn, report = _drawn(graph, name, share, entropy + number, known=known)
            rows.append(_row(graph, drawn.graph, report, share))
            for job in jobs:
                own, rng = whole[job.name], np.random.default_rng(entropy + number)
                part = drawn if own is graph else draw_sample(own, name, share, rng)
                rows[-1].update(_iterations(own, job, part, truths[job.name]))
    return SamplerComparison(rows, [job.name for job in jobs], entropy)


def _row(graph: Graph, sample: Graph, report: dict[str, Any], ratio: float) -> dict[str, Any]:
    fidelity = report["fidelity"]
    return {
        "graph": graph.name,
        **{name: report[name] for name in ("sampler", "seed", "seconds", "edges")},
        "ratio": ratio,
        "edge_share": sample.edges / max(graph.edges, 1),
        "density_ratio": fidelity["density_ratio"],
        **{f"d_{name}": value for name, value in fidelity["d_statistics"].items()},
        "clustering": fidelity["clustering"]["sample"],
        "largest_component": fidelity["largest_component"]["sample"],
    }


def _iterations(graph: Graph, job: Algorithm, drawn: WalkSample, truth: int) -> dict[str, Any]:
    transform, threshold = default_transform(job.convergence), job.threshold(graph.vertices)
    run = run_sample(drawn, job, LocalEngine(), transform, threshold, purpose="iterations")
    found = run.profile.iterations
    return {
        f"{job.name}_sample": found,
        f"{job.name}_graph": truth,
        f"{job.name}_error": found / truth - 1.0,
    }
