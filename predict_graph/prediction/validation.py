"""The real run, and a prediction held against it: predict first, run second, compare third."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.spark import is_table
from predict_graph.errors import RequestError
from predict_graph.functions.validation import validate_function
from predict_graph.graph import check_graph
from predict_graph.history import check_history
from predict_graph.options import (
    PredictOptions,
    RunOptions,
    completed,
    for_function,
    offers,
)
from predict_graph.outcome import Comparison
from predict_graph.prediction.case import Case
from predict_graph.prediction.following import Follower
from predict_graph.prediction.fresh_process import run_in_fresh_process
from predict_graph.prediction.pipeline import is_call, predict_on
from predict_graph.prediction.request import (
    check_engine,
    check_function,
    check_request,
    direction,
)
from predict_graph.prediction.work import records_of
from predict_graph.seeds import check_seed


@offers(RunOptions)
def run(algorithm: str | Algorithm, graph: Any, **options: Unpack[RunOptions]) -> RunProfile:
    """Run an algorithm on a graph and keep the run in the history.

    Parameters
    ----------
    algorithm, graph
        As in :func:`~predict_graph.predict`.
    {options}

    Raises
    ------
    RequestError
        If the graph cannot be read, or an option is wrong.
    JobError
        If the run fails.
    """
    given = completed(RunOptions, options, "run")
    directed, ids, write_to = given["directed"], given["ids"], given["write_to"]
    chosen = check_function(algorithm, given["parameters"])
    runner = check_engine(
        given["engine"], **{name: given[name] for name in ("workers", "threads", "spark")}
    )
    kept = check_history(given["history"])
    if kept is not None:
        len(kept)  # refuses at once what is no history
    progress, expect = given["progress"], given["expect"]
    if expect is not None and progress is None:
        raise RequestError("expect is read where progress is given; accepted: both, or neither")
    follower = None if progress is None else Follower(progress, chosen, runner, kept, expect)
    _check_no_table(graph)
    if given["spark_reads"]:
        from predict_graph.prediction.on_cluster import check_reader

        profile = check_reader(runner, ids).run_files(
            chosen,
            graph,
            directed=direction(chosen, directed),
            progress=follower,
            write_to=write_to,
        )
    else:
        whole = check_graph(
            graph, directed=direction(chosen, directed), ids=ids, seed=check_seed(given["seed"])
        )
        if follower is not None:
            follower.knows(whole)
        profile = runner.run(chosen, whole, progress=follower, write_to=write_to)
    if follower is not None:
        follower.ends(profile)
    if kept is not None:
        kept.keep(records_of(profile))
    return profile


def _check_no_table(graph: Any) -> None:
    if is_table(graph):
        raise RequestError(
            "a table of Spark can be predicted, not run; accepted: the path or address of files "
            "that it is written to (edges.write.parquet), with spark_reads=True"
        )


@offers(PredictOptions, call=True, without=("spark_reads",))
def validate(
    algorithm: str | Algorithm | Callable[..., Any],
    graph: Any,
    *,
    on_iteration: IterationCallback | None = None,
    fresh_process: bool = False,
    **options: Any,
) -> Comparison:
    """Predict a run, or a call of a function, then run it, then compare.

    The graph is read and set up again for the real run, so that no phase profits from the
    prediction.

    Parameters
    ----------
    algorithm, graph
        As in :func:`~predict_graph.predict`.
    on_iteration : callable, optional
        Called after each iteration of the real run, if that is in this process.
    fresh_process : bool
        Whether the real run is in a process of its own, as a later run would be; the command line
        does so. It needs a script whose main part is under ``if __name__ == "__main__"``. A
        function is always called in a process of its own.
    {options}
    **arguments
        Of a function, as in :func:`~predict_graph.predict`.

    Raises
    ------
    RequestError, JobError
        As for a prediction and for a run.
    """
    if is_call(algorithm, options):
        if on_iteration is not None:
            raise RequestError(
                "on_iteration is read for algorithms, not for functions; leave it out"
            )
        return validate_function(algorithm, graph, **for_function(options))
    if options.get("spark_reads"):
        raise RequestError("spark_reads is no option of validate, which reads the graph twice")
    given = completed(PredictOptions, options, "validate")
    request = check_request(algorithm, **given)
    directed = direction(request.algorithm, given["directed"])
    reading = {"directed": directed, "ids": given["ids"], "seed": request.seed}
    if fresh_process and on_iteration is not None:
        raise RequestError(
            "on_iteration is given, but a run in a process of its own calls nothing here; leave "
            "on_iteration or fresh_process out"
        )
    if fresh_process and given["spark"] is not None:
        raise RequestError(
            "fresh_process is given, but a session that is open stays in this process; leave it out"
        )
    _check_no_table(graph)
    kept = check_history(given["history"])
    whole = check_graph(graph, **reading)
    prediction = predict_on(Case.of(whole, request, kept, source=graph))
    if fresh_process:
        request.progress("running for real", 0.0)
        actual = run_in_fresh_process(request.algorithm, request.engine, graph, reading)
    else:
        fresh = check_graph(graph, **reading).fresh()
        actual = request.engine.run(request.algorithm, fresh, progress=on_iteration)
    if kept is not None:
        kept.keep(records_of(actual))
    return Comparison(prediction, actual)
