"""What tests of Spark share."""

import signal
from pathlib import Path

import pytest

from benchmarks.spark_cluster import spark_cluster


@pytest.fixture(scope="module")
def spark(spark_here, common_session, quick_java):
    """A session as a notebook has it: nothing of ours, no event log, no UI."""
    common_session.close()
    from pyspark.sql import SparkSession

    before = signal.getsignal(signal.SIGINT)
    session = (
        SparkSession.builder.master("local[2]")
        .appName("a notebook")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", quick_java)
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
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
def cluster(spark_here, processes_of):
    """Two workers, which leave no process behind."""
    with spark_cluster(2) as cluster:
        yield cluster
    for worker in cluster.workers:
        assert processes_of(worker.process.pid) == []


@pytest.fixture(scope="session")
def processes_of():
    """List the processes of a login session: those that a test started and all they started."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes are found in /proc")

    def find(session):
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                stat = (process / "stat").read_text()
                command = (process / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            state, _, _, its_session = stat.rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(f"{process.name} {command[:100]}")
        return found

    return find
