"""The commands predict, run and validate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from predict_graph.cli import options
from predict_graph.files import check_writable
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.progress import watched
from predict_graph.reports.tables import show_comparison, show_prediction, show_run

__all__ = ["predict", "run", "validate"]

Sampler = Annotated[str, typer.Option(help="Sampler of the sample runs.")]
Ratio = Annotated[float, typer.Option(help="Vertices of a sample / vertices of the graph.")]
TrainRatios = Annotated[
    str | None,
    typer.Option(
        metavar="R,R,…", help="Ratios that train the cost model.", show_default="0.05,0.1,0.15,0.2"
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="completion, or published: the method of the paper.", show_default="completion"
    ),
]
Transform = Annotated[
    str | None, typer.Option(help="Transform function.", show_default="the default rule")
]
CostModel = Annotated[str, typer.Option(help="Cost model.")]
MaxOverhead = Annotated[
    float | None,
    typer.Option(help="Edges of all samples / edges of the graph, at most.", show_default="0.6"),
]
Probe = Annotated[
    bool, typer.Option(help="Measure the cost of an edge on 2% of the rows of the graph.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw convergence and seconds.")]


def predict(
    algorithm: options.AlgorithmName,
    graph: options.GraphSource,
    parameter: options.Parameters = None,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    threads: options.Threads = None,
    sampler: Sampler = "brj",
    ratio: Ratio = 0.1,
    train_ratios: TrainRatios = None,
    method: Method = None,
    transform: Transform = None,
    cost_model: CostModel = "forward-nnls",
    max_overhead: MaxOverhead = None,
    probe: Probe = True,
    history: options.HistoryFile = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
    json: options.Json = None,
    plot: Plot = None,
) -> None:
    """Predict the iterations and the runtime of a job, without running it."""
    import predict_graph

    options.load_plugins(plugin)
    check_json_target(json)
    _check_plot(plot)
    options.fetch_if_missing(graph)
    with watched(options.messages()) as progress:
        prediction = predict_graph.predict(
            algorithm,
            graph,
            directed=options.check_direction(undirected),
            ids=ids,
            history=history,
            parameters=options.check_parameters(parameter),
            engine=engine,
            workers=workers,
            threads=threads,
            sampler=sampler,
            ratio=ratio,
            train_ratios=options.ratios(train_ratios),
            method=method,
            transform=transform,
            cost_model=cost_model,
            max_overhead=max_overhead,
            probe=probe,
            seed=seed,
            progress=progress,
        )
    show_prediction(options.results(json), prediction)
    write_json(prediction.to_dict(), json)
    if plot is not None:
        prediction.plot(plot)


def run(
    algorithm: options.AlgorithmName,
    graph: options.GraphSource,
    parameter: options.Parameters = None,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    threads: options.Threads = None,
    history: options.HistoryFile = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
    json: options.Json = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result: .csv, .tsv or .parquet."),
    ] = None,
) -> None:
    """Run a job for real, and keep the run in the history."""
    import predict_graph

    options.load_plugins(plugin)
    check_json_target(json)
    options.fetch_if_missing(graph)
    with watched(options.messages()) as progress:
        profile = predict_graph.run(
            algorithm,
            graph,
            parameters=options.check_parameters(parameter),
            directed=options.check_direction(undirected),
            ids=ids,
            engine=engine,
            workers=workers,
            threads=threads,
            history=history,
            seed=seed,
            progress=_iterations(progress),
            write_to=out,
        )
    show_run(options.results(json), profile)
    write_json(profile.to_dict(), json)


def validate(
    algorithm: options.AlgorithmName,
    graph: options.GraphSource,
    parameter: options.Parameters = None,
    undirected: options.Undirected = None,
    ids: options.Ids = "integer",
    engine: options.Engine = "local",
    workers: options.Workers = None,
    threads: options.Threads = None,
    sampler: Sampler = "brj",
    ratio: Ratio = 0.1,
    train_ratios: TrainRatios = None,
    method: Method = None,
    transform: Transform = None,
    cost_model: CostModel = "forward-nnls",
    max_overhead: MaxOverhead = None,
    probe: Probe = True,
    history: options.HistoryFile = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
    json: options.Json = None,
    plot: Plot = None,
) -> None:
    """Predict a job, then run it, then compare."""
    import predict_graph

    options.load_plugins(plugin)
    check_json_target(json)
    _check_plot(plot)
    options.fetch_if_missing(graph)
    with watched(options.messages()) as progress:
        comparison = predict_graph.validate(
            algorithm,
            graph,
            directed=options.check_direction(undirected),
            ids=ids,
            history=history,
            fresh_process=True,
            parameters=options.check_parameters(parameter),
            engine=engine,
            workers=workers,
            threads=threads,
            sampler=sampler,
            ratio=ratio,
            train_ratios=options.ratios(train_ratios),
            method=method,
            transform=transform,
            cost_model=cost_model,
            max_overhead=max_overhead,
            probe=probe,
            seed=seed,
            progress=progress,
        )
    console = options.results(json)
    show_prediction(console, comparison.prediction)
    show_comparison(console, comparison)
    write_json(comparison.to_dict(), json)
    if plot is not None:
        comparison.plot(plot)


def _iterations(progress: Any) -> Any:
    """Return a callback that shows iterations; how many there will be is not known."""
    return lambda number, aggregate: progress(
        f"iteration {number}: mean change {aggregate:.2e}", 0.0
    )


def _check_plot(plot: Path | None) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if plot is not None:
        from predict_graph.pictures import check_picture

        check_picture(check_writable(plot))
