"""What goes wrong in Spark, in one sentence instead of two pages of traces."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from predict_graph.errors import JobError, PredictGraphError

__all__ = ["ExecutorLostError", "reason", "spark_failures"]

_ERROR = re.compile(r"(?:[\w$]+\.)+([\w$]*(?:Exception|Error)): ")
_WHERE = re.compile(r"\(TID \d+\) \((\S+) executor (\w+)\)")

_LOST = (
    "an executor was lost, and what it kept in memory with it; run the job again, or with "
    "--checkpoint DIR"
)

# The first that fits is the reason: what killed an executor comes before that it is lost.
_KNOWN = (
    (
        r"No space left on device",
        "the disk is full where Spark keeps its files",
    ),
    (
        r"OutOfMemoryError|SparkOutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY|exit(?:ed with)? code 52",
        "an executor ran out of memory{where}; give executors more memory, or take more machines",
    ),
    (
        r"Checkpoint block \w+ not found|CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
        r"|ExecutorLostFailure|FetchFailed|Could not find .* of shuffle|MetadataFetchFailed"
        r"|worker lost|Remote RPC client disassociated|BlockNotFoundException",
        _LOST,
    ),
    (
        r"All masters are unresponsive",
        "the master did not take the job",
    ),
    (
        r"(?:Cannot call methods on a stopped SparkContext|SparkContext (?:has been|was) shut ?down"
        r"|cancelled because SparkContext was shut down)",
        "Spark ended the application; was it killed, or did the master go away?",
    ),
)


class ExecutorLostError(JobError):
    """An executor was lost, and what it kept in memory with it."""


@contextmanager
def spark_failures(doing: str) -> Iterator[None]:
    """Turn what Spark and the disk raise into a :class:`~predict_graph.errors.JobError`.

    Parameters
    ----------
    doing : str
        What was being done, to begin the sentence with: ``"superstep 3 on Spark"``.

    Raises
    ------
    JobError
    KeyboardInterrupt
        If it failed because it was interrupted: py4j asks the driver for something more while
        Ctrl-C goes through it, and what then fails hides the interrupt.
    """
    try:
        yield
    except PredictGraphError:
        raise
    except Exception as error:
        if _interrupted(error):
            raise KeyboardInterrupt from error
        said = _said_of(doing, error)
        if said is None:
            raise
        raise said from error


def _said_of(doing: str, error: Exception) -> JobError | None:
    """Return the sentence for what Spark or the disk raised; None for what neither does."""
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    gone = f"{doing} failed: Spark's driver process is gone"
    if isinstance(error, (Py4JNetworkError, ConnectionError)):
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


def _interrupted(error: BaseException | None) -> bool:
    """Say whether an error came while an interrupt went through what failed."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _driver_ended() -> bool:
    """Say whether the driver has ended: a call that gets no answer is one of several errors."""
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
    >>> reason("Checkpoint block rdd_12_1 not found! Either the executor ...")[:57]
    'an executor was lost, and what it kept in memory with it;'
    """
    for pattern, sentence in _KNOWN:
        if re.search(pattern, text):
            place = _WHERE.search(text)
            where = f" (executor {place.group(2)} on {place.group(1)})" if place else ""
            return sentence.format(where=where)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    telling = [line for line in (*reversed(causes), *lines) if _ERROR.search(line)]
    if telling:
        error = list(_ERROR.finditer(telling[0]))[-1]  # a task's error is quoted in the job's
        return f"{error.group(1)}: {telling[0][error.end() :]}"[:300]
    return (lines[0] if lines else "no reason given")[:300]
