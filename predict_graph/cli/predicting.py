"""The commands predict, run and validate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli import functions, options
from predict_graph.cli.groups import Case, Cluster, Sampling, takes
from predict_graph.cli.output import Output, Pages
from predict_graph.errors import RequestError
from predict_graph.inputs import is_stream
from predict_graph.reports import json_output
from predict_graph.reports.progress import watched

if TYPE_CHECKING:
    from predict_graph.clock import Moment
    from predict_graph.resources import ResourceProfile


@takes(case=Case, cluster=Cluster, sampling=Sampling, output=Pages)
def predict(
    case: Case,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
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
    spark_reads: options.SparkReads = False,
    arg: functions.Args = None,
    graph_form: functions.GraphForm = None,
) -> None:
    """Predict iterations and runtime of a job, or of a function's call, without running it."""
    import predict_graph

    call = functions.checked_call(
        case,
        cluster,
        output,
        arg,
        graph_form,
        replace(sampling, budget=None),
        target_profile=target_profile,
        profile=profile,
        spark_reads=spark_reads,
    )
    if call is not None:
        with output.watched() as progress:
            found = predict_graph.predict(
                case.algorithm, case.source, budget=sampling.budget, **call, progress=progress
            )
        output.show(found, packages=[functions.library_of(case.algorithm)])
        return
    _checked(case, output, fetch=not spark_reads)
    profiles = _profiles(profile, target_profile)
    with output.watched() as progress:
        prediction = predict_graph.predict(
            case.algorithm,
            case.source,
            **case.asked(),
            **cluster.asked(verbose=output.verbose),
            **sampling.asked(),
            progress=progress,
            spark_reads=spark_reads,
        )
    if profiles is not None:
        from predict_graph.prediction.outcome.carried import carried

        prediction = carried(prediction, *profiles)
    output.show(prediction, packages=_packages(cluster))


@takes(case=Case, cluster=Cluster, output=Output)
def run(
    case: Case,
    cluster: Cluster,
    output: Output,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result: .csv, .tsv or .parquet.")
    ] = None,
    spark_reads: options.SparkReads = False,
    expect: options.Expect = None,
    events: options.Events = None,
    arg: functions.Args = None,
    graph_form: functions.GraphForm = None,
) -> None:
    """Run a job or a function's call for real, and keep the run in the history."""
    import predict_graph

    call = functions.checked_call(
        case, cluster, output, arg, graph_form, out=out, spark_reads=spark_reads, events=events
    )
    if call is not None:
        functions.run_call(case, output, call, expect)
        return
    json_output.check_events_target(events, output.json)
    _checked(case, output, fetch=not spark_reads)
    last: list[Moment] = []
    with json_output.events(events) as write, output.clock() as show:

        def show_all(moment: Moment) -> None:
            last[:] = [moment]
            show(moment)
            write(moment)

        profile = predict_graph.run(
            case.algorithm,
            case.source,
            **case.asked(),
            **cluster.asked(verbose=output.verbose),
            progress=show_all,
            expect=expect,
            write_to=out,
            spark_reads=spark_reads,
        )
    output.give(profile.answer, profile.to_dict(), events)
    if last and not output.quiet:
        options.conclude(profile.algorithm, last[-1])


@takes(case=Case, cluster=Cluster, sampling=Sampling, output=Pages)
def validate(
    case: Case,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
    arg: functions.Args = None,
    graph_form: functions.GraphForm = None,
) -> None:
    """Predict a job, then run it, then compare."""
    import predict_graph

    if case.graph == "-" or is_stream(Path(case.graph)):
        raise RequestError(
            f"the graph is the stream {case.graph}, but validate reads it twice; accepted: a file"
        )
    call = functions.checked_call(
        case, cluster, output, arg, graph_form, replace(sampling, budget=None)
    )
    if call is not None:
        with output.watched() as progress:
            found = predict_graph.validate(
                case.algorithm, case.source, budget=sampling.budget, **call, progress=progress
            )
        output.show(found, packages=[functions.library_of(case.algorithm)])
        return
    _checked(case, output)
    with output.watched() as progress:
        comparison = predict_graph.validate(
            case.algorithm,
            case.source,
            fresh_process=True,
            **case.asked(),
            **cluster.asked(verbose=output.verbose),
            **sampling.asked(),
            progress=progress,
        )
    output.show(comparison, packages=_packages(cluster))


def _packages(cluster: Cluster) -> list[str]:
    """Return the packages whose versions a report lists."""
    return ["pyspark"] if cluster.engine == "spark" else []


def _checked(case: Case, output: Output, *, fetch: bool = True) -> None:
    """Load plug-ins, and refuse what could not be written before any work is done."""
    options.load_plugins(case.plugin)
    output.check()
    if fetch:
        options.fetch_if_missing(case.graph)


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
    with watched(options.messages()) as progress:
        progress("measuring this machine", 0.0)
        return calibrate(disk=False, network=False), target


@takes(cluster=Cluster, output=Output)
def learn(
    cluster: Cluster,
    output: Output,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="How long learning may take, such as 10m.")
    ] = "10m",
    algorithms: Annotated[
        str | None, typer.Option(metavar="NAME,NAME,…", help="What to learn.", show_default="all")
    ] = None,
    history: options.HistoryFile = None,
    plugin: options.Plugins = None,
    seed: options.Seed = None,
) -> None:
    """Learn once what a cluster charges; predictions on it then take seconds."""
    from predict_graph.prediction.learn import learn as learn_costs

    options.load_plugins(plugin)
    output.check()
    asked = cluster.asked(verbose=output.verbose)
    if cluster.engine != "spark":
        raise RequestError(
            f"the engine is {cluster.engine}; accepted: spark, whose costs are learned"
        )
    with output.watched() as progress:
        found = learn_costs(
            asked["engine"],
            algorithms=None if algorithms is None else algorithms.split(","),
            budget=budget,
            history=history,
            seed=seed,
            progress=progress,
        )
    output.give(found.answer, found.to_dict())
