"""What tests of Spark share."""

import signal

import pytest

from benchmarks.spark_cluster import spark_cluster
from tests.python import processes_of


@pytest.fixture(scope="module")
def spark(spark_here, common_session, quick_java):
    """A session as a notebook has it: nothing of ours, no event log, no UI."""
    common_session.close()
    from pyspark.sql import SparkSession

    before = signal.getsignal(signal.SIGINT)
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": quick_java,
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("a notebook")
    session = builder.config(map=conf).getOrCreate()
    yield session
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def cluster(spark_here):
    """Two workers, which leave no process behind."""
    with spark_cluster(2) as cluster:
        yield cluster
    for worker in cluster.workers:
        assert processes_of(worker.process.pid) == []
