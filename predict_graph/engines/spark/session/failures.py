"""Failures of Spark, described in one sentence instead of stack traces; interrupts stay such."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from predict_graph.errors import JobError, PredictGraphError, comes_from

# "java.io.IOException: why", the last error of a traceback of Python, "(TID 3) (host executor 1)"
_ERROR = re.compile(r"(?:[\w$]+\.)+([\w$]*(?:Exception|Error))(?:: |$)")
_PYTHON = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)")
_WHERE = re.compile(r"\(TID \d+\) \((\S+) executor (\w+)\)")

UNSEEN = (
    "the executors do not see the folder of temporary files; accepted: --spark-folder, a folder at "
    "the same path on all of them, or an address such as hdfs://host/folder"
)
_LOST = (
    "an executor was lost with the data in its memory; run the job again, or with --checkpoint DIR"
)

# The first pattern that occurs anywhere is the reason, so the cause of a loss precedes the loss.
_KNOWN = {
    r"No space left on device": "the disk is full where Spark keeps its files",
    r"OutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|exit(?:ed with)? code 52|exceeding \w+ memory": (
        "an executor ran out of memory{where}; give executors more memory, or take more machines"
    ),
    r"Checkpoint block \w+ not found|CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
    r"|ExecutorLostFailure|FetchFailed|Could not find .* of shuffle|MetadataFetchFailed"
    r"|worker lost|Remote RPC client disassociated|BlockNotFoundException": _LOST,
    r"FileNotFound\w+: File file:\S*/predict-graph-[a-z0-9_]{8}/\S* does not exist": UNSEEN,
    r"Python worker exited": "Python died{where}, perhaps for want of memory; take more machines",
    r"All masters are unresponsive": "the master did not take the job",
    r"(?:Cannot call methods on a stopped SparkContext|SparkContext (?:has been|was) shut ?down"
    r"|cancelled because SparkContext was shut down)": (
        "Spark ended the application; was it killed, or did the master go away?"
    ),
}


class ExecutorLostError(JobError):
    """An executor was lost, and with it data: a run with checkpoints goes on from the last one."""


@contextmanager
def spark_failures(doing: str) -> Iterator[None]:
    """Convert errors of Spark and the disk into :class:`~predict_graph.errors.JobError`."""
    try:
        yield
    except PredictGraphError:
        raise
    except Exception as error:
        if comes_from(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        said = _job_error(doing, error)
        if said is None:
            raise
        raise said from error


def _job_error(doing: str, error: Exception) -> JobError | None:
    """Return the error for a failure of Spark or the disk; None for other errors."""
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    gone = f"{doing} failed: Spark's driver process is gone"
    pipe = isinstance(error, BrokenPipeError) and not _driver_ended()  # to another program
    if isinstance(error, (Py4JNetworkError, ConnectionError)) and not pipe:
        return JobError(gone)
    if isinstance(error, (Py4JError, PySparkException)):
        if type(error) is not Py4JJavaError and _driver_ended():
            return JobError(gone)
        why = reason(str(error))
        kind = ExecutorLostError if why == _LOST else JobError
        return kind(f"{doing} failed: {why}")
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        return JobError(f"{doing} failed: {error.strerror or error}{place}")
    return None


def _driver_ended() -> bool:
    """Return whether the driver has ended, which several errors of py4j can mean.

    It may be about to end, so it is given a moment.
    """
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1.0)
    return process.poll() is not None


def reason(text: str) -> str:
    r"""Return the reason in the text of a Java error, on one line.

    Examples
    --------
    >>> reason("org.apache.spark.SparkException: Job aborted\nCaused by: java.io.IOException: No")
    'IOException: No'
    >>> reason("Checkpoint block rdd_12_1 not found! Either the executor ...")[:49]
    'an executor was lost with the data in its memory;'
    >>> reason("x.PythonException: Traceback (most recent call last):\n  File\nValueError: no")
    'ValueError: no'
    >>> lost = "FileNotFoundException: File file:/tmp/predict-graph-1a2b3c4d/x does not exist"
    >>> reason(f"java.io.{lost}")[:33]
    'the executors do not see the fold'
    """
    for pattern, sentence in _KNOWN.items():
        if re.search(pattern, text):
            place = _WHERE.search(text)
            where = f" (executor {place.group(2)} on {place.group(1)})" if place else ""
            return sentence.format(where=where)
    if raised := _PYTHON.findall(text):
        return str(raised[-1])[:300]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    telling = [line for line in (*reversed(causes), *lines) if _ERROR.search(line)]
    if telling:
        # The error of a task is quoted in that of its job
        error = list(_ERROR.finditer(telling[0]))[-1]
        why = telling[0][error.end() :]
        return f"{error.group(1)}: {why}"[:300] if why else error.group(1)
    return (lines[0] if lines else "no reason given")[:300]
