"""The commands predict, run and validate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predict_graph.cli import functions, options
from predict_graph.cli.groups import Cluster, Job, Sampling, takes
from predict_graph.errors import RequestError
from predict_graph.files import check_writable
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.progress import watched
from predict_graph.reports.tables import show_comparison, show_prediction, show_run

if TYPE_CHECKING:
    from predict_graph.resources import ResourceProfile

__all__ = ["predict", "run", "validate"]

Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw convergence and seconds.")]


@takes(job=Job, cluster=Cluster, sampling=Sampling)
def predict(
    job: Job,
    cluster: Cluster,
    sampling: Sampling,
    target_profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Predict for the machine of this profile (calibrate --out)."
        ),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Profile of this machine.", show_default="measured now"
        ),
    ] = None,
    plot: Plot = None,
    arg: functions.Args = None,
    graph_form: functions.GraphForm = None,
    budget: functions.Budget = None,
) -> None:
    """Predict the iterations and the runtime of a job, or a function's call, without running it."""
    import predict_graph
    from predict_graph.functions import is_function

    if is_function(job.algorithm) and cluster.engine == "local":
        _refused(job, target_profile=target_profile, profile=profile, plot=plot)
        functions.predict_call(job, (cluster, sampling), arg, graph_form, budget)
        return
    functions.check_no_call_options(arg, graph_form, budget, job.algorithm)
    _checked(job, plot)
    profiles = _profiles(profile, target_profile)
    with watched(options.messages()) as progress:
        prediction = predict_graph.predict(
            job.algorithm,
            job.graph,
            **job.asked(),
            **cluster.asked(),
            **sampling.asked(),
            progress=progress,
        )
    if profiles is not None:
        from predict_graph.prediction.elsewhere import carried

        prediction = carried(prediction, *profiles)
    show_prediction(options.results(job.json), prediction)
    write_json(prediction.to_dict(), job.json)
    if plot is not None:
        prediction.plot(plot)


@takes(job=Job, cluster=Cluster)
def run(
    job: Job,
    cluster: Cluster,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the result: .csv, .tsv or .parquet."),
    ] = None,
    spark_reads: Annotated[
        bool,
        typer.Option(
            "--spark-reads",
            help="Spark reads the graph itself: a path or address that its executors see.",
        ),
    ] = False,
    arg: functions.Args = None,
    graph_form: functions.GraphForm = None,
) -> None:
    """Run a job or a function's call for real, and keep the run in the history."""
    import predict_graph
    from predict_graph.functions import is_function

    if is_function(job.algorithm) and cluster.engine == "local":
        _refused(job, out=out, spark_reads=spark_reads)
        functions.run_call(job, cluster, arg, graph_form)
        return
    functions.check_no_call_options(arg, graph_form, None, job.algorithm)
    _checked(job, None, fetch=not spark_reads)
    with watched(options.messages()) as progress:
        profile = predict_graph.run(
            job.algorithm,
            job.graph,
            **job.asked(),
            **cluster.asked(),
            progress=_iterations(progress),
            write_to=out,
            spark_reads=spark_reads,
        )
    show_run(options.results(job.json), profile)
    write_json(profile.to_dict(), job.json)


@takes(job=Job, cluster=Cluster, sampling=Sampling)
def validate(job: Job, cluster: Cluster, sampling: Sampling, plot: Plot = None) -> None:
    """Predict a job, then run it, then compare."""
    import predict_graph

    _checked(job, plot)
    with watched(options.messages()) as progress:
        comparison = predict_graph.validate(
            job.algorithm,
            job.graph,
            fresh_process=True,
            **job.asked(),
            **cluster.asked(),
            **sampling.asked(),
            progress=progress,
        )
    console = options.results(job.json)
    show_prediction(console, comparison.prediction)
    show_comparison(console, comparison)
    write_json(comparison.to_dict(), job.json)
    if plot is not None:
        comparison.plot(plot)


def _checked(job: Job, plot: Path | None, *, fetch: bool = True) -> None:
    """Load plug-ins, and refuse what could not be written before any work is done."""
    options.load_plugins(job.plugin)
    check_json_target(job.json)
    if plot is not None:
        from predict_graph.pictures import check_picture

        check_picture(check_writable(plot))
    if fetch:
        options.fetch_if_missing(job.graph)


def _refused(job: Job, **given: Any) -> None:
    """Refuse options that are for algorithms alone.

    Raises
    ------
    RequestError
    """
    for name, value in given.items():
        if value not in (None, False):
            raise RequestError(
                f"--{name.replace('_', '-')} is no option of a function such as {job.algorithm}"
            )


def _profiles(
    here: Path | None, there: Path | None
) -> tuple[ResourceProfile, ResourceProfile] | None:
    """Return the profiles of this machine and of the target; None without a target."""
    if there is None:
        if here is not None:
            raise RequestError(
                "--profile says what this machine is; accepted: with --target-profile"
            )
        return None
    from predict_graph.resources import calibrate, read_profile

    target = read_profile(there)
    if here is not None:
        return read_profile(here), target
    with options.messages().status("measuring this machine"):
        return calibrate(disk=False, network=False), target


def _iterations(progress: Any) -> Any:
    """Return a callback that shows iterations; how many there will be is not known."""
    return lambda number, aggregate: progress(
        f"iteration {number}: mean change {aggregate:.2e}", 0.0
    )
