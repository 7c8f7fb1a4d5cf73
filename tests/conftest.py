"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Compiled functions make the first example slow; how long an example takes says nothing here.
settings.register_profile(
    "predict-graph",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("predict-graph")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, those with Spark: the short ones fill what time is left."""

    def without_spark(item: pytest.Item) -> bool:
        return item.get_closest_marker("spark") is None and "[spark" not in item.name

    items.sort(key=without_spark)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C through, in this process and in those that a test starts.

    A shell makes its background jobs ignore it, and whatever they start inherits that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def shared_graph_file() -> Callable[[str], Path]:
    """Find a graph file in the folder that PREDICT_GRAPH_DATA names; skip when it is not there."""

    def find(name: str) -> Path:
        data = os.environ.get("PREDICT_GRAPH_DATA")
        if not data:
            pytest.skip(f"needs {name}: PREDICT_GRAPH_DATA names no folder")
        for folder in (Path(data), Path(data) / "graphs"):
            if (folder / name).is_file():
                return folder / name
        pytest.skip(f"needs {name}, which is not in {data}")

    return find


@pytest.fixture(scope="session")
def spark_here() -> None:
    """Skip where Apache Spark cannot run: pyspark or Java is missing."""
    from predict_graph.engines.spark.session.requirements import require_spark
    from predict_graph.errors import JobError

    try:
        require_spark()
    except JobError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def quick_conf() -> dict[str, str]:
    """Settings of short sessions: optimising what Java compiles would cost more than it saves."""
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    return {f"spark.{side}.extraJavaOptions": options for side in ("driver", "executor")}
