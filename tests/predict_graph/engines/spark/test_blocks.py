"""Programs on Spark, held against the local engine: of kernels, and those of vertices."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import MAX_ITERATIONS, Parameter, VertexProgram, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.blocks.stored import parcel
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from tests.profiles import check_whole, counts_of
from tests.refusals import failed, refused
from tests.vertex_programs import Distances, Labels, Ranks

# One of each kind; those of every algorithm are in tests/predict_graph/builtin/test_blocks.py.
CASES = [
    ("pagerank", {"epsilon": 0.1}, False),
    ("neighborhood", {"registers": 1024}, True),
    pytest.param(
        *("semi-clustering", {"c_max": 3, "s_max": 2, "v_max": 4}, True), marks=pytest.mark.long
    ),
    ("topk-ranking", {"k": 3, "epsilon": 0.1}, False),
    ("k-core", {}, False),
    ("triangle-count", {}, False),
    ("label-propagation", {"tau": 0.01, "max_iterations": 7}, True),
]


def graph_for(algorithm, weighted):
    """Two parts without edges between them, self-loops, and vertices without any edge."""
    n, m = (16, 40) if algorithm.name == "semi-clustering" else (40, 200)
    rng = np.random.default_rng(3)
    part = rng.integers(0, 2, m) * (n // 2)
    ends = np.array([part + rng.integers(0, n // 2, m) for _ in range(2)])
    ends = np.concatenate((ends, [[1, 5], [1, 5]]), axis=1)
    weights = rng.random(m + 2).astype(np.float32) + 0.1 if weighted else None
    return from_edges(*ends, vertices=n + 4, directed=not algorithm.undirected, weights=weights)


def stages_of_supersteps(tasks, name):
    """Count the stages of each superstep: sending, and receiving."""
    steps = tasks[tasks["group"].astype(str).str.match(rf"{name}-\w+/superstep/[1-9]")]
    return steps.groupby("group")["stage"].nunique().tolist()


@pytest.mark.parametrize(("name", "parameters", "weighted"), CASES)
def test_results_and_supersteps_are_those_of_the_local_engine(
    local_spark, name, parameters, weighted
):
    algorithm = check_algorithm(name, parameters)
    graph = graph_for(algorithm, weighted)
    with local_spark.session() as session:
        logged = session.log_from_now()
        ours = local_spark.run(algorithm, graph)
        assert stages_of_supersteps(logged.read().tasks, name) == [2] * ours.iterations
    theirs = LocalEngine(workers=2).run(algorithm, graph)
    check_whole(ours, graph.vertices, 1)
    assert (ours.iterations, ours.converged) == (theirs.iterations, theirs.converged)
    assert ours.convergence == pytest.approx(theirs.convergence, rel=1e-9)
    assert counts_of(ours) == counts_of(theirs)
    found = [ours.values, theirs.values]
    if name == "topk-ranking":  # ranks that are equal but for rounding may change places
        found = [np.append(theirs.prior.values, -1.0)[values] for values in found]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert ours.result.keys() == theirs.result.keys()
    for key, value in theirs.result.items():
        assert ours.result[key] == pytest.approx(value, rel=1e-9), key


def test_a_block_that_sends_too_much_at_once_is_named():
    failed(r"block 3 sends 35 bytes at once.*10 bytes; accepted", parcel, 1, 3, 20 * b"x", most=10)


class Flow(VertexProgram):
    """Sums of weighted floats of those whose state changed, and who heard of anyone."""

    name = "flow"
    summary = "sums of weighted messages"
    convergence = "absolute"
    weighted = True
    declared = (Parameter("tau", float, 1e-9, "threshold"), MAX_ITERATIONS)

    def initial(self, graph):
        return np.where(np.arange(graph.vertices) % 7 == 0, 1.0, 0.0)

    def starters(self, state, graph):
        return state > 0.0

    def update(self, state, combined, received):
        return np.where(received, 0.01 * combined + 0.1 * state, 0.0)

    def aggregate(self, old, new):
        return float(np.abs(old - new).max())


PROGRAMS = [Distances(), Ranks(), Labels(), Flow(max_iterations=12)]


@pytest.fixture(scope="module")
def weighted():
    plain = check_graph("rmat:scale=9,edge_factor=8,seed=1")
    weights = np.random.default_rng(0).uniform(0.5, 2.0, plain.edges).astype(np.float32)
    return Graph(plain.indptr, plain.indices, weights)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_results_are_those_of_the_local_engine_to_the_bit(local_spark, weighted, program, tmp_path):
    heard, target = [], tmp_path / "values.parquet"
    options = {"progress": lambda *step: heard.append(step), "write_to": target}
    found = local_spark.run(program, weighted, **options)
    local = LocalEngine(workers=2).run(program, weighted)
    assert found.iterations == local.iterations >= 3
    np.testing.assert_array_equal(found.values, local.values)
    np.testing.assert_array_equal(found.convergence, local.convergence)
    assert [step[1] for step in heard] == local.convergence.tolist()
    assert counts_of(found) == counts_of(local)
    assert (found.table["seconds"] > 0).all()
    written = pd.read_parquet(target).sort_values("vertex")
    np.testing.assert_array_equal(written["value"].to_numpy(), found.values)


@pytest.mark.long
def test_what_fails_or_cannot_be_run_is_named(local_spark, weighted, tmp_path):
    class Broken(Labels):
        name = "broken"

        def update(self, state, combined, received):
            return state[:3]

    failed(r"the vertex program 'broken\.update' returned", local_spark.run, Broken(), weighted)
    refused("distances takes a", local_spark.run_files, Distances(), tmp_path / "edges.parquet")
