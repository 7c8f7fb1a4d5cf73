"""The commands predict, run and validate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import predict_graph
from predict_graph.cli import functions, options
from predict_graph.cli.options import Case, Cluster, Sampling, SizedCase, SparkCluster
from predict_graph.cli.output import Output, Pages
from predict_graph.clock.display import Display
from predict_graph.errors import RequestError
from predict_graph.options import for_function
from predict_graph.reports import json_output

if TYPE_CHECKING:
    from predict_graph.clock.moment import Moment
    from predict_graph.resources import ResourceProfile


def predict(
    case: SizedCase,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
    *,
    target_profile: Path | None = None,
    profile: Path | None = None,
    spark_reads: bool = False,
) -> None:
    """Predict iterations and runtime of a job, or of a function's call, without running it.

    Parameters
    ----------
    target_profile : FILE.json
        Predict for the machine of this profile (calibrate --out).
    profile : FILE.json, default measured now
        Profile of this machine.
    """
    refused = {"target-profile": target_profile}
    if cluster.engine != "local":
        options.refuse(refused, "is for runs on one machine; accepted: --engine local")
    asked, packages = _asked(case, cluster, output, sampling.asked(), refused, spark_reads)
    profiles = _profiles(profile, target_profile)
    with output.display(case.graph) as display:
        found = predict_graph.predict(case.algorithm, case.source, **asked, progress=display.step)
    if profiles is not None:
        from predict_graph.prediction.assembly import carried

        found = carried(found, *profiles)
    output.show(found, packages=packages)


def run(
    case: Case,
    cluster: Cluster,
    output: Output,
    *,
    out: Path | None = None,
    spark_reads: bool = False,
    expect: Path | None = None,
    events: str | None = None,
) -> None:
    """Run a job or a function's call for real, and keep the run in the history.

    Parameters
    ----------
    out : FILE
        Write the result: .csv, .tsv or .parquet.
    expect : FILE.json, default earlier runs, or a baseline estimate
        What predict --json wrote of this run: the remaining time starts from it.
    """
    asked, _ = _asked(case, cluster, output, {}, {"out": out, "events": events}, spark_reads)
    if "keywords" in asked:  # a function
        functions.run_call(case, output, asked, expect)
        return
    last: list[Moment] = []
    with json_output.events(events) as write, output.display(case.graph) as display:

        def show_all(moment: Moment) -> None:
            last[:] = [moment]
            display.show(moment)
            write(moment)

        profile = predict_graph.run(
            case.algorithm, case.source, **asked, progress=show_all, expect=expect, write_to=out
        )
    output.give(profile.answer, profile.to_dict(), events)
    if last and not output.quiet:
        # Without what prepared it.
        options.conclude(profile.algorithm, replace(last[-1], elapsed=profile.runtime_seconds))


def validate(case: Case, cluster: Cluster, sampling: Sampling, output: Pages) -> None:
    """Predict a job, then run it, then compare."""
    # Such as what the shell makes of <(command).
    if case.graph == "-" or (os.path.exists(case.graph) and Path(case.graph).is_fifo()):
        raise RequestError(
            f"the graph is the stream {case.graph}, but validate reads it twice; accepted: a file"
        )
    asked, packages = _asked(case, cluster, output, sampling.asked())
    if "keywords" not in asked:  # no function
        asked["fresh_process"] = True
    with output.display(case.graph) as display:
        found = predict_graph.validate(case.algorithm, case.source, **asked, progress=display.step)
    output.show(found, packages=packages)


def _asked(
    case: Case,
    cluster: Cluster,
    output: Output,
    sampling: dict[str, Any],
    of_algorithms: Mapping[str, Any] | None = None,
    spark_reads: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a prediction or a run, and the packages that a report lists.

    What is for algorithms is refused for a function, before a dataset is fetched.
    """
    options.prepare(case.plugin)
    call = functions.call_of(case, cluster)
    asked = case.asked() | cluster.asked(verbose=output.verbose) | sampling | (call or {})
    packages = ["pyspark"] if cluster.engine == "spark" else []
    if spark_reads:
        asked["spark_reads"] = True
    if call is not None:
        reason = f"is for algorithms, but {case.algorithm} is a function"
        options.refuse(of_algorithms or {}, reason)
        for_function(case.algorithm, case.source, asked)
        packages = [functions.library_of(case.algorithm)]
    options.prepare(None, *([] if spark_reads else [case.graph]))
    return asked, packages


def _profiles(
    here: Path | None, there: Path | None
) -> tuple[ResourceProfile, ResourceProfile] | None:
    """Return the profiles of this machine and of the target; None without a target."""
    if there is None:
        accepted = "accepted: with --target-profile"
        options.refuse({"profile": here}, f"says what this machine is; {accepted}")
        return None
    from predict_graph.resources import calibrate, read_profile

    target = read_profile(there)
    if here is not None:
        return read_profile(here), target
    with Display(options.messages()) as display:
        display.step("measuring this machine", 0.0)
        return calibrate(disk=False), target


def learn(
    cluster: SparkCluster,
    output: Output,
    *,
    budget: str = "10m",
    algorithms: str | None = None,
    history: str | None = None,
    plugin: list[Path] | None = None,
    seed: int | None = None,
) -> None:
    """Learn once what a cluster charges; predictions on it then take seconds.

    Parameters
    ----------
    budget : TIME
        How long learning may take, such as 10m.
    algorithms : NAME,NAME,…, default all
        What to learn.
    """
    options.prepare(plugin)
    with output.display() as display:
        found = predict_graph.learn(
            cluster.asked(verbose=output.verbose)["engine"],
            algorithms=options.listed(algorithms),
            budget=budget,
            history=history,
            seed=seed,
            progress=display.step,
        )
    output.give(found.answer, found.to_dict())
