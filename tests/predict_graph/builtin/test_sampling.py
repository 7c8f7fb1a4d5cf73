"""What a rooted sample holds for each algorithm."""

import numpy as np
import pytest

from predict_graph.algorithms import LabelPropagation, ShortestPaths, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges
from predict_graph.iterations.rooted.sample import recipe_of
from predict_graph.prediction.pipeline import predict
from tests.graphs import job_and_graph

DIRECTED = check_graph("rmat:scale=12,edge_factor=6,seed=2")


RMAT = "rmat:scale=14,edge_factor=8,seed=3"
SPARSE = "rmat:scale=14,edge_factor=4,seed=3"


CASES = [
    ("k-core", {}, RMAT, 0.25),
    ("k-core", {}, "barabasi-albert:n=20000,m=4,seed=1", 0.25),
    ("triangle-count", {}, RMAT, 0.05),
    ("triangle-count", {}, "powerlaw-cluster:n=20000,m=6,p=0.5,seed=1", 0.05),
    ("connected-components", {}, SPARSE, 0.15),
    ("neighborhood", {"registers": 16}, SPARSE, 0.15),
    ("topk-ranking", {}, SPARSE, 0.15),
    ("semi-clustering", {}, SPARSE, 0.15),
    ("shortest-paths", {}, SPARSE, 0.15),
    ("shortest-paths", {"landmarks": "17,4,200,5,6,7,8"}, SPARSE, 0.15),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given", "source", "error"), CASES)
def test_a_sample_estimates_how_long_a_run_is_and_what_it_sends(name, given, source, error):
    algorithm, graph = job_and_graph(name, source, **given)
    truth = LocalEngine().run(algorithm, graph)
    found = predict(algorithm, graph, method="rooted", seed=1, ratio=0.2)
    assert found.iterations.predicted == truth.iterations
    for counter in ("remote_messages", "remote_message_bytes"):
        predicted, actual = found.features_total()[counter], truth.features_total()[counter]
        assert predicted == pytest.approx(actual, rel=error), counter


@pytest.mark.parametrize("source", [None, 17])
def test_samples_estimate_how_long_a_run_from_one_source_is(source):
    graph = check_graph("rmat:scale=14,edge_factor=6,seed=3")
    algorithm = check_algorithm("personalised-pagerank", {"source": source})
    truth = LocalEngine().run(algorithm, graph)
    found = predict(algorithm, graph, method="completion", seed=1)
    assert found.iterations.low <= truth.iterations <= found.iterations.high
    # Without the rank of the source, the curve is that of a walk that has mixed already.
    assert found.iterations.high < 3 * found.iterations.low


def test_a_sample_starts_at_the_landmarks():
    algorithm = ShortestPaths(landmarks="17,4").on(DIRECTED)
    sample = recipe_of(algorithm, DIRECTED).sampler.draw(300, np.random.default_rng(0))
    kernel = algorithm.part_for("local")(algorithm, sample.graph)
    kernel.stand_for(sample)
    for number, landmark in enumerate((17, 4)):
        assert sample.vertices[kernel.values[:, number] == 0].tolist() == [landmark]


# Label propagation


COMMUNITIES = check_graph("powerlaw-cluster:n=12000,m=4,p=0.5,seed=3", directed=False)


def test_a_run_that_converges_is_predicted_before_it():
    options = {"parameters": {"tau": 0.2}, "method": "rooted", "seed": 1}
    found = predict("label-propagation", COMMUNITIES, **options)
    truth = LocalEngine().run(LabelPropagation(tau=0.2), COMMUNITIES)
    assert truth.converged
    assert found.iterations.low <= truth.iterations <= found.iterations.high
    assert abs(found.iterations.predicted - truth.iterations) <= 2
    sent = truth.features_total()["remote_message_bytes"] / truth.iterations
    predicted = found.features_total()["remote_message_bytes"] / found.iterations.predicted
    assert predicted == pytest.approx(sent, rel=0.01)


def test_a_run_that_oscillates_is_predicted_to_end_at_its_limit():
    # Hubs with leaves: two fifths of the vertices have one neighbour.
    stars = [(10 * hub, 10 * hub + leaf) for hub in range(1000) for leaf in range(1, 5)]
    others = np.random.default_rng(4).integers(0, 10_000, (15_000, 2))
    ends = np.array([*stars, *others[(others % 10 > 4).all(axis=1)].tolist()]).T
    graph = from_edges(*ends, vertices=10_000, directed=False)
    options = {"parameters": {"max_iterations": 30}, "method": "rooted", "seed": 1}
    found = predict("label-propagation", graph, **options)
    assert not LocalEngine().run(LabelPropagation(max_iterations=30), graph).converged
    assert found.iterations.predicted == found.iterations.low == 30
    assert any("oscillates or" in warning for warning in found.warnings)
    assert any("stop at its limit of 30" in warning for warning in found.warnings)
