"""What every built-in algorithm does, whatever its threads or its engine."""

import numpy as np
import pytest

from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges
from tests.profiles import check_whole

ON_SPARK = [
    ("k-core", {}, False),
    ("k-core", {"k": 3}, False),
    ("personalised-pagerank", {"epsilon": 0.1, "source": 5}, False),
    ("personalised-pagerank", {"epsilon": 0.1, "dangling": "drop"}, False),
    ("triangle-count", {}, False),
    ("shortest-paths", {"landmarks": "5"}, False),
    ("shortest-paths", {"landmarks": "5,61,20"}, False),
    ("shortest-paths", {}, False),
    pytest.param(
        *("label-propagation", {"tau": 0.01, "max_iterations": 7}, False), marks=pytest.mark.long
    ),
    ("label-propagation", {"tau": 0.01, "max_iterations": 7}, True),
]


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_a_large_graph_gives_the_same_whatever_the_threads(name):
    algorithm = check_algorithm(name, {"c_max": 2, "s_max": 2} if "semi" in name else {})
    graph = check_graph(
        "rmat:scale=13,edge_factor=8,seed=1", directed=False if algorithm.undirected else None
    )
    profile, *others = (LocalEngine(threads=n).run(algorithm, graph) for n in (1, 2, 3))
    assert profile.iterations > 1
    for other in others:
        assert other.values.tobytes() == profile.values.tobytes()
        assert other.convergence.tobytes() == profile.convergence.tobytes()
        assert other.result == profile.result
        assert other.features_total() == profile.features_total()


@pytest.mark.spark
@pytest.mark.parametrize(("name", "given", "weighted"), ON_SPARK)
def test_spark_gives_the_result_of_the_local_engine(local_spark, name, given, weighted):
    algorithm = check_algorithm(name, given)
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 60, (2, 200))
    ends = np.concatenate((ends, [[3, 61, 62, 7], [3, 62, 63, 7]]), axis=1)  # loops, and a path
    weights = (rng.random(204) + 0.1).astype(np.float32) if weighted else None
    directed = not algorithm.undirected
    graph = from_edges(*ends, vertices=66, directed=directed, weights=weights)
    ours, theirs = local_spark.run(algorithm, graph), LocalEngine(workers=2).run(algorithm, graph)
    check_whole(ours, graph.vertices, 1)
    assert ours.values == pytest.approx(theirs.values, rel=1e-9, abs=1e-15)
    assert ours.convergence == pytest.approx(theirs.convergence, rel=1e-9)
    assert ours.converged == theirs.converged
    assert ours.result == theirs.result
    mine, other = ours.per_iteration(), theirs.per_iteration()
    for counter in ("active_vertices", "total_vertices"):
        assert mine[counter].tolist() == other[counter].tolist()
    sent = [rows["local_messages"] + rows["remote_messages"] for rows in (mine, other)]
    assert sent[0].tolist() == sent[1].tolist()
