"""A run in a process of its own, where nothing is warm from a prediction.

A process that has read a graph once reads it faster the second time: its memory is there already.
A prediction has to be held against what a run takes that starts from nothing.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine, RunProfile
from predict_graph.errors import JobError, PredictGraphError
from predict_graph.graph import check_graph
from predict_graph.plugin_files import load_plugin, loaded_plugins


def run_in_fresh_process(
    algorithm: Algorithm,
    engine: Engine,
    source: Any,
    reading: Mapping[str, Any],
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
            process.join()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _run(sending: Any, plugins: list[str], job: bytes) -> None:
    try:
        for file in plugins:
            load_plugin(file)
        algorithm, engine, source, reading = pickle.loads(job)
        sending.send(engine.run(algorithm, check_graph(source, **reading)))
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
