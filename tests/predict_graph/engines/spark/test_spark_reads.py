"""Predictions whose graph only Spark reads."""

from functools import partial

import pytest

from predict_graph import predict
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.graph.readers import read_graph
from predict_graph.graph.storage import write_edges
from predict_graph.limits import limited
from tests.refusals import refused

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    path = tmp_path_factory.mktemp("reads") / "edges.parquet"
    write_edges(path, check_graph("rmat:scale=13,edge_factor=8,seed=3"))
    return path


@pytest.fixture
def stays():
    with limited(driver_bytes=700_000):
        yield


def test_the_run_of_a_large_graph_is_begun_where_it_is(local_spark, edges, stays, tmp_path):
    asked = {"engine": local_spark, "spark_reads": True, "history": tmp_path / "h.db", "seed": 1}
    found = predict("pagerank", str(edges), **asked)
    run = LocalEngine(workers=2).run(check_algorithm("pagerank"), read_graph(edges))
    assert found.iterations.low == found.iterations.high == run.iterations
    assert found.per_iteration["convergence"].to_numpy() == pytest.approx(run.convergence)
    sent = found.per_iteration[["local_messages", "remote_messages"]].to_numpy().sum()
    assert sent == pytest.approx(run.graph["edges"] * run.iterations, rel=1e-6)
    assert [each.source for each in found.evidence] == ["full run"]
    assert found.phases["read"] > 0.0
    real = local_spark.run_files(check_algorithm("pagerank"), edges)
    assert found.graph["fingerprint"] == real.graph["fingerprint"]


@pytest.mark.parametrize("name", ["topk-ranking", "semi-clustering"])
def test_chains_and_lists_are_begun_there_too(local_spark, edges, stays, name):
    found = predict(name, str(edges), engine=local_spark, spark_reads=True, seed=1)
    directed = False if check_algorithm(name).undirected else None
    here = LocalEngine(workers=2).run(check_algorithm(name), read_graph(edges, directed=directed))
    assert found.iterations.predicted == here.iterations


def test_a_graph_that_fits_is_predicted_as_one_that_is_read_here(local_spark, edges):
    options = {"engine": local_spark, "seed": 1}
    there = predict("pagerank", str(edges), spark_reads=True, **options)
    here = predict("pagerank", str(edges), **options)
    assert there.iterations == here.iterations
    messages = ["local_messages", "remote_messages", "active_vertices"]
    assert there.per_iteration[messages].equals(here.per_iteration[messages])
    # Reading was for the prediction alone.
    assert " of it to read" in dict(there.answer.facts)["prediction overhead"]
    table = local_spark._session.spark.read.parquet(str(edges))
    assert predict("pagerank", table, **options).iterations == here.iterations


def test_a_budget_ends_the_run_and_the_curve_goes_on(local_spark, edges, stays):
    asked = {"engine": local_spark, "spark_reads": True, "seed": 1}
    slow = {"epsilon": 1e-9}
    cut = predict("pagerank", str(edges), parameters=slow, budget=0.01, **asked)
    run = LocalEngine(workers=2).run(check_algorithm("pagerank", slow), read_graph(edges))
    assert cut.samples[0].iterations == 10 < run.iterations
    assert cut.iterations.low <= run.iterations <= cut.iterations.high
    assert len(cut.per_iteration) == cut.iterations.predicted
    assert [each.source for each in cut.evidence] == ["first supersteps"]
    assert cut.more.startswith("more supersteps")
    guess = predict("pagerank", str(edges), parameters=slow, budget=0, **asked)
    assert guess.method["name"] == "baseline estimate"


def test_what_is_not_read_is_refused(local_spark, edges, stays):
    read = partial(predict, "pagerank", spark_reads=True, engine=local_spark, seed=1)
    file, ratios = str(edges), [0.1, 0.2]
    refused("there is no file", read, "missing.parquet")
    refused("ratio is not read .* stay on the cluster", read, file, ratio=0.2)
    refused("train_ratios is not read .* where the run is begun", read, file, train_ratios=ratios)
    refused("ids are 'string'", read, file, ids="string")
    refused("the engine is local", read, file, engine="local")
    refused("Spark cannot read a Graph", read, check_graph("path:n=4"))
