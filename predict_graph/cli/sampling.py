"""The commands sample and compare-samplers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predict_graph.cli import completing, options
from predict_graph.cli.groups import Reading, takes
from predict_graph.cli.output import Pages
from predict_graph.files import check_writable


@takes(reading=Reading, output=Pages)
def sample(
    reading: Reading,
    output: Pages,
    graph: options.GraphSource,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Edges of the sample: .txt, .csv, .tsv or .parquet."),
    ],
    sampler: Annotated[
        str, typer.Option(help="Sampler.", autocompletion=completing.names_of("samplers"))
    ] = "brj",
    ratio: Annotated[float, typer.Option(help="Vertices to draw / vertices of the graph.")] = 0.1,
    max_edges: Annotated[
        int | None, typer.Option(help="Stop when the vertices drawn have so many edges.")
    ] = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
) -> None:
    """Draw a sample, write its edges with their original ids, and say how faithful it is."""
    from predict_graph.comparison import sample as draw_sample
    from predict_graph.graph.writing import check_edge_file, write_edges

    options.load_plugins(plugin)
    output.check()
    check_edge_file(out)
    options.fetch_if_missing(graph)
    with output.watched() as progress:
        found = draw_sample(
            reading.of(graph),
            ratio,
            sampler=sampler,
            max_edges=max_edges,
            directed=reading.directed,
            ids=reading.ids,
            seed=seed,
            progress=progress,
        )
        write_edges(out, found.graph)
    output.show(found)


@takes(reading=Reading, output=Pages)
def compare_samplers(
    reading: Reading,
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
            metavar="FILE", help="Write all samples (.csv) or the ranks (.tex); repeatable."
        ),
    ] = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
) -> None:
    """Compare samplers on graphs: how faithful their samples are, and what they predict."""
    from predict_graph.comparison import compare_samplers as compare
    from predict_graph.comparison.result import check_table

    options.load_plugins(plugin)
    output.check()
    for path in table or []:
        check_table(check_writable(path))
    for graph in graphs:
        options.fetch_if_missing(graph)
    with output.watched() as progress:
        found = compare(
            [reading.of(graph) for graph in graphs],
            samplers=None if samplers is None else samplers.split(","),
            algorithms=[] if algorithms is None else algorithms.split(","),
            ratio=options.numbers(ratio, "ratios") or [],
            seeds=seeds,
            directed=reading.directed,
            ids=reading.ids,
            seed=seed,
            progress=progress,
        )
    output.show(found)
    for path in table or []:
        found.write_table(path)
