"""The commands sample and compare-samplers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from predict_graph.cli import completing, options
from predict_graph.cli.groups import takes
from predict_graph.cli.output import Pages
from predict_graph.files import check_writable
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
    sampler: Annotated[
        str, typer.Option(help="Sampler.", autocompletion=completing.names_of("samplers"))
    ] = "brj",
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


@takes(output=Pages)
def compare_samplers(
    output: Pages,
    graphs: Annotated[
        list[str],
        typer.Argument(
            metavar="GRAPH…", help="One graph or several.", autocompletion=completing.graphs
        ),
    ],
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…",
            help="Also compare iterations of samples and of the graph.",
            autocompletion=completing.names_of("algorithms"),
        ),
    ] = None,
    samplers: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…",
            help="Samplers, those of plug-ins among them.",
            show_default="all",
            autocompletion=completing.names_of("samplers"),
        ),
    ] = None,
    ratio: Annotated[
        str, typer.Option(metavar="R,R,…", help="Vertices to draw / vertices of the graph.")
    ] = "0.1",
    seeds: Annotated[
        int, typer.Option(help="Samples by each sampler of each graph at each ratio.")
    ] = 1,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Write all samples (.csv) or the ranks (.tex); may come again."
        ),
    ] = None,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    plugin: options.Plugins = None,
    seed: options.Seed = None,
) -> None:
    """Compare samplers on graphs: how faithful their samples are, and what they predict."""
    from predict_graph.comparison import compare
    from predict_graph.comparison.result import check_table

    options.load_plugins(plugin)
    output.check()
    for path in table or []:
        check_table(check_writable(path))
    for graph in graphs:
        options.fetch_if_missing(graph)
    with output.watched() as progress:
        found = compare(
            graphs,
            samplers=None if samplers is None else samplers.split(","),
            algorithms=[] if algorithms is None else algorithms.split(","),
            ratio=options.ratios(ratio) or [],
            seeds=seeds,
            directed=options.check_direction(undirected),
            ids=ids,
            seed=seed,
            progress=progress,
        )
    output.give(found.answer, found.to_dict())
    for path in table or []:
        found.write_table(path)
    named = ", ".join(dict.fromkeys(row["graph"] for row in found.rows))
    output.draw(f"samplers on {named}", found.answer, found.pictures, seed=found.seed)


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
