"""The commands sample and compare-samplers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import predict_graph
from predict_graph.cli import options
from predict_graph.cli.options import Reading
from predict_graph.cli.output import Pages
from predict_graph.errors import RequestError
from predict_graph.files import write_text


def sample(
    graph: str,
    *,
    out: Path,
    reading: Reading,
    output: Pages,
    sampler: str = "brj",
    ratio: float = 0.1,
    max_edges: int | None = None,
    seed: int | None = None,
    plugin: list[Path] | None = None,
) -> None:
    """Draw a sample, write its edges with their original ids, and say how faithful it is.

    Parameters
    ----------
    out : FILE
        Edges of the sample: .txt, .csv, .tsv or .parquet.
    sampler
        Sampler.
    ratio
        Vertices to draw / vertices of the graph.
    max_edges
        Stop when the vertices drawn have so many edges.
    """
    from predict_graph.graph.storage import check_table_file, write_edges

    check_table_file(out, ".txt")
    options.prepare(plugin, graph)
    how: dict[str, Any] = {"sampler": sampler, "ratio": ratio, "max_edges": max_edges, "seed": seed}
    how |= {"directed": reading.directed, "ids": reading.ids}
    with output.display(graph) as display:
        found = predict_graph.sample(reading.of(graph), **how, progress=display.step)
        write_edges(out, found.graph)
    output.show(found)
    if not output.quiet:
        options.note(f"saved {out}, with the ids of the graph")


def compare_samplers(
    graphs: list[str],
    *,
    reading: Reading,
    output: Pages,
    algorithms: str | None = None,
    samplers: str | None = None,
    ratio: str = "0.1",
    seeds: int = 1,
    table: Path | None = None,
    plugin: list[Path] | None = None,
    seed: int | None = None,
) -> None:
    """Compare samplers on graphs: how faithful their samples are, and what they predict.

    Parameters
    ----------
    graphs : GRAPH…
        One graph or several.
    algorithms : NAME,NAME,…
        Also compare iterations of samples and of the graph.
    samplers : NAME,NAME,…, default all
        Samplers, those of plug-ins among them.
    ratio : R,R,…
        Vertices to draw / vertices of the graph.
    seeds
        Samples by each sampler of each graph at each ratio.
    table : FILE.csv
        Write all samples.
    """
    if table is not None and table.suffix != ".csv":
        raise RequestError(f"cannot write the table {table}; accepted: a name in .csv")
    options.prepare(plugin, *graphs)
    with output.display() as display:
        found = predict_graph.compare_samplers(
            [reading.of(graph) for graph in graphs],
            samplers=options.listed(samplers),
            algorithms=options.listed(algorithms) or [],
            ratio=options.numbers(ratio, "ratios") or [],
            seeds=seeds,
            directed=reading.directed,
            ids=reading.ids,
            seed=seed,
            progress=display.step,
        )
    output.show(found)
    if table is not None:
        write_text(table, found.to_frame().to_csv(index=False))
