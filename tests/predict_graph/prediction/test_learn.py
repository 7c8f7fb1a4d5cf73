"""Which lessons fit into the time that a person gives."""

from types import SimpleNamespace

import pytest

import predict_graph.prediction.learn as learning
from predict_graph.engines.spark import SparkEngine
from predict_graph.history import History

pytest.importorskip("pyspark")

# Seconds that a lesson of the first graph is expected to take; the cluster takes twice as long.
EXPECTED = {"semi-clustering": 40.0, "pagerank": 10.0, "connected-components": 15.0}


@pytest.fixture
def cluster(monkeypatch):
    """A cluster on which only a clock goes on."""
    now, begun = [0.0], []

    def lesson(graph, engine, chain, means, workloads):
        begun.append((chain[-1].name, graph.vertices))
        now[0] += 2.0 * EXPECTED[chain[-1].name] * graph.vertices / 2**7

    monkeypatch.setattr(learning, "_FIRST_SCALE", 7)
    monkeypatch.setattr(learning, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(learning, "learn_on_cluster", lesson)
    monkeypatch.setattr(
        learning, "expected_lesson_seconds", lambda _1, _2, chain, *_: EXPECTED[chain[-1].name]
    )
    return begun


@pytest.mark.parametrize(
    ("budget", "lessons"),
    [
        # However little there is, one lesson is learned; it tells how slow the cluster is.
        ("1s", ["pagerank"]),
        ("52s", ["pagerank"]),  # 20 went, and 30 would, and a margin
        ("60s", ["pagerank", "connected-components"]),
        # 50 went; semi-clustering would take 80: a larger graph of the others comes first.
        ("100s", ["pagerank", "connected-components", "pagerank"]),
        ("150s", ["pagerank", "connected-components", "semi-clustering"]),
    ],
)
def test_the_cheapest_comes_first_and_what_does_not_fit_is_passed_over(
    cluster, tmp_path, budget, lessons
):
    found = learning.learn(
        SparkEngine("spark://nowhere:7077", 2),
        algorithms=list(EXPECTED),
        budget=budget,
        history=History(tmp_path / "history.sqlite"),
        seed=1,
    )
    assert [name for name, _ in cluster] == lessons
    assert cluster[0][1] == 2**7
    assert {name: len(of) for name, of in found.lessons.items()} == {
        name: lessons.count(name) for name in lessons
    }
    assert "budget" in found.ended
