"""What Spark says at length, in one sentence."""

import errno
from contextlib import nullcontext

import pytest

from predict_graph.engines.spark.session.failures import reason, spark_failures
from predict_graph.errors import JobError, RequestError

ABORTED = (
    "An error occurred while calling o123.collectToPython.\n"
    ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 31.0 "
    "failed 4 times, most recent failure: Lost task 1.3 in stage 31.0 (TID 123) "
    "(127.0.0.12 executor 1): {}\n\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:1)\n"
)


REASONS = [
    ("java.lang.OutOfMemoryError: Java heap space", "memory (executor 1 on 127.0.0.12)"),
    ("ExecutorLostFailure Reason: Container killed for exceeding physical memory", "of memory ("),
    ("Python worker exited\nCaused by: java.io.EOFException", "Python died (executor 1 on"),
    ("java.io.IOException: No space left on device", "the disk is full where Spark keeps"),
    ("java.lang.ArithmeticException: / by zero", "ArithmeticException: / by zero"),
    ("IllegalStateException: Cannot call methods on a stopped SparkContext.", "ended"),
]


@pytest.mark.parametrize(("text", "said"), REASONS)
def test_one_sentence(text, said):
    found = reason(ABORTED.format(text))
    assert said in found
    assert "\n" not in found


ERRORS = [
    (OSError(errno.ENOSPC, "No space left on device", "/x"), JobError, "No space left on device"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "no"), JobError, "Spark's driver process is gone"),
    (RequestError("as it was"), RequestError, "^as it was$"),
]


@pytest.mark.parametrize(("raised", "kind", "said"), ERRORS)
def test_errors_of_this_process(raised, kind, said):
    pytest.importorskip("pyspark")
    with pytest.raises(kind, match=said), spark_failures("writing"):
        raise raised


def test_an_error_on_the_way_out_of_an_interrupt_is_an_interrupt():
    from py4j.protocol import Py4JNetworkError

    class CallSite(nullcontext):  # pyspark's asks the driver for more as an interrupt goes through
        def __exit__(self, *raised):
            raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(KeyboardInterrupt), spark_failures("superstep 3"), CallSite():
        raise KeyboardInterrupt
