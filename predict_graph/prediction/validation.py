"""The real run, and a prediction held against it: predict first, run second, compare third."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.clock import Moment
from predict_graph.engines import Engine, IterationCallback, RunProfile
from predict_graph.errors import RequestError
from predict_graph.functions.naming import is_function, refuse_for_functions
from predict_graph.functions.validation import FunctionComparison, validate_function
from predict_graph.graph import check_graph
from predict_graph.history import History, check_history
from predict_graph.iterations import Progress
from predict_graph.prediction.expectation import Expect
from predict_graph.prediction.following import FollowedRun, Follower
from predict_graph.prediction.fresh_process import run_in_fresh_process
from predict_graph.prediction.outcome import Comparison
from predict_graph.prediction.pipeline import is_table, predict_on
from predict_graph.prediction.request import (
    check_engine,
    check_function,
    check_request,
    check_seed,
    direction,
)
from predict_graph.prediction.run_records import records_of
from predict_graph.transforms import Transform


def run(
    algorithm: str | Algorithm,
    graph: Any,
    *,
    parameters: Mapping[str, object] | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    threads: int | None = None,
    spark: Any = None,
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Callable[[Moment], None] | None = None,
    expect: Expect | None = None,
    write_to: Path | None = None,
    spark_reads: bool = False,
) -> RunProfile:
    """Run an algorithm on a graph and keep the run in the history.

    Parameters
    ----------
    algorithm, graph, parameters, directed, ids, engine, workers, threads, spark, history
        As in :func:`~predict_graph.predict`.
    seed : int, optional
        For a generator whose text sets no seed.
    progress : callable, optional
        Called with a :class:`~predict_graph.clock.Moment`, what is done and what remains: when the
        graph is read, after each superstep, at the end.
    expect : Prediction, mapping or path, optional
        What was predicted of this run, from which the remaining time starts: a prediction, or its
        JSON. By default earlier runs in the history, or a baseline estimate. It is read where
        `progress` is given.
    write_to : Path, optional
        Where the result goes: ``.csv``, ``.tsv`` or ``.parquet``.
    spark_reads : bool
        Whether Spark reads the graph itself, so that it never comes to this process; `graph` is
        then a path or an address that Spark knows.

    Raises
    ------
    RequestError
        If the graph cannot be read, or an option is wrong.
    JobError
        If the run fails.
    """
    chosen = check_function(algorithm, parameters)
    runner = check_engine(engine, workers=workers, threads=threads, spark=spark)
    kept = check_history(history)
    if kept is not None:
        len(kept)  # refuses at once what is no history
    if expect is not None and progress is None:
        raise RequestError("expect is read where progress is given; accepted: both, or neither")
    follower = None if progress is None else Follower(progress, chosen, runner, kept, expect)
    _check_no_table(graph)
    if spark_reads:
        profile = _run_files(runner, chosen, graph, directed, ids, follower, write_to)
    else:
        whole = check_graph(
            graph, directed=direction(chosen, directed), ids=ids, seed=check_seed(seed)
        )
        if follower is not None:
            follower.knows(whole)
        profile = runner.run(chosen, whole, progress=follower, write_to=write_to)
    if follower is not None:
        follower.ends(profile)
    if kept is not None:
        kept.keep(records_of(profile))
    return profile


def follow(
    algorithm: str | Algorithm,
    graph: Any,
    *,
    parameters: Mapping[str, object] | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    threads: int | None = None,
    spark: Any = None,
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Callable[[Moment], None] | None = None,
    expect: Expect | None = None,
    write_to: Path | None = None,
    spark_reads: bool = False,
) -> FollowedRun:
    """Run an algorithm on a graph, to go through moment by moment.

    Parameters
    ----------
    algorithm, graph, parameters, directed, ids, engine, workers, threads, spark, history
        As in :func:`run`.
    seed, expect, write_to, spark_reads
        As in :func:`run`.
    progress : callable, optional
        Called with each moment as well, in the thread of the run.

    Returns
    -------
    FollowedRun
        Gives a :class:`~predict_graph.clock.Moment` when the graph is read, after each superstep
        and at the end; then has the ``profile``.

    Raises
    ------
    RequestError, JobError
        While it is gone through, as :func:`run` does.

    Examples
    --------
    >>> for moment in follow("pagerank", "rmat:scale=8,seed=1", history="none"):
    ...     text = moment.words()
    >>> moment.state
    'ended'
    """

    def followed(tell: Callable[[Moment], None]) -> RunProfile:
        def both(moment: Moment) -> None:
            if progress is not None:
                progress(moment)
            tell(moment)

        return run(
            algorithm,
            graph,
            parameters=parameters,
            directed=directed,
            ids=ids,
            engine=engine,
            workers=workers,
            threads=threads,
            spark=spark,
            history=history,
            seed=seed,
            progress=both,
            expect=expect,
            write_to=write_to,
            spark_reads=spark_reads,
        )

    return FollowedRun(followed)


def _check_no_table(graph: Any) -> None:
    if is_table(graph):
        raise RequestError(
            "a table of Spark can be predicted, not run; accepted: the path or address of files "
            "that it is written to (edges.write.parquet), with spark_reads=True"
        )


def _run_files(
    engine: Engine,
    algorithm: Algorithm,
    source: Any,
    directed: bool | None,
    ids: str | None,
    progress: IterationCallback | None,
    write_to: Path | None,
) -> RunProfile:
    from predict_graph.engines.spark import SparkEngine

    if not isinstance(engine, SparkEngine):
        raise RequestError("only the spark engine reads graphs by Spark; accepted: engine='spark'")
    if ids not in (None, "integer"):
        raise RequestError(f"ids are {ids!r}; accepted for a graph that Spark reads: 'integer'")
    return engine.run_files(
        algorithm,
        source,
        directed=direction(algorithm, directed),
        progress=progress,
        write_to=write_to,
    )


def validate(
    algorithm: str | Algorithm,
    graph: Any,
    *,
    parameters: Mapping[str, object] | None = None,
    directed: bool | None = None,
    ids: str | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    threads: int | None = None,
    spark: Any = None,
    method: str | None = None,
    sampler: str | None = None,
    ratio: float | None = None,
    train_ratios: Sequence[float] | None = None,
    transform: str | Transform | None = None,
    cost_model: str | None = None,
    max_overhead: float | None = None,
    probe: bool | None = None,
    train_machines: Sequence[int] | None = None,
    budget: str | float | None = None,
    within: str | float | None = None,
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    on_iteration: IterationCallback | None = None,
    fresh_process: bool = False,
    **arguments: Any,
) -> Comparison | FunctionComparison:
    """Predict a run, or a call of a function, then run it, then compare.

    The graph is read and set up again for the real run, so that no phase profits from the
    prediction.

    Parameters
    ----------
    algorithm, graph, parameters, directed, ids, engine, workers, threads, spark, method, sampler,
    ratio, train_ratios, transform, cost_model, max_overhead, probe, train_machines, budget, within,
    history, seed, progress
        As in :func:`~predict_graph.predict`.
    on_iteration : callable, optional
        Called after each iteration of the real run, if that is in this process.
    fresh_process : bool
        Whether the real run is in a process of its own, as a later run would be; the command line
        does so. It needs a script whose main part is under ``if __name__ == "__main__"``. A
        function is always called in a process of its own.
    **arguments
        Of a function, as in :func:`~predict_graph.predict`.

    Raises
    ------
    RequestError, JobError
        As for a prediction and for a run.
    """
    given: dict[str, Any] = {
        "parameters": parameters,
        "workers": workers,
        "threads": threads,
        "spark": spark,
        "method": method,
        "sampler": sampler,
        "ratio": ratio,
        "train_ratios": train_ratios,
        "transform": transform,
        "cost_model": cost_model,
        "max_overhead": max_overhead,
        "probe": probe,
        "train_machines": train_machines,
        "within": within,
    }
    if engine == "local" and not isinstance(algorithm, Algorithm) and is_function(algorithm):
        refuse_for_functions(**given, on_iteration=on_iteration)
        return validate_function(
            algorithm,
            graph,
            directed=directed,
            ids=ids,
            budget=budget,
            history=history,
            seed=seed,
            progress=progress,
            **arguments,
        )
    for name in arguments:
        raise RequestError(
            f"{name} is no option of validate; accepted: its own, and parameters of the algorithm "
            "in parameters={...}"
        )
    request = check_request(
        algorithm, engine=engine, budget=budget, seed=seed, progress=progress, **given
    )
    if fresh_process and on_iteration is not None:
        raise RequestError(
            "on_iteration is given, but a run in a process of its own calls nothing here; leave "
            "on_iteration or fresh_process out"
        )
    if fresh_process and spark is not None:
        raise RequestError(
            "fresh_process is given, but a session that is open stays in this process; leave it out"
        )
    _check_no_table(graph)
    kept = check_history(history)
    directed = direction(request.algorithm, directed)
    prediction = predict_on(
        check_graph(graph, directed=directed, ids=ids, seed=request.seed),
        request,
        kept,
        source=graph,
    )
    if fresh_process:
        request.progress("running for real", 0.0)
        actual = run_in_fresh_process(
            request.algorithm,
            request.engine,
            graph,
            directed=directed,
            ids=ids,
            seed=request.seed,
        )
    else:
        fresh = check_graph(graph, directed=directed, ids=ids, seed=request.seed).fresh()
        actual = request.engine.run(request.algorithm, fresh, progress=on_iteration)
    if kept is not None:
        kept.keep(records_of(actual))
    return Comparison(prediction, actual)
