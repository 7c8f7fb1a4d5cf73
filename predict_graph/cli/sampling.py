"""The commands sample and compare-samplers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from predict_graph.cli import options
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.progress import watched
from predict_graph.reports.tables import say, show_table

__all__ = ["compare_samplers", "sample"]


def sample(
    graph: options.GraphSource,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Edges of the sample: .txt, .csv, .tsv or .parquet."),
    ],
    sampler: Annotated[str, typer.Option(help="Sampler.")] = "brj",
    ratio: Annotated[float, typer.Option(help="Vertices to draw / vertices of the graph.")] = 0.1,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    max_edges: Annotated[
        int | None, typer.Option(help="Stop when the vertices drawn have so many edges.")
    ] = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
    json: options.Json = None,
) -> None:
    """Draw a sample, write its edges with their original ids, and say how faithful it is."""
    from predict_graph.comparison import sample_report
    from predict_graph.graph import check_graph
    from predict_graph.graph.writing import check_edge_file, write_edges
    from predict_graph.prediction.request import check_seed

    options.load_plugins(plugin)
    check_json_target(json)
    check_edge_file(out)
    seed = check_seed(seed)
    options.fetch_if_missing(graph)
    with watched(options.messages()) as progress:
        whole = check_graph(graph, directed=options.check_direction(undirected), ids=ids, seed=seed)
        progress("sampling", 0.3)
        subgraph, report = sample_report(whole, sampler, ratio, seed=seed, max_edges=max_edges)
        write_edges(out, subgraph)
    _show_report(options.results(json), report)
    write_json(report, json)


def compare_samplers(
    graphs: Annotated[list[str], typer.Argument(metavar="GRAPH…", help="One graph or several.")],
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…", help="Also compare iterations of samples and of the graph."
        ),
    ] = None,
    samplers: Annotated[
        str | None, typer.Option(metavar="NAME,NAME,…", help="Samplers.", show_default="all")
    ] = None,
    ratio: Annotated[float, typer.Option(help="Vertices to draw / vertices of the graph.")] = 0.1,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    plugin: options.Plugins = None,
    seed: options.Seed = None,
    json: options.Json = None,
) -> None:
    """Compare samplers on graphs: how faithful their samples are, and what they predict."""
    from predict_graph.comparison import compare

    options.load_plugins(plugin)
    check_json_target(json)
    for graph in graphs:
        options.fetch_if_missing(graph)
    with watched(options.messages()) as progress:
        rows = compare(
            graphs,
            samplers=None if samplers is None else samplers.split(","),
            algorithms=[] if algorithms is None else algorithms.split(","),
            ratio=ratio,
            directed=options.check_direction(undirected),
            ids=ids,
            seed=seed,
            progress=progress,
        )
    console = options.results(json)
    _show_rows(console, "fidelity of samples", rows, list(_HEADINGS))
    for name in [] if algorithms is None else algorithms.split(","):
        columns = ["graph", "sampler", *(f"{name}_{what}" for what in ("sample", "graph", "error"))]
        _show_rows(console, f"iterations of {name}", rows, columns)
    write_json(rows, json)


def _show_rows(console: Any, title: str, rows: list[dict[str, Any]], columns: list[str]) -> None:
    headings = [_HEADINGS.get(column, column.replace("_", " ")) for column in columns]
    show_table(console, title, headings, ([row[column] for column in columns] for row in rows))


_HEADINGS = {
    "graph": "graph",
    "sampler": "sampler",
    "seconds": "s",
    "edge_share": "edges",
    "density_ratio": "density",
    "d_in_degree": "D in",
    "d_out_degree": "D out",
    "d_hop_plot": "D hop",
    "clustering": "cluster",
    "largest_component": "largest",
}


def _show_report(console: Any, report: dict[str, Any]) -> None:
    fidelity = report["fidelity"]
    rows: list[tuple[str, Any, Any]] = [("vertices", *_pair(fidelity["vertices"]))]
    rows += [
        (name.replace("_", " "), *_pair(fidelity[name]))
        for name in (
            "edges",
            "density",
            "effective_diameter",
            "clustering",
            "largest_component",
            "pendant",
            "dangling",
            "reciprocity",
        )
    ]
    show_table(console, f"sample by {report['sampler']}", ["", "graph", "sample"], rows)
    show_table(
        console,
        "Kolmogorov–Smirnov D (0 is alike)",
        ["in-degree", "out-degree", "hop plot"],
        [list(fidelity["d_statistics"].values())],
    )
    if report["note"]:
        say(console, f"note: {report['note']}")


def _pair(values: dict[str, Any]) -> tuple[Any, Any]:
    return values["graph"], values["sample"]
