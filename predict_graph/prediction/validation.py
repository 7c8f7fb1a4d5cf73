"""The real run, and a prediction held against it: predict first, run second, compare third.

A process that has read a graph once reads it faster the second time: its memory is there already.
A prediction has to be held against what a run takes that starts from nothing, in a process of its
own.
"""

from __future__ import annotations

import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from typing import Any, Unpack

from predict_graph import options as declared
from predict_graph.algorithms import Algorithm
from predict_graph.cores import meter
from predict_graph.engines import Engine, RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import is_table
from predict_graph.errors import JobError, PredictGraphError, RequestError
from predict_graph.functions.predictor import validate_function
from predict_graph.graph import check_graph
from predict_graph.graph.storage import check_table_file
from predict_graph.history import check_history
from predict_graph.outcome import Comparison
from predict_graph.plugin_files import load_plugin, loaded_plugins
from predict_graph.prediction import request as requests
from predict_graph.prediction.case import Case
from predict_graph.prediction.following import Follower
from predict_graph.prediction.pipeline import is_call, predict_on
from predict_graph.prediction.work import records_to_keep
from predict_graph.seeds import check_seed


@declared.offers(declared.RunOptions)
def run(
    algorithm: str | Algorithm, graph: Any, **options: Unpack[declared.RunOptions]
) -> RunProfile:
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
    if is_call(algorithm, options):
        raise RequestError(f"{algorithm} is a function; accepted: predict_graph.track calls one")
    given = declared.completed(declared.RunOptions, options, "run")
    ids, out = given["ids"], given["write_to"]
    write_to = None if out is None else Path(out)
    chosen = requests.check_function(algorithm, given["parameters"])
    directed = requests.direction(chosen, given["directed"], graph)
    runner = requests.check_engine(given)
    if write_to is not None and requests.is_local(runner):
        check_table_file(write_to)  # before a graph is read that may be large
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

        profile = check_reader(runner, graph, ids).run_files(
            chosen, graph, directed=directed, progress=follower, write_to=write_to
        )
    else:
        whole = check_graph(graph, directed=directed, ids=ids, seed=check_seed(given["seed"]))
        if follower is not None:
            follower.knows(whole)
        profile = _timed(runner, chosen, whole, progress=follower, write_to=write_to)
    if follower is not None:
        follower.ends(profile)
    if kept is not None:
        kept.keep(records_to_keep(profile))
    return profile


def _timed(engine: Engine, algorithm: Algorithm, graph: Any, **how: Any) -> RunProfile:
    """Run an algorithm; on this machine, measure how much longer that takes because of others."""
    began = meter.mark()
    with algorithm.named_in_errors():
        profile = engine.run(algorithm, graph, **how)
    slowdown = meter.read(began).slowdown if isinstance(engine, LocalEngine) else 1.0
    return replace(profile, slowdown=slowdown)


def _check_no_table(graph: Any) -> None:
    if is_table(graph):
        raise RequestError(
            "a table of Spark can be predicted, not run; accepted: the path or address of files "
            "that it is written to (edges.write.parquet), with spark_reads=True"
        )


@declared.offers(declared.PredictOptions, call=True, without=("spark_reads",))
def validate(
    algorithm: str | Algorithm | Callable[..., Any],
    graph: Any,
    *,
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
        call, given = declared.for_function(algorithm, graph, options)
        return validate_function(call, graph, **given)
    if options.get("spark_reads"):
        raise RequestError("spark_reads is no option of validate, which reads the graph twice")
    given = declared.completed(declared.PredictOptions, options, "validate")
    request = requests.check_request(algorithm, **given)
    directed = requests.direction(request.algorithm, given["directed"], graph)
    reading = {"directed": directed, "ids": given["ids"], "seed": request.seed}
    if fresh_process and given["spark"] is not None:
        raise RequestError(
            "fresh_process is given, but a session that is open stays in this process; leave it out"
        )
    _check_no_table(graph)
    kept = check_history(given["history"])
    whole = check_graph(graph, **reading)
    prediction = predict_on(Case.of(whole, request, kept))
    if fresh_process:
        request.progress("running for real", 0.0)
        actual = run_in_fresh_process(request.algorithm, request.engine, graph, reading)
    else:
        fresh = check_graph(graph, **reading).fresh()
        actual = _timed(request.engine, request.algorithm, fresh)
    if kept is not None:
        kept.keep(records_to_keep(actual))
    return Comparison(prediction, actual)


def run_in_fresh_process(
    algorithm: Algorithm, engine: Engine, source: Any, reading: Mapping[str, Any]
) -> RunProfile:
    """Read a graph and run an algorithm on it in a fresh process.

    `reading` are the options of :func:`~predict_graph.graph.check_graph`. The process ends with the
    call, also when that is interrupted.

    Raises
    ------
    RequestError, JobError
        As in this process; also if the process dies, for want of memory for example.
    """
    # Pickled here, so that the process can load the plug-ins before what they define.
    try:
        job = pickle.dumps((algorithm, engine, source, reading))
    except Exception as error:
        raise JobError(f"the run cannot be handed to a process of its own: {error}") from error
    context = get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sending, loaded_plugins(), job), daemon=True)
    try:
        with _interrupts_held():  # the process inherits that: an interrupt is dealt with here
            process.start()
        sending.close()
        outcome: RunProfile | Exception = receiving.recv()
    except EOFError:
        process.join()
        died = f"the process of the run died (exit code {process.exitcode})"
        raise JobError(f"{died}, perhaps for want of memory") from None
    finally:
        if process.pid is not None:
            process.terminate()
            process.join(20.0)
            process.kill()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _run(sending: Any, plugins: list[str], job: bytes) -> None:
    try:
        for file in plugins:
            load_plugin(file)
        algorithm, engine, source, reading = pickle.loads(job)
        if engine.name == "spark":  # which has folders and a session to close
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        sending.send(_timed(engine, algorithm, check_graph(source, **reading)))
    except PredictGraphError as error:
        sending.send(error)
    except Exception as error:
        sending.send(JobError(f"the run failed: {type(error).__name__}: {error}"))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back: a process that is started meanwhile never sees one.

    It inherits the mask of this thread. Another thread without that mask may be sent the interrupt
    all the same, which Python then raises here: so the handler waits as well.
    """
    resource_tracker.ensure_running()  # started later, it would let interrupts through again
    missed: list[int] = []
    handles = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda *_: missed.append(1)) if handles else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if handles:
            signal.signal(signal.SIGINT, handler or signal.default_int_handler)
        if missed:
            raise KeyboardInterrupt
