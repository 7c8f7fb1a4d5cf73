"""Estimates of iteration counts: sane on any graph, and near the truth on scale-free ones."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph import iterations
from predict_graph.algorithms import ConnectedComponents, Neighborhood, PageRank
from predict_graph.engines import COUNTERS, per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import WeightedSample
from predict_graph.engines.local.observed import observed_run
from predict_graph.graph import check_graph
from predict_graph.graph.csr import edge_weights
from predict_graph.iterations.rooted.sample import RootedSampler, component_trees, hop_tree
from predict_graph.transforms import scaled_threshold
from tests.graphs import graphs, job_and_graph
from tests.refusals import failed, refused

# A replay is of a function that only Spark runs.
ESTIMATING = [
    name
    for name in iterations.METHODS.names()
    if iterations.METHODS.get(name).estimate is not None and name != "replay"
]


def case_of(graph, job=None, method="completion", seed=1, **options):
    usual = {"sampler": "brj", "ratio": 0.1, "budget": iterations.EdgeBudget(graph.edges)}
    usual |= {"progress": lambda text, fraction: None, "rng": np.random.default_rng(seed)}
    usual |= {"engine": LocalEngine(threads=1), "transform": scaled_threshold}
    algorithm = job or (Neighborhood() if method == "rooted" else PageRank())
    return iterations.SamplingCase(graph=graph, algorithm=algorithm, **(usual | options))


def estimate(graph, job=None, method="completion", seed=1, **options):
    case = case_of(graph, job, method, seed, **options)
    return iterations.estimate_iterations(iterations.METHODS.get(method), case)


def truth(graph, job=None):
    return LocalEngine(threads=1).run(job or PageRank(), graph).iterations


def is_sane(found, limit=500):
    assert 1 <= found.low <= found.iterations <= found.high <= limit
    assert found.curve.shape == (found.iterations,)
    assert np.isfinite(found.curve).all()
    assert (found.curve >= 0).all()
    assert found.samples
    for sample in found.samples:
        assert 0 < sample.ratio <= 1
        assert sample.iterations >= 1
        assert sample.seconds >= 0


@pytest.mark.parametrize("method", ESTIMATING)
@given(graph=graphs(), ratio=st.floats(1e-6, 1.0), seed=st.integers(0, 2**32))
def test_any_small_graph(method, graph, ratio, seed):
    is_sane(estimate(graph, method=method, ratio=ratio, seed=seed))


ODD = {
    "self-loop": nx.DiGraph([(0, 0)]),
    "one edge, many alone": nx.disjoint_union(nx.path_graph(2), nx.empty_graph(3000)),
    "star of senders": nx.DiGraph([(v, 0) for v in range(1, 1500)]),
    "star of receivers": nx.DiGraph([(0, v) for v in range(1, 1500)]),
    "path": nx.path_graph(1500),
    "one-way cycle": nx.cycle_graph(1500, create_using=nx.DiGraph),
    "dust": nx.DiGraph([(v, v + 1) for v in range(0, 3000, 2)]),
    "mesh": nx.grid_2d_graph(30, 40),
    "two cliques": nx.disjoint_union(nx.complete_graph(40), nx.complete_graph(50)),
    "self-loops everywhere": nx.DiGraph([(v, v) for v in range(1000)]),
}


@pytest.mark.parametrize("method", ESTIMATING)
@pytest.mark.parametrize("title", ODD)
def test_odd_graphs(title, method):
    is_sane(estimate(check_graph(ODD[title]), method=method))


JOBS = {
    "a tolerance": {"tolerance": 1e-7},
    "a tolerance that is met at once": {"tolerance": 10.0},
    "dropped rank": {"dangling": "drop"},
    "hardly any damping": {"damping": 0.999},
    "one iteration": {"max_iterations": 1},
    "a loose epsilon": {"epsilon": 2.0},
}


SCALE_FREE = check_graph("rmat:scale=11,edge_factor=8,seed=5")


@pytest.mark.parametrize("method", ESTIMATING)
@pytest.mark.parametrize("title", JOBS)
def test_other_parameters(title, method):
    job = PageRank(**JOBS[title])
    found = estimate(SCALE_FREE, job, method=method)
    is_sane(found, job.max_iterations)
    exact = truth(SCALE_FREE, job)
    assert abs(found.iterations - exact) <= max(0.5 * exact, 2)


@pytest.mark.parametrize("method", ESTIMATING)
def test_the_limit_of_iterations_and_progress(method):
    job, seen = PageRank(tolerance=1e-300, max_iterations=20), []
    found = estimate(SCALE_FREE, job, method=method, progress=lambda *step: seen.append(step))
    assert all(text and 0.0 <= fraction <= 1.0 for text, fraction in seen)
    assert (found.iterations, found.high) == (20, 20)
    assert not found.converged
    assert estimate(SCALE_FREE, method=method).converged


def test_the_published_method():
    found = estimate(SCALE_FREE, PageRank(tolerance=1e-12, max_iterations=5), method="published")
    assert any("did not converge within 5 iterations" in text for text in found.warnings)
    assert estimate(SCALE_FREE, method="published", ratio=1.0).iterations == truth(SCALE_FREE)
    spreads = set()
    for seed in range(6):
        found = estimate(SCALE_FREE, method="published", sampler="mhrw", ratio=0.05, seed=seed)
        low, middle, high = sorted(sample.iterations for sample in found.samples)
        assert found.crossing == middle
        assert {sample.sampler for sample in found.samples} == {"mhrw"}
        spreads |= {middle - low, high - middle}
    assert max(spreads) > 0  # else the mean, or any of the three, would do


class WithoutForm(PageRank):
    name = "other"
    sampled_by = {}  # noqa: RUF012


PREFERRED = [
    (PageRank(), "completion", "completion, published"),
    (ConnectedComponents(), "rooted", "published, rooted"),
    (WithoutForm(), "published", "published"),
]


@pytest.mark.parametrize(("job", "preferred", "accepted"), PREFERRED)
def test_methods_of_an_algorithm(job, preferred, accepted):
    assert iterations.check_method(None, job).name == preferred
    assert iterations.check_method("published", job).name == "published"
    unknown = f"unknown method for {job.name} 'baseline'; accepted: {accepted}"
    refused(unknown, iterations.check_method, "baseline", job)


def test_a_method_of_the_engine_is_refused_and_one_of_ones_own_that_fails_is_named():
    def run(estimate):
        own = iterations.Method("own", "never works", frozenset(), lambda algorithm: True, estimate)
        iterations.estimate_iterations(own, case_of(SCALE_FREE))

    refused("is observed by its engine", estimate, SCALE_FREE, method="observed")
    failed("returned int; accepted: an IterationEstimate", run, lambda case: 3)
    failed("the method 'own' failed .*: KeyError: 'a'", run, lambda case: {}["a"])


# Accuracy: loose bars; the benchmarks hold the tight ones.


GRAPHS = [
    "rmat:scale=14,edge_factor=8,seed=1",
    "barabasi-albert:n=20000,m=4,seed=1",
    "powerlaw-cluster:n=10000,m=4,p=0.3,seed=1",
    "web-NotreDame",
    "email-Enron",
]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("text", GRAPHS)
def test_graphs_are_predicted_well(text, epsilon, shared_file):
    if ":" not in text:
        shared_file(f"{text}.txt.gz")  # skips without it
    graph, job = check_graph(text), PageRank(epsilon=epsilon)
    exact, found = truth(graph, job), estimate(graph, job)
    assert abs(found.iterations / exact - 1.0) <= 0.35 or abs(found.iterations - exact) <= 1
    assert found.low <= exact + 1
    assert found.high >= exact - 1


# Samples are drawn, induced, cut at a budget of edges, and run.


HUBS = check_graph("barabasi-albert:n=800,m=4,seed=1")


@pytest.mark.parametrize("name", iterations.SAMPLERS.names())
@pytest.mark.parametrize("cap", [1, 40, 400])
def test_a_cut_sample_keeps_to_its_edges_and_says_so(name, cap):
    sample = iterations.draw_sample(HUBS, name, 0.5, np.random.default_rng(5), max_edges=cap)
    assert 1 <= sample.graph.vertices < 400
    assert sample.graph.edges <= cap
    assert sample.ratio == sample.graph.vertices / HUBS.vertices
    assert f"ended at {sample.graph.vertices} of 400 vertices" in sample.note


@given(edges=st.integers(1, 10**12), overhead=st.floats(1e-9, 5.0))
def test_the_shares_stay_within_the_total(edges, overhead):
    budget = iterations.EdgeBudget(edges, overhead)
    shares = (budget.for_completion, budget.for_costs)
    assert min(shares) >= 0
    assert sum(shares) <= budget.total
    assert budget.total <= max(overhead * edges, 1_200_000)
    if overhead < 0.6:  # also on small graphs
        assert budget.total <= max(overhead * edges, 1)


# Rooted samples: shortest-path trees, what samples keep of the graph, and estimates from them.


def check_tree(tree, graph, distances):
    expected = np.array([distances.get(vertex, -1) for vertex in graph])
    np.testing.assert_array_equal(tree.distance, expected)
    np.testing.assert_array_equal(tree.reached, expected >= 0)
    for vertex, parent in enumerate(tree.parent):
        if expected[vertex] <= 0:
            assert parent == -1
        else:
            assert graph.has_edge(parent, vertex)
            assert expected[parent] == expected[vertex] - 1


@given(graph=graphs(80, 300), root=st.integers(0, 79))
def test_distances_and_parents(graph, root):
    root %= graph.vertices
    edges = nx.from_scipy_sparse_array(graph.to_scipy(), create_using=nx.DiGraph)
    for backward, other in ((False, edges), (True, edges.reverse())):
        tree = hop_tree(graph, root, backward=backward)
        check_tree(tree, other, nx.single_source_shortest_path_length(other, root))
    if not graph.directed:
        roots = [min(component) for component in nx.weakly_connected_components(edges)]
        distances = nx.multi_source_dijkstra_path_length(edges, roots)
        check_tree(component_trees(graph), edges, distances)


GRAPH = check_graph("barabasi-albert:n=3000,m=2,seed=4")
TREE = hop_tree(GRAPH, int(GRAPH.out_degrees.argmax()))
SAMPLER = RootedSampler(GRAPH, [TREE], np.array([5, 9]))


def test_weights_and_distances_are_those_of_the_whole_graph():
    sample = SAMPLER.draw(200, np.random.default_rng(0))
    assert sample.weights.sum() == pytest.approx(GRAPH.vertices)
    assert set(np.unique(sample.weights)) == {0.0, 1.0, (3000 - 2) / 200}
    assert np.count_nonzero(sample.weights) == 202
    assert set(sample.vertices[sample.weights == 1.0]) == {5, 9}
    np.testing.assert_array_equal(sample.degrees, GRAPH.out_degrees[sample.vertices])
    root = int(np.flatnonzero(sample.vertices == GRAPH.out_degrees.argmax())[0])
    found = hop_tree(sample.graph, root).distance
    np.testing.assert_array_equal(found, TREE.distance[sample.vertices])


def test_small_neighbours_of_small_vertices_come_along():
    for text, most, expected in (
        ("path:n=5", 2, {0, 2}),
        ("path:n=5", 1, {}),
        ("star:n=20", 2, {}),
    ):
        drawing = RootedSampler(check_graph(text), [], np.array([1]), near=most)
        sample = drawing.draw(0, np.random.default_rng(0))
        assert set(sample.vertices) == {1, *expected}
        assert sample.weights.sum() == 1.0


OF_HOPS = ("connected-components", "neighborhood", "topk-ranking", "semi-clustering")


@pytest.mark.parametrize("algorithm", OF_HOPS)
def test_the_whole_graph_as_its_own_sample_runs_as_the_engine_does(algorithm):
    job, graph = job_and_graph(algorithm, "rmat:scale=10,edge_factor=6,seed=5")
    truth = LocalEngine(workers=1).run(job, graph)
    to_others = edge_weights(graph, np.arange(graph.vertices))
    matrix = graph.to_scipy()
    np.testing.assert_allclose(to_others, matrix.sum(axis=1) - matrix.diagonal())
    ones = np.ones(graph.vertices)
    everyone = WeightedSample(graph, np.arange(graph.vertices), ones, graph.out_degrees, to_others)
    prior = None if truth.prior is None else truth.prior.values
    limits = {"threshold": job.threshold(graph.vertices), "edges": graph.edges}
    found = observed_run(job, everyone, workers=1, prior=prior, **limits)
    np.testing.assert_allclose(found.convergence, truth.convergence)
    for name in COUNTERS:
        np.testing.assert_allclose(found.counters[name], truth.per_iteration()[name], err_msg=name)
    np.testing.assert_allclose(found.whole_work, found.work)


SPREADING = ["rmat:scale=13,edge_factor=8,seed=3", nx.random_labeled_tree(6000, seed=3)]


@pytest.mark.parametrize("algorithm", ["connected-components", "shortest-paths"])
@pytest.mark.parametrize("source", SPREADING)
def test_what_spreads_takes_exactly_as_long_as_predicted(source, algorithm):
    job, graph = job_and_graph(algorithm, source, max_iterations=10_000)
    found = estimate(graph, job.on(graph), "rooted")
    assert found.low == found.high == found.samples[0].iterations == truth(graph, job)


CROWDS = nx.disjoint_union_all([nx.barabasi_albert_graph(200, 3, seed=n) for n in range(60)])
NEAR = [(name, "rmat:scale=14,edge_factor=8,seed=7") for name in OF_HOPS]


@pytest.mark.parametrize(("algorithm", "source"), [*NEAR, ("topk-ranking", CROWDS)])
def test_series_and_iterations_are_near_the_truth(algorithm, source):
    job, graph = job_and_graph(algorithm, source)
    truth = LocalEngine().run(job, graph)
    found = estimate(graph, job, "rooted")
    assert abs(found.iterations - truth.iterations) <= 1
    actual = per_iteration(truth.rows)
    length = min(len(actual), len(found.counters))
    columns = ("local_messages", "remote_messages")
    sent = [table.floats(*columns)[:length] for table in (found.counters, actual)]
    assert np.abs(sent[0] - sent[1]).sum() < 0.15 * sent[1].sum()
