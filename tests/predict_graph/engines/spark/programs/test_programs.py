"""Programs on Spark, held against the kernels of the local engine."""

import numpy as np
import pytest

from predict_graph.algorithms import (
    ConnectedComponents,
    Neighborhood,
    PageRank,
    SemiClustering,
    TopKRanking,
)
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.programs import check_program
from predict_graph.errors import JobError
from predict_graph.graph.build import from_edges
from tests.profiles import check_whole

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def engine(local_spark):
    return local_spark


def random_graph(seed, *, directed, weighted=False, n=40, m=140):
    """Two parts without edges between them, self-loops, and vertices without any edge."""
    rng = np.random.default_rng(seed)
    part = rng.integers(0, 2, m) * (n // 2)
    sources, targets = (part + rng.integers(0, n // 2, m) for _ in range(2))
    loops = rng.integers(0, n, 3)
    weights = rng.random(m + 3).astype(np.float32) + 0.1 if weighted else None
    return from_edges(
        np.concatenate([sources, loops]),
        np.concatenate([targets, loops]),
        vertices=n + 4,
        directed=directed,
        weights=weights,
    )


DIRECTED = random_graph(1, directed=True, m=220)
UNDIRECTED = random_graph(2, directed=False)
WEIGHTED = random_graph(3, directed=False, weighted=True)
FEW = random_graph(2, directed=False, n=16, m=40)
FEW_WEIGHTED = random_graph(3, directed=False, weighted=True, n=16, m=40)

CASES = {
    "pagerank": (PageRank(epsilon=0.1), DIRECTED),
    "pagerank-dropped": (PageRank(epsilon=0.1, dangling="drop"), DIRECTED),
    "components": (ConnectedComponents(), UNDIRECTED),
    "neighborhood-few": (Neighborhood(registers=16), DIRECTED),
    "neighborhood-many": (Neighborhood(registers=1024), WEIGHTED),
    "semi-clustering": (SemiClustering(), FEW),
    "semi-clustering-weighted": (SemiClustering(c_max=3, s_max=2, v_max=4), FEW_WEIGHTED),
}


def needs_its_spark(algorithm):
    try:
        check_program(algorithm)
    except JobError as error:
        pytest.skip(str(error))


def same_course(ours, theirs):
    """Check that two runs took the same supersteps and sent the same messages in each."""
    assert ours.iterations == theirs.iterations
    assert ours.converged == theirs.converged
    assert ours.convergence == pytest.approx(theirs.convergence, rel=1e-9)
    mine, other = ours.per_iteration(), theirs.per_iteration()
    assert mine["active_vertices"].tolist() == other["active_vertices"].tolist()
    assert mine["total_vertices"].tolist() == other["total_vertices"].tolist()
    sent = [rows["local_messages"] + rows["remote_messages"] for rows in (mine, other)]
    assert sent[0].tolist() == sent[1].tolist()


def stages_of_supersteps(tasks):
    """Count the stages of each superstep: sending, receiving, and adding the sums up."""
    groups = tasks["group"].astype(str)
    steps = tasks[groups.str.contains("/superstep/") & ~groups.str.endswith("/0")]
    return steps.groupby("group")["stage"].nunique().tolist()


@pytest.mark.parametrize("case", CASES)
def test_results_and_supersteps_are_those_of_the_local_engine(engine, case):
    algorithm, graph = CASES[case]
    needs_its_spark(algorithm)
    with engine.session() as session:
        logged = session.log_from_now()
        ours = engine.run(algorithm, graph)
        assert stages_of_supersteps(logged.read().tasks) == [3] * ours.iterations
    theirs = LocalEngine(workers=2).run(algorithm, graph)
    check_whole(ours, graph.vertices, 1)
    same_course(ours, theirs)
    assert ours.values.shape == theirs.values.shape
    if theirs.values.dtype.kind == "i":
        assert np.array_equal(ours.values, theirs.values)
    else:
        assert ours.values == pytest.approx(theirs.values, rel=1e-9)
    assert ours.result.keys() == theirs.result.keys()
    for name, value in theirs.result.items():
        assert ours.result[name] == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize(("k", "graph"), [(3, DIRECTED), (1, UNDIRECTED)])
def test_topk_ranking_runs_on_the_ranks_of_pagerank(engine, k, graph):
    algorithm = TopKRanking(k=k, epsilon=0.1)
    needs_its_spark(algorithm)
    ours, theirs = engine.run(algorithm, graph), LocalEngine(workers=2).run(algorithm, graph)
    same_course(ours, theirs)
    same_course(ours.prior, theirs.prior)
    assert ours.values.shape == theirs.values.shape
    # Ranks that are equal but for rounding may change places, so ranks are compared.
    ranks = np.append(theirs.prior.values, -1.0)
    assert ranks[ours.values] == pytest.approx(ranks[theirs.values], rel=1e-9)
    assert np.array_equal(ours.values < 0, theirs.values < 0)
