"""Vertex programs on Spark: unchanged, and their results those of the local engine to the bit."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import MAX_ITERATIONS, Parameter, VertexProgram
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from tests.profiles import counts_of
from tests.refusals import failed
from tests.vertex_programs import Distances, Labels, Ranks

pytestmark = pytest.mark.long


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


def test_what_fails_or_cannot_be_run_is_named(local_spark, weighted, tmp_path):
    class Broken(Labels):
        name = "broken"

        def update(self, state, combined, received):
            return state[:3]

    failed(r"the vertex program 'broken\.update' returned", local_spark.run, Broken(), weighted)
    with pytest.raises(RequestError, match="distances is a vertex program, whose methods see"):
        local_spark.run_files(Distances(), tmp_path / "edges.parquet")
