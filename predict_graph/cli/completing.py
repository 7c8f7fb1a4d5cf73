"""Names that the shell completes: plug-ins, datasets, generators.

A shell waits for them at every press of the tab key, so nothing heavy is imported: names of what is
built in are written down here (a test compares them with the registries), those of packages come
from their entry points, and those of datasets from the catalogue's own file.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

_LISTED = {
    "samplers": "rj brj mhrw rwr ff uniform",
    "algorithms": "pagerank semi-clustering topk-ranking connected-components label-propagation "
    "neighborhood shortest-paths k-core triangle-count personalised-pagerank",
    "transforms": "scaled-threshold same-threshold",
    "methods": "completion rooted published observed replay whole-run",
    "engines": "local spark",
    "cost-models": "forward-nnls nnls",
    "generators": "rmat barabasi-albert erdos-renyi watts-strogatz powerlaw-cluster star path "
    "cycle grid",
}
BUILT_IN = {kind: tuple(names.split()) for kind, names in _LISTED.items()}
"""Kind of plug-in to the names of what is built in."""

_OF_BOTH = "pageRank connectedComponents labelPropagation shortestPaths stronglyConnectedComponents"
_ON_SPARK = [
    *(f"{library}:{name}" for library in ("graphx", "graphframes") for name in _OF_BOTH.split()),
    *("graphx:personalizedPageRank", "graphx:triangleCount"),
]

Completer = Callable[[str], list[str]]


def names_of(*kinds: str) -> Completer:
    """Return what completes the names of some kinds; after a comma, the next of several.

    Examples
    --------
    >>> names_of("engines")("sp"), names_of("samplers")("rj,br")
    (['spark'], ['rj,brj'])
    """

    def complete(incomplete: str) -> list[str]:
        given, comma, begun = incomplete.rpartition(",")
        taken = given.split(",")
        return [
            f"{given}{comma}{name}"
            for kind in kinds
            for name in _names(kind)
            if name.startswith(begun) and name not in taken
        ]

    return complete


def graphs(incomplete: str) -> list[str]:
    """Complete a graph: a dataset, a generator, or a file."""
    named = [*_names("datasets"), *(f"{name}:" for name in _names("generators"))]
    return [*(name for name in named if name.startswith(incomplete)), *_files(incomplete)]


def _names(kind: str) -> list[str]:
    if kind == "kinds":
        return [*BUILT_IN]
    if kind == "on Spark":
        return _ON_SPARK
    if kind == "datasets":  # their package would bring numpy with it
        path = Path(__file__).parent.parent / "graph" / "catalogue.py"
        return [each.name for each in runpy.run_path(str(path))["CATALOGUE"]]
    from importlib.metadata import entry_points

    group = f"predict_graph.{kind.replace('-', '_')}"
    return [*BUILT_IN[kind], *sorted({point.name for point in entry_points(group=group)})]


def _files(incomplete: str) -> list[str]:
    """Return files and folders that a path begun may mean; the shells leave this to the program."""
    folder, slash, begun = incomplete.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return []
    return [
        f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(begun) and (begun or not entry.name.startswith("."))
    ]


COMPLETERS: dict[str, Completer] = {
    **{kind.removesuffix("s").replace("-", "_"): names_of(kind) for kind in BUILT_IN},
    **{name: names_of(name) for name in ("algorithms", "samplers")},
    "algorithm": names_of("algorithms", "on Spark"),
    "graph": graphs,
    "graphs": graphs,
    "dataset": names_of("datasets"),
    "kind_of_plugin": names_of("kinds"),
}
"""Parameter of a command to what completes it."""
